/** All sessions: those of the index, those that other programs left in the session directories, and those that are awake. */
import { createHash } from "node:crypto";
import { readdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { uuid } from "../lib/ids.ts";
import type { CreateSession, ServedSession, SessionStateName } from "../protocol/serve.ts";
import { firstLine } from "../transcript/first-line.ts";
import { moveToTrash } from "../transcript/trash.ts";
import { type FeedCounts, Slots } from "./feed.ts";
import type { IndexFile } from "./index-file.ts";
import type { SessionRecord } from "./record.ts";
import { isRefusal, Refusal } from "./refusal.ts";
import type { Roots } from "./roots.ts";
import { type AgentState, drainingRefusal, Session, type SessionHost } from "./session.ts";

export interface SessionsParts {
	index: IndexFile;
	roots: Roots;
	/** Where session files are, one directory per working directory. */
	sessionsDirectory: string;
	/** The program, and flags for every session. */
	program: readonly string[];
	defaults: readonly string[];
	env: NodeJS.ProcessEnv;
	limits: { maxAwake: number; maxStarting: number; idleMs: number };
	announce: (frame: object) => void;
	log: (line: Record<string, unknown>) => void;
	counts: FeedCounts;
	meters: Pick<SessionHost, "onStart" | "onCrash" | "onUsage">;
	isDraining: () => boolean;
}

const replaysAtOnce = 16;
const scanEveryMs = 2000;
/** How soon readers see what another process writes. */
const watchEveryMs = 500;

export interface ListQuery {
	state?: string;
	cwd?: string;
	q?: string;
	limit: number;
	cursor?: string;
}

export class Sessions {
	#parts: SessionsParts;
	#open = new Map<string, Session>();
	#starting: Slots;
	#remembering = new Slots(1);
	#host: SessionHost;
	#scannedAt = 0;
	/** Files by path: what their first line says; null for what is not a session. */
	#files = new Map<string, SessionRecord | null>();
	#isTruncated = false;
	#creating = new Map<string, Promise<Session>>();
	#keeper: NodeJS.Timeout;
	#watcher: NodeJS.Timeout;

	constructor(parts: SessionsParts) {
		this.#parts = parts;
		this.#starting = new Slots(parts.limits.maxStarting);
		const { counts, announce, log, env, meters } = parts;
		this.#host = {
			...meters,
			now: Date.now,
			counts,
			replays: new Slots(replaysAtOnce),
			remembering: (work) => this.#remembering.within(work),
			env,
			announce,
			log,
			startSlot: (session, start) => this.#startSlot(session, start),
			agentCommand: (record) => this.#commandOf(record),
			inDirectory: (record, start) => parts.roots.inDirectory(record.cwd, start),
			save: (record) => this.#save(record),
			find: (id) => this.#find(id),
			moved: (from, to, state) => this.#moved(from, to, state),
			forget: (session) => this.#forget(session),
			get isDraining() {
				return parts.isDraining();
			},
		};
		this.#keeper = setInterval(() => this.#keepHouse(), Math.max(100, Math.min(5000, (parts.limits.idleMs || 20_000) / 4)));
		this.#keeper.unref();
		this.#watcher = setInterval(() => {
			for (const session of this.#open.values()) if (session.feed.readers.size > 0 || session.state === "elsewhere") session.watch();
		}, watchEveryMs);
		this.#watcher.unref();
	}

	/** Sessions with a process, and those that were used since the start. */
	get open(): Iterable<Session> {
		return this.#open.values();
	}

	get awake(): Session[] {
		return [...this.#open.values()].filter(({ isAwake }) => isAwake);
	}

	/** How many sessions are in each state. */
	states(): Map<SessionStateName, number> {
		const states = new Map<SessionStateName, number>();
		const { sessions } = this.#parts.index;
		let open = 0;
		for (const { state } of this.#open.values()) {
			states.set(state, (states.get(state) ?? 0) + 1);
			open++;
		}
		states.set("asleep", (states.get("asleep") ?? 0) + Math.max(0, sessions.size - open));
		return states;
	}

	/** Throws a Refusal when there is none that may be shown. */
	get(id: string): Session {
		const open = this.#open.get(id);
		if (open) return open;
		const record = this.#recordOf(id);
		if (!record) {
			if (this.#parts.index.removed.has(id)) throw new Refusal("session_deleted", `The session ${id} was deleted.`);
			throw new Refusal("no_session", `There is no session ${id}. GET /v1/sessions lists them.`);
		}
		const session = new Session(record, this.#host);
		this.#open.set(id, session);
		session.repair();
		return session;
	}

	#find(id: string): Session | undefined {
		try {
			return this.get(id);
		} catch (error) {
			// It was deleted, or is outside the roots.
			if (!isRefusal(error)) throw error;
			return undefined;
		}
	}

	#recordOf(id: string): SessionRecord | undefined {
		const { index } = this.#parts;
		if (!index.sessions.has(id)) this.#scan();
		const record = index.sessions.get(id) ?? [...this.#files.values()].find((each) => each?.id === id);
		return record && this.#isShown(record) ? { ...record } : undefined;
	}

	/** Shows sessions of directories inside the roots, and those that this server ran there: when a link has taken the directory's place since, waking them says so. */
	#isShown({ id, cwd }: SessionRecord, isInside = this.#parts.roots.contains(cwd)): boolean {
		const { index, roots } = this.#parts;
		return isInside || (index.sessions.has(id) && roots.names(cwd));
	}

	list({ state, cwd, q, limit, cursor }: ListQuery): { sessions: ServedSession[]; nextCursor?: string; truncated?: true } {
		this.#scan();
		const { index, roots } = this.#parts;
		const all = new Map<string, SessionRecord>();
		for (const record of this.#files.values()) if (record) all.set(record.id, record);
		for (const record of index.sessions.values())
			all.set(record.id, { ...record, updatedAt: Math.max(record.updatedAt, all.get(record.id)?.updatedAt ?? 0) });
		const inside = new Map<string, boolean>();
		const isShown = (record: SessionRecord) => {
			const isInside = inside.get(record.cwd) ?? roots.contains(record.cwd);
			inside.set(record.cwd, isInside);
			return this.#isShown(record, isInside);
		};
		const text = q?.toLowerCase();
		const found = [...all.values()]
			.filter((record) => isShown(record) && (cwd === undefined || record.cwd === cwd))
			.filter((record) => !text || [record.name ?? "", record.cwd, record.id].some((each) => each.toLowerCase().includes(text)))
			.sort((a, b) => b.updatedAt - a.updatedAt || (a.id < b.id ? 1 : -1));
		const from = cursor === undefined ? 0 : found.findIndex((record) => isAfter(record, cursor));
		const sessions: ServedSession[] = [];
		let last: SessionRecord | undefined;
		let hasMore = false;
		for (const record of from < 0 ? [] : found.slice(from)) {
			const view = (this.#open.get(record.id) ?? new Session(record, this.#host)).view();
			if (state !== undefined && view.state !== state) continue;
			if (sessions.length === limit) {
				hasMore = true;
				break;
			}
			sessions.push(view);
			last = record;
		}
		return {
			sessions,
			...(hasMore && last && { nextCursor: `${last.updatedAt}.${last.id}` }),
			...(this.#isTruncated && { truncated: true as const }),
		};
	}

	/** Looks for sessions that other programs made. Each file's first line is read once. */
	#scan(): void {
		const now = Date.now();
		if (now - this.#scannedAt < scanEveryMs) return;
		this.#scannedAt = now;
		const { sessionsDirectory } = this.#parts;
		const seen = new Set<string>();
		this.#isTruncated = this.#parts.index.isTruncated;
		for (const directory of namesIn(sessionsDirectory)) {
			for (const name of namesIn(join(sessionsDirectory, directory))) {
				if (!name.endsWith(".jsonl")) continue;
				if (seen.size >= this.#parts.index.most) {
					this.#isTruncated = true;
					break;
				}
				const path = join(sessionsDirectory, directory, name);
				seen.add(path);
				this.#look(path);
			}
		}
		for (const path of this.#files.keys()) if (!seen.has(path)) this.#files.delete(path);
	}

	#look(path: string): void {
		const known = this.#files.get(path);
		if (known === null) return;
		const stats = statSync(path, { throwIfNoEntry: false });
		if (!stats) return;
		if (known) {
			known.updatedAt = Math.floor(stats.mtimeMs);
			return;
		}
		const header = firstLine(path)?.header;
		// A file whose first line is not written yet is looked at again.
		if (!header?.cwd) return void (stats.size > 0 && !header && this.#files.set(path, null));
		const createdAt = Date.parse(header.timestamp ?? "") || Math.floor(stats.birthtimeMs);
		this.#files.set(path, { id: header.id, cwd: header.cwd, file: path, createdAt, updatedAt: Math.floor(stats.mtimeMs) });
	}

	// ─── Creating and removing ───

	/** `key`: requests with the same one create one session. */
	create(body: CreateSession, key: string | undefined): Promise<{ session: Session; isNew: boolean }> {
		if (key === undefined) return this.#create(body).then((session) => ({ session, isNew: true }));
		const sha256 = createHash("sha256").update(JSON.stringify(body)).digest("hex");
		const known = this.#parts.index.key(key);
		if (known && known.sha256 !== sha256)
			return Promise.reject(new Refusal("key_reused", `The key ${key} was used for another request. Use a new one.`));
		if (known) return Promise.resolve({ session: this.get(known.id), isNew: false });
		const twin = this.#creating.get(`${key} ${sha256}`);
		if (twin) return twin.then((session) => ({ session, isNew: false }));
		if ([...this.#creating.keys()].some((each) => each.startsWith(`${key} `)))
			return Promise.reject(new Refusal("key_reused", `The key ${key} is being used for another request. Use a new one.`));
		const creating = this.#create(body).then((session) => {
			this.#parts.index.saveKey({ key, sha256, id: session.id, at: Date.now() });
			return session;
		});
		this.#creating.set(`${key} ${sha256}`, creating);
		const done = () => this.#creating.delete(`${key} ${sha256}`);
		creating.then(done, done);
		return creating.then((session) => ({ session, isNew: true }));
	}

	async #create({ cwd, prompt: _, ...given }: CreateSession): Promise<Session> {
		if (this.#parts.isDraining()) throw drainingRefusal();
		const now = Date.now();
		const directory = this.#parts.roots.directory(cwd);
		const { provider = "", model = "" } = given;
		const created = isScript({ provider, id: model }) ? { ...given, model: resolve(directory, model) } : given;
		const record: SessionRecord = {
			id: uuid(now),
			cwd: directory,
			createdAt: now,
			updatedAt: now,
			...(created.name !== undefined && { name: created.name }),
			created,
		};
		const session = new Session(record, this.#host);
		this.#open.set(record.id, session);
		try {
			await session.wake();
		} catch (error) {
			// A model that does not exist, a setting that is wrong: there is no session.
			this.#open.delete(record.id);
			session.close();
			throw error;
		}
		this.#save(session.record);
		const frame = { type: "session_added", session: session.view() };
		this.#parts.announce(frame);
		return session;
	}

	async remove(id: string): Promise<void> {
		const session = this.get(id);
		if (session.isBusy) throw new Refusal("busy", "The session is busy. Abort its run first.");
		const { state, pid } = session.view();
		if (state === "elsewhere") throw new Refusal("elsewhere", `This session is in use by process ${pid}. Close it there first.`);
		await session.stop();
		const { file } = session.record;
		if (file !== undefined && statSync(file, { throwIfNoEntry: false })) moveToTrash(file, Date.now());
		this.#forget(session);
	}

	#forget(session: Session): void {
		const { id } = session;
		if (!this.#open.delete(id)) return;
		this.#parts.index.remove(id);
		if (session.record.file !== undefined) this.#files.delete(session.record.file);
		const frame = { type: "session_removed", sessionId: id };
		for (const reader of [...session.feed.readers]) {
			reader.send(JSON.stringify(frame));
			reader.sink.close(1001, "session deleted");
		}
		session.close();
		this.#parts.announce(frame);
	}

	#save(record: SessionRecord): void {
		this.#parts.index.save({ ...record });
	}

	#moved(from: Session, to: string, { sessionFile, cwd }: AgentState): Session {
		const known = this.#open.get(to);
		if (known) {
			known.record.cwd = this.#directoryAfterMove(known.record.cwd, cwd);
			return known;
		}
		const now = Date.now();
		const record: SessionRecord = this.#recordOf(to) ?? {
			id: to,
			cwd: cwd ?? from.record.cwd,
			createdAt: now,
			updatedAt: now,
			...(sessionFile !== undefined && { file: sessionFile }),
			...(from.record.created && { created: from.record.created }),
		};
		record.cwd = this.#directoryAfterMove(record.cwd, cwd);
		const session = new Session(record, this.#host);
		this.#open.set(to, session);
		this.#parts.announce({ type: "session_added", session: session.view() });
		return session;
	}

	/** Keeps a session's own directory as long as it stands. Otherwise it wakes where the agent that took it over works, or it would never wake again. */
	#directoryAfterMove(own: string, ofAgent = own): string {
		return this.#parts.roots.stands(own) ? own : ofAgent;
	}

	// ─── Processes ───

	#commandOf({ id, cwd, file, model: last, created = {} }: SessionRecord): string[] {
		const { program, defaults } = this.#parts;
		const isStored = file !== undefined && statSync(file, { throwIfNoEntry: false }) !== undefined;
		const flags = ["--mode", "rpc", "--seq", "--updates", "delta", "--dialect", "classic", ...defaults];
		const { provider, model, thinking, tools, noTools, appendSystemPrompt, settings, ephemeral, name, approve } = created;
		if (ephemeral) flags.push("--no-session");
		// What a session file says about model and level is newer than the flags.
		if (!isStored) {
			if (provider !== undefined) flags.push(`--provider=${provider}`);
			if (model !== undefined) flags.push(`--model=${model}`);
			if (thinking !== undefined) flags.push(`--thinking=${thinking}`);
			if (name !== undefined) flags.push(`--name=${name}`);
		} else if (last && isScript(last)) flags.push(`--provider=${last.provider}`, `--model=${resolve(cwd, last.id)}`); // No agent takes one from a file.
		if (tools !== undefined) flags.push(`--tools=${tools.join(",")}`);
		if (noTools) flags.push("--no-tools");
		if (approve) flags.push("--approve");
		if (appendSystemPrompt !== undefined) flags.push(`--append-system-prompt=${appendSystemPrompt}`);
		for (const [key, value] of Object.entries(settings ?? {}))
			flags.push(`--set=${key}=${typeof value === "string" ? value : JSON.stringify(value)}`);
		flags.push(isStored ? `--session=${file}` : `--session-id=${id}`);
		return [...program, ...flags];
	}

	async #startSlot<T>(session: Session, start: () => Promise<T>): Promise<T> {
		return this.#starting.within(async () => {
			await this.#makeRoom(session);
			return start();
		});
	}

	/** The session that is idle for the longest time goes to sleep, when there are too many. */
	async #makeRoom(session: Session): Promise<void> {
		const awake = this.awake.filter((each) => each !== session);
		if (awake.length < this.#parts.limits.maxAwake) return;
		const [oldest] = awake.filter(({ maySleep }) => maySleep).sort((a, b) => a.since - b.since);
		if (!oldest)
			throw new Refusal("no_room", `${awake.length} sessions are awake and none may sleep. Wait, stop one, or raise --max-awake.`, {
				headers: { "Retry-After": "5" },
			});
		await oldest.stop();
	}

	/** Puts idle sessions to sleep, and forgets sleeping ones that have no connections. */
	#keepHouse(): void {
		const now = Date.now();
		const { idleMs } = this.#parts.limits;
		for (const [id, session] of this.#open) {
			for (const reader of session.feed.readers) reader.checkStalled(now);
			if (idleMs > 0 && session.maySleep && now - session.since >= idleMs)
				session.stop().catch((error: Error) => this.#parts.log({ event: "sleep_failed", error: error.message }));
			else if (
				session.state === "asleep" &&
				session.connections.size === 0 &&
				session.feed.readers.size === 0 &&
				!session.seat.holder &&
				now - session.since > 60_000
			)
				this.#open.delete(id);
		}
	}

	close(): void {
		clearInterval(this.#keeper);
		clearInterval(this.#watcher);
		for (const session of this.#open.values()) session.close();
	}
}

/** Whether a session comes after the place that a cursor names. */
function isAfter({ updatedAt, id }: SessionRecord, cursor: string): boolean {
	const at = cursor.indexOf(".");
	const time = Number(cursor.slice(0, at));
	if (at < 0 || !Number.isFinite(time)) throw new Refusal("bad_field", "cursor is not one of this list. Begin again without it.");
	return updatedAt < time || (updatedAt === time && id < cursor.slice(at + 1));
}

function namesIn(directory: string): string[] {
	try {
		return readdirSync(directory);
	} catch {
		return []; // Not a directory, or gone by now.
	}
}

/** A model that is a file; scripts that are part of the program have names without dots and slashes. */
const isScript = ({ provider, id }: { provider: string; id: string }) => provider === "scripted" && /[./\\]/.test(id);
