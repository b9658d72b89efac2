/**
 * Numbers every frame that all readers may see, keeps those that must survive, and gives a reader what it missed. One observer, ahead of all
 * others. Loaded with `--seq` or by the first `subscribe`.
 */

import { asSentence } from "../lib/as-sentence.ts";
import { redactor } from "../lib/redact.ts";
import type { RunsLater } from "../lib/runs-later.ts";
import { CommandError } from "../protocol/command-error.ts";
import type { AgentEvent, EventOf } from "../protocol/events.ts";
import type { OutboundFrame } from "../protocol/frames.ts";
import { closed, idleState, isEphemeral, nextState } from "../protocol/live.ts";
import type { AgentMessage } from "../protocol/messages.ts";
import type { Gap, LiveState, Snapshot } from "../protocol/sequence.ts";
import { balance } from "../transcript/balance-log.ts";
import { frameText, gapOf, linesOfLog, TranscriptBodies } from "../transcript/event-frames.ts";
import { EventLog, eventLogPath } from "../transcript/event-log.ts";
import type { Transcript } from "../transcript/transcript.ts";
import type { Assembly } from "./assemble.ts";
import type { Account, Accounts } from "./dispatch.ts";
import { Runs } from "./runs.ts";

/** What a reader gets after its answer to `subscribe`. */
export interface Replay {
	replayTo: number;
	firstSeq: number;
	epoch: number;
	gap: Gap | undefined;
	/** Lines of frames, in order. */
	lines: () => Iterable<{ seq: number; type: string; line: string }>;
	snapshot: Snapshot;
}

/** Without a number while no further ones can be reserved. */
export type Tell = (event: AgentEvent, seq: number | undefined) => void;

export class Sequence implements Accounts {
	readonly runs: Runs;
	/** Where the front door gets events with their numbers. */
	tell: Tell | undefined;
	#assembly: Pick<Assembly, "session" | "log" | "knownSecrets" | "entries" | "budget">;
	#transcript: Transcript;
	/** Another process may have given numbers up to this one. */
	#after: number;
	#log: EventLog;
	#state: LiveState = idleState;
	/** The newest part of the open reply, with the reply so far: the state does not have it yet. */
	#update: EventOf<"message_update"> | undefined;
	#ids = new WeakMap<object, string>();
	#lastId: string | null = null;
	/** Results of calls whose messages are not stored yet, by the id of the call. */
	#results = new Map<string, unknown>();
	#redact: (line: string) => string;
	#isScheduled = false;

