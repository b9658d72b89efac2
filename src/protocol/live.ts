/**
 * What is going on in a session, as a value: one pure function from a state and a frame to the next state. The agent, a server, a page and a
 * bridge use the same one. Types only are imported, so that it runs in a browser.
 */
import type { OutboundFrame } from "./frames.ts";
import type { AssistantMessage } from "./messages.ts";
import type { LiveState } from "./sequence.ts";
import type { AssistantMessageEvent } from "./stream.ts";
import type { TodoPhase } from "./todos.ts";

export type { LiveState } from "./sequence.ts";

export const idleState: LiveState = Object.freeze({
	phase: "idle",
	tools: [],
	dialogs: [],
	queue: { steering: [], followUp: [] },
	todoPhases: [],
	subagents: [],
	status: {},
	widgets: {},
	retry: null,
});

/** The frames that are not kept: what matters of them is in the state. */
const ephemeral: ReadonlySet<string> = new Set(["message_update", "tool_execution_update", "bash_execution_update", "subagent_progress"]);
const ephemeralMethods: ReadonlySet<string> = new Set(["setStatus", "setWidget", "setTitle", "set_editor_text"]);

/** Frames with a number that a log does not keep. */
export function isEphemeral(frame: { type: string; method?: string }): boolean {
	return ephemeral.has(frame.type) || (frame.type === "extension_ui_request" && ephemeralMethods.has(frame.method ?? ""));
}

/** Frames that have no number: answers, calls to the host's own tools, questions before a step, and what one reader alone gets. */
const unnumbered: ReadonlySet<string> = new Set([
	"ready",
	"response",
	"host_tool_call",
	"host_tool_cancel",
	"gate_request",
	"gap",
	"snapshot",
	"rpc_chunk",
	"rpc_frame_error",
]);

export function isNumbered({ type }: { type: string }): boolean {
	return !unnumbered.has(type);
}

/** The state after a frame. The same object when nothing changed. */
export function nextState(state: LiveState, frame: OutboundFrame): LiveState {
	switch (frame.type) {
		case "snapshot":
			return frame.live;
		case "agent_start":
			return { ...without(state, "message"), phase: "running", tools: [], retry: null, ...(frame.runId !== undefined && { runId: frame.runId }) };
		case "agent_settled":
			return { ...without(state, "message"), phase: "idle", tools: [], retry: null };
		case "run_result":
			return state.runId === frame.runId ? without(state, "runId") : state;
		case "message_start":
			return frame.message.role === "assistant" ? { ...state, message: frame.message as AssistantMessage } : state;
		case "message_update":
			return { ...state, message: frame.message ?? grown(state.message, frame.assistantMessageEvent) };
		case "message_end":
			return frame.message.role === "assistant" && state.message ? without(state, "message") : state;
		case "tool_execution_start": {
			const { toolCallId, toolName, args } = frame;
			return { ...state, tools: [...state.tools, { toolCallId, toolName, args }] };
		}
		case "tool_execution_update": {
			const { toolCallId, partialResult } = frame;
			return { ...state, tools: state.tools.map((tool) => (tool.toolCallId === toolCallId ? { ...tool, partialResult } : tool)) };
		}
		case "tool_execution_end": {
			const tools = state.tools.filter(({ toolCallId }) => toolCallId !== frame.toolCallId);
			const todoPhases = frame.toolName === "todo_write" ? phasesOf(frame.result?.details) : undefined;
			return { ...state, tools, ...(todoPhases && { todoPhases }) };
		}
		case "auto_compaction_start":
		case "compaction_start":
			return { ...state, phase: "compacting" };
		case "auto_compaction_end":
			return { ...state, phase: state.runId === undefined ? "idle" : "running" };
		case "compaction_end":
			return { ...state, phase: frame.reason === "manual" || state.runId === undefined ? "idle" : "running" };
		case "auto_retry_start": {
			const { attempt, maxAttempts, delayMs, errorMessage } = frame;
			return { ...state, phase: "retrying", retry: { attempt, maxAttempts, delayMs, errorMessage } };
		}
		case "auto_retry_end":
			return { ...state, phase: state.phase === "retrying" ? "running" : state.phase, retry: null };
		case "queue_update":
			return { ...state, queue: { steering: frame.steering, followUp: frame.followUp } };
		case "todo_auto_clear":
			return { ...state, todoPhases: [] };
		case "budget_warning":
		case "budget_exceeded":
			return frame.scope === "session" ? { ...state, budget: frame.snapshot } : state;
		case "subagent_start": {
			const { id, taskId, agent, isolated } = frame;
			return { ...state, subagents: [...state.subagents, { id, ...(taskId !== undefined && { taskId }), agent, isolated }] };
		}
		case "subagent_end":
			return { ...state, subagents: state.subagents.filter(({ id }) => id !== frame.id) };
		case "permission_request": {
			const { type: _, seq: __, ...question } = frame;
			return { ...state, dialogs: [...state.dialogs, question] };
		}
		case "permission_resolved":
			return closed(state, frame.id);
		case "extension_ui_request":
			return shown(state, frame);
		default:
			return state;
	}
}

