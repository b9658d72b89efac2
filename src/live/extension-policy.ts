/** Opens the doors of the agent to extensions. A door is there as long as somebody listens at it. */
import type { Hooks } from "../agent/contracts.ts";
import type { ExtensionHost } from "../extensions/index.ts";
import type { ToolSelection } from "./tool-selection.ts";

export interface HookParts {
	cwd: string;
	selection: ToolSelection;
	/** Why extensions were loaded. */
	reason: () => "startup" | "reload";
	now: () => number;
}

type Event = Parameters<ExtensionHost["wants"]>[0];

/** Gives the signal of questions that no run and no command ends; `hooks.abort` does. */
export function installHooks(hooks: Hooks, host: () => ExtensionHost, { cwd, selection, reason, now }: HookParts): () => AbortSignal {
	let questions = new AbortController();
	const door = <Name extends keyof Hooks>(name: Name, events: Event[], ask: NonNullable<Hooks[Name]>) =>
		Object.defineProperty(hooks, name, { get: () => (events.length === 0 || events.some((event) => host().wants(event)) ? ask : undefined) });

	door("input", ["input"], async (given, signal) => {
		const answer = await host().input(given, signal);
		return answer.action === "handled" ? "handled" : { text: answer.text, images: answer.images };
	});
	door("beforeRun", ["before_agent_start"], async ({ text, images, systemPrompt: given }, signal) => {
		const { messages, systemPrompt } = await host().beforeAgentStart({ prompt: text, images, systemPrompt: given }, signal);
		return {
			messages: messages.map((message) => ({ role: "custom" as const, ...message, timestamp: now() })),
			systemPrompt: systemPrompt === given ? undefined : systemPrompt,
		};
	});
	door("context", ["context"], (messages, signal) => host().context(messages, signal));
	door("request", ["before_provider_request"], (payload, signal) => host().beforeProviderRequest(payload, signal));
	door("headers", ["before_provider_headers"], (headers, signal) => host().beforeProviderHeaders(headers, signal));
	door("beforeSettle", ["agent_before_settle"], (signal) => host().beforeSettle(signal));
	door("beforeTool", ["tool_call"], async (call, signal) => {
		const answer = await host().toolCall(call, signal);
		return answer.block ? { reason: answer.reason } : { input: answer.input };
	});
	door("afterTool", ["tool_result"], (call, given, signal) => host().toolResult({ ...call, ...given }, signal));
	// What is aborted in the middle of a question stays as it is.
	door("beforeSwitch", ["session_before_switch"], async (given) => {
		const { signal } = questions;
		const { cancel } = await host().beforeSwitch(given, signal);
		return { cancel: cancel || signal.aborted };
	});
	door("beforeFork", ["session_before_fork", "session_before_branch"], async (given) => {
		const { signal } = questions;
		const { cancel, skipConversationRestore } = await host().beforeFork(given, signal);
		return { cancel: cancel || signal.aborted, skipConversationRestore };
	});
	door("beforeCompact", ["session_before_compact"], (plan, signal) => host().beforeCompact({ ...plan, signal }));
	door("userBash", ["user_bash"], (command, signal) => host().userBash({ command, cwd }, signal));
	door("resources", ["resources_discover"], () => host().discoverResources({ cwd, reason: reason() }, questions.signal));
	door("command", [], (text) => {
		if (!text.startsWith("/")) return undefined;
		const end = text.search(/\s/);
		const name = text.slice(1, end < 0 ? undefined : end);
		const args = end < 0 ? "" : text.slice(end + 1);
		if (!host().hasCommand(name)) return undefined;
		const queueRefusal = `Extension command "/${name}" cannot be queued. Use prompt() or execute the command when not streaming.`;
		return { run: () => host().runCommand(name, args), queueRefusal };
	});
	door("tools", [], (builtIn, own) => selection.active(own, builtIn));
	door("tell", [], (fact) => host().notify(fact));
	door("abort", [], () => {
		questions.abort();
		questions = new AbortController();
	});
	return () => questions.signal;
}
