/** `index.jsonl`: what the server knows of sessions beyond their files, and keys of requests. Append-only; the last line about a thing counts. */
import { closeSync, existsSync, openSync, readFileSync, writeSync } from "node:fs";
import type { SessionRecord } from "./record.ts";
import { writeWhole } from "./tokens.ts";

/** What a create with this key was, and made. */
export interface CreateKey {
	key: string;
	/** Of the body. */
	sha256: string;
	id: string;
	at: number;
}

type Line = { session: SessionRecord } | { removed: string; at: number } | { create: CreateKey };

const keyMs = 24 * 60 * 60 * 1000;
const mostKeys = 10_000;
const mostSessions = 100_000;

export class IndexFile {
	readonly sessions = new Map<string, SessionRecord>();
	readonly removed = new Map<string, number>();
	readonly keys = new Map<string, CreateKey>();
	/** Sessions that are known at once. */
	readonly most: number;
	/** Some sessions had no room. */
	isTruncated = false;
	#path: string;
	#descriptor: number | undefined;
	#lines = 0;
	#now: () => number;
	#last = new Map<string, string>();

	constructor(path: string, now: () => number = Date.now, most = mostSessions) {
		this.most = most;
		this.#path = path;
		this.#now = now;
		if (existsSync(path)) this.#read();
		if (this.#lines > 1000 && this.#lines > 2 * this.#size) this.#rewrite();
	}

	get #size(): number {
		return this.sessions.size + this.removed.size + this.keys.size;
	}

	save(record: SessionRecord): void {
		// Nothing of an ephemeral session may be on disk.
		this.#put(record);
		if (record.created?.ephemeral) return;
		const text = JSON.stringify({ session: record });
		if (this.#last.get(record.id) === text) return;
		this.#last.set(record.id, text);
		if (this.#last.size > 1000) this.#last.clear();
		this.#append(text);
	}

	remove(id: string): void {
		const isStored = !this.sessions.get(id)?.created?.ephemeral;
		this.sessions.delete(id);
		this.#last.delete(id);
		const at = this.#now();
		this.#forget(id, at);
		if (isStored) this.#append(JSON.stringify({ removed: id, at }));
	}

	key(key: string): CreateKey | undefined {
		const found = this.keys.get(key);
		return found && this.#now() - found.at < keyMs ? found : undefined;
	}

	saveKey(create: CreateKey): void {
		this.keys.set(create.key, create);
		keepNewest(this.keys, mostKeys);
		this.#append(JSON.stringify({ create }));
	}

	close(): void {
		if (this.#descriptor !== undefined) closeSync(this.#descriptor);
		this.#descriptor = undefined;
	}

	#forget(id: string, at: number): void {
		this.removed.delete(id);
		this.removed.set(id, at);
		keepNewest(this.removed, mostKeys);
	}

	/** The one that has been known for longest makes room. Its file stays. */
	#put(record: SessionRecord): void {
		this.sessions.set(record.id, record);
		if (this.sessions.size <= this.most) return;
		this.isTruncated = true;
		const [oldest] = this.sessions.keys();
		if (oldest !== undefined) this.sessions.delete(oldest);
	}

	#append(text: string): void {
		this.#descriptor ??= openSync(this.#path, "a", 0o600);
		this.#lines++;
		writeSync(this.#descriptor, `${text}\n`);
		if (this.#lines > 10_000 && this.#lines > 4 * this.#size) this.#rewrite();
	}

	#read(): void {
		const oldest = this.#now() - keyMs;
		for (const text of readFileSync(this.#path, "utf8").split("\n")) {
			if (text === "") continue;
			this.#lines++;
			let line: Line;
			try {
				line = JSON.parse(text) as Line;
			} catch {
				continue; // The process was killed while it wrote this line.
			}
			if ("session" in line) {
				this.#put(line.session);
				this.removed.delete(line.session.id);
			} else if ("removed" in line) {
				this.sessions.delete(line.removed);
				this.#forget(line.removed, line.at);
			} else if ("create" in line && line.create.at > oldest) this.keys.set(line.create.key, line.create);
		}
	}

	#rewrite(): void {
		const lines: Line[] = [
			...[...this.sessions.values()].filter(({ created }) => !created?.ephemeral).map((session) => ({ session })),
			...[...this.removed].map(([removed, at]) => ({ removed, at })),
			...[...this.keys.values()].map((create) => ({ create })),
		];
		this.close();
		writeWhole(this.#path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
		this.#lines = lines.length;
	}
}

/** Removes what was added first. */
function keepNewest(map: Map<string, unknown>, most: number): void {
	for (const oldest of map.keys()) {
		if (map.size <= most) return;
		map.delete(oldest);
	}
}
