/** Commands with a key are done once: whoever sends one again gets the first outcome. Loaded with the first key. */
import { digestOf } from "../lib/canonical-json.ts";
import { CommandError, isCommandError } from "../protocol/command-error.ts";
import type { CommandName } from "../protocol/commands/index.ts";
import type { BashExecutionMessage } from "../protocol/messages.ts";
import { movers } from "../protocol/movers.ts";
import type { Disposition } from "../session/accepted-prompt.ts";
import type { Refusal } from "../session/refusal.ts";
import type { Session } from "../session/session.ts";
import type { Transcript } from "../transcript/transcript.ts";
import type { Command, Keys, Replies } from "./dispatch.ts";

/** Commands whose keys hold after a crash: they are written before the answer. */
const durable: ReadonlySet<CommandName> = new Set(["prompt", "follow_up", "steer", "resume_run", "bash"]);
/** How long the other keys hold. */
const memoryMs = 10 * 60 * 1000;
/** The `customType` of the entries. */
export const acceptedType = "accepted";

type Outcome = { data: unknown } | { error: unknown };

interface Known {
	digest: string;
	/** Absent while the command is under way. */
	outcome?: Outcome;
	/** Twins that came meanwhile. */
	waiting: Replies[];
	/** When it may be forgotten. */
	until: number;
	/** The command went to another session. Its key holds there too: who sends it again may not know where the agent went. */
	hasMoved?: true;
}

interface Accepted {
	key: string;
	digest: string;
	command: CommandName;
	disposition?: Disposition;
	runId?: string;
	/** The answer of a command that came from another session. */
	data?: unknown;
}

export class SessionKeys implements Keys {
	#session: Session;
	#now: () => number;
	#known = new Map<string, Known>();
	/** The transcript whose entries have been read, and how many of them. */
	#read: { transcript: Transcript; count: number } | undefined;

	constructor(session: Session, now: () => number) {
		this.#session = session;
		this.#now = now;
	}

	once(command: Command & { key: string }, replies: Replies, run: (replies: Replies) => void | Promise<void>): void | Promise<void> {
		this.#learn();
		const { key, name } = command;
		const { id: _, key: __, ...body } = command.params as Record<string, unknown>;
		const digest = digestOf({ ...body, type: name });
		const known = this.#known.get(key);
		if (known && known.until > this.#now()) return again(known, digest, key, replies);
		const fresh: Known = { digest, waiting: [], until: Number.POSITIVE_INFINITY };
		this.#known.set(key, fresh);
		this.#forget();
		const isDurable = durable.has(name);
		// What cannot be undone is written down before it begins.
		if (name === "bash") this.#write({ key, digest, command: name });
		return run(this.#recording(fresh, { key, digest, command: name }, isDurable, replies));
	}

	/** In the file of the session that was gone to, which is stored when it has a message. */
	#arrive(known: Known, accepted: Accepted, data: unknown): void {
		known.hasMoved = true;
		const { transcript } = this.#session;
		try {
			transcript.append({ type: "custom", customType: acceptedType, data: { ...accepted, data } });
			transcript.store();
		} catch (error) {
			// It has moved, and the answer must say so. The key holds as long as this process; whoever writes next reports the disk.
			if (!isCommandError(error)) throw error;
		}
	}

	#recording(known: Known, accepted: Accepted, isDurable: boolean, replies: Replies): Replies {
		const { transcript: before } = this.#session;
		const end = (outcome: Outcome) => {
			known.outcome = outcome;
			if ((!isDurable && !known.hasMoved) || "error" in outcome) known.until = this.#now() + memoryMs;
			for (const twin of known.waiting.splice(0)) answer(twin, outcome);
		};
		const keep = (data: unknown) => {
			if (movers.has(accepted.command) && this.#session.transcript !== before) this.#arrive(known, accepted, data);
			if (!isDurable || accepted.command === "bash") return;
			const { disposition, runId } = (data ?? {}) as Pick<Accepted, "disposition" | "runId">;
			// A prompt that is going to be refused is not accepted.
			if (disposition !== undefined) this.#write({ ...accepted, disposition, ...(runId !== undefined && { runId }) });
		};
		const failing = (data: unknown, reply: (data: unknown) => void) => {
			try {
				keep(data);
			} catch (error) {
				end({ error });
				throw error;
			}
			reply(data);
			end({ data });
		};
		return {
			succeed: (data) => failing(data, (given) => replies.succeed(given)),
			accept: (data) => failing(data, (given) => replies.accept(given)),
			...(replies.onDisposition && { onDisposition: (...given) => replies.onDisposition?.(...given) }),
			refuse: (refusal: Refusal) => {
				replies.refuse(refusal);
				end({ error: new CommandError(refusal.code, refusal.text) });
			},
			fail: (error) => {
				replies.fail(error);
				end({ error });
			},
		};
	}

	/** On disk before the answer. Throws a CommandError when it cannot be. */
	#write(data: Accepted): void {
		const { transcript } = this.#session;
		transcript.append({ type: "custom", customType: acceptedType, data });
		transcript.store(true);
	}

