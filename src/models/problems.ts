/** Why a model cannot be asked. Callers compare the code; the sentence is for people. */

export type ModelProblemCode =
	/** No key for a provider that is known. */
	| "no_key"
	/** A key or header of `models.jsonc` could not be read, such as a command that failed. */
	| "key_failed"
	/** Variables that the address of the provider needs are not set. */
	| "no_address"
	| "unknown_provider"
	| "model_not_found";

export interface ModelProblem {
	problem: string;
	code: ModelProblemCode;
}

/** Something wrong in `models.jsonc`. */
export interface FileProblem {
	/** The path of the file, the place in it and what is wrong there. */
	text: string;
	/** The provider that it is about, under the name of the file. */
	provider?: string;
	code?: "no_key";
}
