/** omp-rpc and xcsh-rpc for Python: any listed event with a wrong shape is the end of the client. */
import { FamilyClient } from "./family.ts";
import type { Frame } from "./process.ts";

type Values = Record<string, unknown>;

const roles = new Set([
	...["user", "developer", "assistant", "toolResult", "bashExecution", "custom", "compactionSummary", "branchSummary"],
	...["fileMention", "pythonExecution", "hookMessage"],
]);
const levels = ["off", "minimal", "low", "medium", "high", "xhigh"];
const queueModes = ["all", "one-at-a-time"];
const todoStatuses = ["pending", "in_progress", "completed", "abandoned"];
const methods = ["select", "confirm", "input", "editor", "notify", "setStatus", "setWidget", "setTitle", "set_editor_text", "cancel"];

function must(holds: boolean, what: string): void {
	if (!holds) throw new Error(what);
}
const isObject = (value: unknown): value is Values => typeof value === "object" && value !== null && !Array.isArray(value);
const oneOf = (words: readonly unknown[], value: unknown, what: string) => must(words.includes(value), `${what}: ${String(value)}`);

function message(value: unknown): void {
	must(isObject(value), "a message is no object");
	must(roles.has(String((value as Values).role)), `an unknown role: ${(value as Values).role}`);
}

function messages(value: unknown): void {
	must(Array.isArray(value), "messages are no list");
	(value as unknown[]).forEach(message);
}

function model(value: unknown): void {
	if (value === null || value === undefined) return;
	must(isObject(value), "a model is no object");
	for (const name of ["id", "name", "api", "provider", "baseUrl"]) must(typeof (value as Values)[name] === "string", `model.${name}`);
}

function todos(value: unknown): void {
	must(Array.isArray(value), "todos are no list");
	for (const { status } of value as Values[]) oneOf(todoStatuses, status, "todo status");
}

const text = (frame: Values, ...names: string[]) => {
	for (const name of names) must(typeof frame[name] === "string", `${frame.type}.${name} is no text`);
};
const integer = (frame: Values, ...names: string[]) => {
	for (const name of names) must(Number.isInteger(frame[name]), `${frame.type}.${name} is no integer`);
};
const flag = (frame: Values, ...names: string[]) => {
	for (const name of names) must(typeof frame[name] === "boolean", `${frame.type}.${name} is no flag`);
};
const action = ({ action: given }: Values) => given === undefined || oneOf(["context-full", "handoff"], given, "action");

const shapes: Record<string, (frame: Values) => unknown> = {
	agent_end: (frame) => messages(frame.messages),
	turn_end: (frame) => {
		message(frame.message);
		messages(frame.toolResults);
	},
	message_start: (frame) => message(frame.message),
	message_end: (frame) => message(frame.message),
	message_update: (frame) => {
		message(frame.message);
		must(isObject(frame.assistantMessageEvent), "an update without its event");
		message((frame.assistantMessageEvent as Values).partial);
	},
	tool_execution_start: (frame) => text(frame, "toolCallId", "toolName"),
	tool_execution_update: (frame) => text(frame, "toolCallId", "toolName"),
	tool_execution_end: (frame) => {
		text(frame, "toolCallId", "toolName");
		flag(frame, "isError");
	},
	auto_compaction_start: (frame) => {
		oneOf(["threshold", "overflow", "idle"], frame.reason, "reason");
		action(frame);
	},
	auto_compaction_end: (frame) => {
		flag(frame, "aborted", "willRetry");
		action(frame);
	},
	auto_retry_start: (frame) => {
		integer(frame, "attempt", "maxAttempts", "delayMs");
		text(frame, "errorMessage");
	},
	auto_retry_end: (frame) => {
		flag(frame, "success");
		integer(frame, "attempt");
	},
	ttsr_triggered: (frame) => must(Array.isArray(frame.rules), "rules"),
	todo_reminder: (frame) => todos(frame.todos),
	extension_error: (frame) => text(frame, "extensionPath", "event", "error"),
	host_tool_call: (frame) => {
		text(frame, "id", "toolCallId", "toolName");
		must(isObject(frame.arguments), "arguments");
	},
	extension_ui_request: (frame) => {
		text(frame, "id");
		oneOf(methods, frame.method, "method");
		if (frame.timeout !== undefined) integer(frame, "timeout");
		if (frame.notifyType !== undefined) oneOf(["info", "warning", "error"], frame.notifyType, "notifyType");
		if (frame.widgetPlacement !== undefined) oneOf(["aboveEditor", "belowEditor"], frame.widgetPlacement, "widgetPlacement");
	},
};

function state(data: Values): void {
	oneOf(levels, data.thinkingLevel, "thinkingLevel");
	oneOf(queueModes, data.steeringMode, "steeringMode");
	oneOf(queueModes, data.followUpMode, "followUpMode");
	oneOf(["immediate", "wait"], data.interruptMode, "interruptMode");
	integer({ type: "state", ...data }, "messageCount", "queuedMessageCount");
	must(typeof data.sessionId === "string", "sessionId");
	model(data.model);
	for (const phase of data.todoPhases as Values[]) todos(phase.tasks);
}

export class PythonClient extends FamilyClient {
	/** Failures that came after an acknowledgement. */
	readonly lateFailures: string[] = [];
	#answered = new Set<string>();

	protected override read(frame: Frame): void {
		must(typeof frame.type === "string", "a frame without a type");
		shapes[frame.type]?.(frame);
		if (frame.type === "response") return this.#response(frame);
		if (frame.type === "ready" || frame.type === "host_tool_call") return super.read(frame);
		this.tell(frame);
	}

	#response(frame: Frame): void {
		const isRight = typeof frame.command === "string" && typeof frame.success === "boolean" && (frame.success || typeof frame.error === "string");
		must(isRight, "a response of a wrong shape");
		const id = frame.id === undefined ? this.#idOf(frame) : String(frame.id);
		if (id !== undefined && this.settle({ ...frame, id })) return void this.#answered.add(id);
		if (id !== undefined && this.#answered.has(id) && frame.success === false) this.lateFailures.push(String(frame.error));
	}

	/** Failures without an id belong to the command of their name, and `parse` to a request that is the only one. */
	#idOf({ command }: Frame): string | undefined {
		const [only, ...others] = [...this.pending.keys()];
		if (command === "parse") return others.length === 0 ? only : undefined;
		return [...this.pending].find(([, pending]) => pending.command === command)?.[0];
	}

	override async request(type: string, params: object = {}): Promise<unknown> {
		const data = await super.request(type, params);
		if (type === "get_state") state(data as Values);
		if (type === "get_messages") messages((data as Values).messages);
		if (type === "set_model") model(data);
		return data;
	}
}
