/** The host of `bowline attach`: what the server sends goes to stdout as an agent of this process would write it, in the host's dialect. */

import type { LinkFrame, LinkListener, SessionLink } from "../client/link.ts";
import type { ServerError } from "../client/server-address.ts";
import { toLine } from "../lib/jsonl.ts";
import { stderrLog } from "../lib/log.ts";
import { printable } from "../lib/printable.ts";
import type { Replies } from "../live/dispatch.ts";
import { CommandError } from "../protocol/command-error.ts";
import type { ErrorCode } from "../protocol/errors.ts";
import type { AgentEvent } from "../protocol/events.ts";
import type { Options } from "../protocol/flags.ts";
import type { CommandFrame, OutboundFrame } from "../protocol/frames.ts";
import type { Dialect } from "../rpc/dialects/dialect.ts";
import { classic, loadDialect } from "../rpc/dialects/index.ts";
import { EventWriter, type UpdateMode } from "../rpc/event-writer.ts";
import { Server } from "../rpc/server.ts";
import { FrameWriter, type OutputStream } from "../rpc/stdio.ts";
import { MissedSteps } from "./missed-steps.ts";

/** Frames between a client and a server. A host of a process does not know them. */
const ofServers: ReadonlySet<string> = new Set([
	"gap",
	"snapshot",
	"session_state",
	"session_moved",
	"session_added",
	"session_removed",
	"seat",
	"draining",
	"run_result",
]);
/** Not events, and never filtered. */
const requests: ReadonlySet<string> = new Set(["extension_ui_request", "host_tool_call", "host_tool_cancel", "gate_request"]);
const prompts: ReadonlySet<string> = new Set(["prompt", "abort_and_prompt"]);
/** What a dialect serves itself, without a session. */
const ofDialects: ReadonlySet<string> = new Set(["negotiate_protocol", "set_fast_mode", "set_host_uri_schemes"]);
/** How long answers to what was sent before the end of stdin may take. */
const detachMs = 30_000;
const keptReplies = 1000;

interface Asked {
	name: string;
	replies: Replies;
	isAccepted: boolean;
	/** Of a prompt that was accepted: what to say when its run begins. */
	begin?: () => void;
}

export class AttachedHost implements LinkListener {
	#options: Options;
	#exit: (code: number) => void;
	#writer: FrameWriter;
	#events: EventWriter;
	#dialect: Dialect = classic;
	#server: Server;
	#link: SessionLink | undefined;
	#nextId = 1;
	#asked = new Map<string, Asked>();
	#open = new Set<string>();
	#isLeaving = false;
	#isReady = false;
	#missed = new MissedSteps();
	/** The host's event filter lets updates through. */
	#wantsUpdates = true;
	#onQuiet: (() => void) | undefined;
	readonly updates: UpdateMode;

	static async open(output: OutputStream, options: Options, exit: (code: number) => void): Promise<AttachedHost> {
		let host: AttachedHost | undefined;
		const writer = new FrameWriter(output, () => exit(1));
		const voice = {
			writer,
			...(options.updates !== undefined && { updates: options.updates as UpdateMode }),
			tell: (frame: OutboundFrame) => host?.tell(frame),
		};
		const dialect = options.dialect === undefined ? classic : await loadDialect(options.dialect, voice);
		host = new AttachedHost(writer, dialect, options, exit);
		return host;
	}

	private constructor(writer: FrameWriter, dialect: Dialect, options: Options, exit: (code: number) => void) {
		this.#writer = writer;
		this.#dialect = dialect;
		this.#options = options;
		this.#exit = exit;
		this.updates = (options.updates as UpdateMode | undefined) ?? dialect.updates;
		this.#events = new EventWriter(writer, this.updates, () => performance.now(), dialect.frames);
		this.#server = new Server({
			commands: { receive: (frame, replies) => this.#forward(frame, replies) },
			lanes: { enqueue: (run) => void run(), weigh: () => this.#weigh() },
			writer,
			dialect,
			onControl: (frame) => this.#link?.send(toLine(frame)),
			log: stderrLog(),
		});
	}