	constructor(assembly: Pick<Assembly, "session" | "log" | "knownSecrets" | "entries" | "budget">, runsLater: () => readonly RunsLater[], after = 0) {
		this.#assembly = assembly;
		this.#after = after;
		const { session, entries } = assembly;
		const { bus, now } = session.edges;
		this.#redact = redactor(assembly.knownSecrets).line;
		this.#transcript = session.transcript;
		this.#log = this.#opened(this.#transcript);
		this.runs = new Runs({
			emit: bus.emit,
			doors: session.doors,
			runsLater,
			now,
			keep: (run) => {
				this.#check();
				this.#log.run(run);
			},
		});
		const before = entries.heard;
		entries.heard = (entry) => {
			before?.(entry);
			this.#hearEntry(entry as { id: string; message?: object });
		};
		bus.precede(this.#observe);
	}

	/** The last number that was given. */
	get asOf(): number {
		this.#check();
		return this.#log.last;
	}

	get epoch(): number {
		return this.#log.epoch;
	}

	/** What is going on, as a reader that has heard everything knows it. */
	get live(): LiveState {
		const { session, budget } = this.#assembly;
		const { todoPhases } = session.state;
		const runId = this.runs.current;
		return { ...this.#current(), ...(runId !== undefined && { runId }), todoPhases: [...todoPhases], ...(budget && { budget: budget.snapshot }) };
	}

	/** Throws a CommandError when the session cannot be stored: then nothing is accepted. */
	accept(key: string | undefined): Account {
		const account = this.runs.accept(key);
		try {
			this.store();
		} catch (error) {
			account.refused({ text: (error as Error).message, code: "not_stored" });
			throw error;
		}
		return account;
	}

	/** A number for a further frame of an event that has one already. */
	next(): number | undefined {
		return this.#log.next();
	}

	/** Numbers a frame that is not an event: a dialog, a notice. */
	take(frame: OutboundFrame): number | undefined {
		this.#check();
		return this.#keep(frame);
	}

	/** A dialog was answered or is no longer asked. */
	close(id: string): void {
		const before = this.#current();
		const state = closed(before, id);
		if (state === before) return;
		this.#state = state;
		this.#log.closed(id);
		this.#schedule();
	}

	/** The session and its log are on disk up to now. Throws a CommandError when the session cannot be stored. */
	store(): void {
		this.#check();
		this.#transcript.store(true);
		this.flush();
	}

	/** Writes what waits, before a reader sees it. */
	flush = (): void => {
		if (this.#log.hasWaiting) this.#log.flush();
	};

	/** A clean end. */
	end(): void {
		if (this.runs.hasOpen) {
			this.#log.flush();
			this.#log.close();
		} else this.#log.end();
	}

	/** Throws a CommandError for a cursor that this session has never given. */
	replay(afterSeq: number | undefined): Replay {
		this.flush();
		const replayTo = this.asOf;
		const after = afterSeq ?? replayTo;
		if (after > replayTo || after < 0)
			throw new CommandError(
				"cursor_ahead",
				`subscribe: afterSeq ${after} is beyond the last number of this session, ${replayTo}: it belongs to another session, or the log was lost. Read get_entries, and subscribe again with its asOf.`,
			);
		const log = this.#log;
		const bodies = new TranscriptBodies(this.#transcript, this.#results);
		const { epoch } = this;
		return {
			replayTo,
			firstSeq: log.first,
			epoch,
			gap: after < replayTo || log.hasLost ? gapOf(log, bodies, after, replayTo) : undefined,
			lines: () => (after < replayTo ? linesOfLog(log, bodies, after, replayTo) : []),
			snapshot: { type: "snapshot", seq: replayTo, epoch, live: this.live },
		};
	}

	#observe = (event: AgentEvent): void => {
		if (event.type === "message_update") {
			// The most frequent event. The session is that of the message's start, and the reply so far is a value that needs no copy.
			const seq = this.#log.next();
			if (event.message) this.#update = event;
			else this.#state = nextState(this.#current(), event);
			this.tell?.(event, seq);
			return;
		}
		this.#check();
		const full = this.runs.hear(event);
		const seq = this.#keep(full);
		this.tell?.(full, seq);
		if (event.type === "run_result" && !this.runs.hasOpen && !this.#assembly.session.isBusy && this.#current().dialogs.length === 0) this.#log.idle();
	};

	#keep(frame: OutboundFrame): number | undefined {
		const seq = this.#log.next();
		this.#state = nextState(this.#current(), frame);
		if (isEphemeral(frame)) return seq;
		if (frame.type === "tool_execution_end") {
			const { content, details } = frame.result;
			this.#results.set(frame.toolCallId, { content, details });
		} else if (frame.type === "agent_settled") this.#results.clear();
		if (seq === undefined) this.#log.lose();
		else {
			const { text, isInline } = frameText(frame, this.#idOf, this.#lastId);
			this.#log.keep(seq, text, isInline);
		}
		this.#schedule();
		return seq;
	}

	#current(): LiveState {
		if (this.#update) {
			this.#state = nextState(this.#state, this.#update);
			this.#update = undefined;
		}
		return this.#state;
	}

	/** The writer flushes before it writes. This is for frames that no writer takes. */
	#schedule(): void {
		if (this.#isScheduled) return;
		this.#isScheduled = true;
		setImmediate(() => {
			this.#isScheduled = false;
			this.flush();
		});
	}

	#idOf = (message: AgentMessage): string | undefined => this.#ids.get(message);

	#hearEntry({ id, message }: { id: string; message?: object }): void {
		this.#lastId = id;
		if (message) this.#ids.set(message, id);
	}

	/** The process may have gone on to another session. */
	#check(): void {
		const { transcript } = this.#assembly.session;
		if (transcript === this.#transcript) return;
		this.#log.end();
		this.#transcript = transcript;
		this.#results.clear();
		this.#state = idleState;
		this.#update = undefined;
		this.#log = this.#opened(transcript);
	}

	#opened(transcript: Transcript): EventLog {
		const { log, session } = this.#assembly;
		const { now } = session.edges;
		const { everything, file } = transcript;
		this.#lastId = transcript.leafId;
		let hasHistory = false;
		for (let index = 0; index < everything.length && !hasHistory; index++) hasHistory = everything.kind(index).startsWith("message:");
		const opened = new EventLog({
			sessionId: transcript.sessionId,
			path: file === undefined ? undefined : eventLogPath(file),
			hasHistory,
			now,
			redact: this.#redact,
			mayWrite: () => transcript.isStored,
			onFailure: (error) =>
				log.error(
					`the event log of the session could not be written: ${asSentence(error.message)} The run goes on; readers get a gap in its place.`,
					error,
				),
			onSetAside: (aside) =>
				log.error(`the event log of the session was not one, and is now ${aside}. A new one begins; readers of earlier frames get a gap.`),
		});
		opened.skipTo(this.#after);
		balance(opened, transcript, now);
		return opened;
	}
}
