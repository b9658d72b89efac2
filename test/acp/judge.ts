/** Holds every line of an agent against the official schema of the protocol, and against what we promise beyond it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Compile } from "typebox/compile";

type Json = Record<string, unknown>;

const folder = join(import.meta.dirname, "../../node_modules/@agentclientprotocol/sdk");
const official = JSON.parse(readFileSync(join(folder, "schema/v1/schema.json"), "utf8")) as { $defs: Record<string, Json> };
const compiled = new Map<string, ReturnType<typeof Compile>>();

/** What is wrong with a value; nothing when it is what the definition says. */
function problemsWith(definition: string, value: unknown): string[] {
	let validator = compiled.get(definition);
	if (!validator) {
		if (!official.$defs[definition]) throw new Error(`the schema has no ${definition}`);
		validator = Compile({ $ref: `#/$defs/${definition}`, $defs: official.$defs } as never);
		compiled.set(definition, validator);
	}
	if (validator.Check(value)) return [];
	return validator.Errors(value).map(({ instancePath, message }) => `${definition}${instancePath}: ${message}`);
}

const responses: Record<string, string> = {
	initialize: "InitializeResponse",
	"session/new": "NewSessionResponse",
	"session/load": "LoadSessionResponse",
	"session/resume": "ResumeSessionResponse",
	"session/list": "ListSessionsResponse",
	"session/close": "CloseSessionResponse",
	"session/delete": "DeleteSessionResponse",
	"session/set_mode": "SetSessionModeResponse",
	"session/set_config_option": "SetSessionConfigOptionResponse",
	"session/prompt": "PromptResponse",
};
const requests: Record<string, string> = {
	"session/request_permission": "RequestPermissionRequest",
	"fs/read_text_file": "ReadTextFileRequest",
	"fs/write_text_file": "WriteTextFileRequest",
	"elicitation/create": "CreateElicitationRequest",
};
const turnKinds = ["agent_message_chunk", "agent_thought_chunk", "user_message_chunk", "tool_call", "tool_call_update", "plan"];
const over = ["completed", "failed"];

/** Members that an update may have: those of its definition. Ours go into `_meta`. */
const updateMembers: Record<string, string> = {
	agent_message_chunk: "ContentChunk",
	agent_thought_chunk: "ContentChunk",
	user_message_chunk: "ContentChunk",
	tool_call: "ToolCall",
	tool_call_update: "ToolCallUpdate",
	plan: "Plan",
	available_commands_update: "AvailableCommandsUpdate",
	current_mode_update: "CurrentModeUpdate",
	config_option_update: "ConfigOptionUpdate",
	session_info_update: "SessionInfoUpdate",
	usage_update: "UsageUpdate",
	notice: "Notice",
	compaction_update: "CompactionUpdate",
};

interface Told {
	isKnown: boolean;
	isClosed: boolean;
	/** Open prompts and loads. */
	turns: Set<unknown>;
	calls: Map<string, string>;
}

export class Judge {
	readonly problems: string[] = [];
	/** Runs that an extension begins show their updates outside a turn. */
	allowsOwnRuns = false;
	#methods = new Map<unknown, { method: string; params: Json }>();
	#sessions = new Map<string, Told>();
	#asked = new Set<unknown>();

	sent(message: Json): void {
		const { id, method, params } = message as { id?: unknown; method?: string; params?: Json };
		if (method === undefined || !("id" in message)) return;
		this.#methods.set(id, { method, params: params ?? {} });
		const session = typeof params?.sessionId === "string" ? this.#session(params.sessionId) : undefined;
		if (session && (method === "session/prompt" || method === "session/load")) session.turns.add(id);
		if (session && method === "session/load") {
			session.isClosed = false;
			session.calls.clear();
		}
		if (session && method === "session/resume") session.isClosed = false;
	}

	received(line: string): Json {
		const message = JSON.parse(line) as Json;
		if (message.jsonrpc !== "2.0") this.#fault("no jsonrpc", message);
		if (/[\n\u2028\u2029]/.test(line)) this.#fault("a line break inside a line", message);
		if (line.length > 32 * 1024 * 1024) this.#fault("a line that is too long", {});
		if (typeof message.method === "string") this.#called(message.method, message);
		else this.#answered(message);
		return message;
	}

