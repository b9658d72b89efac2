/** The HTTP endpoints of `bowline serve` as functions. */
import { StringDecoder } from "node:string_decoder";
import type {
	ArtifactList,
	CommandName,
	CommandParams,
	CreateSession,
	DrainState,
	EntriesPage,
	PromptAnswer,
	PromptRequest,
	Response,
	ServedSession,
	ServerInfo,
	SessionPage,
} from "../protocol/types.generated.ts";
import type { Frame } from "./channel.ts";
import { ServerAddress, type ServerOptions, textOf } from "./server-address.ts";

export interface ListSessions {
	state?: ServedSession["state"];
	cwd?: string;
	/** Part of a name, a directory or an id. */
	q?: string;
	limit?: number;
	cursor?: string;
}

export interface ServerClient {
	info(): Promise<ServerInfo>;
	sessions(query?: ListSessions): Promise<SessionPage>;
	/** With the same `key` a second call gives the first one's session. */
	create(session: CreateSession, options?: { key?: string }): Promise<ServedSession>;
	session(id: string): Promise<ServedSession>;
	start(id: string): Promise<ServedSession>;
	/** While the session is busy only with `abort`. */
	stop(id: string, options?: { abort?: boolean }): Promise<ServedSession>;
	/** Moves its files to the trash. */
	remove(id: string): Promise<void>;
	/** With `waitSeconds` the answer waits for the end of the run, and has its result and text. */
	prompt(id: string, prompt: PromptRequest, options?: { waitSeconds?: number }): Promise<PromptAnswer>;
	/** One command; resolves with its response, also when that is a failure. */
	command<Name extends CommandName>(id: string, type: Name, params?: CommandParams<Name>): Promise<Response>;
	/** The frames that are kept, after a number; with `follow` also those to come. Leaving the loop ends the request. */
	events(id: string, options?: { after?: number; follow?: boolean }): AsyncGenerator<Frame & { seq?: number }, void, undefined>;
	entries(id: string, page?: { since?: string; tail?: number; before?: string; limit?: number }): Promise<EntriesPage>;
	/** The session as one HTML page. */
	exportHtml(id: string): Promise<string>;
	artifacts(id: string): Promise<ArtifactList>;
	artifact(id: string, name: string): Promise<Uint8Array>;
	/** The metrics in the text format of Prometheus. */
	metrics(): Promise<string>;
	/** Lets runs end, then stops the server. */
	drain(): Promise<DrainState>;
}

/** A server, for programs that need no connection: every call is a request. Rejects with a `ServerError`. */
export function serverClient(options: ServerOptions): ServerClient {
	const address = new ServerAddress(options);
	const ask = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
		address.ask(method, `/v1${path}`, body, headers) as Promise<never>;
	const at = (id: string, rest = "") => `/sessions/${encodeURIComponent(id)}${rest}`;
	return {
		info: () => ask("GET", "/info"),
		sessions: (query = {}) => ask("GET", `/sessions${queryOf(query)}`),
		create: (session, { key } = {}) => ask("POST", "/sessions", session, key === undefined ? {} : { "Idempotency-Key": key }),
		session: (id) => ask("GET", at(id)),
		start: (id) => ask("POST", at(id, "/start"), {}),
		stop: (id, stop = {}) => ask("POST", at(id, "/stop"), stop),
		remove: async (id) => void (await ask("DELETE", at(id))),
		prompt: (id, prompt, { waitSeconds } = {}) =>
			ask("POST", at(id, "/prompts"), prompt, waitSeconds === undefined ? {} : { Prefer: `wait=${waitSeconds}` }),
		command: (id, type, params) => ask("POST", at(id, "/commands"), { ...params, type }),
		events: (id, { after, follow } = {}) => lines(address, `/v1${at(id, "/events")}${queryOf({ after, ...(follow && { follow: 1 }) })}`),
		entries: (id, page = {}) => ask("GET", at(id, `/entries${queryOf(page)}`)),
		exportHtml: async (id) => textOf(await address.open("GET", `/v1${at(id, "/export")}`)),
		artifacts: (id) => ask("GET", at(id, "/artifacts")),
		async artifact(id, name) {
			const chunks: Buffer[] = [];
			for await (const chunk of await address.open("GET", `/v1${at(id, `/artifacts/${encodeURIComponent(name)}`)}`)) chunks.push(chunk as Buffer);
			return Buffer.concat(chunks);
		},
		metrics: () => address.ask("GET", "/metrics") as Promise<string>,
		drain: () => ask("POST", "/drain", {}),
	};
}

function queryOf(given: object): string {
	const query = new URLSearchParams();
	for (const [name, value] of Object.entries(given)) if (value !== undefined) query.set(name, String(value));
	return query.size ? `?${query}` : "";
}

async function* lines(address: ServerAddress, path: string): AsyncGenerator<Frame, void, undefined> {
	const end = new AbortController();
	try {
		const response = await address.open("GET", path, undefined, { Accept: "application/jsonl" }, end.signal);
		const decoder = new StringDecoder("utf8");
		let rest = "";
		for await (const chunk of response) {
			const parts = (rest + decoder.write(chunk as Buffer)).split("\n");
			rest = parts.pop() as string;
			for (const line of parts) if (line) yield JSON.parse(line) as Frame;
		}
	} finally {
		end.abort();
	}
}
