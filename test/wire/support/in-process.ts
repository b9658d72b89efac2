/** An agent inside the test's process: the same front end as `bowline --mode rpc`, over streams in memory. */
import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { format } from "node:util";
import { parseArguments } from "../../../src/live/arguments.ts";
import { type Service, serve } from "../../../src/rpc/serve.ts";
import { type AgentOptions, Driver } from "./driver.ts";

/** State of the process that the agent shares with the tests and must leave as it is. */
const shared = () => ({
	directory: process.cwd(),
	variables: { ...process.env },
	listeners: Object.fromEntries(process.eventNames().map((name) => [name, process.listenerCount(name)])),
});

export class InProcessAgent extends Driver {
	#before = shared();
	#unsent: Buffer[] = [];
	#stdin = new PassThrough();
	#stdout = new PassThrough();
	#atExit: (() => void)[] = [];
	#service: Promise<Service | undefined>;
	#printError = console.error;

	/** Start one at a time: the log of faults goes to `console.error`, which is the agent's stderr until `dispose`. */
	constructor(options?: AgentOptions) {
		super(options);
		console.error = (...words) => this.receiveStderr(`${format(...words)}\n`);
		this.#stdout.on("data", (chunk: Buffer) => this.receive(chunk));
		this.#service = this.#start().catch((error: unknown) => {
			this.receiveStderr(`Error: ${error instanceof Error ? error.message : String(error)}\n`);
			this.end(1);
			return undefined;
		});
	}

	/** Passes on in one piece what is written in one turn of the event loop, as a pipe does whose reader is busy. */
	override write(bytes: Buffer | string): void {
		if (this.#unsent.length === 0) setImmediate(() => this.#flush());
		this.#unsent.push(Buffer.from(bytes));
	}

	override endInput(): void {
		this.#flush();
		this.#stdin.end();
	}

	override kill(signal: NodeJS.Signals): void {
		throw new Error(`${signal} would end the tests: this transcript needs a process`);
	}

	protected override stop(): void {
		void this.#service.then((service) => service?.kill(1));
	}

	override async dispose(): Promise<void> {
		try {
			await super.dispose();
		} finally {
			console.error = this.#printError;
		}
		assert.deepEqual(shared(), this.#before);
	}

	async #start(): Promise<Service> {
		const parsed = parseArguments(this.args);
		if ("problem" in parsed) throw new Error(parsed.problem);
		const { options, words, unknown } = parsed;
		if (words.length) throw new Error(`flags: ${words[0]} is not a flag`);
		const stdin = this.#stdin;
		const stdout = this.#stdout;
		const service = await serve(
			{
				cwd: this.cwd,
				env: this.env,
				output: {
					write: (text, done) => void stdout.write(text, done),
					writeBytes: (bytes, done) => void stdout.write(bytes, done),
					unsent: () => stdout.writableLength,
				},
				warn: (text) => this.receiveStderr(`Warning: ${text}\n`),
				pauseInput: (paused) => void (paused ? stdin.pause() : stdin.resume()),
				exit: (code) => this.#exit(code),
				atExit: (then) => void this.#atExit.push(then),
			},
			options,
			unknown,
		);
		stdin.on("data", (chunk: Buffer) => service.input.push(chunk));
		stdin.on("end", () => service.input.end());
		return service;
	}

	#flush(): void {
		if (this.#unsent.length > 0) this.#stdin.write(Buffer.concat(this.#unsent.splice(0)));
	}

	#exit(code: number): void {
		if (this.exitCode !== undefined) return;
		for (const then of this.#atExit) then();
		this.end(code);
	}
}
