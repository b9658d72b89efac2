/** A session inside another program: the same lines as between processes, without a process. Touches nothing that is global. */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import type { Channel, ChannelListener, Frame, OpenChannel } from "../client/channel.ts";
import { Tail } from "../client/tail.ts";
import { parseArguments } from "../live/arguments.ts";
import { type Pipes, type Service, serve } from "../rpc/serve.ts";
import type { OutputStream } from "../rpc/stdio.ts";
import type { SessionFlags } from "./session-flags.generated.ts";

export interface EmbedOptions extends SessionFlags {
	/** Where the agent works. Default: the working directory of this process. */
	cwd?: string;
	/** The agent's environment. Default: that of this process. */
	env?: NodeJS.ProcessEnv;
	/** Settings for this session, by their full names. */
	settings?: Record<string, unknown>;
	/** Additional flags, as on the command line: those that extensions register. */
	args?: readonly string[];
	/** Receives warnings for a person: settings that are ignored, extensions that are slow. */
	onWarning?: (text: string) => void;
}

/** Throws when the options are invalid. */
export function embedded({ cwd: given, env = process.env, settings = {}, args = [], onWarning, ...flags }: EmbedOptions): OpenChannel {
	const cwd = resolve(given ?? "");
	if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) throw new Error(`There is no directory ${cwd}`);
	const set = Object.entries(settings).map(([name, value]) => `--set=${name}=${JSON.stringify(value)}`);
	const parsed = parseArguments([...asFlags({ updates: "delta", ...flags }), ...set, ...args]);
	if ("problem" in parsed) throw new Error(parsed.problem);
	const { options, words, unknown } = parsed;
	if (options.cwd !== undefined || options["list-models"] !== undefined)
		throw new Error("args: --cwd and --list-models are for the command line; use the option cwd");
	if (words[0] !== undefined) throw new Error(`args: ${words[0]} is not a flag`);
	return (listener) =>
		new EmbeddedSession(listener, onWarning, (pipes) =>
			serve({ ...pipes, cwd, env, pauseInput: () => undefined }, { ...options, "no-ready": false }, unknown),
		);
}

type Start = (pipes: Pick<Pipes, "output" | "warn" | "exit" | "atExit">) => Promise<Service>;

class EmbeddedSession implements Channel {
	#listener: ChannelListener;
	#warnings = new Tail();
	#service: Promise<Service | undefined>;
	#isGone = false;
	#atExit: (() => void)[] = [];

	constructor(listener: ChannelListener, onWarning: ((text: string) => void) | undefined, start: Start) {
		this.#listener = listener;
		const output: OutputStream = { write: (text, done) => this.#read(text, done), unsent: () => 0 };
		const warn = (text: string) => {
			this.#warnings.add(`${text}\n`);
			onWarning?.(text);
		};
		const atExit = (then: () => void) => void this.#atExit.push(then);
		this.#service = start({ output, warn, exit: (code) => this.#end(code), atExit }).catch((cause: Error) => {
			this.#end(1, cause);
			return undefined;
		});
	}

	get stderr(): string {
		return this.#warnings.text;
	}

	send(line: string): void {
		void this.#service.then((service) => (this.#isGone ? undefined : service?.input.push(Buffer.from(`${line}\n`))));
	}

	async close(): Promise<void> {
		const service = await this.#service;
		if (this.#isGone) return;
		const gone = new Promise<void>((resolve) => this.#atExit.push(resolve));
		service?.input.end();
		await gone;
	}

	#read(text: string, done: () => void): void {
		for (const line of text.split("\n")) if (line) this.#listener.frame(JSON.parse(line) as Frame);
		// Not synchronously: the host handles these lines before the agent sends more.
		setImmediate(done);
	}

	#end(code: number, cause?: Error): void {
		if (this.#isGone) return;
		this.#isGone = true;
		for (const then of this.#atExit) then();
		this.#listener.exit({ code, signal: null, stderr: this.stderr, ...(cause && { cause }) });
	}
}

function asFlags(flags: Record<string, unknown>): string[] {
	return Object.entries(flags).flatMap(([name, value]) => {
		const flag = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
		if (value === undefined || value === false) return [];
		if (value === true) return [flag];
		return (Array.isArray(value) ? value : [value]).map((item) => `${flag}=${item}`);
	});
}
