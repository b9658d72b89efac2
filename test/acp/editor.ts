/** An editor for tests: it speaks the protocol with an agent in this process or in one of its own, and judges every line. */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type AcpService, serveAcp } from "../../src/acp/serve.ts";
import { RecordReader } from "../../src/lib/jsonl.ts";
import { parseArguments } from "../../src/live/arguments.ts";
import { checkFlags, loadExtensions, openSession } from "../../src/live/open-session.ts";
import { openWorkspace } from "../../src/live/workspace.ts";
import { program } from "../wire/support/agent.ts";
import { toScript } from "../wire/support/script.ts";
import { Judge } from "./judge.ts";

type Json = Record<string, unknown>;
// biome-ignore lint/suspicious/noExplicitAny: answers are judged by the schema; tests read them as they come.
export type Message = Record<string, any>;

export interface EditorOptions {
	/** A model script in the words of wire tests. */
	model?: string | object;
	flags?: string[];
	env?: Record<string, string>;
	files?: Record<string, string>;
	capabilities?: Json;
	/** In a process of its own. */
	isProcess?: boolean;
	/** The node that runs that process. */
	node?: string;
	/** The process may write to stderr. */
	mayComplain?: boolean;
	/** A folder of an editor before, with its sessions. */
	folder?: string;
	/** Answers what the agent asks. Without one, requests are unknown to the editor. */
	answer?: (method: string, params: Message, id: number) => unknown;
}

const patienceMs = 15_000;

export class Editor {
	readonly cwd: string;
	readonly folder: string;
	readonly judge = new Judge();
	/** All messages in the order in which they came. */
	readonly messages: Message[] = [];
	stderr = "";
	exitCode: number | null | undefined;
	child: ChildProcessWithoutNullStreams | undefined;
	#service: AcpService | undefined;
	#options: EditorOptions;
	#lastId = 0;
	#wake = new Set<() => void>();
	/** Bytes that the agent wrote and the editor does not take. */
	isReading = true;
	#unread: (() => void)[] = [];

	constructor(options: EditorOptions = {}) {
		this.#options = options;
		this.folder = options.folder ?? mkdtempSync(join(tmpdir(), "bowline-acp-"));
		this.cwd = join(this.folder, "work");
		mkdirSync(this.cwd, { recursive: true });
		for (const [path, content] of Object.entries(options.files ?? {})) this.write(path, content);
		const script = join(this.folder, "script.json");
		if (options.model !== undefined)
			writeFileSync(script, JSON.stringify(typeof options.model === "string" ? toScript(options.model) : options.model));
		const model = options.model === undefined ? [] : ["--provider", "scripted", "--model", script];
		const flags = ["--set", "retry.baseDelayMs=20", ...model, ...(options.flags ?? [])];
		const env: NodeJS.ProcessEnv = {
			PATH: process.env.PATH,
			HOME: join(this.folder, "home"),
			BOWLINE_DIR: join(this.folder, "user"),
			...options.env,
		};
		if (options.isProcess) this.#spawn(flags, env);
		else this.#embed(flags, env);
	}

	/** Starts with the handshake. */
	static async start(options: EditorOptions = {}): Promise<Editor> {
		const editor = new Editor(options);
		const params = { protocolVersion: 1, clientCapabilities: options.capabilities ?? {}, clientInfo: { name: "test", version: "1" } };
		await editor.request("initialize", params);
		return editor;
	}

	write(path: string, content: string): void {
		const full = join(this.cwd, path);
		mkdirSync(dirname(full), { recursive: true });
		writeFileSync(full, content);
	}

	/** Sends a request and gives its whole answer. */
	async ask(method: string, params: Json = {}): Promise<Message> {
		return this.answerTo(this.send(method, params));
	}

	/** The result; throws for an error. */
	async request(method: string, params: Json = {}): Promise<Message> {
		const { result, error } = await this.ask(method, params);
		if (error) throw new Error(`${method}: ${error.code} ${error.message}`);
		return result;
	}

