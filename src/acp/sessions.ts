/** All sessions of one connection. Each has its own working directory, settings, trust, extensions and models. */
import { existsSync, statSync } from "node:fs";
import { isAbsolute, join, resolve } from "node:path";
import type { ListSessionsResponse, LoadSessionResponse, NewSessionResponse, ResumeSessionResponse } from "@agentclientprotocol/sdk";
import { type Redactor, redactor } from "../lib/redact.ts";
import type { LiveSession } from "../live/live-session.ts";
import type { Options } from "../protocol/flags.ts";
import type { Asking } from "./approvals.ts";
import { codes, invalid, RpcError, unknownSession } from "./errors.ts";
import { type Connection, openAcpSession } from "./open.ts";
import type { Incoming } from "./peer.ts";
import type { AcpSession } from "./session.ts";
import { realPath, StoredSessions } from "./stored-sessions.ts";

export type Params = Record<string, unknown>;

export class Sessions {
	#connection: Connection;
	#open = new Map<string, AcpSession>();
	/** All that were opened and are not closed, also those that are being opened. */
	#live = new Set<LiveSession>();
	/** The last request of each session that must be finished before the next one starts. */
	#lanes = new Map<string, Promise<unknown>>();
	/** Asks again for the credentials when another session is open: what it knows may be a little old. */
	redactor: Redactor;

