/** A conversation with one server: how it begins in either generation of the protocol, and requests in it. */
import { sleep } from "../lib/sleep.ts";
import { isObject, legacyVersions, modernVersion } from "./config.ts";
import { Clock, type Json, notFound, Peer, type RequestOptions, RpcError, type Transport } from "./peer.ts";

export type Era = "legacy" | "modern";

export interface ConnectionParts {
	/** Our own version. */
	version: string;
	/** Directories that the session works in. */
	roots: () => { uri: string; name: string }[];
	/** Asks a person. Absent where no person can answer, and then it is not announced. */
	elicit?: (params: Json, signal: AbortSignal) => Promise<Json>;
	onListChanged: (list: "tools" | "prompts") => void;
	/** A message for the server's log. */
	onMessage: (text: string) => void;
	onClosed: (error: Error) => void;
}

/** The answer to a greeting. */
export interface Greeting {
	era: Era;
	version: string;
	capabilities: Json;
	instructions: string;
}

/** The server speaks a revision that we do not. */
export class UnknownRevision extends Error {
	readonly revision: string;

	constructor(revision: string) {
		super(`speaks MCP ${revision}, which Bowline does not`);
		this.revision = revision;
	}
}

export const unsupportedVersion = -32022;
const mostRounds = 8;
const mostPages = 100;
export const mostItems = 2000;
const meta = "io.modelcontextprotocol";

export class Connection {
	readonly peer: Peer;
	#parts: ConnectionParts;
	#greeting: Greeting | undefined;
	/** The revision of modern requests. */
	#modern = modernVersion;
	/** The id of the subscription that is open. */
	#listening: AbortController | undefined;

	constructor(parts: ConnectionParts) {
		this.#parts = parts;
		this.peer = new Peer({
			request: (method, params, signal) => this.#answer(method, params, signal),
			notification: (method, params) => this.#notified(method, params),
			closed: parts.onClosed,
		});
	}