	start(link: SessionLink): void {
		this.#link = link;
	}

	tell(frame: OutboundFrame): void {
		this.#events.tell(frame);
	}

	// ─── From the host ───

	receive(line: string): void {
		this.#server.receive(line);
	}

	receiveTooLong(limit: number): void {
		this.#server.receiveTooLong(limit);
	}

	#forward(frame: CommandFrame, replies: Replies): void {
		const { name, params } = frame;
		if (ofDialects.has(name) && this.#dialect.handlers) return this.#serveHere(frame, replies);
		const id = String(this.#nextId++);
		this.#asked.set(id, { name, replies, isAccepted: false });
		this.#open.add(id);
		if (this.#asked.size > keptReplies) this.#forgetOldest();
		const isFull = name === "get_state" && this.#options.dialect === "omp";
		this.#link?.send(toLine({ ...params, ...(isFull && { full: true }), id }));
	}

	#forgetOldest(): void {
		for (const id of this.#asked.keys()) {
			if (this.#open.has(id)) continue;
			this.#asked.delete(id);
			return;
		}
	}

	/** These need no session: the dialect keeps what they say. */
	#serveHere({ name, params }: CommandFrame, replies: Replies): void {
		const handlers = this.#dialect.handlers?.({} as never, {} as never) as Record<string, ((params: unknown, call: unknown) => unknown) | undefined>;
		let after: (() => void) | undefined;
		try {
			const data = handlers[name]?.(params, { afterResponse: (then: () => void) => (after = then) });
			replies.succeed(data);
			after?.();
		} catch (error) {
			replies.fail(error);
		}
	}

	/** The host closed stdin: the session lives on. */
	async detach(): Promise<void> {
		if (this.#isLeaving) return;
		// What was asked is answered, except what takes its time.
		const isWaiting = () => !this.#isReady || [...this.#open].some((id) => !slow.has(this.#asked.get(id)?.name ?? ""));
		if (isWaiting())
			await new Promise<void>((resolve) => {
				this.#onQuiet = () => (isWaiting() ? undefined : resolve());
				setTimeout(resolve, detachMs).unref();
			});
		await this.leave(0);
	}

	async leave(code: number): Promise<void> {
		if (this.#isLeaving) return;
		this.#isLeaving = true;
		await this.#link?.close();
		this.#events.flush();
		if (code === 0) await Promise.race([this.#writer.drained(), this.#writer.stuck(2000, () => false)]);
		this.#exit(code);
	}

	// ─── From the server ───

	frame(given: LinkFrame): void {
		const frame = this.#options.seq ? given : withoutNumbers(given);
		const { type } = frame;
		if (type === "response") return this.#answer(frame);
		if (type === "ready") return this.#ready(frame);
		if (type === "agent_start" || type === "agent_end" || type === "agent_settled") this.#begin();
		const missed = this.#missed.before(frame as unknown as OutboundFrame);
		if (this.#wantsUpdates) for (const update of missed) this.#events.write(update as AgentEvent);
		if (ofServers.has(type) && !this.#options.seq) return;
		if (requests.has(type)) this.#events.send(frame as unknown as OutboundFrame);
		else this.#events.write(frame as unknown as AgentEvent);
		this.#weigh();
	}

	/** The link is over: the session was deleted, or the server refuses. */
	end(cause?: ServerError): void {
		if (this.#isLeaving) return;
		if (cause) process.stderr.write(`Error: ${printable(wordsOf(cause))}\n`);
		this.#isLeaving = true;
		this.#events.flush();
		void Promise.race([this.#writer.drained(), this.#writer.stuck(2000, () => false)]).then(() => this.#exit(cause ? 1 : 0));
	}

	#ready({ version, protocol, cwd, capabilities, ...more }: LinkFrame): void {
		this.#isReady = true;
		this.#onQuiet?.();
		if (!this.#dialect.ready || this.#options["no-ready"]) return;
		const numbers = this.#options.seq ? { sessionId: more.sessionId, epoch: more.epoch, asOf: more.asOf } : {};
		this.#writer.write(toLine({ type: "ready", version, protocol, cwd, capabilities, ...numbers, ...this.#dialect.ready }));
	}

	#answer(response: LinkFrame): void {
		const { id, success, data, error, code, hint } = response as LinkFrame & { data?: Record<string, unknown> };
		const asked = this.#asked.get(String(id));
		// Such as an extension that could not send.
		if (!asked) return this.#events.send(response as unknown as OutboundFrame);
		this.#events.flush();
		const { name, replies } = asked;
		if (success === true) {
			if (name === "set_event_filter") this.#wantsUpdates = hasUpdates(data?.events as string[] | null | undefined);
			if (prompts.has(name)) this.#accept(asked, data);
			else replies.succeed(name === "get_state" ? this.#stateOf(data) : data);
		} else if (asked.isAccepted) {
			delete asked.begin;
			replies.refuse({ text: String(error), code: (code ?? "failed") as ErrorCode });
		} else replies.fail(new CommandError((code ?? "failed") as ErrorCode, String(error), hint as string | undefined));
		if (this.#open.delete(String(id))) this.#onQuiet?.();
	}

	/** Some dialects answer when it is known what became of a prompt. Where a run begins, that is its beginning or a failure. */
	#accept(asked: Asked, data: Record<string, unknown> | undefined): void {
		asked.isAccepted = true;
		asked.replies.accept(data);
		const disposition = (data?.disposition ?? "started") as "started" | "queued" | "handled";
		const say = () => asked.replies.onDisposition?.(disposition, []);
		if (disposition === "started") asked.begin = say;
		else say();
	}

	#begin(): void {
		for (const asked of this.#asked.values()) {
			if (!asked.begin) continue;
			asked.begin();
			delete asked.begin;
		}
	}

	/** Hosts of some dialects expect more, or cannot do without a model. */
	#stateOf(state: Record<string, unknown> | undefined): unknown {
		if (!state || this.#options.dialect !== "omp") return state;
		const { model, ...rest } = state;
		const more = { fastModeEnabled: false, fastModeActive: false, tokensPerSecond: null, hasPendingAsyncWork: false, isSettled: !state.isStreaming };
		return { ...rest, ...(model ? { model } : {}), ...more };
	}

	#weigh(): void {
		if (this.#writer.isOpen) return;
		this.#link?.pause(true);
		void this.#writer.whenOpen().then(() => this.#link?.pause(false));
	}
}

/** What the server says, and what to do about it here. */
export function wordsOf({ status, code, message }: ServerError): string {
	const remedy =
		code === "seat_taken"
			? "--takeover takes it; --read watches."
			: status === 401
				? "Name the file of a valid token with --token-file, or set BOWLINE_SERVE_TOKEN."
				: code === "no_session"
					? "--new creates one."
					: undefined;
	return remedy ? `${message.replace(/([^.])$/, "$1.")} ${remedy}` : message;
}

/** A star at the end of a name stands for any characters. */
const hasUpdates = (names: readonly string[] | null | undefined) =>
	!names || names.some((name) => name === "message_update" || (name.endsWith("*") && "message_update".startsWith(name.slice(0, -1))));

const slow: ReadonlySet<string> = new Set(["bash", "compact", "abort", "abort_and_prompt"]);

/** What numbers add to the frames. */
function withoutNumbers({ seq: _, asOf: __, epoch: ___, ...frame }: LinkFrame): LinkFrame {
	if (frame.type === "agent_start" || frame.type === "agent_end") delete frame.runId;
	const { data } = frame;
	if (frame.type !== "response" || typeof data !== "object" || data === null || !("runId" in data || "duplicate" in data)) return frame as LinkFrame;
	const { runId: ____, duplicate: _____, ...rest } = data as Record<string, unknown>;
	return { ...frame, data: rest } as LinkFrame;
}
