/** What the client can ask for. Sessions are loaded with the first request that needs them. */
import { onAbort } from "../lib/abort.ts";
import { type Client, clientOf, initializeResponse } from "./capabilities.ts";
import { codes, invalid, RpcError } from "./errors.ts";
import type { Incoming } from "./peer.ts";
import type { Params, Sessions } from "./sessions.ts";

export interface MethodsParts {
	version: string;
	/** Loads what holds sessions, once. */
	openSessions: (client: Client) => Promise<Sessions>;
}

export class Methods {
	#parts: MethodsParts;
	#client: Client | undefined;
	/** Set when sessions are loaded. */
	sessions: Sessions | undefined;
	#loading: Promise<Sessions> | undefined;
	/** Prompts that their sessions have not taken yet: a cancellation must reach them too. */
	#waiting = new Set<{ sessionId: unknown; controller: AbortController }>();

	constructor(parts: MethodsParts) {
		this.#parts = parts;
	}

	request = async (method: string, params: unknown, incoming: Incoming): Promise<unknown> => {
		if (method === "initialize") return this.#initialize(params);
		if (!this.#client) throw new RpcError(codes.invalidRequest, "initialize first");
		if (typeof params !== "object" || params === null || Array.isArray(params)) throw invalid("params must be an object");
		const given = params as Params;
		switch (method) {
			case "authenticate":
				throw invalid(`Unknown authentication method: ${String(given.methodId)}`);
			case "session/new":
				return (await this.#sessions()).create(given, incoming);
			case "session/prompt":
				return this.#prompt(given, incoming);
			case "session/load":
				return (await this.#sessions()).inOrder(given, async () => this.#loaded.load(given, incoming));
			case "session/resume":
				return (await this.#sessions()).inOrder(given, async () => this.#loaded.resume(given, incoming));
			case "session/list":
				return (await this.#sessions()).list(given);
			case "session/delete":
				return (await this.#sessions()).inOrder(given, async () => this.#loaded.delete(given));
			case "session/close":
				return (await this.#sessions()).inOrder(given, async () => this.#loaded.close(given));
			case "session/set_config_option":
				return (await this.#sessions()).inOrder(given, async () => {
					const session = this.#loaded.get(given);
					return { configOptions: await session.change(() => session.options.set(given.configId, given.value)) };
				});
			case "session/set_model":
				return (await this.#sessions()).inOrder(given, async () => {
					const session = this.#loaded.get(given);
					await session.apply(() => session.options.setModel(given.modelId));
					return {};
				});
			case "session/set_mode":
				return (await this.#sessions()).inOrder(given, async () => {
					const session = this.#loaded.get(given);
					await session.apply(() => session.options.setMode(given.modeId));
					return {};
				});
			default:
				throw new RpcError(codes.methodNotFound, `Unknown method: ${method}`);
		}
	};

	notification = (method: string, params: unknown): void => {
		if (method !== "session/cancel") return;
		const id = (params as Params | null | undefined)?.sessionId;
		for (const { sessionId, controller } of this.#waiting) if (sessionId === id) controller.abort();
		this.sessions?.find(params)?.cancel();
	};

	/** Prompts that no session has taken yet end as cancelled. */
	cancelWaiting(): void {
		for (const { controller } of this.#waiting) controller.abort();
	}

	#initialize(params: unknown): unknown {
		if (this.#client) throw new RpcError(codes.invalidRequest, "initialize was answered already");
		if (!Number.isSafeInteger((params as { protocolVersion?: unknown })?.protocolVersion)) throw invalid("protocolVersion must be an integer");
		this.#client = clientOf(params);
		return initializeResponse(this.#parts.version);
	}

	/** Other requests of the session may start while the turn goes on. */
	async #prompt(params: Params, incoming: Incoming): Promise<unknown> {
		const controller = new AbortController();
		const release = onAbort(incoming.signal, () => controller.abort());
		const waiting = { sessionId: params.sessionId, controller };
		this.#waiting.add(waiting);
		try {
			const sessions = await this.#sessions();
			const { answer } = await sessions.inOrder(params, async () => {
				this.#waiting.delete(waiting);
				return { answer: sessions.get(params).prompt(params, { ...incoming, signal: controller.signal }) };
			});
			return await answer;
		} finally {
			this.#waiting.delete(waiting);
			release();
		}
	}

	get #loaded(): Sessions {
		return this.sessions as Sessions;
	}

	#sessions(): Promise<Sessions> {
		this.#loading ??= this.#parts.openSessions(this.#client as Client).then((sessions) => {
			this.sessions = sessions;
			return sessions;
		});
		return this.#loading;
	}
}
