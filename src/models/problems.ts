/** Something wrong in `models.jsonc`. */
export interface FileProblem {
	/** The path of the file, the place in it and what is wrong there. */
	text: string;
	/** The provider that it is about, under the name of the file. */
	provider?: string;
	/** `unknown_member`: nothing is missing because of it. */
	code?: "no_key" | "unknown_member";
}
