/** Lines in, frames out: parse, hand to the live session, answer. The only place where an error becomes `success: false`. */
import { isCommandError } from "../lib/command-error.ts";
import { toLine } from "../lib/jsonl.ts";
import type { Log } from "../lib/log.ts";
import type { Dispatch, Replies } from "../live/dispatch.ts";
import type { Lanes } from "../live/lanes.ts";
import type { Response } from "../protocol/events.ts";
import {
	type CommandFrame,
	type ControlFrame,
	type OutboundFrame,
	type ParseFailure,
	parseFailure,
	parseInbound,
	type RequestId,
} from "../protocol/frames.ts";
import type { Answer, Dialect, PromptReplies } from "./dialects/dialect.ts";
import { LongAnswer } from "./long-answers.ts";
import type { FrameWriter } from "./stdio.ts";

export interface ServerParts {
	commands: Pick<Dispatch, "receive">;
	lanes: Lanes;
	writer: FrameWriter;
	dialect: Dialect;
	onControl: (frame: ControlFrame) => void;
	log: Log;
}

export class Server {
	#parts: ServerParts;

	constructor(parts: ServerParts) {
		this.#parts = parts;
	}

	receive(line: string): void {
		const frame = parseInbound(line);
		if (frame.kind === "failure") return this.#fail(frame, line.length);
		if (frame.kind === "control") return this.#parts.onControl(frame.frame);
		this.#parts.commands.receive(frame, this.#replies(frame), line.length);
	}

	receiveTooLong(limit: number): void {
		this.#fail(parseFailure(`line longer than ${limit} bytes`), 0);
	}

	/** Answers a line that is not a command. If the host reads slowly, the answer waits its turn, so that such lines are bounded like all others. */
	#fail({ id, hidesId, command, error }: ParseFailure, size: number): void {
		const { dialect, writer, lanes } = this.#parts;
		const told = hidesId && !dialect.echoesIds ? undefined : id;
		const answer = () => this.#answer(told, command, { error });
		if (writer.isOpen) answer();
		else lanes.enqueue(answer, true, size);
	}

	#replies({ id, name }: CommandFrame): Replies {
		const answer: Answer = (outcome) => this.#answer(id, name, outcome);
		let replies: PromptReplies | undefined;
		/** Made for prompts only. */
		const prompt = () => {
			replies ??= this.#parts.dialect.prompt?.(id, answer) ?? plainReplies(answer);
			return replies;
		};
		return {
			succeed: (data) => (data instanceof LongAnswer ? this.#answerLong(id, name, data) : answer({ data })),
			accept: (data) => prompt().accept(data),
			get onDisposition() {
				return prompt().onDisposition;
			},
			refuse: (refusal) => prompt().refuse(refusal),
			fail: (error) => this.#refuse(id, name, error),
		};
	}

	#refuse(id: RequestId | undefined, name: string, error: unknown): void {
		if (isCommandError(error)) return this.#answer(id, name, { error: error.message, code: error.code });
		this.#parts.log.error(`${name} failed unexpectedly`, error);
		this.#answer(id, name, { error: error instanceof Error ? error.message : String(error) });
	}

	#answerLong(id: RequestId | undefined, command: string, { member, json }: LongAnswer): void {
		const head = toLine({ id, type: "response", command, success: true, data: {} }).slice(0, -2);
		const { writer, lanes } = this.#parts;
		writer.write({ size: json.size, parts: enclosed(`${head}${JSON.stringify(member)}:`, json.parts, "}}") });
		if (!writer.isOpen) lanes.weigh();
	}

	#answer(id: RequestId | undefined, command: string, outcome: { data?: unknown } | { error: string; code?: string }): void {
		const isFailure = "error" in outcome;
		const response: Response = { id, type: "response", command, success: !isFailure, ...outcome };
		const { writer, dialect, lanes } = this.#parts;
		for (const line of linesOf(dialect.frames?.(response) ?? [response], command)) writer.write(line);
		if (!writer.isOpen) lanes.weigh();
	}
}

function* enclosed(before: string, parts: Iterable<Uint8Array>, after: string): Generator<Uint8Array> {
	yield Buffer.from(before);
	yield* parts;
	yield Buffer.from(after);
}

function linesOf(frames: readonly OutboundFrame[], command: string): string[] {
	try {
		return frames.map(toLine);
	} catch (error) {
		// No string is longer than half a gigabyte.
		if (!(error instanceof RangeError)) throw error;
		const text = `${command}: the answer is too large for one line. Ask for less of it, as with get_messages_page or get_entries since an entry.`;
		return frames.map(({ data: _, ...frame }: OutboundFrame & { data?: unknown }) => toLine({ ...frame, success: false, error: text }));
	}
}

/** Accepted at once; a refusal comes after that, with the same id. */
function plainReplies(answer: Answer): PromptReplies {
	return { accept: (data) => answer({ data }), refuse: ({ text }) => answer({ error: text }) };
}
