/** Plays a script: a model whose every answer is written down. */
import { STATUS_CODES } from "node:http";
import type { ModelMessage, ModelRequest, Sleep, StreamFunction, StreamOptions } from "../../agent/contracts.ts";
import { sleep as realSleep } from "../../lib/sleep.ts";
import { priced, ReplyBuilder } from "../builder.ts";
import { classify } from "../errors.ts";
import { ArgumentsReader } from "./arguments.ts";
import { AskedLength, type Asker, factsOf, holds, textOf, tokensOf } from "./conversation.ts";
import type { Reply, Script } from "./format.ts";
import { Pace } from "./pace.ts";
import { type Part, partsOf } from "./parts.ts";

export interface PlayerOptions extends Partial<Asker> {
	now?: () => number;
	sleep?: Sleep;
}

/** The words of a connection that broke. A host sees them, and the retry policy takes them for transient. */
export const cutText = "The stream ended before the reply was complete (connection terminated)";

/** One per process and script: it remembers which replies are used up. */
export class ScriptPlayer {
	#script: Script;
	#source: string;
	#asker: Asker;
	#now: () => number;
	#sleep: Sleep;
	#uses = new Map<Reply, number>();
	#requests = 0;
	#calls = 0;
	#asked = new AskedLength();

	/** `source` is how the script was named; errors repeat it. */
	constructor(script: Script, source: string, { agent = "main", depth = 0, now = Date.now, sleep = realSleep }: PlayerOptions = {}) {
		this.#script = script;
		this.#source = source;
		this.#asker = { agent, depth };
		this.#now = now;
		this.#sleep = sleep;
	}

	readonly stream: StreamFunction = async (request, options) => {
		const builder = new ReplyBuilder(request.model, this.#now(), options.onEvent);
		try {
			builder.start();
			await this.#answer(request, options, builder);
		} catch (error) {
			giveUp(builder, this.#source, error);
		}
	};

	async #answer(request: ModelRequest, options: StreamOptions, builder: ReplyBuilder): Promise<void> {
		const { signal } = options;
		if (signal.aborted) return builder.abort();
		const n = ++this.#requests;
		const reply = this.#take(request.messages);
		if (!reply) return builder.fail(this.#nothingLeft(n, request.messages), { kind: "permanent" });

		const pace = new Pace(options, this.#sleep, reply.pieceDelayMs);
		if (reply.delayMs) await pace.silence(reply.delayMs);
		const parts = partsOf(reply, factsOf(request.messages, n), () => `call_${++this.#calls}`);
		const openEnd = reply.cut === "mid-block" || reply.stall === "mid-block" ? parts.at(-1) : undefined;
		for (const part of parts) {
			if (!signal.aborted) await playPart(part, part === openEnd, builder, pace, signal);
			if (signal.aborted) return builder.abort();
		}
		if (reply.stall) await pace.untilAborted();
		if (signal.aborted) return builder.abort();
		finish(reply, parts, request, builder, this.#asked);
	}

	/** The first unused reply whose `when` holds. */
	#take(messages: readonly ModelMessage[]): Reply | undefined {
		const reply = this.#script.replies.find((reply) => this.#isLeft(reply) && holds(reply.when, messages, this.#asker));
		if (reply) this.#uses.set(reply, (this.#uses.get(reply) ?? 0) + 1);
		return reply;
	}

	#isLeft(reply: Reply): boolean {
		const times = reply.times ?? 1;
		return times === "always" || (this.#uses.get(reply) ?? 0) < times;
	}

	#nothingLeft(n: number, messages: readonly ModelMessage[]): string {
		const last = Array.from(textOf(messages.at(-1)).slice(0, 400).replace(/\s+/g, " "))
			.slice(0, 80)
			.join("");
		return `Script ${this.#source} has no reply left for request ${n} (last message: "${last}"). Add a reply, or set "times": "always" on one.`;
	}
}

async function playPart(part: Part, staysOpen: boolean, builder: ReplyBuilder, pace: Pace, signal: AbortSignal): Promise<void> {
	const index = builder.open(part.opening);
	const reader = part.opening.type === "toolCall" ? new ArgumentsReader() : undefined;
	for (const piece of part.pieces) {
		if (signal.aborted) return;
		const wait = pace.next();
		if (wait) {
			await wait;
			if (signal.aborted) return;
		}
		if (reader) builder.appendArguments(index, piece, reader.add(piece));
		else builder.append(index, piece);
	}
	if (!staysOpen && !signal.aborted) builder.close(index, reader?.end() ?? part.closing);
}

function finish(reply: Reply, parts: readonly Part[], request: ModelRequest, builder: ReplyBuilder, asked: AskedLength): void {
	const isBroken = Boolean(reply.cut || reply.fail);
	// The cost of a broken reply is unknown, unless the script states it.
	if (!isBroken || reply.usage) {
		const written = parts.reduce((sum, part) => part.pieces.reduce((length, piece) => length + piece.length, sum), 0);
		const estimate = isBroken ? { input: 0, output: 0 } : { input: tokensOf(asked.of(request)), output: tokensOf(written) };
		builder.set({ usage: priced({ ...estimate, cacheRead: 0, cacheWrite: 0, ...reply.usage }, request.model) });
	}
	if (reply.cut) builder.fail(cutText, classify(cutText));
	else if (reply.fail) builder.fail(failText(reply.fail), classify(reply.fail.body ?? "", reply.fail.status, reply.fail.retryAfterMs));
	else builder.done(reply.stop ?? (parts.some((part) => part.opening.type === "toolCall") ? "toolUse" : "stop"));
}

function failText({ status, body }: NonNullable<Reply["fail"]>): string {
	if (status === undefined) return body ?? "The provider failed";
	const words = body ?? STATUS_CODES[status];
	return words ? `${status} ${words}` : String(status);
}

/** A broken script or a listener that threw. The contract forbids to throw, and the listener may throw again. */
function giveUp(builder: ReplyBuilder, source: string, error: unknown): void {
	const reason = error instanceof Error ? error.message : String(error);
	try {
		builder.fail(`Script ${source} could not be played: ${reason}`, { kind: "permanent" });
	} catch (second) {
		process.emitWarning(second instanceof Error ? second : String(second));
	}
}
