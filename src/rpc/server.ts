/** Lines in, frames out: parse, hand to the live session, answer. The only place where an error becomes `success: false`. */

import { toLine } from "../lib/jsonl.ts";
import type { Log } from "../lib/log.ts";
import { didYouMean } from "../lib/nearest.ts";
import type { Dispatch, Replies } from "../live/dispatch.ts";
import type { Lanes } from "../live/lanes.ts";
import { isCommandError } from "../protocol/command-error.ts";
import type { Response } from "../protocol/events.ts";
import { type CommandFrame, type ControlFrame, type ParseFailure, parseFailure, parseInbound, type RequestId } from "../protocol/frames.ts";
import { checks } from "../protocol/inbound.generated.ts";
import type { Refusal } from "../session/refusal.ts";
import type { Answer, Dialect, PromptReplies } from "./dialects/dialect.ts";
import { LongAnswer } from "./long-answers.ts";
import type { FrameWriter } from "./stdio.ts";

export interface ServerParts {
	commands: Pick<Dispatch, "receive">;
	lanes: Pick<Lanes, "enqueue" | "weigh">;
	writer: FrameWriter;
	dialect: Dialect;
	/** All frames up to this number have been written. Nothing where frames have none. */
	asOf?: () => number | undefined;
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
		this.#parts.commands.receive(frame, new CommandReplies(this, this.#parts.dialect, frame), line.length);
	}

	receiveTooLong(limit: number): void {
		this.#fail(parseFailure(`line longer than ${limit} bytes`), 0);
	}

	/** Answers a line that is not a command. If the host reads slowly, the answer waits its turn, so that such lines are bounded like all others. */
	#fail({ id, hidesId, command, error, code, hint: given }: ParseFailure, size: number): void {
		const { dialect, writer, lanes } = this.#parts;
		const told = hidesId && !dialect.echoesIds ? undefined : id;
		// Only the answer to an unknown name hides its id.
		const hint = given ?? (hidesId ? didYouMean(command, Object.keys(checks)).trim() || undefined : undefined);
		const answer = () => this.answer(told, command, { error, code, hint });
		if (writer.isOpen) answer();
		else lanes.enqueue(answer, true, size);
	}

	refuse(id: RequestId | undefined, name: string, error: unknown): void {
		if (isCommandError(error)) return this.answer(id, name, { error: error.message, code: error.code, hint: error.hint });
		this.#parts.log.error(`${name} failed unexpectedly`, error);
		this.answer(id, name, { error: error instanceof Error ? error.message : String(error), code: "internal" });
	}

	answerLong(id: RequestId | undefined, command: string, { member, json }: LongAnswer): void {
		const { writer, lanes } = this.#parts;
		writer.write({ size: json.size, parts: enclosed(`${headOf(id, command, this.#parts.asOf?.())}{${JSON.stringify(member)}:`, json.parts, "}}") });
		if (!writer.isOpen) lanes.weigh();
	}

	answer(id: RequestId | undefined, command: string, outcome: Outcome): void {
		const { writer, dialect, lanes } = this.#parts;
		const isFailure = "error" in outcome;
		const asOf = this.#parts.asOf?.();
		const response: Response = { ...(asOf !== undefined && { asOf }), id, type: "response", command, success: !isFailure, ...outcome };
		let lines: string[];
		try {
			lines = (dialect.frames?.(response) ?? [response]).map(toLine);
		} catch (error) {
			// No string is longer than half a gigabyte.
			if (!(error instanceof RangeError)) throw error;
			return this.answer(id, command, { error: tooLargeText(command), code: "frame_too_large" });
		}
		for (const line of lines) writer.write(line);
		if (!writer.isOpen) lanes.weigh();
	}
}

type Outcome = Parameters<Answer>[0];

/** Made for every command, so it is one small object without closures. */
class CommandReplies implements Replies {
	#server: Server;
	#dialect: Dialect;
	#id: RequestId | undefined;
	#name: string;
	#prompt: PromptReplies | undefined;

	constructor(server: Server, dialect: Dialect, { id, name }: CommandFrame) {
		this.#server = server;
		this.#dialect = dialect;
		this.#id = id;
		this.#name = name;
	}

	succeed(data: unknown): void {
		if (data instanceof LongAnswer) this.#server.answerLong(this.#id, this.#name, data);
		else this.#server.answer(this.#id, this.#name, { data });
	}

	accept(data: unknown): void {
		this.#replies.accept(data);
	}

	get onDisposition(): PromptReplies["onDisposition"] {
		return this.#replies.onDisposition;
	}

	refuse(refusal: Refusal): void {
		this.#replies.refuse(refusal);
	}

	fail(error: unknown): void {
		this.#server.refuse(this.#id, this.#name, error);
	}

	/** Made for prompts only. */
	get #replies(): PromptReplies {
		if (!this.#prompt) {
			const answer: Answer = (outcome) => this.#server.answer(this.#id, this.#name, outcome);
			this.#prompt = this.#dialect.prompt?.(this.#id, answer) ?? plainReplies(answer);
		}
		return this.#prompt;
	}
}

/** A successful response up to its data. */
function headOf(id: RequestId | undefined, command: string, asOf: number | undefined): string {
	return `{${asOf === undefined ? "" : `"asOf":${asOf},`}${id === undefined ? "" : `"id":${toLine(id)},`}"type":"response","command":"${command}","success":true,"data":`;
}

function* enclosed(before: string, parts: Iterable<Uint8Array>, after: string): Generator<Uint8Array> {
	yield Buffer.from(before);
	yield* parts;
	yield Buffer.from(after);
}

const tooLargeText = (command: string) =>
	`${command}: the answer is too large for one line. Ask for less of it, as with get_messages_page or get_entries since an entry.`;

/** Accepted at once; a refusal comes after that, with the same id. */
function plainReplies(answer: Answer): PromptReplies {
	return { accept: (data) => answer({ data }), refuse: ({ text, code }) => answer({ error: text, code }) };
}