	constructor(connection: Omit<Connection, "asking">) {
		const asking: Asking = {
			isRefused: false,
			refuse: () => {
				if (asking.isRefused) return;
				asking.isRefused = true;
				for (const session of this.#open.values()) session.stopAsking();
			},
		};
		this.#connection = { ...connection, asking };
		this.redactor = this.#freshRedactor();
	}

	/** Throws an RpcError for a session that is not open. */
	get(params: Params): AcpSession {
		const id = sessionId(params);
		const session = this.#open.get(id);
		if (!session) throw unknownSession(id);
		return session;
	}

	find(params: unknown): AcpSession | undefined {
		const id = (params as Params | null | undefined)?.sessionId;
		return typeof id === "string" ? this.#open.get(id) : undefined;
	}

	/** Starts requests of one session in the order in which they came. The next one starts when `start` has resolved. */
	inOrder<T>(params: Params, start: () => Promise<T>): Promise<T> {
		const id = sessionId(params);
		const before = this.#lanes.get(id);
		const result = before ? before.then(start) : start();
		const lane = result.then(
			() => undefined,
			() => undefined,
		);
		this.#lanes.set(id, lane);
		void lane.then(() => {
			if (this.#lanes.get(id) === lane) this.#lanes.delete(id);
		});
		return result;
	}

	async create(params: Params, incoming: Incoming): Promise<NewSessionResponse> {
		const session = await this.#openAt(params, this.#promptFlags(params));
		incoming.afterResponse(() => void session.announce());
		return { sessionId: session.id, ...this.#choices(session) };
	}

	/** Shows a stored session from its beginning; it is answered after that. */
	async load(params: Params, incoming: Incoming): Promise<LoadSessionResponse> {
		const session = await this.#reopen(params);
		const { writer } = this.#connection;
		await session
			.replay(() => {
				if (incoming.signal.aborted) throw new RpcError(codes.cancelled, "session/load was cancelled");
				return writer.isOpen ? undefined : writer.whenOpen(incoming.signal);
			})
			.catch(async (error) => {
				await this.#close(session);
				throw error;
			});
		incoming.afterResponse(() => void session.announce());
		return this.#choices(session);
	}

	/** Goes on with a stored session, and shows nothing of it. */
	async resume(params: Params, incoming: Incoming): Promise<ResumeSessionResponse> {
		const session = await this.#reopen(params);
		incoming.afterResponse(() => void session.announce());
		return this.#choices(session);
	}

	async list(params: Params): Promise<ListSessionsResponse> {
		return (await this.#stored(typeof params.cwd === "string" ? params.cwd : undefined)).list(params);
	}

	/** Closes a session and moves its files to the trash. */
	async delete(params: Params): Promise<object> {
		const id = sessionId(params);
		const open = this.#open.get(id);
		const file = open?.live.session.transcript.file ?? (await this.#stored(open?.cwd)).find(id)?.file;
		if (open) await this.#close(open);
		if (file !== undefined && existsSync(file)) (await import("../transcript/trash.ts")).moveToTrash(realPath(file), Date.now());
		return {};
	}

	async close(params: Params): Promise<object> {
		await this.#close(this.get(params));
		return {};
	}

	/** The client is gone: turns end as cancelled, and every session is closed. */
	async closeAll(how: "finish" | "kill"): Promise<void> {
		const sessions = [...this.#open.values()];
		this.#open.clear();
		const known = new Set(sessions.map(({ live }) => live));
		const others = [...this.#live].filter((live) => !known.has(live));
		await Promise.all([...sessions.map((session) => session.close(how)), ...others.map((live) => live.close(how))]);
	}

	/** The client takes bytes again. */
	drained(): void {
		for (const session of this.#open.values()) session.drained();
	}

	/** A session that is open here is not opened twice. */
	async #reopen(params: Params): Promise<AcpSession> {
		const id = sessionId(params);
		const cwd = directoryOf(params);
		const open = this.#open.get(id);
		if (open) {
			requireDirectory(open.cwd, cwd);
			return open;
		}
		const stored = (await this.#stored(cwd)).find(id);
		if (!stored) throw unknownSession(id);
		requireDirectory(stored.cwd, cwd);
		const session = await this.#openAt(params, { session: stored.file, ...this.#promptFlags(params) });
		session.learnPast();
		return session;
	}

	/** Some clients replace the system prompt, or add to it. */
	#promptFlags({ _meta }: Params): Options {
		const given = (_meta as { systemPrompt?: unknown } | null | undefined)?.systemPrompt;
		if (typeof given === "string") return { "system-prompt": given };
		const more = (given as { append?: unknown } | null | undefined)?.append;
		return typeof more === "string" ? { "append-system-prompt": [...(this.#connection.options["append-system-prompt"] ?? []), more] } : {};
	}

	/** The sessions on disk, where the flags and settings say that they are. */
	async #stored(cwd = process.cwd()): Promise<StoredSessions> {
		const { opening, options, env, unknown } = this.#connection;
		if (options["no-session"]) return new StoredSessions(undefined);
		const { settings, userDirectory } = await opening.openWorkspace({ options, isRpc: true, cwd, env, unknown });
		const given = options["session-dir"] ?? settings.get("sessionDir");
		return new StoredSessions(given === undefined ? { root: join(userDirectory, "sessions") } : { directory: resolve(cwd, given) });
	}

	#freshRedactor(): Redactor {
		return redactor(() => this.#secrets());
	}

	/** Nothing as long as no session has looked for credentials; that is not the same as none. */
	#secrets(): readonly string[] | undefined {
		const lists = [...this.#live].flatMap(({ assembly }) => {
			const known = assembly.knownSecrets();
			return known ? [known] : [];
		});
		return lists.length ? lists.flat() : undefined;
	}

	#choices(session: AcpSession): Pick<NewSessionResponse, "configOptions" | "modes"> {
		const configOptions = session.currentOptions();
		const models = this.#connection.client.hasConfigOptions ? undefined : session.options.legacyModels();
		return { configOptions, modes: session.options.modes(), ...(models && { models }) };
	}

	async #openAt(params: Params, flags: Options): Promise<AcpSession> {
		const session = await openAcpSession(this.#connection, {
			cwd: directoryOf(params),
			roots: rootsOf(params),
			mcpServers: serversOf(params),
			flags,
			filter: () => this.redactor.pieces(),
			onLive: (live) => void this.#live.add(live),
			onShutdown: (session) => void session.live.session.settled().then(() => this.#close(session)),
		});
		this.#open.set(session.id, session);
		this.redactor = this.#freshRedactor();
		return session;
	}

	async #close(session: AcpSession): Promise<void> {
		if (this.#open.get(session.id) === session) this.#open.delete(session.id);
		await session.close();
		this.#live.delete(session.live);
	}
}

function sessionId({ sessionId: id }: Params): string {
	if (typeof id !== "string") throw invalid("sessionId must be a string");
	return id;
}

function requireDirectory(stored: string, given: string): void {
	if (realPath(stored) !== realPath(given)) throw invalid(`The session belongs to ${stored}, not to ${given}`);
}

function absolute(value: unknown, name: string): string {
	if (typeof value !== "string" || !isAbsolute(value)) throw invalid(`${name} must be an absolute path: ${JSON.stringify(value)}`);
	return value;
}

function directoryOf({ cwd }: Params): string {
	const directory = absolute(cwd, "cwd");
	if (!statSync(directory, { throwIfNoEntry: false })?.isDirectory()) throw invalid(`cwd: there is no directory ${directory}`);
	return directory;
}

function rootsOf({ additionalDirectories: given }: Params): string[] {
	if (given === undefined || given === null) return [];
	if (!Array.isArray(given)) throw invalid("additionalDirectories must be a list of absolute paths");
	return given.map((value, index) => absolute(value, `additionalDirectories[${index}]`));
}

/** Servers without a type are programs. Their entries are checked when the session is opened. */
function serversOf({ mcpServers: given }: Params): object[] {
	if (given === undefined || given === null) return [];
	if (!Array.isArray(given)) throw invalid("mcpServers must be a list");
	const names = new Set<string>();
	for (const [index, server] of given.entries()) {
		const { name, type } = (server ?? {}) as { name?: unknown; type?: unknown };
		if (typeof name !== "string" || name === "") throw invalid(`mcpServers[${index}]: name must be a string`);
		if (names.has(name)) throw invalid(`mcpServers[${index}]: there are two servers called ${name}`);
		if (type !== undefined && type !== "http" && type !== "sse") throw invalid(`mcpServers[${index}]: unknown type ${JSON.stringify(type)}`);
		names.add(name);
	}
	return given;
}
