/** All sessions of one connection. Each has its own working directory, settings, trust, extensions and models. */
import { statSync } from "node:fs";
import { isAbsolute } from "node:path";
import type { NewSessionResponse } from "@agentclientprotocol/sdk";
import { type Redactor, redactor, secretsAgeMs } from "../lib/redact.ts";
import type { LiveSession } from "../live/live-session.ts";
import type { Options } from "../protocol/flags.ts";
import { invalid, unknownSession } from "./errors.ts";
import { type Connection, openAcpSession } from "./open.ts";
import type { Incoming } from "./peer.ts";
import type { AcpSession } from "./session.ts";

export type Params = Record<string, unknown>;

export class Sessions {
	#connection: Connection;
	#open = new Map<string, AcpSession>();
	/** All that were opened and are not closed, also those that are being opened. */
	#live = new Set<LiveSession>();
	/** The last request of each session that must be finished before the next one starts. */
	#lanes = new Map<string, Promise<unknown>>();
	readonly redactor: Redactor;

	constructor(connection: Connection) {
		this.#connection = connection;
		this.redactor = redactor(() => this.#secrets(), secretsAgeMs);
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
		const session = await this.#openAt(directoryOf(params), {});
		incoming.afterResponse(() => void session.announce());
		return { sessionId: session.id, ...this.#choices(session) };
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

	#secrets(): readonly string[] | undefined {
		const lists = [...this.#live].flatMap(({ assembly }) => assembly.models.knownSecrets() ?? []);
		return lists.length ? lists : undefined;
	}

	#choices(session: AcpSession): Pick<NewSessionResponse, "configOptions"> {
		const configOptions = session.currentOptions();
		const models = this.#connection.client.hasConfigOptions ? undefined : session.options.legacyModels();
		return { configOptions, ...(models && { models }) };
	}

	async #openAt(cwd: string, flags: Options): Promise<AcpSession> {
		const session = await openAcpSession(this.#connection, {
			cwd,
			flags,
			filter: () => this.redactor.pieces(),
			onLive: (live) => void this.#live.add(live),
			onShutdown: (session) => void session.live.session.settled().then(() => this.#close(session)),
		});
		this.#open.set(session.id, session);
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

function directoryOf({ cwd, additionalDirectories }: Params): string {
	const directory = (value: unknown, name: string) => {
		if (typeof value !== "string" || !isAbsolute(value)) throw invalid(`${name} must be an absolute path: ${JSON.stringify(value)}`);
		if (!statSync(value, { throwIfNoEntry: false })?.isDirectory()) throw invalid(`${name}: there is no directory ${value}`);
		return value;
	};
	if (additionalDirectories !== undefined && additionalDirectories !== null) {
		if (!Array.isArray(additionalDirectories)) throw invalid("additionalDirectories must be a list of absolute paths");
		for (const [index, value] of additionalDirectories.entries()) directory(value, `additionalDirectories[${index}]`);
	}
	return directory(cwd, "cwd");
}
