/** Hands commands to their handlers, each in its lane, and answers their senders. */
import { isCommandError } from "../lib/command-error.ts";
import type { CommandName, CommandParams, CommandResult } from "../protocol/commands/index.ts";
import type { CommandFrame, RequestId } from "../protocol/frames.ts";
import type { AcceptedPrompt, OnDisposition } from "../session/accepted-prompt.ts";
import type { Refusal } from "../session/refusal.ts";
import type { Call, Handlers } from "./commands/contract.ts";
import type { Lanes } from "./lanes.ts";

/** How the sender of a command is answered. Exactly one of `succeed`, `accept` and `fail` is called; `refuse` may follow `accept`. */
export interface Replies {
	succeed(data: unknown): void;
	/** A prompt is accepted; nothing has happened yet. */
	accept(data: unknown): void;
	onDisposition?: OnDisposition;
	/** An accepted prompt cannot run after all. */
	refuse(refusal: Refusal): void;
	/** A CommandError, or a bug. */
	fail(error: unknown): void;
}

interface Command {
	id: RequestId | undefined;
	name: CommandName;
	params: object;
}

export class Dispatch {
	#handlers: Handlers;
	#lanes: Lanes;
	/** Counts commands as they are read. */
	#sequence = 0;
	/** The last abort of each kind that was read: commands that were read before it must no longer start. */
	#abortedBefore = { abort: 0, abort_bash: 0 };

	constructor(handlers: Handlers, lanes: Lanes) {
		this.#handlers = handlers;
		this.#lanes = lanes;
	}

	/** Runs a command in its lane. `size`: what it costs in bytes while it waits. */
	receive(command: CommandFrame, replies: Replies, size = 0): void {
		const sequence = ++this.#sequence;
		if (command.lane === "interrupt") {
			if (command.name === "abort" || command.name === "abort_and_prompt") this.#abortedBefore.abort = sequence;
			if (command.name === "abort_bash") this.#abortedBefore.abort_bash = sequence;
			const hasEndedPrompts = command.name === "abort" && this.#lanes.releaseAborted();
			return this.#lanes.track(this.#handle(command, sequence, hasEndedPrompts ? afterEvents(replies, this.#lanes) : replies));
		}
		this.#lanes.enqueue(() => this.#handle(command, sequence, replies), command.lane === "serial", size, command.name === "prompt");
	}

	/** Runs a command in its turn among the serial ones, and gives its result. Throws a CommandError for a refusal. */
	perform<Name extends CommandName>(name: Name, params: CommandParams<Name>): Promise<CommandResult<Name>> {
		return new Promise((resolve, reject) => {
			const done = (data: unknown) => resolve(data as CommandResult<Name>);
			const replies: Replies = { succeed: done, accept: done, refuse: () => undefined, fail: reject };
			// Code that acts is not aborted with the commands of the host.
			this.#lanes.enqueue(() => this.#handle({ id: undefined, name, params }, Number.POSITIVE_INFINITY, replies), true);
		});
	}

	/** Sends a prompt as a host does. Resolves when it is decided: with the reason when it is refused. */
	prompt(params: CommandParams<"prompt">): Promise<Refusal | undefined> {
		return new Promise((resolve, reject) => {
			const sequence = ++this.#sequence;
			const replies: Replies = {
				succeed: () => resolve(undefined),
				accept: () => undefined,
				onDisposition: () => resolve(undefined),
				refuse: resolve,
				fail: (error) => (isCommandError(error) ? resolve({ text: error.message, code: "failed" }) : reject(error)),
			};
			this.#lanes.enqueue(() => this.#handle({ id: undefined, name: "prompt", params }, sequence, replies), true);
		});
	}

	/** Prompts and host commands that were read may no longer start. */
	abortAll(): void {
		this.#abortedBefore = { abort: Number.POSITIVE_INFINITY, abort_bash: Number.POSITIVE_INFINITY };
	}

	/** Whether an abort of this kind was read after a command. */
	isAborted(sequence: number, by: "abort" | "abort_bash"): boolean {
		return sequence < this.#abortedBefore[by];
	}

	/** Runs a handler and answers. Synchronous as long as the handler is. */
	#handle({ id, name, params }: Command, sequence: number, replies: Replies): void | Promise<void> {
		const call = new DispatchedCall(id, sequence, this, this.#lanes);
		try {
			const handler = this.#handlers[name] as (params: unknown, call: Call) => unknown;
			const result = handler(params, call);
			if (!(result instanceof Promise)) return this.#succeed(result, call, replies);
			return result.then((data) => this.#succeed(data, call, replies)).catch((error) => replies.fail(error));
		} catch (error) {
			replies.fail(error);
		}
	}

	#succeed(data: unknown, { prompt, afterwards }: DispatchedCall, replies: Replies): void {
		if (prompt) {
			replies.accept(data);
			this.#lanes.track(goOn(prompt, replies).catch((error) => replies.fail(error)));
		} else replies.succeed(data);
		if (afterwards) for (const then of afterwards) then();
	}
}

/** Answers when the events of prompts that were just refused have been written. */
function afterEvents(replies: Replies, lanes: Lanes): Replies {
	return {
		succeed(data) {
			const answered = new Promise<void>((resolve) => {
				setImmediate(() => {
					replies.succeed(data);
					resolve();
				});
			});
			lanes.track(answered);
		},
		accept: (data) => replies.accept(data),
		refuse: (refusal) => replies.refuse(refusal),
		fail: (error) => replies.fail(error),
	};
}

async function goOn(prompt: AcceptedPrompt, replies: Replies): Promise<void> {
	const refusal = await prompt.acknowledge(replies.onDisposition);
	if (refusal) replies.refuse(refusal);
}

/** Made for every command, so it is one small object without closures. */
class DispatchedCall implements Call {
	readonly id: RequestId | undefined;
	afterwards: (() => void)[] | undefined;
	prompt: AcceptedPrompt | undefined;
	#sequence: number;
	#dispatch: Dispatch;
	#lanes: Lanes;

	constructor(id: RequestId | undefined, sequence: number, dispatch: Dispatch, lanes: Lanes) {
		this.id = id;
		this.#sequence = sequence;
		this.#dispatch = dispatch;
		this.#lanes = lanes;
	}

	afterResponse(then: () => void): void {
		this.afterwards ??= [];
		this.afterwards.push(then);
	}

	continueAfterAck(accepted: AcceptedPrompt): void {
		this.prompt = accepted;
	}

	isAborted(by: "abort" | "abort_bash" = "abort"): boolean {
		return this.#dispatch.isAborted(this.#sequence, by);
	}

	inSerialLane<T>(work: () => Promise<T>): Promise<T> {
		return this.#lanes.inTurn(work);
	}
}