	#called(method: string, message: Json): void {
		if ("id" in message) {
			if (!Number.isInteger(message.id) || this.#asked.has(message.id)) this.#fault("an id that is not fresh", message);
			this.#asked.add(message.id);
			const definition = requests[method];
			if (!definition) return this.#fault("an unknown request", message);
			this.#check(definition, message.params, message);
			const { sessionId, toolCall } = message.params as { sessionId: string; toolCall?: { toolCallId: string } };
			if (toolCall && !this.#session(sessionId).calls.has(toolCall.toolCallId))
				this.#fault("permission for a call that was never announced", message);
			return;
		}
		if (method === "$/cancel_request") return this.#check("CancelRequestNotification", message.params, message);
		if (method !== "session/update") return this.#fault("an unknown notification", message);
		this.#check("SessionNotification", message.params, message);
		this.#updated(message.params as { sessionId: string; update: Json & { sessionUpdate: string } }, message);
	}

	#updated({ sessionId, update }: { sessionId: string; update: Json & { sessionUpdate: string } }, message: Json): void {
		const session = this.#session(sessionId);
		const kind = update.sessionUpdate;
		if (!session.isKnown && session.turns.size === 0) this.#fault("an update before the session's answer", message);
		if (session.isClosed) this.#fault("an update after the session was closed", message);
		if (turnKinds.includes(kind) && session.turns.size === 0 && !this.allowsOwnRuns) this.#fault("a turn's update outside a turn", message);
		const members = (official.$defs[updateMembers[kind] ?? ""]?.properties ?? {}) as Json;
		const foreign = Object.keys(update).filter((name) => name !== "sessionUpdate" && !(name in members));
		if (foreign.length) this.#fault(`members that the protocol does not have: ${foreign.join(", ")}`, message);
		const { toolCallId: id, status } = update as { toolCallId?: string; status?: string };
		if (kind === "tool_call" && id !== undefined) {
			if (session.calls.has(id)) this.#fault("a call's id is used again", message);
			session.calls.set(id, status ?? "pending");
		} else if (kind === "tool_call_update" && id !== undefined) {
			const before = session.calls.get(id);
			if (before === undefined) this.#fault("an update of a call that was never announced", message);
			else if (over.includes(before)) this.#fault("an update of a call that is over", message);
			if (status) session.calls.set(id, status);
		}
		for (const { path } of (update.locations as { path: string }[] | undefined) ?? []) {
			if (!path.startsWith("/")) this.#fault("a location that is not absolute", message);
		}
	}

	#answered(message: Json): void {
		const asked = this.#methods.get(message.id);
		if (message.id === null && !asked) return "error" in message ? this.#checkError(message) : this.#fault("a result without an id", message);
		if (!asked) return this.#fault("an answer to no request, or a second one", message);
		this.#methods.delete(message.id);
		const { method, params } = asked;
		const isError = "error" in message;
		if (isError) this.#checkError(message);
		else if (responses[method]) this.#check(responses[method], message.result, message);
		const id = (params.sessionId ?? (message.result as Json | undefined)?.sessionId) as string | undefined;
		const session = typeof id === "string" ? this.#session(id) : undefined;
		if (!session) return;
		if (method === "session/new" || method === "session/load" || method === "session/resume") session.isKnown ||= !isError;
		if (method === "session/close" && !isError) session.isClosed = true;
		if (!session.turns.delete(message.id)) return;
		if (method !== "session/prompt" || session.turns.size > 0) return;
		for (const [call, status] of session.calls) if (!over.includes(status)) this.#fault(`the call ${call} has not ended`, message);
	}

	#checkError(message: Json): void {
		this.#check("Error", message.error, message);
		const { message: text, data } = message.error as { message: string; data?: { details?: string } };
		if (!text || /^internal error$/i.test(text)) this.#fault("an error without words", message);
		if (data?.details !== text) this.#fault("details that differ from the message", message);
	}

	#check(definition: string, value: unknown, message: Json): void {
		for (const problem of problemsWith(definition, value).slice(0, 3)) this.#fault(problem, message);
	}

	#session(id: string): Told {
		let session = this.#sessions.get(id);
		if (!session) {
			session = { isKnown: false, isClosed: false, turns: new Set(), calls: new Map() };
			this.#sessions.set(id, session);
		}
		return session;
	}

	#fault(text: string, message: unknown): void {
		this.problems.push(`${text}: ${JSON.stringify(message).slice(0, 600)}`);
	}
}
