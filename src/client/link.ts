/**
 * A session of a server, over sockets that may be lost. Whoever uses the link sees one connection: every frame that is kept comes once and in
 * order, and every command is answered once, because what had no answer is sent again with the same key.
 */

import { randomUUID } from "node:crypto";
import { commandAccess } from "../protocol/names.generated.ts";
import type { ErrorCode, RunError } from "../protocol/types.generated.ts";
import { type ServerAddress, ServerError } from "./server-address.ts";
import { type OpenSocket, openSocket } from "./web-socket.ts";

export interface LinkOptions {
	address: ServerAddress;
	session: string;
	mode: "read" | "write";
	/** What other clients see. */
	name?: string;
	takeover?: boolean;
	updates?: "delta" | "full";
	/** Questions that are open at the first connection come as if they were asked now, and no snapshot does. */
	asksAgain?: boolean;
	/** How long a lost connection is tried again. Default: for ever. */
	reconnectTimeoutMs?: number;
}

export type LinkFrame = { type: string } & Record<string, unknown>;

export interface LinkListener {
	frame(frame: LinkFrame): void;
	/** Once: the link was closed, the session was deleted, or the server refuses this client. */
	end(cause?: ServerError): void;
}

interface Command {
	command: string;
	/** Of the caller. */
	id: unknown;
	line: string;
	/** Of the run that it began. */
	runId?: string;
}

const firstDelayMs = 250;
const longestDelayMs = 10_000;
/** Failures after an acceptance come under the same id. */
const keptAnswered = 1000;
const keptResults = 200;
/** A goodbye that is not answered is not waited for. */
const goodbyeMs = 1000;
/** What a server takes as one message. */
const mostMessageBytes = 32 * 1024 * 1024;
const answers: ReadonlySet<string> = new Set(["extension_ui_response", "permission_response"]);
const controls: ReadonlySet<string> = new Set([...answers, "host_tool_result", "host_tool_update", "gate_response"]);
/** What a connection said about itself holds for that connection: the next one says it again. */
const ofConnection = ["hello", "set_event_filter", "set_host_tools"] as const;
/** Statuses that another attempt may change. */
const isPassing = (status: number) => status === 0 || status === 429 || status >= 500;

export class SessionLink {
	#options: LinkOptions;
	#listener: LinkListener;
	/** Under this name the server keeps the seat, and keys are this client's own. */
	readonly client = randomUUID();
	#session: string;
	#mode: "read" | "write";
	#takeover: boolean;
	#socket: OpenSocket | undefined;
	/** After `ready`, until the socket is lost. */
	#isUp = false;
	#wasUp = false;
	#isOver = false;
	#isClosing = false;
	#isPaused = false;
	/** The number of the last frame. */
	#cursor: number | undefined;
	#attempts = 0;
	/** When the connection was lost that is being tried again. */
	#lostAt: number | undefined;
	#timer: NodeJS.Timeout | undefined;
	#nextId = 1;
	#open = new Map<string, Command>();
	#answered = new Map<string, Command>();
	/** Lines without an answer that wait for a connection. */
	#waiting: string[] = [];
	/** The last successful one of each. */
	#said = new Map<string, Command>();
	/** Calls of host tools: the answer, or nothing while the tool runs. */
	#calls = new Map<string, string | undefined>();
	/** Answers to questions: one may be lost with its connection. */
	#answers = new Map<string, string>();
	/** The first connection has no cursor: a snapshot tells what is open. */
	#awaitsSnapshot = false;
	#isSubscribed = false;
	/** Approvals that were open at the first connection. */
	#approvals = new Map<string, LinkFrame>();
	#onEnd: (() => void)[] = [];

	constructor(options: LinkOptions, listener: LinkListener) {
		this.#options = options;
		this.#listener = listener;
		this.#session = options.session;
		this.#mode = options.mode;
		this.#takeover = options.takeover === true;
		void this.#connect();
	}

	/** How many commands have no answer. */
	get unanswered(): number {
		return this.#open.size;
	}

