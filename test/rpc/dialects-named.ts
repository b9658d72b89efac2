/**
 * Every frame and member that the documents of pi, omp, xcsh and pisces name, read from them by hand and not from our code. A member that is not
 * here must not be sent in dialect `strict`. Where the documents name a frame and no members, `undocumented` has those of the programs.
 */

/** `value`: a word, a number, a flag or null. `open`: whatever tools and schemas put there. */
export type Named = "value" | "open" | Members | readonly [Named] | { by: string; kinds: Record<string, Members> } | { anyOf: readonly Named[] };
type Members = { [member: string]: Named };

const values = (names: string): Members => Object.fromEntries(names.split(" ").map((name) => [name, "value" as const]));

const block: Named = {
	by: "type",
	kinds: {
		text: values("type text"),
		thinking: values("type thinking"),
		toolCall: { ...values("type id name"), arguments: "open" },
		image: { type: "value", source: values("type mediaType data") },
	},
};
const content: Named = { anyOf: ["value", [block]] };
const cost = values("input output cacheRead cacheWrite total");
const messages = {
	user: { ...values("role timestamp"), content, attachments: ["open"] },
	assistant: {
		...values("role api provider model stopReason timestamp"),
		content: [block],
		usage: { ...values("input output cacheRead cacheWrite"), cost },
	},
	toolResult: { ...values("role toolCallId toolName isError timestamp"), content: [block] },
	bashExecution: values("role command output exitCode cancelled truncated fullOutputPath timestamp"),
} satisfies Record<string, Members>;
const message: Named = { by: "role", kinds: messages };
const toolResult: Named = { content: [block], details: "open" };
const call = values("toolCallId toolName");
const compaction: Named = { anyOf: ["value", { ...values("summary firstKeptEntryId tokensBefore"), details: "open" }] };
const model: Members = {
	...values("id name api provider baseUrl reasoning contextWindow maxTokens"),
	input: ["value"],
	cost: values("input output cacheRead cacheWrite"),
};
const todo = values("id content status");
const todoPhases: Named = [{ ...values("id name"), tasks: [todo] }];
const verification: Named = {
	...values("requested profile mode status retriesUsed onFailure"),
	attempts: [
		{
			...values("attempt status startedAt endedAt error"),
			commandResults: [values("name command exitCode durationMs optional timedOut artifactPath outputPreview")],
		},
	],
};
const budget: Members = {
	scope: "value",
	snapshot: values("status wallTimeMs inputTokens outputTokens totalTokens costUsd toolCalls subagents reason"),
};
const check = values("id attempt");

/** Frames that are not responses, without `type`. */
export const frames: Record<string, Members> = {
	agent_start: {},
	agent_end: { messages: [message] },
	turn_start: {},
	turn_end: { message: messages.assistant, toolResults: [messages.toolResult] },
	message_start: { message },
	message_end: { message },
	message_update: {
		message: messages.assistant,
		assistantMessageEvent: {
			...values("type contentIndex delta content"),
			partial: messages.assistant,
			toolCall: { ...values("type id name"), arguments: "open" },
		},
	},
	tool_execution_start: { ...call, args: "open" },
	tool_execution_update: { ...call, args: "open", partialResult: toolResult },
	tool_execution_end: { ...call, result: toolResult, isError: "value" },
	auto_compaction_start: values("reason"),
	auto_compaction_end: { ...values("aborted willRetry errorMessage"), result: compaction },
	auto_retry_start: values("attempt maxAttempts delayMs errorMessage"),
	auto_retry_end: values("success attempt finalError"),
	extension_error: values("extensionPath event error"),
	todo_auto_clear: {},
	subagent_start: values("id agent isolated"),
	subagent_end: { ...values("id agent exitCode"), verification },
	subagent_verification_start: { ...check, profile: "value" },
	subagent_verification_command_start: { ...check, commandName: "value" },
	subagent_verification_command_end: { ...check, ...values("commandName exitCode durationMs artifactId") },
	subagent_verification_end: { ...check, status: "value" },
	budget_warning: budget,
	budget_exceeded: budget,
	host_tool_call: { ...call, id: "value", arguments: "open" },
	host_tool_cancel: values("id targetId"),
};

/** Frames that the documents name; only the programs show their members. */
export const undocumented: Record<string, Members> = {
	ttsr_triggered: { rules: [values("name")] },
	todo_reminder: { todos: [todo], ...values("attempt maxAttempts") },
};

