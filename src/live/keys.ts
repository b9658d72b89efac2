/** Commands with a key are done once: whoever sends one again gets the first outcome. Loaded with the first key. */
import { digestOf } from "../lib/canonical-json.ts";
import { CommandError } from "../lib/command-error.ts";
import type { CommandName } from "../protocol/commands/index.ts";
import type { BashExecutionMessage } from "../protocol/messages.ts";
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
}

interface Accepted {
	key: string;
	digest: string;
	command: CommandName;
	disposition?: Disposition;
	runId?: string;
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

	#recording(known: Known, accepted: Accepted, isDurable: boolean, replies: Replies): Replies {
		const end = (outcome: Outcome) => {
			known.outcome = outcome;
			if (!isDurable || "error" in outcome) known.until = this.#now() + memoryMs;
			for (const twin of known.waiting.splice(0)) answer(twin, outcome);
		};
		const keep = (data: unknown) => {
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
				end({ error: new CommandError(refusal.text, refusal.code) });
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
			if (this.#read) this.#known.clear();
			this.#read = { transcript, count: 0 };
		}
		const { everything } = transcript;
		for (; this.#read.count < everything.length; this.#read.count++) {
			const place = this.#read.count;
			if (everything.kind(place) !== "custom" || !everything.mayHold(place, `"${acceptedType}"`)) continue;
			const entry = everything.entry(place);
			const accepted = entry.type === "custom" && entry.customType === acceptedType ? (entry.data as Accepted | undefined) : undefined;
			if (typeof accepted?.key !== "string" || this.#known.has(accepted.key)) continue;
			const { key, digest, command, disposition, runId } = accepted;
			const outcome: Outcome = command === "bash" ? this.#bashOutcome(place, key) : { data: { disposition, ...(runId !== undefined && { runId }) } };
			this.#known.set(key, { digest, outcome, waiting: [], until: Number.POSITIVE_INFINITY });
		}
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
		return { error: new CommandError(text, "interrupted") };
	}

	#forget(): void {
		const now = this.#now();
		for (const [key, { until }] of this.#known) if (until <= now) this.#known.delete(key);
	}
}

function again(known: Known, digest: string, key: string, replies: Replies): void {
	if (known.digest !== digest)
		return replies.fail(new CommandError(`The key ${key} was used for another command. Use a new key for each command.`, "key_reused"));
	if (known.outcome) answer(replies, known.outcome);
	else known.waiting.push(replies);
}

function answer(replies: Replies, outcome: Outcome): void {
	if ("error" in outcome) return replies.fail(outcome.error);
	const { data } = outcome;
	replies.succeed(typeof data === "object" && data !== null ? { ...data, duplicate: true } : { duplicate: true });
}
