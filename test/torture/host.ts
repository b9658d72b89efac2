/** A host with a memory: starts the program, talks to it, keeps every frame with its time, and answers as badly as the plan says. */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { join } from "node:path";
import { RecordReader } from "../../src/lib/jsonl.ts";
import type { Approval } from "./plan.ts";
import type { World } from "./world.ts";

export interface Frame {
	type: string;
	id?: string;
	[member: string]: unknown;
}

/** One line of what happened. `>` went in, `<` came out, `!` is ours. */
export interface Happening {
	at: number;
	way: ">" | "<" | "!";
	frame: Frame;
}

/** How a process came to its end. */
export interface Ending {
	how: "eof" | "SIGTERM" | "SIGKILL" | "by itself";
	code: number | null;
	tookMs: number;
}

/** How long the program waits for an answer about a call. */
export const permissionTimeoutMs = 300;

const now = () => performance.now();

/** One process, from its start to its end. */
export class Life {
	readonly child: ChildProcessWithoutNullStreams;
	readonly trace: Happening[] = [];
	/** Writes of session files failed at some time. */
	hadTrouble = false;
	/** Everything was stopped before the end, and nothing may be open. */
	wasCalmed = false;
	stderr = "";
	ending: Ending | undefined;
	#how: Ending["how"] = "by itself";
	#toldAt = 0;
	/** How questions about calls are answered, in turn. */
	readonly #approvals: readonly Approval[];
	#asked: { id: string; digest: string }[] = [];
	#listeners = new Set<(frame: Frame | undefined) => void>();

