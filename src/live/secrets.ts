/** The credentials that commands must not see and no text may contain. All of them are known from the first run on. */
import { type Redactor, redactor } from "../lib/redact.ts";

export interface Credentials {
	/** The variables that hold them. */
	secretNames(): readonly string[];
	/** Their values. */
	secrets(): readonly string[];
}

export class Secrets {
	#load: () => Promise<Credentials>;
	#known: Credentials | undefined;
	readonly redactor: Redactor;

	/** `early`: the values that are known before the first run. */
	constructor(load: () => Promise<Credentials>, early: () => readonly string[] | undefined) {
		this.#load = load;
		this.redactor = redactor(() => this.#known?.secrets() ?? early());
	}

	/** Removes the values of credentials from a text. */
	redact = (text: string): string => this.redactor.text(text);

	async learn(): Promise<Credentials> {
		this.#known = await this.#load();
		return this.#known;
	}
}
