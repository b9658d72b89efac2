/** Who decides what an error is: passing, too long a conversation, or final. */
import type { ProviderFailure } from "../agent/contracts.ts";

const passing = new Set([408, 409, 425, 429]);
const quota = /insufficient.quota|quota exceeded|billing|out of (budget|credits)|(monthly|usage) limit|invalid.{0,10}key/i;
const overflow = /prompt (is )?too long|context_length_exceeded|maximum context length|exceeds the context window/i;

/** From the HTTP status where there is one, else from the text. */
export function classify(text: string, status?: number, retryAfterMs?: number): ProviderFailure {
	const facts = { ...(status === undefined ? {} : { status }), ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
	if (overflow.test(text) || (status === 413 && text !== "")) return { kind: "overflow", ...facts };
	const isPassing = status === undefined ? true : passing.has(status) || status >= 500;
	return { kind: isPassing && !quota.test(text) ? "transient" : "permanent", ...facts };
}
