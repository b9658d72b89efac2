/**
 * For hosts that refuse what they do not know: only frames and members that the documents of pi, omp, xcsh and pisces name. Where those name a
 * frame and not its members, the members are those of the programs that were documented.
 */

import type { OutboundFrame } from "../../protocol/frames.ts";
import type { HostToolDefinition } from "../../protocol/host-tools.ts";
import type { Dialect } from "./dialect.ts";
import { type Allowed, eachOf, members, pick } from "./pick.ts";
import {
	anyMessage,
	assistant,
	compaction,
	model,
	modelChoice,
	stats,
	todoPhase,
	toolResult,
	toolResultMessage,
	verification,
} from "./strict-shapes.ts";

const call = members("toolCallId toolName");
const check = members("id attempt");
const dialog = members("id method title timeout");
const budget = {
	...members("scope"),
	snapshot: members("status wallTimeMs inputTokens outputTokens totalTokens costUsd toolCalls subagents reason"),
};

const events: Record<string, Allowed> = {
	agent_start: {},
	agent_end: { messages: eachOf(anyMessage) },
	turn_start: {},
	turn_end: { message: assistant, toolResults: eachOf(toolResultMessage) },
	message_start: { message: anyMessage },
	message_update: {
		message: assistant,
		assistantMessageEvent: { ...members("type contentIndex delta content"), partial: assistant, toolCall: members("type id name arguments") },
	},
	message_end: { message: anyMessage },
	tool_execution_start: { ...call, args: true },
	tool_execution_update: { ...call, args: true, partialResult: toolResult },
	tool_execution_end: { ...call, result: toolResult, isError: true },
	auto_compaction_start: members("reason"),
	auto_compaction_end: { ...members("aborted willRetry errorMessage"), result: compaction },
	auto_retry_start: members("attempt maxAttempts delayMs errorMessage"),
	auto_retry_end: members("success attempt finalError"),
	ttsr_triggered: { rules: eachOf(members("name")) },
	todo_reminder: { todos: eachOf(members("id content status")), ...members("attempt maxAttempts") },
	todo_auto_clear: {},
	subagent_start: members("id agent isolated"),
	subagent_end: { ...members("id agent exitCode"), verification },
	subagent_verification_start: { ...check, profile: true },
	subagent_verification_command_start: { ...check, commandName: true },
	subagent_verification_command_end: { ...check, ...members("commandName exitCode durationMs artifactId") },
	subagent_verification_end: { ...check, status: true },
	budget_warning: budget,
	budget_exceeded: budget,
	extension_error: members("extensionPath event error"),
	host_tool_call: { ...call, ...members("id arguments") },
	host_tool_cancel: members("id targetId"),
};

const dialogs: Record<string, Allowed> = {
	select: { ...dialog, options: true },
	confirm: { ...dialog, message: true },
	input: { ...dialog, placeholder: true },
	editor: { ...dialog, prefill: true },
	notify: members("id method message notifyType"),
	setStatus: members("id method statusKey statusText"),
	setWidget: members("id method widgetKey widgetLines widgetPlacement"),
	setTitle: members("id method title"),
	set_editor_text: members("id method text"),
};

/** The data of documented commands. The host gets the result of a newer command unfiltered. */
const results: Record<string, Allowed | undefined> = {
	prompt: undefined,
	steer: undefined,
	follow_up: undefined,
	get_state: {
		...members("thinkingLevel isStreaming isCompacting steeringMode followUpMode interruptMode sessionFile sessionId sessionName"),
		...members("autoCompactionEnabled messageCount pendingMessageCount queuedMessageCount"),
		model,
		todoPhases: eachOf(todoPhase),
	},
	get_messages: { messages: eachOf(anyMessage) },
	set_todos: { todoPhases: eachOf(todoPhase) },
	set_model: model,
	cycle_model: modelChoice,
	get_available_models: { models: eachOf(model) },
	compact: compaction,
	bash: members("output exitCode cancelled truncated fullOutputPath"),
	get_session_stats: stats,
	set_thinking_level: undefined,
	hello: members("capabilities permissionMode sandbox"),
};

export const strict: Dialect = {
	hasNoNumbers: true,
	updates: "full",
	frames,
	// Nothing that the documents do not describe is offered: questions about tool calls stay dialogs.
	handlers: (table) => ({
		hello: (params, call) => table.hello({ ...params, capabilities: {} }, call),
		set_host_tools: ({ tools }, call) => table.set_host_tools({ tools: tools.map(documented) }, call),
	}),
};

/** A member that the documents do not describe means nothing. */
function documented(tool: HostToolDefinition): HostToolDefinition {
	const { effect: _, ...rest } = tool ?? {};
	return rest;
}

function frames(frame: OutboundFrame): OutboundFrame[] {
	const allowed = frame.type === "extension_ui_request" ? dialogs[frame.method] : events[frame.type];
	if (frame.type === "response") {
		const { code: _, hint: __, data, ...rest } = frame;
		const isKnown = Object.hasOwn(results, frame.command);
		return [{ ...rest, data: isKnown ? results[frame.command] && pick(data, results[frame.command] as Allowed) : data }];
	}
	return allowed ? [{ type: frame.type, ...(pick(frame, allowed) as object) } as OutboundFrame] : [];
}
