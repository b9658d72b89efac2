/** Extensions as one policy among others: it takes part at the doors where at least one extension listens. */
import type { Departure, LeaveDecision, Policy } from "../agent/policy.ts";
import type { ExtensionHost } from "../extensions/index.ts";
import type { AgentEvent } from "../protocol/events.ts";
import type { CustomMessage, UserMessage } from "../protocol/messages.ts";
import { promptText } from "../session/prepare-run.ts";

export interface ExtensionPolicyParts {
	host: ExtensionHost;
	cwd: string;
	/** Messages that extensions want to go with the next prompt. */
	prefaces: CustomMessage[];
	/** Ends questions that neither a run nor a command ends. */
	questions: Questions;
	observe: (event: AgentEvent) => void;
	now: () => number;
}

/** Questions that neither a run nor a command ends: an abort by the host does. */
export class Questions {
	#controller = new AbortController();

	get signal(): AbortSignal {
		return this.#controller.signal;
	}

	abort(): void {
		this.#controller.abort();
		this.#controller = new AbortController();
	}
}

export const extensionPolicyName = "extensions";

/** Made again whenever an extension begins to listen to something else. */
export function extensionPolicy({ host, cwd, prefaces, questions, observe, now }: ExtensionPolicyParts): Policy {
	const policy: Policy = {
		name: extensionPolicyName,
		observe,
		// Always: an extension may ask for them later.
		observesUpdates: true,
		notice: (fact) => host.notify(fact),
		abort: () => questions.abort(),
		renew: () => void prefaces.splice(0),
		async preface({ user, systemPrompt }, signal) {
			if (!user || !host.wants("before_agent_start")) return { messages: prefaces.splice(0) };
			const given = await systemPrompt();
			const answer = await host.beforeAgentStart({ prompt: user.text, images: user.images, systemPrompt: given }, signal);
			// Messages that wait for a prompt must not be lost with this one.
			if (signal.aborted) return undefined;
			const messages = answer.messages.map((message): CustomMessage => ({ role: "custom", ...message, timestamp: now() }));
			return { messages: [...prefaces.splice(0), ...messages], systemPrompt: answer.systemPrompt === given ? undefined : answer.systemPrompt };
		},
	};
	if (host.wants("input")) {
		policy.admit = async ({ messages, source }, signal) => {
			if (source === undefined) return undefined;
			const kept = [];
			for (const message of messages) {
				const answer = message.role === "user" ? await host.input({ ...promptText(message), source }, signal) : undefined;
				if (answer?.action === "handled") continue;
				const changed: UserMessage["content"] | undefined = answer && [{ type: "text", text: answer.text }, ...answer.images];
				kept.push(changed ? { ...(message as UserMessage), content: changed } : message);
			}
			return { messages: kept };
		};
	}
	if (host.wants("context")) policy.context = (messages, signal) => host.context(messages, signal);
	if (host.wants("before_provider_request")) policy.payload = (payload, signal) => host.beforeProviderRequest(payload, signal);
	if (host.wants("before_provider_headers")) policy.headers = (headers, signal) => host.beforeProviderHeaders(headers, signal);
	if (host.wants("after_provider_response")) policy.answered = (head) => host.notify({ type: "after_provider_response", ...head });
	if (host.wants("provider_stream_event")) policy.raw = (event) => host.notify({ type: "provider_stream_event", ...event });
	if (host.wants("tool_call")) {
		policy.beforeTool = async (call, signal) => {
			const answer = await host.toolCall(call, signal);
			return answer.block ? { denied: answer.reason } : { input: answer.input };
		};
	}
	if (host.wants("tool_result")) policy.afterTool = (call, outcome, signal) => host.toolResult({ ...call, ...outcome }, signal);
	if (host.wants("agent_before_settle")) {
		// Extensions are asked last: nothing else follows the run. They queue what they want to say now.
		policy.settle = async (_, gap) => {
			if (!gap.aborted) await host.beforeSettle(gap);
			return undefined;
		};
	}
	if (host.wants("session_before_compact")) policy.compact = (plan, signal) => host.beforeCompact({ ...plan, signal });
	if (host.wants("user_bash")) policy.shell = (command, signal) => host.userBash({ command, cwd }, signal);
	policy.leave = (departure) => leave(host, departure, questions.signal);
	return policy;
}

/** An abort in the middle of a question keeps the session where it is. */
async function leave(host: ExtensionHost, departure: Departure, signal: AbortSignal): Promise<LeaveDecision | undefined> {
	switch (departure.to) {
		case "session": {
			if (!host.wants("session_before_switch")) return undefined;
			const { to: _, ...given } = departure;
			const { cancel } = await host.beforeSwitch(given, signal);
			return cancel || signal.aborted ? { cancel: true } : undefined;
		}
		case "fork": {
			if (!host.wants("session_before_fork") && !host.wants("session_before_branch")) return undefined;
			const { cancel, skipConversationRestore } = await host.beforeFork({ entryId: departure.entryId }, signal);
			if (cancel || signal.aborted) return { cancel: true };
			return skipConversationRestore ? { keepsConversation: true } : undefined;
		}
		case "entry": {
			const { entryId: targetId, entriesToSummarize } = departure;
			const answer = await host.beforeTree({ targetId, entriesToSummarize, signal: departure.signal });
			return Object.keys(answer).length ? answer : undefined;
		}
	}
}