	/** One line of the protocol. */
	send(line: string): void {
		const frame = parsed(line);
		if (!frame || typeof frame.type !== "string") return this.#deliver(line);
		if (controls.has(frame.type)) {
			if (frame.type === "host_tool_result" && typeof frame.id === "string") this.#calls.set(frame.id, line);
			if (answers.has(frame.type) && typeof frame.id === "string") keep(this.#answers, frame.id, line, keptResults);
			return this.#deliver(line);
		}
		const wire = `${this.#nextId++}`;
		const { id, ...rest } = frame;
		// To read twice does no harm, and what was read need not be kept for a second time.
		const isRead = Object.hasOwn(commandAccess, frame.type) && commandAccess[frame.type as keyof typeof commandAccess] === "read";
		const key = isRead || "key" in rest ? {} : { key: `${this.client}:${wire}` };
		const command = { command: frame.type, id, line: JSON.stringify({ ...rest, ...key, id: wire }) };
		const size = Buffer.byteLength(command.line);
		if (size > mostMessageBytes) return this.#refuseLong(command, size);
		this.#open.set(wire, command);
		if (this.#isUp) this.#socket?.send(command.line);
	}

	/** Sent, it would close every connection. */
	#refuseLong({ command, id }: Command, size: number): void {
		const error = `The command has ${size} bytes, and a server takes at most ${mostMessageBytes} as one message. Send images in several prompts, or smaller.`;
		const response = { ...(id !== undefined && { id }), type: "response", command, success: false, error, code: "too_long" satisfies ErrorCode };
		queueMicrotask(() => (this.#isOver ? undefined : this.#listener.frame(response)));
	}

	/** Reads nothing while the reader of the frames is behind: the server waits, and skips what need not be kept. */
	pause(isPaused: boolean): void {
		this.#isPaused = isPaused;
		this.#socket?.pause?.(isPaused);
	}

	/** Leaves the session, which lives on. Resolves when the link is closed. */
	close(): Promise<void> {
		if (this.#isOver) return Promise.resolve();
		return new Promise((resolve) => {
			this.#onEnd.push(resolve);
			if (!this.#socket) return this.#end();
			this.#isUp = false;
			this.#isClosing = true;
			this.pause(false);
			this.#socket.close();
			clearTimeout(this.#timer);
			this.#timer = setTimeout(() => this.#end(), goodbyeMs);
		});
	}

	/** Without an answer: sent now, or with the next connection. */
	#deliver(line: string): void {
		if (this.#isUp) this.#socket?.send(line);
		else this.#waiting.push(line);
	}

	async #connect(): Promise<void> {
		const { address, name, updates } = this.#options;
		const query = new URLSearchParams({ mode: this.#mode, client: this.client });
		if (name !== undefined) query.set("name", name);
		if (updates === "full") query.set("updates", "full");
		if (this.#takeover && !this.#wasUp) query.set("takeover", "1");
		if (this.#cursor !== undefined) query.set("after", String(this.#cursor));
		// A filter that is said again on the connection comes after its first frames.
		const { events } = (parsed(this.#said.get("set_event_filter")?.line ?? "") ?? {}) as { events?: string[] | null };
		if (events) query.set("events", events.join(","));
		const path = `/v1/sessions/${encodeURIComponent(this.#session)}/socket?${query}`;
		let isClosed = false;
		const socket = await openSocket(address, path, {
			message: (text) => this.#receive(text),
			closed: (end) => {
				isClosed = true;
				this.#closed(end);
			},
		});
		if (isClosed) return;
		if (this.#isOver || this.#isClosing) return socket.close();
		this.#socket = socket;
		if (this.#isPaused) socket.pause?.(true);
		if (this.#isUp) this.#resume();
	}

	#receive(text: string): void {
		if (this.#isOver || this.#isClosing) return;
		const frame = parsed(text);
		if (!frame) return;
		const { seq } = frame;
		if (typeof seq === "number" && frame.type !== "snapshot") {
			if (this.#cursor !== undefined && seq <= this.#cursor) return;
			this.#cursor = seq;
		}
		switch (frame.type) {
			case "ready":
				return this.#onReady(frame);
			case "response":
				return this.#onResponse(frame);
			case "snapshot":
				this.#cursor = Math.max(this.#cursor ?? 0, Number(seq ?? 0));
				this.#answerAgain(frame);
				if (this.#isOwnSnapshot()) return this.#askAgain(frame);
				break;
			case "run_result":
				this.#failLate(frame);
				break;
			case "session_moved":
				// Readers stay with the old one. The new one has numbers of its own.
				if (frame.from !== this.#session || this.#mode === "read") break;
				this.#session = String(frame.to);
				this.#cursor = undefined;
				break;
			case "session_state":
				// A new process does not know the tools of this client.
				if (frame.state === "starting" && this.#isUp) this.#repeat("set_host_tools");
				break;
			case "seat":
				if (frame.held === false && frame.by !== undefined) this.#mode = "read";
				break;
			case "permission_resolved":
				this.#approvals.delete(String(frame.id));
				break;
			case "host_tool_call":
				if (this.#isKnownCall(String(frame.id))) return;
				break;
			case "host_tool_cancel":
				this.#calls.delete(String(frame.targetId));
				break;
		}
		this.#listener.frame(frame);
	}

	#onReady(frame: LinkFrame): void {
		this.#isUp = true;
		this.#attempts = 0;
		this.#lostAt = undefined;
		if (!this.#wasUp || this.#cursor === undefined) this.#cursor = Number(frame.asOf ?? 0);
		if (this.#wasUp) {
			if (this.#socket) this.#resume();
			return;
		}
		// A session that is busy sends whole messages from a snapshot on.
		this.#awaitsSnapshot = true;
		this.#isSubscribed = this.#options.updates === "full" && frame.state === "busy";
		if (this.#socket) this.#resume();
		this.#wasUp = true;
		this.#listener.frame(frame);
	}

	/** Says on a new connection what the previous one did not hear, or knew. */
	#resume(): void {
		if (this.#wasUp) for (const name of ofConnection) this.#repeat(name);
		else if (!this.#isSubscribed) this.#socket?.send('{"id":"again-subscribe","type":"subscribe"}');
		for (const { line } of this.#open.values()) this.#socket?.send(line);
		for (const line of this.#waiting.splice(0)) this.#socket?.send(line);
	}

	/** The answer is for no caller. */
	#repeat(name: (typeof ofConnection)[number]): void {
		const said = this.#said.get(name);
		if (!said || (name === "set_host_tools" && this.#mode === "read")) return;
		const { key: _, ...frame } = JSON.parse(said.line) as Record<string, unknown>;
		this.#socket?.send(JSON.stringify({ ...frame, id: `again-${name}` }));
	}

	#onResponse(frame: LinkFrame): void {
		const { id, ...rest } = frame;
		// Of a session that was just moved to: what was sent before is known.
		if (this.#cursor === undefined && typeof frame.asOf === "number") this.#cursor = frame.asOf;
		if (typeof id === "string" && id.startsWith("again-")) return;
		const wire = String(id);
		const command = this.#open.get(wire) ?? this.#answered.get(wire);
		if (!command) return this.#listener.frame(id === undefined ? frame : (rest as LinkFrame));
		const { data } = frame as { data?: { runId?: string } | null };
		if (frame.success !== true) delete command.runId;
		else if (typeof data?.runId === "string") command.runId = data.runId;
		if (this.#open.delete(wire)) {
			keep(this.#answered, wire, command, keptAnswered);
			if (frame.success === true && (ofConnection as readonly string[]).includes(command.command)) this.#said.set(command.command, command);
		}
		this.#listener.frame(command.id === undefined ? (rest as LinkFrame) : { ...frame, id: command.id });
		if (command.command === "hello") this.#askApprovals();
	}

	/** A prompt was refused after its acceptance, and that answer was lost with a connection: the result of its run tells it. */
	#failLate({ runId, error }: LinkFrame): void {
		const { kind, message, code } = (error ?? {}) as Partial<RunError>;
		if (kind !== "refused") return;
		for (const command of this.#answered.values()) {
			if (command.runId === undefined || command.runId !== runId) continue;
			delete command.runId;
			const { id, command: name } = command;
			this.#listener.frame({
				...(id !== undefined && { id }),
				type: "response",
				command: name,
				success: false,
				error: message,
				...(code && { code }),
			});
		}
	}

	/** Whether the host of a process would not have got it. */
	#isOwnSnapshot(): boolean {
		const isFirst = this.#awaitsSnapshot;
		this.#awaitsSnapshot = false;
		return isFirst && this.#options.asksAgain === true;
	}

	/** Approvals wait until the host has said that it knows them. */
	#askAgain({ live }: LinkFrame): void {
		for (const question of (live as { dialogs?: LinkFrame[] } | undefined)?.dialogs ?? []) {
			// A snapshot keeps approvals without their type.
			if (question.type === undefined) this.#approvals.set(String(question.id), { ...question, type: "permission_request" });
			else this.#listener.frame(question);
		}
		if (this.#said.has("hello")) this.#askApprovals();
	}

	#askApprovals(): void {
		const { capabilities } = (parsed(this.#said.get("hello")?.line ?? "") ?? {}) as { capabilities?: { permissions?: number } };
		if (capabilities?.permissions === undefined) return;
		for (const question of this.#approvals.values()) this.#listener.frame(question);
		this.#approvals.clear();
	}

	/** The server sends open calls again: a tool runs once. */
	#isKnownCall(id: string): boolean {
		const isKnown = this.#calls.has(id);
		const result = this.#calls.get(id);
		if (result !== undefined) this.#deliver(result);
		if (!isKnown) keep(this.#calls, id, undefined, keptResults);
		return isKnown;
	}

	/** A question that is still open although it was answered: the answer was lost with a connection. */
	#answerAgain({ live }: LinkFrame): void {
		for (const { id } of (live as { dialogs?: { id: string }[] } | undefined)?.dialogs ?? []) {
			const answer = this.#answers.get(id);
			if (answer !== undefined) this.#deliver(answer);
		}
	}

	#closed({ code, reason, refusal }: { code: number; reason: string; refusal?: ServerError }): void {
		if (this.#isOver) return;
		this.#socket = undefined;
		this.#isUp = false;
		if (this.#isClosing) return this.#end();
		if (refusal) return this.#refused(refusal);
		if (code === 1001) return this.#end(new ServerError(410, "session_deleted", `The session ${this.#session} was deleted`));
		if (code === 4403) return this.#end(new ServerError(401, "token", `The server closed the connection: ${reason || "the token is not valid"}`));
		this.#again("the connection is lost as soon as it is open");
	}

	#refused(refusal: ServerError): void {
		const { status, code } = refusal;
		if (code === "cursor_ahead" && this.#cursor !== undefined) {
			const from = this.#cursor;
			this.#cursor = undefined;
			this.#listener.frame({ type: "gap", from, to: from, reason: "log_missing", durableLost: true });
			return void this.#connect();
		}
		if (code === "seat_taken" && this.#wasUp) {
			// Another client took the seat while this one was away.
			this.#mode = "read";
			this.#listener.frame({ type: "seat", sessionId: this.#session, held: false, ...refusal.details });
			return void this.#connect();
		}
		if (!this.#wasUp || !isPassing(status)) return this.#end(refusal);
		this.#again(refusal.message);
	}

	#again(why: string): void {
		const { reconnectTimeoutMs = 0 } = this.#options;
		this.#lostAt ??= performance.now();
		if (reconnectTimeoutMs > 0 && performance.now() - this.#lostAt >= reconnectTimeoutMs)
			return this.#end(new ServerError(0, "unreachable", `The connection did not come back within ${reconnectTimeoutMs} ms: ${why}`));
		const delay = Math.min(firstDelayMs * 2 ** this.#attempts++, longestDelayMs);
		this.#timer = setTimeout(() => void this.#connect(), delay * (0.5 + Math.random() / 2));
	}

	#end(cause?: ServerError): void {
		if (this.#isOver) return;
		this.#isOver = true;
		clearTimeout(this.#timer);
		this.#socket?.close();
		this.#listener.end(cause);
		for (const then of this.#onEnd.splice(0)) then();
	}
}

/** The oldest goes when there are too many. */
function keep<Value>(kept: Map<string, Value>, key: string, value: Value, most: number): void {
	kept.set(key, value);
	if (kept.size > most) kept.delete(kept.keys().next().value as string);
}

function parsed(line: string): LinkFrame | undefined {
	try {
		const value: unknown = JSON.parse(line);
		return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as LinkFrame) : undefined;
	} catch {
		return undefined;
	}
}
