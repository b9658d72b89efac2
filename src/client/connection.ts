/** One agent from start to end: sorts its frames, and ensures that no caller waits for an agent that is gone. */
import { toLine } from "../lib/jsonl.ts";
import type { Snapshot } from "../protocol/types.generated.ts";
import type { Channel, Exit, Frame, OpenChannel } from "./channel.ts";
import { type CustomTool, ToolCalls } from "./custom-tools.ts";
import { type DialogHandler, Dialogs } from "./dialogs.ts";
import { ExitError, TimeoutError } from "./errors.ts";
import { type GateHandler, Gates } from "./gates.ts";
import type { Listeners } from "./listeners.ts";
import { type PermissionHandler, Permissions } from "./permissions.ts";
import { type RequestOptions, Requests } from "./requests.ts";
import { after } from "./timer.ts";

export interface ConnectionParts {
	open: OpenChannel;
	listeners: Listeners;
	newId: () => string;
	tool: (name: string) => CustomTool | undefined;
	dialogHandler: () => DialogHandler | undefined;
	permissionHandler: () => PermissionHandler | undefined;
	gateHandler: () => GateHandler | undefined;
	/** Receives the errors that the host's own code throws. */
	report: (error: unknown) => void;
}

const keptQuestions = 1000;

/** Sees every frame and the end, in order, before the listeners do. */
export interface Observer {
	frame(frame: Frame): void;
	exit(exit: Exit): void;
}

export class Connection {
	#parts: ConnectionParts;
	#channel: Channel;
	#requests: Requests;
	#tools: ToolCalls;
	#dialogs: Dialogs;
	#permissions: Permissions;
	#gates: Gates;
	#observers = new Set<Observer>();
	/** Questions that were asked of this client. */
	#asked = new Set<string>();
	/** Those that were open before it came and have no handler yet. */
	#missed = new Map<string, Frame>();
	#exit: Exit | undefined;
	#isClosing = false;
	readonly exited: Promise<Exit>;

	constructor(parts: ConnectionParts) {
		this.#parts = parts;
		const send = (frame: object) => this.#channel.send(toLine(frame));
		this.#requests = new Requests((line) => this.#channel.send(line), parts.newId);
		this.#tools = new ToolCalls(parts.tool, send);
		this.#dialogs = new Dialogs(send, parts.report);
		this.#permissions = new Permissions(send, parts.report);
		this.#gates = new Gates(send, parts.report);
		this.exited = new Promise((resolve) => this.observe({ frame: () => undefined, exit: resolve }));
		this.#channel = parts.open({
			frame: (frame) => this.#receive(frame),
			tooLong: (limit) =>
				this.#requests.fail((command) => new Error(`${command}: the agent sent a frame of more than ${limit} bytes, which was dropped`)),
			exit: (exit) => this.#end(exit),
		});
	}

	get stderr(): string {
		return this.#channel.stderr;
	}

	ask(command: string, params: object | undefined, options: RequestOptions): { id: string; answer: Promise<unknown> } {
		const problem = this.#exit
			? new ExitError(this.#exit, `before ${command} was sent`)
			: this.#isClosing && new Error(`${command}: the client is being closed`);
		return problem ? { id: "", answer: Promise.reject(problem) } : this.#requests.ask(command, params, options);
	}

	/** Reports nothing until it has returned. The returned function ends the observation. */
	observe(observer: Observer): () => void {
		const exit = this.#exit;
		if (exit) queueMicrotask(() => observer.exit(exit));
		else this.#observers.add(observer);
		return () => void this.#observers.delete(observer);
	}

	/** Resolves at `ready`, or with `probe` at the first answer; rejects when neither comes in time. */
	whenReady(timeoutMs: number, probe: boolean): Promise<void> {
		return new Promise((resolve, reject) => {
			const settle = (then: () => void) => {
				clearTimeout(timer);
				release();
				then();
			};
			const tooLate = () => settle(() => reject(new TimeoutError(`The agent was not ready within ${timeoutMs} ms.\n${this.stderr}`.trimEnd())));
			const timer = after(timeoutMs, tooLate);
			const release = this.observe({
				frame: ({ type }) => (type === "ready" || (probe && type === "response") ? settle(resolve) : undefined),
				exit: (exit) => settle(() => reject(new ExitError(exit, "before it was ready"))),
			});
			// Some agents of the family never send `ready`. They answer when they are ready.
			if (probe) this.ask("get_state", undefined, {}).answer.then(undefined, () => undefined);
		});
	}

	async close(): Promise<void> {
		this.#isClosing = true;
		this.#tools.cancelAll();
		this.#dialogs.closeAll();
		this.#permissions.closeAll();
		this.#gates.closeAll();
		await this.#channel.close();
	}

	#receive(frame: Frame): void {
		for (const observer of this.#observers) observer.frame(frame);
		const { listeners } = this.#parts;
		switch (frame.type) {
			case "response":
				if (!this.#requests.receive(frame)) listeners.tell("response", frame);
				return;
			case "host_tool_call":
				return void this.#tools.run(frame);
			case "host_tool_cancel":
				return this.#tools.cancel(frame.targetId);
			case "extension_ui_request":
				listeners.tell("extension_ui_request", frame);
				this.#note(frame.method === "cancel" ? frame.targetId : frame.id);
				return void this.#dialogs.receive(frame, this.#parts.dialogHandler());
			case "permission_request":
				listeners.event(frame);
				this.#note(frame.id);
				return void this.#permissions.receive(frame, this.#parts.permissionHandler());
			case "gate_request":
				return void this.#gates.receive(frame, this.#parts.gateHandler());
			case "permission_resolved":
				this.#permissions.close(frame.id);
				this.#note(frame.id);
				return listeners.event(frame);
			default:
				listeners.event(frame);
				if ((frame as { type: string }).type === "snapshot") this.#learn(frame as unknown as Snapshot);
		}
	}

	/** Asks what was open before this client came, where there is a handler by now. Without one it stays open: others may answer. */
	askMissed(): void {
		const { dialogHandler, permissionHandler } = this.#parts;
		for (const question of [...this.#missed.values()])
			if (question.type === "permission_request" ? permissionHandler() : dialogHandler()) this.#receive(question);
	}

	/** A snapshot keeps approvals without their type. */
	#learn({ live }: Snapshot): void {
		for (const question of live?.dialogs ?? []) {
			const asked = { type: "permission_request", ...question } as Frame & { id: string };
			if (!this.#asked.has(asked.id)) this.#missed.set(asked.id, asked);
		}
		this.askMissed();
	}

	/** A question is asked of this client, or is over. */
	#note(id: string): void {
		this.#missed.delete(id);
		this.#asked.add(id);
		if (this.#asked.size > keptQuestions) this.#asked.delete(this.#asked.values().next().value as string);
	}

	#end(exit: Exit): void {
		this.#exit = exit;
		this.#tools.cancelAll();
		this.#dialogs.closeAll();
		this.#permissions.closeAll("gone");
		this.#gates.closeAll();
		this.#requests.end(exit);
		for (const observer of [...this.#observers]) observer.exit(exit);
		this.#observers.clear();
		this.#parts.listeners.endQueues();
		this.#parts.listeners.tell("exit", exit);
	}
}
