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

	/** For a signature; nothing when there are none. */
	get text(): string | undefined {
		return this.#details.length === 0 ? undefined : JSON.stringify({ reasoning_details: this.#details });
	}
}

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

/** The details in a signature: the whole list, or the single one that earlier versions stored. */
export function storedDetails(signature: string | undefined): unknown[] {
	if (!signature?.startsWith("{")) return [];
	try {
		const stored = object(JSON.parse(signature)) ?? {};
		return "reasoning_details" in stored ? list(stored.reasoning_details) : [stored];
	} catch {
		return []; // Another API made it under the same name; the block is valid without it.
	}
}
