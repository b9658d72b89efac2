/** Lines in, frames out: parse, lane, handle, answer. The only place where an error becomes `success: false`. */
import { isCommandError } from "../lib/command-error.ts";
import { toLine } from "../lib/jsonl.ts";
import type { Call, Handlers } from "../live/commands/contract.ts";
import type { CommandName } from "../protocol/commands/index.ts";
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
import type { Answer, Dialect, PromptStory } from "./dialects/dialect.ts";
import type { FrameWriter, LongFrame } from "./stdio.ts";

interface Job {
	/** Starts the work; a promise only if it takes its time. */
	run: () => void | Promise<void>;
	/** Whether the jobs behind it wait for its end. */
	holdsLane: boolean;
	size: number;
}

/** Above this many bytes of commands that have not started and of answers that wait, stdin is paused. */
const maxUnhandled = 32 * 1024 * 1024;
/** What a command costs while it waits, beside its text. */
const jobOverhead = 256;

/** Shorter answers are made as a whole. */
const longFrom = 256 * 1024;

export interface ServerOptions {
	handlers: Handlers;
	writer: FrameWriter;
	dialect: Dialect;
	/** Answers that are too long to be made as a whole: the name of the only member of their data, and its JSON in parts. */
	long?: { [Name in CommandName]?: () => { member: string } & LongFrame };
	onControl: (frame: ControlFrame) => void;
	/** Asks the reader of stdin to pause or to go on. */
	pauseInput: (paused: boolean) => void;
}

export class Server {
	#options: ServerOptions;
	#jobs: Job[] = [];
	#isLaneHeld = false;
	#isPumping = false;
	#isWaitingForRoom = false;
	#unhandled = 0;
	#isPaused = false;
	#open = new Set<Promise<void>>();
	/** Counts frames as they are read. */
	#sequence = 0;
	/** The last abort of each kind that was read: what was read before it must not start any more. */
	#abortedBefore = { abort: 0, abort_bash: 0 };

	constructor(options: ServerOptions) {
		this.#options = options;
	}

	receive(line: string): void {
		const frame = parseInbound(line);
		if (frame.kind === "failure") return this.#fail(frame, line.length);
		if (frame.kind === "control") return this.#options.onControl(frame.frame);
		const sequence = ++this.#sequence;
		if (frame.lane === "interrupt") {
			if (frame.name === "abort" || frame.name === "abort_and_prompt") this.#abortedBefore.abort = sequence;
			if (frame.name === "abort_bash") this.#abortedBefore.abort_bash = sequence;
			this.#track(this.#handle(frame, sequence));
			return;
		}
		this.#enqueue({ run: () => this.#handle(frame, sequence), holdsLane: frame.lane === "serial", size: line.length });
	}

	/** Serial and background commands wait for this. */
	hold(until: Promise<void>): void {
		this.#enqueue({ run: () => until, holdsLane: true, size: 0 });
	}

	receiveTooLong(limit: number): void {
		this.#fail(parseFailure(`line longer than ${limit} bytes`), 0);
	}

	/** No prompt that was read may start any more; resolves when every command has been answered. */
	async finish(): Promise<void> {
		this.#abortedBefore = { abort: Number.POSITIVE_INFINITY, abort_bash: Number.POSITIVE_INFINITY };
		while (this.#jobs.length || this.#open.size) {
			this.#pump();
			await (this.#open.size ? Promise.race(this.#open) : this.#options.writer.whenOpen());
		}
	}

	/** Answers a line that is no command; in its turn when the host is behind, so that such lines are bounded like all others. */
	#fail({ id, hidesId, command, error }: ParseFailure, size: number): void {
		const told = hidesId && !this.#options.dialect.echoesIds ? undefined : id;
		const run = () => this.#answer(told, command, { error });
		if (this.#options.writer.isOpen) run();
		else this.#enqueue({ run, holdsLane: true, size });
	}

	#enqueue(job: Job): void {
		this.#jobs.push(job);
		this.#count(job.size + jobOverhead);
		this.#pump();
	}

	#pump(): void {
		if (this.#isPumping) return;
		this.#isPumping = true;
		let done = 0;
		while (done < this.#jobs.length && !this.#isLaneHeld && this.#hasRoom()) {
			const job = this.#jobs[done++] as Job;
			this.#count(-job.size - jobOverhead);
			const work = job.run();
			if (!work) continue;
			this.#track(work);
			if (!job.holdsLane) continue;
			this.#isLaneHeld = true;
			void work.then(() => {
				this.#isLaneHeld = false;
				this.#pump();
			});
		}
		if (done) this.#jobs = this.#jobs.slice(done);
		this.#isPumping = false;
	}

