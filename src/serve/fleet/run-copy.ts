/**
 * A copy of a run's files on the server, made of the lines that its workers have committed. What reads files of sessions reads it, so a run has
 * the same entries and frames as a session. It is read from the queue while there are readers, and removed some time after the last one.
 */
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FleetCut, FleetLine, FleetRun } from "../../protocol/serve.ts";
import { eventLogPath } from "../../transcript/event-log.ts";
import { logPosition, SessionPast } from "../past.ts";
import { Refusal } from "../refusal.ts";
import type { Fleet } from "./source.ts";

const files = ["session", "events"] as const;
type LogFile = (typeof files)[number];

const linesAtOnce = 500;
/** Readers that come at the same time share what was read. */
const freshMs = 400;
/** How long a copy is kept after its last reader. */
const keptMs = 30_000;

export interface RunFrame {
	seq?: number;
	type: string;
	json: string;
}

export class RunCopy {
	readonly id: string;
	run: FleetRun | undefined;
	takeovers: readonly FleetCut[] = [];
	/** The last kept line of the session file before each takeover, by its epoch: the id of its entry. */
	readonly lastKept = new Map<number, string | null>();
	/** The highest number that a reader can have seen: that of a frame which a takeover has cut, too. */
	highestSeq = 0;
	#fleet: Fleet;
	#fresh: number;
	#directory: string;
	#file: string;
	#past: SessionPast;
	#read: Record<LogFile, number> = { session: 0, events: 0 };
	#reading: Promise<void> | undefined;
	#readAt = Number.NEGATIVE_INFINITY;

	/** `fresh`: milliseconds for which what was read is up to date. */
	constructor(fleet: Fleet, id: string, fresh = freshMs) {
		this.#fleet = fleet;
		this.id = id;
		this.#fresh = fresh;
		this.#directory = mkdtempSync(join(tmpdir(), "bowline-run-"));
		this.#file = join(this.#directory, "session.jsonl");
		this.#past = new SessionPast(() => this.#file);
	}

	get file(): string {
		return this.#file;
	}

	/** The highest number of a frame so far. */
	get lastSeq(): number {
		return logPosition(this.#file, true).lastSeq;
	}

	/** Reads what came since, unless that was done a moment ago. */
	async refresh(): Promise<void> {
		if (performance.now() - this.#readAt < this.#fresh) return;
		this.#reading ??= this.#readNew().finally(() => {
			this.#reading = undefined;
		});
		await this.#reading;
	}

	/** One `gap` if something is missing, then the kept frames after a number. */
	*framesAfter(after: number, epoch: number): Generator<RunFrame> {
		const upTo = this.lastSeq;
		yield* this.#past.frames({ after, upTo, reason: "ephemeral", epoch, exact: new Map(), snapshot: undefined });
	}

	remove(): void {
		rmSync(this.#directory, { recursive: true, force: true });
	}

	async #readNew(): Promise<void> {
		const [run] = await this.#fleet.list({ ids: [this.id] });
		if (!run) throw new Refusal("not_found", `There is no run ${JSON.stringify(this.id.slice(0, 80))}.`);
		const takeovers = await this.#fleet.takeovers(this.id);
		if (takeovers.length !== this.takeovers.length) this.#begin(takeovers);
		// A commit holds lines of both files: when the event is there, what it names is there, too.
		for (const file of ["events", "session"] as const) await this.#append(file);
		this.run = run;
		this.#readAt = performance.now();
	}

	/** Lines that a takeover has cut are in no file of the worker that goes on. */
	#begin(takeovers: readonly FleetCut[]): void {
		this.takeovers = takeovers;
		this.lastKept.clear();
		this.#read = { session: 0, events: 0 };
		for (const file of files) writeFileSync(this.#pathOf(file), "");
	}

	async #append(file: LogFile): Promise<void> {
		for (;;) {
			const lines = await this.#fleet.lines(this.id, file, this.#read[file], linesAtOnce);
			if (lines.length === 0) return;
			const kept = lines.filter(({ line }) => !isCut(line, this.takeovers, file));
			appendFileSync(this.#pathOf(file), kept.map(({ body }) => `${body}\n`).join(""));
			if (file === "session") this.#noteKept(kept);
			else for (const { body } of lines) this.highestSeq = Math.max(this.highestSeq, Number(/^\{"s":(\d+)/.exec(body)?.[1] ?? 0));
			this.#read[file] = (lines.at(-1) as FleetLine).line;
		}
	}

	#noteKept(lines: readonly FleetLine[]): void {
		for (const { epoch, sessionCut } of this.takeovers) {
			const last = lines.findLast(({ line }) => line <= sessionCut);
			if (last) this.lastKept.set(epoch, idOf(last.body));
		}
	}

	#pathOf(file: LogFile): string {
		return file === "session" ? this.#file : eventLogPath(this.#file);
	}
}

function isCut(line: number, takeovers: readonly FleetCut[], file: LogFile): boolean {
	return takeovers.some(({ sessionCut, sessionFrom, eventCut, eventFrom }) =>
		file === "session" ? line > sessionCut && line <= sessionFrom : line > eventCut && line <= eventFrom,
	);
}

function idOf(body: string): string | null {
	try {
		const { type, id } = JSON.parse(body) as { type?: unknown; id?: unknown };
		return type !== "session" && typeof id === "string" ? id : null;
	} catch {
		return null; // A line that is not ours has no entry.
	}
}

/** The copies that readers use. */
export class RunCopies {
	#fleet: Fleet;
	#copies = new Map<string, { copy: RunCopy; readers: number; timer: NodeJS.Timeout | undefined }>();

	constructor(fleet: Fleet) {
		this.#fleet = fleet;
	}

	/** Uses the copy of a run, up to date. It is kept for as long as that takes, and a while longer. */
	async use<T>(id: string, work: (copy: RunCopy) => T | Promise<T>): Promise<T> {
		const known = this.#copies.get(id) ?? { copy: new RunCopy(this.#fleet, id), readers: 0, timer: undefined };
		this.#copies.set(id, known);
		clearTimeout(known.timer);
		known.readers += 1;
		try {
			await known.copy.refresh();
			return await work(known.copy);
		} finally {
			known.readers -= 1;
			// One that was never read is of a run that is not there.
			if (known.readers === 0) known.timer = this.#removeLater(id, known.copy, known.copy.run ? keptMs : 0);
		}
	}

	close(): void {
		for (const { copy, timer } of this.#copies.values()) {
			clearTimeout(timer);
			copy.remove();
		}
		this.#copies.clear();
	}

	#removeLater(id: string, copy: RunCopy, ms: number): NodeJS.Timeout {
		const timer = setTimeout(() => {
			this.#copies.delete(id);
			copy.remove();
		}, ms);
		return timer.unref();
	}
}
