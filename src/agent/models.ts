/** The models of a session. Types only. */
import type { Model, ThinkingLevel } from "../protocol/model.ts";
import type { StreamFunction } from "./stream.ts";

export interface ModelAccess {
	stream: StreamFunction;
	/** Makes sure that the model can be asked: gives it, perhaps with better facts, or says why not in words for the host. */
	prepare(model: Model): Promise<{ model: Model } | ModelProblem>;
}

/** The models of a session. */
export interface SessionModels extends ModelAccess {
	/** What a host reads when a prompt arrives and there is no model. */
	readonly noModelText: string;
}

export type ModelProblemCode =
	/** No key for a provider that is known. */
	| "no_key"
	/** Credentials could not be read, such as those of a command of `models.jsonc` that failed. */
	| "key_failed"
	/** Variables that the address of the provider needs are not set. */
	| "no_address"
	/** There is a ceiling in dollars, and the model is not listed. */
	| "price_unknown"
	| "unknown_provider"
	| "unknown_model";

/** Why a model cannot be asked. Callers compare the code. */
export interface ModelProblem {
	/** In words for the host. */
	problem: string;
	/** Scripts have none: their problem is in the words alone. */
	code?: ModelProblemCode;
}

/** What a request to a provider needs besides its body. */
export interface Credentials {
	/** Absent where none is needed. */
	apiKey?: string;
	/** Those of `models.jsonc`. */
	headers: Record<string, string>;
	baseUrl?: string;
}

export interface ModelWithLevel {
	model: Model;
	level?: ThinkingLevel;
}

/** Which models there are. */
export interface ModelCatalogue {
	/** Those that can be asked with the available credentials. */
	available(): Promise<Model[]>;
	/** A model by its name, whether or not it can be asked. */
	find(provider: string, id: string): Promise<Model | undefined>;
	/** A model that is on the list, whether or not there is a key for it: of the catalogue, of the user's own file, of a local server, or named at the start. */
	findListed(provider: string, id: string): Promise<Model | undefined>;
	/** A sentence about the provider or model that was probably meant; empty when none is close. */
	guess(provider: string, id: string): Promise<string>;
	/** A model that a session file names, only if the user has chosen or configured it: a file must not choose scripts and servers. */
	findStored(provider: string, id: string): Promise<Model | undefined>;
	/** Why a model cannot be asked; undefined when it can. */
	problem(model: Model): Promise<ModelProblem | undefined>;
}