	/** Sends a request and gives its id. */
	send(method: string, params: Json = {}): number {
		const id = ++this.#lastId;
		this.line({ jsonrpc: "2.0", id, method, params });
		return id;
	}

	notify(method: string, params: Json): void {
		this.line({ jsonrpc: "2.0", method, params });
	}

	line(message: Json): void {
		this.judge.sent(message);
		this.raw(`${JSON.stringify(message)}\n`);
	}

	raw(text: string | Buffer): void {
		const bytes = Buffer.from(text as string);
		if (this.child) this.child.stdin.write(bytes);
		else this.#service?.input.push(bytes);
	}

	async answerTo(id: number | null): Promise<Message> {
		return this.until((message) => message.id === id && message.method === undefined, `an answer to ${id}`);
	}

	async session(params: Json = {}): Promise<string> {
		const { sessionId } = await this.request("session/new", { cwd: this.cwd, mcpServers: [], ...params });
		await this.until((message) => kindOf(message) === "available_commands_update" && message.params.sessionId === sessionId, "commands");
		return sessionId;
	}

	prompt(sessionId: string, text: string, more: Json = {}): Promise<Message> {
		return this.ask("session/prompt", { sessionId, prompt: [{ type: "text", text }], ...more });
	}

	/** The first message that fits, of those that have come and those that will. */
	async until(fits: (message: Message) => boolean, what = "a message"): Promise<Message> {
		const deadline = performance.now() + patienceMs;
		for (let at = 0; ; ) {
			for (; at < this.messages.length; at++) if (fits(this.messages[at] as Message)) return this.messages[at] as Message;
			const left = deadline - performance.now();
			if (left <= 0 || this.exitCode !== undefined) throw new Error(`${what} did not come\n${this.tail()}\nstderr: ${this.stderr}`);
			await this.#more(left);
		}
	}

	tail(): string {
		return this.messages
			.slice(-12)
			.map((message) => JSON.stringify(message).slice(0, 300))
			.join("\n");
	}

	/** The updates of a kind, or all. */
	updates(kind?: string, sessionId?: string): Message[] {
		return this.messages.flatMap((message) => {
			const update = message.params?.update;
			const isHere = sessionId === undefined || message.params?.sessionId === sessionId;
			return update && isHere && (kind === undefined || update.sessionUpdate === kind) ? [update] : [];
		});
	}

	/** What the agent said. */
	text(kind = "agent_message_chunk"): string {
		return this.updates(kind)
			.map(({ content }) => content.text ?? "")
			.join("");
	}

	/** Each call as an editor shows it in the end. */
	calls(messages: readonly Message[] = this.messages): Message[] {
		const calls = new Map<string, Message>();
		for (const message of messages) {
			const { sessionUpdate, _meta, ...update } = message.params?.update ?? {};
			if (sessionUpdate === "tool_call") calls.set(update.toolCallId, update);
			else if (sessionUpdate === "tool_call_update") Object.assign(calls.get(update.toolCallId) as Message, update);
		}
		return [...calls.values()];
	}

	/** Closes the input and waits for the end. Throws for every line that was wrong. */
	async end(): Promise<number | null> {
		if (this.child) this.child.stdin.end();
		else if (this.exitCode === undefined) this.#service?.input.end();
		const code = await this.exited();
		this.check();
		return code;
	}

	async exited(): Promise<number | null> {
		const deadline = performance.now() + patienceMs;
		while (this.exitCode === undefined) {
			if (performance.now() > deadline) throw new Error(`the agent did not end\n${this.tail()}`);
			await this.#more(100);
		}
		return this.exitCode;
	}

