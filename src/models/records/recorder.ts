/** Writes down what models are asked and say, and what tools return. */
import { closeSync, openSync, writeSync } from "node:fs";
import type { Policy } from "../../agent/policy.ts";
import type { StreamEvent, StreamFunction } from "../../agent/stream.ts";
import { type RecordedEvent, type RecordLine, recordVersion } from "./format.ts";
import { digestOf, partsOf } from "./request.ts";

export interface RecorderOptions {
	file: string;
	/** `main`, or the id of a subagent. A subagent adds to the record of its sender. */
	agent: string;
	isSubagent: boolean;
	cwd: string;
	version: string;
	/** Removes credentials from a line of JSON. */
	redact: (line: string) => string;
	warn: (text: string) => void;
	now: () => number;
}

export class Recorder {
	#options: RecorderOptions;
	#descriptor: number | undefined;
	#waiting: string[] = [];
	#requests = 0;
	#known = new Set<string>();
	#args = new Map<string, unknown>();

	/** Throws a system error when the file cannot be made. A file that exists is never overwritten. */
	constructor(options: RecorderOptions) {
		this.#options = options;
		const { file, isSubagent, version, now } = options;
		this.#descriptor = openSync(file, isSubagent ? "a" : "ax", 0o600);
		if (!isSubagent) this.#write({ type: "record", version: recordVersion, bowline: version, created: new Date(now()).toISOString() });
	}

	/** The same model, recorded. */
	recording(stream: StreamFunction): StreamFunction {
		return async (request, options) => {
			const { agent, cwd, now } = this.#options;
			const number = ++this.#requests;
			const began = now();
			const { provider, id, name, api, reasoning, input, contextWindow, maxTokens, cost } = request.model;
			const asked: Record<string, string> = {};
			const added: Record<string, string> = {};
			for (const [part, text] of Object.entries(partsOf(request, cwd))) {
				const digest = digestOf(text);
				asked[part] = digest;
				if (!this.#known.has(digest)) added[digest] = text;
				this.#known.add(digest);
			}
			const model = { provider, id, name, api, reasoning, input, contextWindow, maxTokens, cost };
			this.#write({ type: "request", request: number, agent, model, thinkingLevel: request.thinkingLevel, asked, added });
			await stream(request, {
				...options,
				onEvent: (event) => {
					this.#write({ type: "event", request: number, agent, after: now() - began, event: recorded(event) });
					options.onEvent(event);
				},
			});
		};
	}

	readonly policy: Policy = {
		name: "recorder",
		observe: (event) => {
			if (event.type === "tool_execution_start") this.#args.set(event.toolCallId, event.args);
			if (event.type !== "message_end" || event.message.role !== "toolResult") return;
			const { toolCallId, toolName, content, details, isError } = event.message;
			const args = this.#args.get(toolCallId) ?? {};
			this.#args.delete(toolCallId);
			this.#write({ type: "tool", agent: this.#options.agent, toolCallId, toolName, args, result: { content, details, isError } });
		},
	};

	/** Writes what waits. Also when the process ends without warning, except by a kill. */
	close = (): void => {
		this.#flush();
		if (this.#descriptor !== undefined) closeSync(this.#descriptor);
		this.#descriptor = undefined;
	};

	#write(line: RecordLine): void {
		if (this.#descriptor === undefined) return;
		this.#waiting.push(`${this.#options.redact(JSON.stringify(line))}\n`);
		if (this.#waiting.length === 1) setImmediate(() => this.#flush());
	}

	/** In one write, so that lines of several processes do not mix. */
	#flush(): void {
		if (this.#descriptor === undefined || this.#waiting.length === 0) return;
		const bytes = Buffer.from(this.#waiting.splice(0).join(""));
		try {
			for (let from = 0; from < bytes.length; ) from += writeSync(this.#descriptor, bytes, from);
		} catch (error) {
			closeSync(this.#descriptor);
			this.#descriptor = undefined;
			this.#options.warn(`The record ${this.#options.file} is not complete: ${(error as Error).message}`);
		}
	}
}

/** Without the reply so far, which every event repeats. */
function recorded(event: StreamEvent): RecordedEvent {
	if (event.type === "start") return { type: "start" };
	if (event.type === "done") return { type: "done", message: event.message };
	if (event.type === "error") return { type: "error", error: event.error, failure: event.failure };
	const { partial: _, ...step } = event;
	return step as RecordedEvent;
}
