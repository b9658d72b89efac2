/** The policies of a session. Their order in the list is the order in which they are asked. */
import type { Doors } from "../agent/doors.ts";
import type { Policy } from "../agent/policy.ts";
import { uuid } from "../lib/ids.ts";
import { sleep } from "../lib/sleep.ts";
import type { BudgetPolicy } from "../policies/budget.ts";
import { type CompactionPolicy, compactionPolicy } from "../policies/compaction/policy.ts";
import { type RetryPolicy, retryPolicy } from "../policies/retry.ts";
import { streamRulesPolicy } from "../policies/stream-rules/policy.ts";
import { todoPreludePolicy } from "../policies/todo-prelude.ts";
import { todoReminderPolicy } from "../policies/todo-reminder.ts";
import type { Briefing } from "../session/briefing.ts";
import type { Conversation } from "../session/conversation.ts";
import type { Controls, Edges } from "../session/dependencies.ts";
import type { Inbox } from "../session/inbox.ts";
import type { Requests } from "../session/requests.ts";
import { answerPolicy } from "../session/required-answer.ts";
import { usedRules } from "../session/restore.ts";
import type { TodoList } from "../session/todo-list.ts";
import { announcing } from "./announce-compaction.ts";
import type { Variations } from "./front.ts";
import type { Prompting } from "./prompting.ts";
import { sandboxPolicy } from "./sandbox-policy.ts";
import { ruleLoader } from "./stream-rules.ts";
import type { Workspace } from "./workspace.ts";

export interface PolicyParts {
	workspace: Workspace;
	variations: Variations;
	doors: Doors;
	budget: BudgetPolicy | undefined;
	conversation: Conversation;
	requests: Requests;
	briefing: Briefing;
	inbox: Inbox;
	todos: TodoList;
	controls: Controls;
	prompting: Prompting;
	edges: Edges;
}

export interface Policies {
	/** Extensions follow once they are loaded: they are asked last. */
	list: Policy[];
	retry: RetryPolicy;
	compaction: CompactionPolicy;
}

export function policies(parts: PolicyParts): Policies {
	const { workspace, budget } = parts;
	const retry = retryPolicy(() => retrySettings(parts), parts.edges.bus.emit, sleep);
	const compaction = compactionOf(parts);
	const list: (Policy | undefined)[] = [
		// First: a file that cannot be read is also why the sandbox is asked for.
		workspace.settings.refusal === undefined ? undefined : refusingPolicy(workspace.settings.refusal),
		workspace.sandbox && sandboxPolicy(workspace.sandbox),
		budget,
		retry,
		compaction,
		rulesOf(parts),
		reminderOf(parts),
		preludeOf(parts),
		workspace.subagent?.policy ?? answerPolicy(() => parts.briefing.answer),
	];
	return { list: list.filter((policy) => policy !== undefined), retry, compaction: announcing(compaction, parts.edges.bus.emit) };
}

/** Every prompt is refused until the settings are mended. */
const refusingPolicy = (refused: string): Policy => ({ name: "settings", admit: async () => ({ refused, code: "refused" }) });

function retrySettings({ workspace: { settings }, controls }: PolicyParts) {
	return {
		enabled: controls.autoRetry,
		maxRetries: settings.get("retry.maxRetries"),
		baseDelayMs: settings.get("retry.baseDelayMs"),
		maxDelayMs: settings.get("retry.maxDelayMs"),
		rateLimits: settings.get("retry.rateLimits") as "wait" | "host",
	};
}

function compactionOf(parts: PolicyParts): CompactionPolicy {
	const { workspace, variations, doors, budget, conversation, requests, briefing, controls, edges } = parts;
	const { settings } = workspace;
	const { stream } = briefing.models;
	const { bus, flow, log, now } = edges;
	return compactionPolicy({
		conversation: {
			branch: () => conversation.transcript.branch,
			messages: () => conversation.messages,
			model: () => briefing.choice.model,
			setup: () => briefing.setup(),
			continued: (model) => requests.continued(model),
			store(body) {
				conversation.append(body);
				conversation.reproject();
			},
		},
		settings: () => ({
			enabled: controls.autoCompaction,
			reserveTokens: settings.get("compaction.reserveTokens"),
			keepRecentTokens: settings.get("compaction.keepRecentTokens"),
			thresholdPercent: settings.get("compaction.thresholdPercent"),
			thresholdTokens: settings.get("compaction.thresholdTokens"),
		}),
		retry: () => retrySettings(parts),
		onRetry: variations.onSummaryRetry,
		// No event reports these calls, so the budget has to count them itself.
		stream: budget?.meter(stream) ?? stream,
		newSessionId: () => uuid(now()),
		doors,
		emit: bus.emit,
		log,
		flow,
		sleep,
		now,
	});
}

function rulesOf({ workspace: { settings }, prompting, conversation, edges }: PolicyParts): Policy {
	return streamRulesPolicy({
		load: ruleLoader({ resources: () => prompting.resources(), used: () => usedRules(conversation), settings, warn: edges.warn }),
		contextMode: () => settings.get("ttsr.contextMode"),
		note: (injectedRules) => void conversation.append({ type: "ttsr_injection", injectedRules }),
		emit: edges.bus.emit,
		now: edges.now,
	});
}

function reminderOf({ workspace: { settings }, todos, briefing, inbox, edges }: PolicyParts): Policy {
	return todoReminderPolicy({
		settings: () => ({ enabled: settings.get("todo.enabled"), reminders: settings.get("todo.reminders"), max: settings.get("todo.reminders.max") }),
		todos: () => todos.read(),
		isToolActive: () => briefing.isToolActive("todo_write"),
		hasQueued: () => inbox.count > 0,
		emit: edges.bus.emit,
		now: edges.now,
	});
}

function preludeOf({ workspace: { settings }, todos, briefing, conversation, edges }: PolicyParts): Policy {
	return todoPreludePolicy({
		isEager: () => settings.get("todo.eager"),
		todos: () => todos.read(),
		isToolActive: () => briefing.isToolActive("todo_write"),
		isBeginning: () => !conversation.messages.some(({ role }) => role === "user"),
		holdsCall: (id) => conversation.messages.some((message) => message.role === "toolResult" && message.toolCallId === id),
		now: edges.now,
	});
}