/** Methods of `extension_ui_request`, without `type`, `id` and `method`. The documents show confirm and input whole. */
export const dialogs: Record<string, Members> = {
	select: { ...values("title timeout"), options: ["value"] },
	confirm: values("title message timeout"),
	input: values("title placeholder timeout"),
	editor: values("title prefill"),
	notify: values("message notifyType"),
	setStatus: values("statusKey statusText"),
	setWidget: { ...values("widgetKey widgetPlacement"), widgetLines: ["value"] },
	setTitle: values("title"),
	set_editor_text: values("text"),
};

const nothing = null;
const cancelled = values("cancelled");
const forked = values("text cancelled");
const forkMessages: Named = { messages: [values("entryId text")] };

/** `data` of every command that the documents name; null: there is none. */
export const data: Record<string, Named | null> = {
	prompt: nothing,
	steer: nothing,
	follow_up: nothing,
	abort: nothing,
	abort_and_prompt: nothing,
	new_session: cancelled,
	get_state: {
		...values("thinkingLevel isStreaming isCompacting steeringMode followUpMode interruptMode sessionFile sessionId sessionName"),
		...values("autoCompactionEnabled messageCount pendingMessageCount queuedMessageCount"),
		model: { anyOf: ["value", model] },
		todoPhases,
	},
	get_messages: { messages: [message] },
	set_todos: { todoPhases },
	set_host_tools: { toolNames: ["value"] },
	set_model: model,
	cycle_model: { anyOf: ["value", { model, ...values("thinkingLevel isScoped") }] },
	get_available_models: { models: [model] },
	set_thinking_level: nothing,
	cycle_thinking_level: { anyOf: ["value", values("level")] },
	set_steering_mode: nothing,
	set_follow_up_mode: nothing,
	set_interrupt_mode: nothing,
	compact: compaction,
	set_auto_compaction: nothing,
	set_auto_retry: nothing,
	abort_retry: nothing,
	bash: values("output exitCode cancelled truncated fullOutputPath"),
	abort_bash: nothing,
	get_session_stats: {
		...values("sessionFile sessionId userMessages assistantMessages toolCalls toolResults totalMessages cost"),
		tokens: values("input output cacheRead cacheWrite total"),
	},
	export_html: values("path"),
	switch_session: cancelled,
	fork: forked,
	branch: forked,
	get_fork_messages: forkMessages,
	get_branch_messages: forkMessages,
	get_last_assistant_text: values("text"),
	set_session_name: nothing,
};

/** The members of a frame that no document names. */
export function unnamed(frame: Record<string, unknown>): string[] {
	const { type, ...rest } = frame as { type: string } & Record<string, unknown>;
	if (type === "response") return unnamedInResponse(rest);
	if (type === "extension_ui_request") {
		const { id: _, method, ...members } = rest;
		const named = dialogs[String(method)];
		return named ? beyond(members, named, `${type}(${method})`) : [`${type}(${method})`];
	}
	const named = frames[type] ?? undocumented[type];
	return named ? beyond(rest, named, type) : [type];
}

function unnamedInResponse({ id: _, command, success, data: given, error, ...rest }: Record<string, unknown>): string[] {
	const path = `response(${command})`;
	const extra = Object.keys(rest).map((name) => `${path}.${name}`);
	if (success === (error !== undefined)) extra.push(`${path}: error on success, or none on failure`);
	if (given === undefined || !Object.hasOwn(data, String(command))) return extra;
	const named = data[String(command)];
	return named === null || named === undefined ? [...extra, `${path}.data`] : [...extra, ...beyond(given, named, `${path}.data`)];
}

function beyond(value: unknown, named: Named, path: string): string[] {
	if (named === "open") return [];
	const isObject = typeof value === "object" && value !== null;
	if (named === "value") return isObject ? [`${path} is no plain value`] : [];
	if (Array.isArray(named)) {
		if (!Array.isArray(value)) return [`${path} is no list`];
		return value.flatMap((item) => beyond(item, named[0] as Named, `${path}[]`));
	}
	if ("anyOf" in named) {
		const tries = (named.anyOf as readonly Named[]).map((option) => beyond(value, option, path));
		return tries.find((found) => found.length === 0) ?? (tries.at(-1) as string[]);
	}
	if (!isObject) return [`${path} is no object`];
	if ("by" in named) {
		const { by, kinds } = named as { by: string; kinds: Record<string, Members> };
		const kind = String((value as Record<string, unknown>)[by]);
		return kinds[kind] ? beyond(value, kinds[kind], `${path}(${kind})`) : [`${path}(${kind})`];
	}
	return Object.entries(value).flatMap(([name, member]) => {
		const inner = (named as Members)[name];
		return inner ? beyond(member, inner, `${path}.${name}`) : [`${path}.${name}`];
	});
}
