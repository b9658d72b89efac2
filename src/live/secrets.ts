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
	#early: () => readonly string[] | undefined;
	/** Values that are no credentials of providers. */
	#more: readonly string[] = [];
	readonly redactor: Redactor;

	/** `early`: the values that are known before the first run. */
	constructor(load: () => Promise<Credentials>, early: () => readonly string[] | undefined) {
		this.#load = load;
		this.#early = early;
		this.redactor = redactor(() => [...(this.#known?.secrets() ?? early() ?? []), ...this.#more]);
	}

	/** Removes the values of credentials from a text. */
	redact = (text: string): string => this.redactor.text(text);

	/** These values are secret as well, from now on. */
	add(values: readonly string[]): void {
		const fresh = values.filter((value) => !this.#more.includes(value));
		if (fresh.length > 0) this.#more = [...this.#more, ...fresh];
	}

	/** What must not leave the process, as far as it is known without looking anything up. */
	known = (): readonly string[] | undefined => {
		const early = this.#early();
		return this.#more.length === 0 ? early : [...(early ?? []), ...this.#more];
	};

	async learn(): Promise<Credentials> {
		this.#known = await this.#load();
		return this.#known;
	}
}