	get greeting(): Greeting {
		if (!this.#greeting) throw new Error("the server has not been greeted");
		return this.#greeting;
	}

	get era(): Era | undefined {
		return this.#greeting?.era;
	}

	/** Whether a person can answer the server. */
	get canAsk(): boolean {
		return this.#parts.elicit !== undefined;
	}

	use(transport: Transport): void {
		this.peer.transport = transport;
	}

	/** Begins as servers before 2026 expect it. */
	async initialize(asked: string, clock: Clock, signal?: AbortSignal): Promise<Greeting> {
		const params = { protocolVersion: asked, capabilities: this.#capabilities(), clientInfo: this.#clientInfo() };
		const answer = await this.peer.request("initialize", params, { clock, signal, isGreeting: true });
		const version = String(answer.protocolVersion);
		if (!(legacyVersions as readonly string[]).includes(version)) throw new UnknownRevision(version);
		this.#greeting = greetingOf(answer, "legacy", version);
		this.peer.transport.agreed?.(version);
		this.peer.notify("notifications/initialized");
		return this.#greeting;
	}

	/** Begins as servers since 2026 expect it. */
	async discover(clock: Clock, signal?: AbortSignal): Promise<Greeting> {
		const answer = await this.peer.request("server/discover", this.modernParams({}), { clock, signal });
		// Some older servers answer whatever they do not know with an empty success.
		if (!Array.isArray(answer.supportedVersions)) throw notFound("server/discover");
		const versions = answer.supportedVersions.map(String);
		if (!versions.includes(this.#modern)) throw new UnknownRevision(versions.join(", "));
		this.#greeting = greetingOf(answer, "modern", this.#modern);
		return this.#greeting;
	}

	/** A request in the words of the era. Rounds in which the server asks for input are part of it. */
	async request(method: string, params: Json, options: RequestOptions): Promise<Json> {
		let sent = params;
		for (let round = 0; ; round += 1) {
			const result = await this.peer.request(method, this.era === "modern" ? this.modernParams(sent) : sent, options);
			const { resultType = "complete", requestState } = result;
			if (resultType === "complete") return result;
			if (resultType !== "input_required") throw new RpcError(0, `the result has the unknown type ${JSON.stringify(resultType)}`);
			if (round === mostRounds) throw new RpcError(0, `the server asked for input more than ${mostRounds} times`);
			const inputResponses = await this.#inputs(result.inputRequests, options);
			sent = { ...params, ...(inputResponses && { inputResponses }), ...(requestState === undefined ? {} : { requestState }) };
		}
	}

	modernParams(params: Json): Json {
		const facts = {
			[`${meta}/protocolVersion`]: this.#modern,
			[`${meta}/clientInfo`]: this.#clientInfo(),
			[`${meta}/clientCapabilities`]: this.#capabilities(),
		};
		return { ...params, _meta: { ...(params._meta as Json | undefined), ...facts } };
	}

	/** All pages of a list. */
	async list(method: string, member: string, options: () => RequestOptions): Promise<unknown[]> {
		const items: unknown[] = [];
		const seen = new Set<unknown>();
		let cursor: unknown;
		for (let page = 0; page < mostPages && items.length < mostItems; page += 1) {
			const result = await this.request(method, cursor === undefined ? {} : { cursor }, options());
			const found = result[member];
			if (Array.isArray(found)) items.push(...found);
			cursor = result.nextCursor;
			if (typeof cursor !== "string" || cursor === "" || seen.has(cursor)) break;
			seen.add(cursor);
		}
		return items.slice(0, mostItems);
	}

	/** Whether the server announces changes of a list. */
	announces(list: "tools" | "prompts"): boolean {
		const { capabilities } = this.greeting;
		return isObject(capabilities[list]) && capabilities[list].listChanged === true;
	}

	/** Asks a modern server to report changes. A stream that ends is opened again. */
	listen(): void {
		if (this.era !== "modern" || this.#listening || !(this.announces("tools") || this.announces("prompts"))) return;
		const stop = new AbortController();
		this.#listening = stop;
		const notifications = {
			...(this.announces("tools") && { toolsListChanged: true }),
			...(this.announces("prompts") && { promptsListChanged: true }),
		};
		const open = async () => {
			for (let wait = 1000; !stop.signal.aborted && !this.peer.end; wait = Math.min(wait * 2, 60_000)) {
				const begun = performance.now();
				const options = { clock: new Clock(2 ** 31 - 1), signal: stop.signal };
				const refused = await this.peer.request("subscriptions/listen", this.modernParams({ notifications }), options).then(
					() => false,
					(error: Error) => error instanceof RpcError,
				);
				if (refused) return;
				// Changes while nothing listened are found by asking.
				if (performance.now() - begun > 60_000) wait = 1000;
				await sleep(wait, stop.signal);
				if (!stop.signal.aborted && !this.peer.end)
					for (const list of ["tools", "prompts"] as const) if (this.announces(list)) this.#parts.onListChanged(list);
			}
		};
		void open();
	}

	async close(): Promise<void> {
		this.#listening?.abort();
		await this.peer.transport?.close();
	}

	#clientInfo(): Json {
		return { name: "bowline", version: this.#parts.version };
	}

	#capabilities(): Json {
		return { roots: {}, ...(this.#parts.elicit && { elicitation: { form: {}, url: {} } }) };
	}

	async #answer(method: string, params: Json, signal: AbortSignal): Promise<Json> {
		if (method === "ping") return {};
		if (method === "roots/list") return { roots: this.#parts.roots() };
		const { elicit } = this.#parts;
		if (method !== "elicitation/create" || !elicit) throw notFound(method);
		this.peer.pause(true);
		try {
			return await elicit(params, signal);
		} finally {
			this.peer.pause(false);
		}
	}

	#notified(method: string, params: Json): void {
		if (method === "notifications/tools/list_changed") this.#parts.onListChanged("tools");
		else if (method === "notifications/prompts/list_changed") this.#parts.onListChanged("prompts");
		else if (method === "notifications/message") this.#parts.onMessage(`${params.level ?? "info"}: ${shown(params.data)}`);
	}

	/** Answers what a server asks for in the middle of a request. */
	async #inputs(requests: unknown, { clock, signal }: RequestOptions): Promise<Json | undefined> {
		if (!isObject(requests) || Object.keys(requests).length === 0) {
			// The server only wants to be asked again.
			await sleep(250, signal);
			return undefined;
		}
		const responses: Json = {};
		clock.pause();
		try {
			for (const [key, request] of Object.entries(requests)) {
				const { method, params } = isObject(request) ? request : {};
				if (method === "roots/list") responses[key] = { roots: this.#parts.roots() };
				else if (method === "elicitation/create" && this.#parts.elicit)
					responses[key] = await this.#parts.elicit(isObject(params) ? params : {}, signal ?? new AbortController().signal);
				else throw new RpcError(0, `the server asked for ${JSON.stringify(method)}, which Bowline does not offer`);
			}
			return responses;
		} finally {
			clock.resume();
		}
	}
}

function greetingOf(answer: Json, era: Era, version: string): Greeting {
	const { capabilities, instructions } = answer;
	return {
		era,
		version,
		capabilities: isObject(capabilities) ? capabilities : {},
		instructions: typeof instructions === "string" ? instructions : "",
	};
}

const shown = (data: unknown) => (typeof data === "string" ? data : (JSON.stringify(data) ?? ""));

/** Whether a server that refused `initialize` may be one that knows only the newer beginning. */
export function mayBeModern(error: Error): boolean {
	if (!(error instanceof RpcError)) return false;
	return [-32601, -32602, unsupportedVersion].includes(error.code) || `${error.message}${shown(error.data)}`.includes(modernVersion);
}
