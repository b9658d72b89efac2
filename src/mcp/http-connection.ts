/** How a conversation over HTTP begins: the newest way first, then the older ones. */
import type { HttpClient } from "../lib/http/client.ts";
import { allVersions, isObject, legacyVersions, modernVersion, type ServerConfig } from "./config.ts";
import { type Connection, type Era, UnknownRevision, unsupportedVersion } from "./connection.ts";
import type { Target } from "./expand.ts";
import { HttpRefused, HttpTransport, LoginWanted, OldSseTransport } from "./http.ts";
import { Clock, RpcError, TimedOut } from "./peer.ts";

export interface OpenHttp {
	config: ServerConfig;
	target: Target;
	/** How it was greeted before. */
	era: Era | undefined;
	client: HttpClient;
	clock: Clock;
	signal: AbortSignal;
	connection: () => Connection;
}

const greetAgainMs = 30_000;

export async function openHttp(input: OpenHttp): Promise<Connection> {
	const { config, target } = input;
	if (!/^https?:\/\//i.test(target.url) || !URL.canParse(target.url)) throw new Error("url must begin with http:// or https://");
	try {
		return await negotiate(input);
	} catch (error) {
		if (!(error instanceof LoginWanted)) throw error;
		throw new Error(loginText(config, target, error.status));
	}
}

async function negotiate(input: OpenHttp): Promise<Connection> {
	const { config, era } = input;
	if (config.transport === "sse") return oldSse(input);
	if (config.protocol === modernVersion || era === "modern") return modern(input);
	if (config.protocol !== "auto") return legacy(input, config.protocol);
	let version: string = legacyVersions[0];
	if (era === undefined) {
		try {
			return await modern(input);
		} catch (error) {
			if (error instanceof LoginWanted) throw error;
			// A server that answers this question may still speak an older revision that we know.
			if (error instanceof UnknownRevision) return legacy(input, version);
			if (error instanceof RpcError) {
				if (error.code === -32020 || error.code === -32021) throw error;
				if (error.code === unsupportedVersion) version = spokenVersion(error);
				// It speaks the newest one after all: a load balancer may be replacing its servers.
				if (version === modernVersion) return modern(input);
			} else if (!(error instanceof HttpRefused) || error.status >= 500) throw error;
		}
	}
	try {
		return await legacy(input, version);
	} catch (error) {
		if (!(error instanceof HttpRefused) || ![400, 404, 405].includes(error.status)) throw error;
		return oldSse(input);
	}
}

/** The newest revision that both sides speak, of those that an error names. */
function spokenVersion({ data }: RpcError): string {
	const supported = isObject(data) && Array.isArray(data.supported) ? data.supported.map(String) : [];
	const both = allVersions.find((version) => supported.includes(version));
	if (both === undefined) throw new UnknownRevision(supported.join(", ") || "of another kind");
	return both;
}

async function modern({ target, client, clock, signal, connection: make }: OpenHttp): Promise<Connection> {
	const connection = make();
	connection.use(new HttpTransport({ url: target.url, headers: target.headers, client, events: connection.peer, era: "modern" }));
	await connection.discover(clock, signal);
	return connection;
}

async function legacy({ config, target, client, clock, signal, connection: make }: OpenHttp, version: string): Promise<Connection> {
	const connection = make();
	const greetAgain = () => connection.initialize(version, new Clock(greetAgainMs), signal);
	const transport = new HttpTransport({ url: target.url, headers: target.headers, client, events: connection.peer, era: "legacy", greetAgain });
	connection.use(transport);
	const greeting = await connection.initialize(version, clock, signal);
	if (config.protocol !== "auto" && greeting.version !== config.protocol) throw new UnknownRevision(greeting.version);
	// Servers may ask people over this stream as well.
	if (connection.canAsk || connection.announces("tools") || connection.announces("prompts")) void transport.listen();
	return connection;
}

async function oldSse({ target, client, clock, signal, connection: make }: OpenHttp): Promise<Connection> {
	const connection = make();
	const transport = new OldSseTransport({ url: target.url, headers: target.headers, client, events: connection.peer, era: "legacy" });
	connection.use(transport);
	await within(clock, transport);
	await connection.initialize(legacyVersions[0], clock, signal);
	return connection;
}

/** Opens the stream while there is time. */
function within(clock: Clock, transport: OldSseTransport): Promise<void> {
	return new Promise((resolve, reject) => {
		const expired = (ms: number) => {
			void transport.close();
			reject(new TimedOut(ms));
		};
		clock.enter(expired);
		transport
			.open()
			.finally(() => clock.leave(expired))
			.then(resolve, reject);
	});
}

function loginText({ name, headers }: ServerConfig, { headers: sent }: Target, status: number): string {
	const server = `MCP server ${JSON.stringify(name)}`;
	const hasToken = Object.keys({ ...headers, ...sent }).some((header) => header.toLowerCase() === "authorization");
	if (hasToken) return `${server} refused the token of its headers (${status})`;
	return `${server} wants a login (OAuth), which Bowline does not do. Put a token into its headers, such as "Authorization": "Bearer \${NAME}", or start it through a local bridge (mcp-remote).`;
}
