/** Reasoning as OpenRouter and hosts like it hand it out: a list of details that has to go back complete and in its order. */
import { type Json, list, object, text } from "../json.ts";

/** The member of each kind of detail that streams in pieces. */
const growing: Record<string, string> = { "reasoning.text": "text", "reasoning.summary": "summary" };

/** Collects the details of one reply. */
export class ReasoningDetails {
	#details: Json[] = [];

	add(piece: unknown): void {
		const detail = object(piece);
		if (!detail || text(detail.type) === "") return;
		const last = this.#details.at(-1);
		if (last && continues(last, detail)) this.#details[this.#details.length - 1] = joined(last, detail);
		else this.#details.push({ ...detail });
	}

	/** Returns the details for a signature, or undefined when there are none. `field`: where the host put the same reasoning as plain text. */
	signature(field: string | undefined): string | undefined {
		if (this.#details.length === 0) return undefined;
		return JSON.stringify({ reasoning_details: this.#details, ...(field === undefined || field === usualField ? {} : { field }) });
	}
}

/** OpenRouter fills it next to the details, and needs only the details back. */
const usualField = "reasoning";

/** Text and summaries arrive in pieces of one detail; encrypted details arrive whole. */
function continues(last: Json, piece: Json): boolean {
	return last.type === piece.type && growing[text(piece.type)] !== undefined && last.index === piece.index && isSameId(last.id, piece.id);
}

const isSameId = (a: unknown, b: unknown) => a === b || a === undefined || a === null || b === undefined || b === null;

function joined(last: Json, piece: Json): Json {
	const member = growing[text(piece.type)] ?? "text";
	const given = Object.fromEntries(Object.entries(piece).filter(([, value]) => value !== null && value !== undefined));
	return { ...last, ...given, [member]: text(last[member]) + text(piece[member]) };
}

/** Returns the details in a signature: the whole list, or the single one that earlier versions stored. */
export function storedDetails(signature: string | undefined): { details: unknown[]; field?: string } {
	if (!signature?.startsWith("{")) return { details: [] };
	try {
		const stored = object(JSON.parse(signature)) ?? {};
		if (!("reasoning_details" in stored)) return { details: [stored] };
		const field = text(stored.field);
		return { details: list(stored.reasoning_details), ...(field === "" ? {} : { field }) };
	} catch {
		return { details: [] }; // Another API made it under the same name; the block is valid without it.
	}
}