	check(): void {
		if (this.stderr !== "" && !this.#options.mayComplain) throw new Error(`stderr: ${this.stderr}`);
		if (this.judge.problems.length) throw new Error(this.judge.problems.join("\n"));
	}

	dispose(): void {
		this.child?.kill("SIGKILL");
		if (this.exitCode === undefined) this.#service?.kill(1);
		try {
			rmSync(this.folder, { recursive: true, force: true, maxRetries: 3, retryDelay: 100 });
		} catch {
			// A process of a failed test may still write there; its own failure says more.
		}
	}

	#more(ms: number): Promise<void> {
		return new Promise((resolve) => {
			const wake = () => {
				clearTimeout(timer);
				this.#wake.delete(wake);
				resolve();
			};
			const timer = setTimeout(wake, ms);
			this.#wake.add(wake);
		});
	}

	#awake(): void {
		for (const wake of [...this.#wake]) wake();
	}

	#receive(line: string): void {
		const message = this.judge.received(line) as Message;
		this.messages.push(message);
		if (typeof message.method === "string" && "id" in message) void this.#answer(message);
		this.#awake();
	}

	async #answer({ id, method, params }: Message): Promise<void> {
		const { answer } = this.#options;
		if (!answer) return this.line({ jsonrpc: "2.0", id, error: { code: -32601, message: "Method not found" } });
		try {
			const result = await answer(method, params, id);
			if (result !== undefined) this.line({ jsonrpc: "2.0", id, result: result as Json });
		} catch (error) {
			const { code = -32603, message } = error as { code?: number; message: string };
			this.line({ jsonrpc: "2.0", id, error: { code, message } });
		}
	}

	/** Reads again after a pause. */
	resume(): void {
		this.isReading = true;
		for (const take of this.#unread.splice(0)) take();
	}

	#embed(flags: string[], env: NodeJS.ProcessEnv): void {
		const parsed = parseArguments(flags);
		if ("problem" in parsed) throw new Error(parsed.problem);
		const reader = new RecordReader({ record: (line) => this.#receive(line), tooLong: () => undefined }, Number.POSITIVE_INFINITY);
		const write = (bytes: Buffer, done: () => void) => {
			const take = () => {
				reader.push(bytes);
				setImmediate(done);
			};
			if (this.isReading) take();
			else this.#unread.push(take);
		};
		const atEnd = new Set<() => void>();
		this.#service = serveAcp(
			{
				env,
				version: "test",
				opening: { openWorkspace, loadExtensions, checkFlags, openSession },
				output: { write: (text, done) => write(Buffer.from(text), done), unsent: () => this.#unread.length },
				pauseInput: () => undefined,
				exit: (code) => {
					this.exitCode = code;
					for (const then of atEnd) then();
					this.#awake();
				},
				atExit(then) {
					atEnd.add(then);
					return () => void atEnd.delete(then);
				},
				redactStderr: () => undefined,
			},
			parsed.options,
			parsed.unknown,
		);
	}

	#spawn(flags: string[], env: NodeJS.ProcessEnv): void {
		this.child = spawn(this.#options.node ?? process.execPath, [program, "acp", ...flags], { cwd: this.folder, env });
		const reader = new RecordReader({ record: (line) => this.#receive(line), tooLong: () => undefined }, Number.POSITIVE_INFINITY);
		this.child.stdout.on("data", (chunk: Buffer) => reader.push(chunk));
		this.child.stderr.on("data", (chunk: Buffer) => {
			this.stderr += chunk;
		});
		this.child.stdin.on("error", () => undefined);
		this.child.on("close", (code) => {
			this.exitCode = code;
			this.#awake();
		});
	}
}

export const kindOf = (message: Message): string | undefined => message.params?.update?.sessionUpdate;

/** Runs work with an editor, ends the agent, and throws for every line that was wrong. */
export async function using<T>(options: EditorOptions, work: (editor: Editor) => Promise<T>): Promise<T> {
	const editor = await Editor.start(options);
	try {
		const result = await work(editor);
		await editor.end();
		return result;
	} finally {
		editor.dispose();
	}
}
