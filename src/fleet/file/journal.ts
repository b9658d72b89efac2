/**
 * Tables in memory with a journal on disk. A line of the journal is one transaction: the rows it changed, as they are after it. It is on the
 * disk before its effect can be seen. A torn last line never happened.
 */
import { closeSync, existsSync, fdatasyncSync, fsyncSync, ftruncateSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Budget, RunState, Status } from "../queue.ts";
import type { RunSpec } from "../spec.ts";

export interface Tables {
	lane: { name: string; maxRunning: number; running: number; pausedUntil: number };
	budget: Budget;
	worker: {
		id: string;
		host: string;
		labels: string[];
		slots: number;
		version: string;
		startedAt: number;
		seenAt: number;
		draining: boolean;
		gone: boolean;
		/** The number of runs it held when it died. */
		held?: number;
	};
	run: {
		id: string;
		key: string;
		digest: string;
		batch: string | null;
		lane: string;
		priority: number;
		state: RunState;
		epoch: number;
		attempts: number;
		maxAttempts: number;
		/** How often a worker died that it shared with other runs, without counting as an attempt. */
		sharedDeaths?: number;
		availableAt: number;
		worker: string | null;
		cancelAt: number | null;
		needs: string[];
		budget: string | null;
		/** Committed lines and bytes of the files. */
		sessionLines: number;
		eventLines: number;
		sessionBytes: number;
		eventBytes: number;
		usd: number;
		tokens: number;
		why: string | null;
		createdAt: number;
		startedAt: number | null;
		finishedAt: number | null;
	};
	/** Apart from its run, which is written with every step. */
	spec: { id: string; spec: RunSpec };
	checkpoint: { id: string; run: string; n: number; epoch: number; sessionLines: number; eventLines: number; tree: string };
	takeover: {
		id: string;
		run: string;
		epoch: number;
		worker: string;
		sessionCut: number;
		eventCut: number;
		sessionFrom: number;
		eventFrom: number;
		at: number;
	};
	result: { id: string; epoch: number; status: Status; hasPatch: boolean; receipt: Record<string, unknown>; finishedAt: number };
	hold: { id: string; epoch: number; budget: string; usd: number; tokens: number };
	rate: { id: string; rpm: number | null; tpm: number | null; pausedUntil: number };
}

export type TableName = keyof Tables;
const tableNames = ["lane", "budget", "worker", "run", "spec", "checkpoint", "takeover", "result", "hold", "rate"] as const satisfies TableName[];

const idOf = (row: { id: string } | { name: string }) => ("id" in row ? row.id : row.name);
type Changes = { [T in TableName]?: Tables[T][] } & { gone?: [TableName, string][] };

const compactAbove = 64 * 1024 * 1024;

export class Journal {
	readonly #path: string;
	#descriptor: number;
	#size: number;
	/** After the last compaction: a journal that is large because there is much in it is left alone. */
	#sizeThen = 0;
	readonly #tables = Object.fromEntries(tableNames.map((name) => [name, new Map()])) as { [T in TableName]: Map<string, Tables[T]> };

	constructor(directory: string) {
		this.#path = join(directory, "journal.jsonl");
		const bytes = existsSync(this.#path) ? readFileSync(this.#path) : Buffer.alloc(0);
		const end = bytes.lastIndexOf(10) + 1;
		for (const line of bytes.subarray(0, end).toString("utf8").split("\n")) if (line !== "") this.#apply(JSON.parse(line) as Changes);
		this.#descriptor = openSync(this.#path, "a", 0o600);
		this.#size = end;
		if (end < bytes.length) ftruncateSync(this.#descriptor, end);
	}

	get<T extends TableName>(table: T, id: string): Readonly<Tables[T]> | undefined {
		return this.#tables[table].get(id);
	}

	all<T extends TableName>(table: T): Iterable<Readonly<Tables[T]>> {
		return this.#tables[table].values();
	}

	begin(): Transaction {
		return new Transaction(this);
	}

	/** Writes the changes and makes them visible. When they cannot be written, nothing has happened. */
	write(changes: Changes): void {
		const bytes = Buffer.from(`${JSON.stringify(changes)}\n`);
		try {
			for (let done = 0; done < bytes.length; ) done += writeSync(this.#descriptor, bytes, done);
			fdatasyncSync(this.#descriptor);
		} catch (error) {
			ftruncateSync(this.#descriptor, this.#size);
			throw error;
		}
		this.#size += bytes.length;
		this.#apply(changes);
		if (this.#size > compactAbove && this.#size > 2 * this.#sizeThen) this.#compact();
	}

	close(): void {
		closeSync(this.#descriptor);
	}

	#apply({ gone = [], ...changes }: Changes): void {
		for (const name of tableNames) for (const row of changes[name] ?? []) (this.#tables[name] as Map<string, unknown>).set(idOf(row), row);
		for (const [name, id] of gone) this.#tables[name].delete(id);
	}

	/** Written to a second file, which then replaces the first in one step. */
	#compact(): void {
		const next = `${this.#path}.new`;
		const descriptor = openSync(next, "w", 0o600);
		let size = 0;
		for (const name of tableNames)
			for (const row of this.#tables[name].values()) size += writeSync(descriptor, `${JSON.stringify({ [name]: [row] })}\n`);
		fsyncSync(descriptor);
		closeSync(descriptor);
		renameSync(next, this.#path);
		const directory = openSync(dirname(this.#path), "r");
		fsyncSync(directory);
		closeSync(directory);
		closeSync(this.#descriptor);
		this.#descriptor = openSync(this.#path, "a", 0o600);
		this.#size = size;
		this.#sizeThen = size;
	}
}

/** Changes that are made together. Reads see them; others see them after `commit`. */
export class Transaction {
	readonly #journal: Journal;
	readonly #changed = new Map<string, { table: TableName; id: string; row: unknown }>();

	constructor(journal: Journal) {
		this.#journal = journal;
	}

	get<T extends TableName>(table: T, id: string): Readonly<Tables[T]> | undefined {
		const changed = this.#changed.get(`${table} ${id}`);
		return changed ? (changed.row as Tables[T] | undefined) : this.#journal.get(table, id);
	}

	put<T extends TableName>(table: T, row: Tables[T]): Tables[T] {
		const id = idOf(row);
		this.#changed.set(`${table} ${id}`, { table, id, row });
		return row;
	}

	/** Changes some members of a row that is there. */
	change<T extends TableName>(table: T, id: string, members: Partial<Tables[T]>): Tables[T] {
		const row = this.get(table, id);
		if (!row) throw new Error(`There is no ${table} ${id} in the journal.`);
		return this.put(table, { ...row, ...members } as Tables[T]);
	}

	remove(table: TableName, id: string): void {
		this.#changed.set(`${table} ${id}`, { table, id, row: undefined });
	}

	commit(): void {
		const changes: Record<string, unknown[]> = {};
		for (const { table, id, row } of this.#changed.values()) {
			const list = row === undefined ? "gone" : table;
			changes[list] ??= [];
			changes[list].push(row ?? [table, id]);
		}
		if (this.#changed.size > 0) this.#journal.write(changes as Changes);
		this.#changed.clear();
	}
}
