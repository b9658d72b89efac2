/** The common part of all clients: requests by id, listeners for the rest. The subclasses contain the rules that differ. */
import { AgentProcess, type Frame, type Program, within } from "./process.ts";

interface Pending {
	command: string;
	resolve: (response: Frame) => void;
	reject: (error: Error) => void;
}

export abstract class Client {
	/** Problems that would have broken the client. */
	readonly faults: string[] = [];
	/** The frames that its listeners got. */
	readonly heard: Frame[] = [];
	readonly agent: AgentProcess;
	protected readonly pending = new Map<string, Pending>();
	/** The id of the request that was sent last. */
	protected lastId = "";
	#count = 0;
	#waiting = new Set<{ fits: (frame: Frame) => boolean; resolve: (frame: Frame) => void }>();

	constructor(program: Program) {
		this.agent = new AgentProcess(program, (line) => {
			try {
				this.measure(line);
				this.read(JSON.parse(line) as Frame);
			} catch (error) {
				this.faults.push(`${(error as Error).message}: ${line.slice(0, 300)}`);
			}
		});
	}

	/** The steps that have to come before the first request. */
	start(): Promise<void> {
		return Promise.resolve();
	}

	/** A line as it came. */
	protected measure(_line: string): void {
		// Most clients take lines of any length.
	}

	protected abstract read(frame: Frame): void;

	/** Whether this frame ends the work that a prompt started. */
	protected abstract isEnd(frame: Frame): boolean;

	protected tell(frame: Frame): void {
		this.heard.push(frame);
		for (const waiting of this.#waiting) {
			if (!waiting.fits(frame)) continue;
			this.#waiting.delete(waiting);
			waiting.resolve(frame);
		}
	}

	/** The next frame that fits, among those that listeners get. */
	next(what: string, fits: (frame: Frame) => boolean): Promise<Frame> {
		return within(
			new Promise((resolve) => {
				this.#waiting.add({ fits, resolve });
			}),
			`${what}; last heard: ${JSON.stringify(this.heard.slice(-3))}; faults: ${this.faults}; stderr: ${this.agent.stderr}`,
		);
	}

	/** The response's data; a failure is thrown. */
	async request(type: string, params: object = {}): Promise<unknown> {
		const response = await this.send(type, params);
		if (response.success !== true) throw new Error(String(response.error));
		return response.data;
	}

	protected send(type: string, params: object): Promise<Frame> {
		const id = `req_${++this.#count}`;
		this.lastId = id;
		const response = new Promise<Frame>((resolve, reject) => this.pending.set(id, { command: type, resolve, reject }));
		this.agent.write({ ...params, type, id });
		return within(response, `the response to ${type}`);
	}

	/** Takes a response out of the pending ones. False when no request waits for it. */
	protected settle(response: Frame): boolean {
		const pending = this.pending.get(String(response.id));
		if (!pending) return false;
		this.pending.delete(String(response.id));
		pending.resolve(response);
		return true;
	}

	/** Sends a prompt and waits for the frame that the client regards as its end. */
	async promptAndWait(message: string): Promise<void> {
		const end = this.next(`the end of ${message}`, (frame) => this.isEnd(frame));
		await this.request("prompt", { message });
		await end;
	}

	/** Not every client knows that more may follow its end; then it asks. */
	async idle(): Promise<void> {
		for (let tries = 0; tries < 300; tries++) {
			const state = (await this.request("get_state")) as { isStreaming: boolean; isCompacting: boolean };
			if (!state.isStreaming && !state.isCompacting) return;
			await new Promise((resolve) => setTimeout(resolve, 50));
		}
		throw new Error("The agent does not become idle");
	}
}