	/** Whether another command may start now; if not, the lane goes on when the host has read enough. */
	#hasRoom(): boolean {
		const { writer } = this.#options;
		if (writer.isOpen) return true;
		if (!this.#isWaitingForRoom) {
			this.#isWaitingForRoom = true;
			void writer.whenOpen().then(() => {
				this.#isWaitingForRoom = false;
				this.#pump();
			});
		}
		return false;
	}

	#count(bytes: number): void {
		this.#unhandled += bytes;
		const { writer, pauseInput } = this.#options;
		const mustPause = this.#unhandled + writer.waiting > maxUnhandled;
		if (mustPause === this.#isPaused) return;
		this.#isPaused = mustPause;
		pauseInput(mustPause);
		// Answers that wait leave without a command's doing: look again when there is room.
		if (mustPause) void writer.whenOpen().then(() => this.#count(0));
	}

	#track(work: void | Promise<void>): void {
		if (!work) return;
		this.#open.add(work);
		void work.then(() => this.#open.delete(work));
	}

	/** Runs a handler and answers. Synchronous as long as the handler is. */
	#handle({ id, name, params }: CommandFrame, sequence: number): void | Promise<void> {
		const afterwards: (() => void)[] = [];
		const answer: Answer = (outcome) => this.#answer(id, name, outcome);
		let story: PromptStory | undefined;
		const call: Call = {
			id,
			afterResponse: (then) => void afterwards.push(then),
			goOn: (begin) => {
				const { accepted, begun, refused } = this.#options.dialect.prompt?.(id, answer) ?? plainStory(answer);
				story = { accepted, refused };
				const goOn = async () => {
					const refusal = await begin(begun);
					if (refusal) refused(refusal);
				};
				afterwards.push(() => this.#track(goOn().catch((error) => this.#refuse(id, name, error))));
			},
			isAborted: (by = "abort") => sequence < this.#abortedBefore[by],
			inSerialLane: (work) => this.inTurn(work),
		};
		const succeed = (data: unknown) => {
			if (story) story.accepted(data);
			else answer({ data });
			for (const then of afterwards) then();
		};
		try {
			const long = this.#options.dialect.frames ? undefined : this.#options.long?.[name]?.();
			if (long && long.size > longFrom) return this.#answerLong(id, name, long);
			const handler = this.#options.handlers[name] as (params: unknown, call: Call) => unknown;
			const result = handler(params, call);
			if (!(result instanceof Promise)) return succeed(result);
			return result.then(succeed).catch((error) => this.#refuse(id, name, error));
		} catch (error) {
			this.#refuse(id, name, error);
		}
	}

	/** Runs work in its turn among the serial commands. */
	inTurn<T>(work: () => Promise<T>): Promise<T> {
		return new Promise((resolve, reject) => {
			const run = async () => {
				// The lane goes on behind this work whether it succeeds or not; who asked for it hears of both.
				await work().then(resolve, reject);
			};
			this.#enqueue({ run, holdsLane: true, size: 0 });
		});
	}

	#refuse(id: RequestId | undefined, name: CommandName, error: unknown): void {
		if (isCommandError(error)) return this.#answer(id, name, { error: error.message, code: error.code });
		console.error(`bowline: ${name} failed unexpectedly:`, error);
		const message = error instanceof Error ? error.message : String(error);
		if (this.#options.dialect.echoesIds) return this.#answer(id, name, { error: message });
		const { command, error: text } = parseFailure(message);
		this.#answer(undefined, command, { error: text });
	}

	#answerLong(id: RequestId | undefined, command: string, { member, size, parts }: { member: string } & LongFrame): void {
		const head = toLine({ id, type: "response", command, success: true, data: {} }).slice(0, -2);
		const { writer } = this.#options;
		writer.write({ size, parts: enclosed(`${head}${JSON.stringify(member)}:`, parts, "}}") });
		if (!writer.isOpen) this.#count(0);
	}

	#answer(id: RequestId | undefined, command: string, outcome: { data?: unknown } | { error: string; code?: string }): void {
		const isFailure = "error" in outcome;
		const response: Response = { id, type: "response", command, success: !isFailure, ...outcome };
		const { writer, dialect } = this.#options;
		for (const line of linesOf(dialect.frames?.(response) ?? [response], command)) writer.write(line);
		if (!writer.isOpen) this.#count(0);
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

/** Accepted at once; a refusal comes behind that, with the same id. */
function plainStory(answer: Answer): PromptStory {
	return { accepted: (data) => answer({ data }), refused: (error) => answer({ error }) };
}
