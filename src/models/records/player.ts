/** Plays a record: the model says what a real one said, and reports where it is asked something else. */
import type { ModelRequest, StreamFunction, StreamOptions } from "../../agent/stream.ts";
import { sleep as realSleep } from "../../lib/sleep.ts";
import type { AssistantMessage } from "../../protocol/messages.ts";
import { ReplyBuilder } from "../builder.ts";
import { ArgumentsReader } from "../scripted/arguments.ts";
import type { ModelRecord, RecordedEvent, RecordedRequest, RecordedStep } from "./format.ts";
import { differenceOf, partsOf } from "./request.ts";

export interface ReplayOptions {
	/** `main`, or the id of a subagent. */
	agent: string;
	cwd: string;
	/** What a request that differs does: it fails, or it is only reported. */
	isStrict: boolean;
	/** Tools answer from the record, and MCP servers are not started. */
	playsTools: boolean;
	/** With the pauses of the original. */
	isPaced: boolean;
	warn: (text: string) => void;
}

export class RecordPlayer {
	#source: string;
	#options: ReplayOptions;
	#requests: RecordedRequest[];
	#steps: RecordedStep[];
	#texts = new Map<string, string>();
	#count = 0;

	constructor({ lines }: ModelRecord, source: string, options: ReplayOptions) {
		this.#source = source;
		this.#options = options;
		this.#requests = lines.filter((line): line is RecordedRequest => line.type === "request" && line.agent === options.agent);
		this.#steps = lines.filter((line): line is RecordedStep => line.type === "event" && line.agent === options.agent);
		for (const { added } of this.#requests) for (const [digest, text] of Object.entries(added)) this.#texts.set(digest, text);
	}

	/** The facts of the model that was recorded. */
	get model(): RecordedRequest["model"] | undefined {
		return this.#requests[0]?.model;
	}

	readonly stream: StreamFunction = async (request, options) => {
		const builder = new ReplyBuilder(request.model, Date.now(), options.onEvent);
		builder.start();
		const number = ++this.#count;
		const recorded = this.#requests[number - 1];
		if (!recorded) {
			const count = `${this.#requests.length} request${this.#requests.length === 1 ? "" : "s"}`;
			return builder.fail(`The record ${this.#source} has ${count} of ${this.#options.agent}, and this is number ${number}. Record it again.`, {
				kind: "permanent",
			});
		}
		const problem = this.#differenceOf(recorded, request, number);
		if (problem !== undefined) {
			if (this.#options.isStrict) return builder.fail(`${problem}\nRecord it again, or play it with --replay loose.`, { kind: "permanent" });
			this.#options.warn(problem.replace(/\n\s*/g, " · "));
		}
		await this.#play(recorded, builder, options);
	};

	#differenceOf(recorded: RecordedRequest, request: ModelRequest, number: number): string | undefined {
		const { cwd, playsTools: isWithoutServers } = this.#options;
		const textOfDigest = (digest: string) => this.#texts.get(digest) ?? `(a text with the digest ${digest})`;
		const difference = differenceOf(recorded.asked, partsOf(request, cwd), { textOfDigest, isWithoutServers });
		return difference && `Request ${number} of ${this.#options.agent} differs from the record ${this.#source}:\n${difference}`;
	}

	async #play({ request }: RecordedRequest, builder: ReplyBuilder, { signal, flow }: StreamOptions): Promise<void> {
		const steps = this.#steps.filter((step) => step.request === request);
		const whole = wholeOf(steps);
		const readers = new Map<number, ArgumentsReader>();
		let at = 0;
		for (const { after, event } of steps) {
			if (this.#options.isPaced && after > at) await realSleep(after - at, signal);
			at = after;
			if (!flow.isOpen) await flow.whenOpen(signal);
			if (signal.aborted) return builder.abort();
			if (playEvent(event, builder, readers, whole)) return;
		}
		// The recorded run was aborted here, or its process ended: this one waits for the same.
		await new Promise<void>((resolve) => {
			if (signal.aborted) resolve();
			else signal.addEventListener("abort", () => resolve(), { once: true });
		});
		builder.abort();
	}
}

function wholeOf(steps: readonly RecordedStep[]): AssistantMessage | undefined {
	for (const { event } of steps) {
		if (event.type === "done") return event.message;
		if (event.type === "error") return event.error;
	}
	return undefined;
}

/** Returns whether it was the last one. */
function playEvent(event: RecordedEvent, builder: ReplyBuilder, readers: Map<number, ArgumentsReader>, whole: AssistantMessage | undefined): boolean {
	switch (event.type) {
		case "text_start":
			builder.open({ type: "text", text: "" });
			return false;
		case "thinking_start":
			builder.open({ type: "thinking", thinking: "" });
			return false;
		case "toolcall_start":
			readers.set(event.contentIndex, new ArgumentsReader());
			builder.open({ type: "toolCall", id: event.id ?? "", name: event.toolName ?? "", arguments: {} });
			return false;
		case "text_delta":
		case "thinking_delta":
			builder.append(event.contentIndex, event.delta);
			return false;
		case "toolcall_delta":
			builder.appendArguments(event.contentIndex, event.delta, readers.get(event.contentIndex)?.add(event.delta));
			return false;
		case "text_end":
		case "thinking_end":
		case "toolcall_end":
			// Signatures and parsed arguments are in the finished message.
			builder.close(event.contentIndex, whole?.content[event.contentIndex]);
			return false;
		case "done": {
			const { usage, stopReason } = event.message;
			builder.set({ usage });
			builder.done(stopReason === "length" || stopReason === "toolUse" ? stopReason : "stop");
			return true;
		}
		case "error": {
			const { usage, stopReason, errorMessage = "The provider failed" } = event.error;
			// An abort is repeated by the host, not by the record.
			if (stopReason === "aborted") return false;
			builder.set({ usage });
			builder.fail(errorMessage, event.failure);
			return true;
		}
		default:
			return false;
	}
}
