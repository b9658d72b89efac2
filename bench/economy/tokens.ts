/** Counts tokens as OpenAI's newer models do (o200k). Claude's own count is not public; the ratios of two texts are much the same. */
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";

/** Counts texts, each once. */
export class TokenCounter {
	#known = new Map<string, number>();

	count(text: string): number {
		const known = this.#known.get(text);
		if (known !== undefined) return known;
		// A name of a special token in the output of a program is plain text.
		const tokens = countTokens(text, { disallowedSpecial: new Set() });
		this.#known.set(text, tokens);
		return tokens;
	}
}
