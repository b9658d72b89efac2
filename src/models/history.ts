/**
 * The beginning of a conversation as bytes of a request. What was stored before this process began does not change, so it is written once for
 * each model, and stored messages are not read where the API can write them from their lines.
 */
import type { ModelMessage, ModelRequest, StoredRun } from "../agent/contracts.ts";
import type { StoredWriter } from "./api.ts";
import { handoff, type Target } from "./handoff.ts";
import { type HistoryFacts, noHistory, tokensIn, tokensOfMessage } from "./limits.ts";

type Part = ModelMessage | StoredRun;

interface History {
	history: readonly Uint8Array[];
	facts: HistoryFacts;
}

interface Memory extends History {
	variant: string;
	count: number;
}

/** What was written, for as long as the last run of stored messages lives. */
const memories = new WeakMap<StoredRun, Memory>();

/** All up to the last run of stored messages, and what follows it. */
export function splitHistory(request: ModelRequest, writer: StoredWriter | undefined, target: Target): History & { rest: readonly ModelMessage[] } {
	const { parts } = request;
	const end = writer && parts ? parts.findLastIndex(isRun) + 1 : 0;
	if (!writer || !parts || end === 0) return { history: [], facts: noHistory, rest: request.messages };
	const last = parts[end - 1] as StoredRun;
	const { provider, api, model, acceptsImages, refusals = 0 } = target;
	const variant = [provider, api, model, acceptsImages, refusals].join(" ");
	let known = memories.get(last);
	if (known?.variant !== variant || known.count !== end) {
		known = { variant, count: end, ...write(parts.slice(0, end), writer, target) };
		memories.set(last, known);
	}
	return { history: known.history, facts: known.facts, rest: parts.slice(end) as ModelMessage[] };
}

/** A run is complete in itself, so the messages between two runs are handed off on their own. */
function write(parts: readonly Part[], writer: StoredWriter, target: Target): History {
	const bytes = new Bytes();
	const facts = { ...noHistory };
	const addMessages = (messages: readonly ModelMessage[]) => {
		for (const message of messages) {
			facts.tokens += tokensOfMessage(message);
			facts.newest = Math.max(facts.newest, message.timestamp);
		}
		bytes.add(writer.messages(handoff(messages, target)));
	};
	let between: ModelMessage[] = [];
	for (const part of parts) {
		if (!isRun(part)) {
			between.push(part);
			continue;
		}
		if (between.length > 0) addMessages(between);
		between = [];
		const text = writer.run(part, target);
		if (text === undefined) addMessages(part.messages());
		else {
			bytes.add(text);
			facts.tokens += tokensIn(text.length);
		}
	}
	// The very first message has no comma in front of it.
	return { history: bytes.from(1), facts };
}

/** Enough that a long conversation is few pieces. */
const pieceSize = 256 * 1024;

/** Collects bytes in large pieces. The texts are not kept: many short ones would be copied again and again by the garbage collector. */
class Bytes {
	#full: Buffer[] = [];
	#piece = Buffer.allocUnsafeSlow(0);
	#length = 0;

	add(text: string): void {
		if (this.#length + text.length > this.#piece.length) {
			this.#full.push(this.#piece.subarray(0, this.#length));
			this.#piece = Buffer.allocUnsafeSlow(Math.max(pieceSize, text.length));
			this.#length = 0;
		}
		this.#length += this.#piece.write(text, this.#length, "latin1");
	}

	/** All but the first bytes of what was added. */
	from(start: number): Buffer[] {
		const [first, ...others] = [...this.#full, this.#piece.subarray(0, this.#length)].filter(({ length }) => length > 0);
		return first ? [first.subarray(start), ...others] : [];
	}
}

function isRun(part: Part): part is StoredRun {
	return part.role === "storedRun";
}