	/** Reads the keys that are in the session file. A key belongs to its session. */
	#learn(): void {
		const { transcript } = this.#session;
		if (this.#read?.transcript !== transcript) {
			for (const [key, { outcome, hasMoved }] of this.#known) if (outcome && !hasMoved) this.#known.delete(key);
			this.#read = { transcript, count: 0 };
		}
		const { everything } = transcript;
		for (; this.#read.count < everything.length; this.#read.count++) {
			const place = this.#read.count;
			if (everything.kind(place) !== "custom" || !everything.mayHold(place, `"${acceptedType}"`)) continue;
			const entry = everything.entry(place);
			const accepted = entry.type === "custom" && entry.customType === acceptedType ? (entry.data as Accepted | undefined) : undefined;
			if (typeof accepted?.key !== "string" || this.#known.has(accepted.key)) continue;
			const { key, digest } = accepted;
			this.#known.set(key, { digest, outcome: this.#outcomeOf(accepted, place), waiting: [], until: Number.POSITIVE_INFINITY });
		}
	}

	#outcomeOf({ key, command, disposition, runId, data }: Accepted, place: number): Outcome {
		if (command === "bash") return this.#bashOutcome(place, key);
		if (movers.has(command)) return { data };
		return { data: { disposition, ...(runId !== undefined && { runId }) } };
	}

	/** The record of a command that an earlier process ran, if it came to its end. */
	#bashOutcome(place: number, key: string): Outcome {
		const { everything } = this.#session.transcript;
		for (let next = place + 1; next < everything.length; next++) {
			const kind = everything.kind(next);
			if (kind === "custom" && everything.mayHold(next, `"${acceptedType}"`)) break;
			if (kind !== "message:bashExecution") continue;
			const entry = everything.entry(next);
			if (entry.type !== "message") continue;
			const { output, exitCode, cancelled, truncated, fullOutputPath } = entry.message as BashExecutionMessage;
			const lines = output === "" ? 0 : output.split("\n").length;
			const bytes = Buffer.byteLength(output);
			const size = { totalLines: lines, totalBytes: bytes, outputLines: lines, outputBytes: bytes };
			return {
				data: { output, ...(exitCode !== undefined && { exitCode }), cancelled, truncated, ...(fullOutputPath && { fullOutputPath }), ...size },
			};
		}
		const text = `bash: the command with the key ${key} was started before the agent ended, and its outcome is not known. Look at its effects, then send it with another key.`;
		return { error: new CommandError("interrupted", text) };
	}

	#forget(): void {
		const now = this.#now();
		for (const [key, { until }] of this.#known) if (until <= now) this.#known.delete(key);
	}
}

function again(known: Known, digest: string, key: string, replies: Replies): void {
	if (known.digest !== digest)
		return replies.fail(new CommandError("key_reused", `The key ${key} was used for another command. Use a new key for each command.`));
	if (known.outcome) answer(replies, known.outcome);
	else known.waiting.push(replies);
}

function answer(replies: Replies, outcome: Outcome): void {
	if ("error" in outcome) return replies.fail(outcome.error);
	const { data } = outcome;
	replies.succeed(typeof data === "object" && data !== null ? { ...data, duplicate: true } : { duplicate: true });
}
