/** Hands commands to their handlers, each in its lane, and answers their senders. */
import { isCommandError } from "../protocol/command-error.ts";
import type { CommandName, CommandParams, CommandResult } from "../protocol/commands/index.ts";
import type { CommandFrame, RequestId } from "../protocol/frames.ts";
import type { AcceptedPrompt, Disposition, OnDisposition } from "../session/accepted-prompt.ts";
import type { Refusal } from "../session/refusal.ts";
import type { Call, Handlers } from "./commands/contract.ts";
import type { Lanes } from "./lanes.ts";

export type { Refusal };

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

export interface Command {
	id: RequestId | undefined;
	name: CommandName;
	/** With it the command is done once, however often it is sent. */
	key?: string;
	params: object;
}

/** Keeps account of runs, where frames are numbered. */
export interface Accounts {
	/** A prompt is about to be acknowledged. Gives its id and hears what becomes of it. Throws a CommandError when that cannot be kept. */
	accept(key: string | undefined): Account;
}

export interface Account {
	runId: string;
	decided(disposition: Disposition): void;
	refused(refusal: Refusal): void;
}

/** Does commands with a key once. */
export interface Keys {
	/** Runs a command, or answers what was answered before. `run` answers through the replies that it is given. */
	once(command: Command & { key: string }, replies: Replies, run: (replies: Replies) => void | Promise<void>): void | Promise<void>;
}

export class Dispatch {
	#handlers: Handlers;
	#lanes: Lanes;
	#keys: (() => Promise<Keys>) | undefined;
	/** Set where frames are numbered. */
	accounts: Accounts | undefined;
	/** Counts commands as they are read. */
	#sequence = 0;
	/** The last abort of each kind that was read: commands that were read before it must no longer start. */
	#abortedBefore = { abort: 0, abort_bash: 0 };

	constructor(handlers: Handlers, lanes: Lanes, keys?: () => Promise<Keys>) {
		this.#handlers = handlers;
		this.#lanes = lanes;
		this.#keys = keys;
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
				fail: (error) => (isCommandError(error) ? resolve({ text: error.message, code: error.code }) : reject(error)),
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

	#handle(command: Command, sequence: number, replies: Replies): void | Promise<void> {
		const { key } = command;
		if (key === undefined || !this.#keys) return this.#run(command, sequence, replies);
		const keyed = { ...command, key };
		return this.#keys()
			.then((keys) => keys.once(keyed, replies, (recorded) => this.#run(command, sequence, recorded)))
			.catch((error) => replies.fail(error));
	}

	/** Runs a handler and answers. Synchronous as long as the handler is. */
	#run({ id, name, key, params }: Command, sequence: number, replies: Replies): void | Promise<void> {
		const call = new DispatchedCall(id, sequence, this, this.#lanes);
		try {
			const handler = this.#handlers[name] as (params: unknown, call: Call) => unknown;
			const result = handler(params, call);
			if (!(result instanceof Promise)) return this.#succeed(result, call, replies, key);
			return result.then((data) => this.#succeed(data, call, replies, key)).catch((error) => replies.fail(error));
		} catch (error) {
			replies.fail(error);
		}
	}

	#succeed(data: unknown, { prompt, afterwards }: DispatchedCall, replies: Replies, key: string | undefined): void | Promise<void> {
		if (prompt) this.#acknowledge(prompt, data, replies, key);
		else replies.succeed(data);
		if (!afterwards) return;
		const work = afterwards.flatMap((then) => then() ?? []);
		if (work.length) return Promise.all(work).then(() => undefined);
	}

	#acknowledge(prompt: AcceptedPrompt, data: unknown, replies: Replies, key: string | undefined): void {
		let account: Account | undefined;
		try {
			if (prompt.expected === "started") account = this.accounts?.accept(key);
			replies.accept(account && data ? { ...data, runId: account.runId } : data);
		} catch (error) {
			// What cannot be kept is not begun.
			account?.refused({ text: (error as Error).message, code: "not_stored" });
			prompt.withdraw();
			throw error;
		}
		this.#lanes.track(goOn(prompt, replies, account).catch((error) => replies.fail(error)));
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

async function goOn(prompt: AcceptedPrompt, replies: Replies, account: Account | undefined): Promise<void> {
	const refusal = await prompt.acknowledge(
		account
			? (disposition, messages) => {
					account.decided(disposition);
					replies.onDisposition?.(disposition, messages);
				}
			: replies.onDisposition,
	);
	if (!refusal) return;
	replies.refuse(refusal);
	account?.refused(refusal);
}

/** Made for every command, so it is one small object without closures. */
class DispatchedCall implements Call {
	readonly id: RequestId | undefined;
	afterwards: (() => void | Promise<void>)[] | undefined;
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

	afterResponse(then: () => void | Promise<void>): void {
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