	constructor(
		root: string,
		world: World,
		flags: readonly string[],
		env: Record<string, string> = {},
		approvals: readonly Approval[] = [],
		words: readonly string[] = ["--mode", "rpc", "--session-dir", world.sessions],
	) {
		this.#approvals = approvals;
		const program = [join(root, "dist/bowline.js"), ...words, ...flags];
		const args = ["--require", join(root, "test/torture/fixtures/faults.cjs"), ...program];
		this.child = spawn(process.execPath, args, { cwd: world.cwd, env: { ...world.environment(), ...env } });
		const reader = new RecordReader({ record: (line) => this.#hear(line), tooLong: () => undefined }, Number.POSITIVE_INFINITY);
		this.child.stdout.on("data", (chunk: Buffer) => reader.push(chunk));
		this.child.stderr.on("data", (chunk: Buffer) => {
			this.stderr += chunk;
		});
		this.child.stdin.on("error", () => undefined);
		this.child.on("close", (code) => {
			this.ending = { how: this.#how, code, tookMs: this.#toldAt ? now() - this.#toldAt : 0 };
			this.note("ended", { ...this.ending });
			for (const listener of [...this.#listeners]) listener(undefined);
		});
	}

	get pid(): number {
		return this.child.pid as number;
	}

	get isOver(): boolean {
		return this.ending !== undefined;
	}

	note(type: string, members: object = {}): void {
		this.trace.push({ at: now(), way: "!", frame: { type, ...members } });
	}

	send(frame: Frame): void {
		this.trace.push({ at: now(), way: ">", frame });
		this.child.stdin.write(`${JSON.stringify(frame)}\n`);
	}

	flood(frame: Frame, count: number): void {
		this.note("flood", { frame, count });
		this.child.stdin.write(`${JSON.stringify(frame)}\n`.repeat(count));
	}

	raw(text: string): void {
		this.trace.push({ at: now(), way: ">", frame: { type: "raw", text } });
		this.child.stdin.write(`${text}\n`);
	}

	reads(does: boolean): void {
		this.note(does ? "reads" : "reads no more");
		if (does) this.child.stdout.resume();
		else this.child.stdout.pause();
	}

	/** The first frame from now on that fits; nothing after so long, or at the end of the process. */
	until(fits: (frame: Frame) => boolean, withinMs: number): Promise<Frame | undefined> {
		if (this.isOver) return Promise.resolve(undefined);
		return new Promise((resolve) => {
			const done = (frame: Frame | undefined) => {
				clearTimeout(timer);
				this.#listeners.delete(listener);
				resolve(frame);
			};
			const listener = (frame: Frame | undefined) => {
				if (!frame || fits(frame)) done(frame);
			};
			const timer = setTimeout(() => done(undefined), withinMs);
			this.#listeners.add(listener);
		});
	}

	/** Sends a command and gives its answer; nothing when none comes in time. */
	ask(frame: Frame & { id: string }, withinMs: number): Promise<Frame | undefined> {
		const answer = this.until(({ type, id }) => type === "response" && id === frame.id, withinMs);
		this.send(frame);
		return answer;
	}

	/** Resolves when the program has sent nothing for this long. */
	async quiet(ms: number): Promise<void> {
		while (await this.until(() => true, ms));
	}

	/** Tells it to end and waits for that. False when it does not. */
	async end(how: "eof" | "SIGTERM" | "SIGKILL", withinMs: number): Promise<boolean> {
		if (this.isOver) return true;
		this.#how = how;
		this.#toldAt = now();
		this.note("told to end", { how });
		const isOver = new Promise<boolean>((resolve) => {
			const timer = setTimeout(() => resolve(false), withinMs);
			this.child.once("close", () => {
				clearTimeout(timer);
				resolve(true);
			});
		});
		if (how === "eof") this.child.stdin.end();
		else this.child.kill(how);
		// A process that waits for its reader gives up automatically, but its last output must be read for its streams to close.
		this.child.once("exit", () => this.child.stdout.resume());
		return isOver;
	}

	#hear(line: string): void {
		let frame: Frame;
		try {
			frame = JSON.parse(line) as Frame;
		} catch {
			frame = { type: "not a frame", line };
		}
		// Every update contains the reply so far; the end of the reply repeats the text.
		if (frame.type === "message_update") frame = { type: frame.type, assistantMessageEvent: bare(frame.assistantMessageEvent) };
		this.trace.push({ at: now(), way: "<", frame });
		this.#answer(frame);
		for (const listener of [...this.#listeners]) listener(frame);
	}

	/** The requests of the program to its host. */
	#answer(frame: Frame): void {
		if (frame.type === "host_tool_call") this.#answerCall(String(frame.id), (frame.arguments as { mode?: string }).mode);
		if (frame.type === "permission_request") this.#answerPermission({ id: String(frame.id), digest: String(frame.digest) });
		if (frame.type === "extension_ui_request") this.#answerDialog(String(frame.id), String(frame.title));
	}

	#answerCall(id: string, mode: string | undefined): void {
		const content = [{ type: "text", text: `host ${mode}` }];
		const result = { type: "host_tool_result", id, result: { content } };
		const update = { type: "host_tool_update", id, partialResult: { content } };
		switch (mode) {
			case "never":
				return;
			case "error":
				return this.send({ ...result, isError: true });
			case "malformed":
				this.raw(`{"type":"host_tool_result","id":${JSON.stringify(id)},"result":{"content":7}}`);
				return this.send(result);
			case "late":
				return void setTimeout(() => this.send(result), 60);
			case "updates":
				for (let n = 0; n < 20; n++) this.send(update);
				return this.send(result);
			case "twice":
				this.send(result);
				this.send(update);
				return this.send(result);
			default:
				return this.send(result);
		}
	}

	#answerPermission(question: { id: string; digest: string }): void {
		const before = this.#asked.at(-1);
		const approval = this.#approvals[this.#asked.length % Math.max(1, this.#approvals.length)];
		this.#asked.push(question);
		const answer = { type: "permission_response", ...question };
		const allow = { ...answer, decision: "allow" };
		const deny = { ...answer, decision: "deny", message: "not this one" };
		switch (approval) {
			case "allow":
				return this.send(allow);
			case "allow for the session":
				return this.send({ ...allow, scope: "session" });
			case "deny":
				return this.send(deny);
			case "late":
				return void setTimeout(() => this.send(allow), 60);
			case "too late":
				return void setTimeout(() => this.send(allow), 2 * permissionTimeoutMs);
			case "allow, then deny":
				this.send(allow);
				return this.send(deny);
			case "deny, then allow":
				this.send(deny);
				return this.send(allow);
			case "malformed":
				this.send({ ...answer, decision: "perhaps" });
				this.send({ ...allow, scope: "forever" });
				return this.send(allow);
			case "forged digest":
				return this.send({ ...allow, digest: `sha256:${"0".repeat(64)}` });
			case "no digest":
				return this.send({ type: answer.type, id: answer.id, decision: "allow" });
			case "mixed up":
				return this.send({ ...allow, digest: before?.digest ?? "none" });
			case "unknown id":
				return this.send({ ...allow, id: `${question.id}0` });
			default:
				return;
		}
	}

	#answerDialog(id: string, title: string): void {
		const answer = { type: "extension_ui_response", id };
		if (title === "answer") this.send({ ...answer, value: "b", confirmed: true });
		else if (title === "cancel") this.send({ ...answer, cancelled: true });
		else if (title === "wrong") this.send({ ...answer, value: 7, confirmed: "maybe" });
	}
}

function bare(event: unknown): unknown {
	const { partial: _, ...rest } = event as Record<string, unknown>;
	return rest;
}