/** A dialog was answered, timed out or withdrawn. No frame says so of an answer, so its receiver does. */
export function closed(state: LiveState, id: string): LiveState {
	const dialogs = state.dialogs.filter((dialog) => dialog.id !== id);
	return dialogs.length === state.dialogs.length ? state : { ...state, dialogs };
}

function shown(state: LiveState, frame: Extract<OutboundFrame, { type: "extension_ui_request" }>): LiveState {
	switch (frame.method) {
		case "select":
		case "confirm":
		case "input":
		case "editor":
			return { ...state, dialogs: [...state.dialogs, frame] };
		case "cancel":
			return closed(state, frame.targetId);
		case "setStatus":
			return { ...state, status: changed(state.status, frame.statusKey, frame.statusText) };
		case "setWidget":
			return { ...state, widgets: changed(state.widgets, frame.widgetKey, frame.widgetLines) };
		default:
			return state;
	}
}

function changed<Value>(all: Record<string, Value>, key: string, value: Value | undefined): Record<string, Value> {
	const { [key]: _, ...others } = all;
	return value === undefined ? others : { ...others, [key]: value };
}

function without<Name extends "message" | "runId">(state: LiveState, name: Name): LiveState {
	if (state[name] === undefined) return state;
	const { [name]: _, ...rest } = state;
	return rest as LiveState;
}

function phasesOf(details: unknown): TodoPhase[] | undefined {
	const phases = typeof details === "object" && details !== null ? (details as { phases?: unknown }).phases : undefined;
	return Array.isArray(phases) ? (phases as TodoPhase[]) : undefined;
}

type Block = AssistantMessage["content"][number];

/** The open reply after one step of it. The arguments of a call are there when it is complete: until then they are a piece of JSON. */
function grown(message: AssistantMessage | undefined, step: AssistantMessageEvent): AssistantMessage | undefined {
	if (step.partial) return step.partial;
	if (!message) return message;
	const content = [...message.content];
	const at = step.contentIndex;
	const block = content[at];
	switch (step.type) {
		case "text_start":
			content[at] = { type: "text", text: "" };
			break;
		case "text_delta":
			content[at] = { type: "text", text: (block?.type === "text" ? block.text : "") + step.delta };
			break;
		case "text_end":
			content[at] = { ...(block?.type === "text" && block), type: "text", text: step.content };
			break;
		case "thinking_start":
			content[at] = { type: "thinking", thinking: "" };
			break;
		case "thinking_delta":
			content[at] = { type: "thinking", thinking: (block?.type === "thinking" ? block.thinking : "") + step.delta };
			break;
		case "thinking_end":
			content[at] = { ...(block?.type === "thinking" && block), type: "thinking", thinking: step.content };
			break;
		case "toolcall_start":
			content[at] = { type: "toolCall", id: step.id ?? "", name: step.toolName ?? "", arguments: {} };
			break;
		case "toolcall_delta":
			return message;
		case "toolcall_end":
			content[at] = step.toolCall;
			break;
	}
	// A step of a block whose beginning was missed leaves no hole in the list.
	for (let index = 0; index < content.length; index++) content[index] ??= { type: "text", text: "" } as Block;
	return { ...message, content };
}
