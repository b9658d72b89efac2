/** The loaded extensions as the session uses them: it reports facts, asks questions, and calls tools and commands. */
import type { Tool } from "../agent/contracts.ts";
import { settleWithin } from "../lib/abort.ts";
import type { BashResult } from "../protocol/commands/bash.ts";
import type { CompactionResult } from "../protocol/commands/compaction.ts";
import type { Image, UserContent } from "../protocol/content.ts";
import type { AgentMessage } from "../protocol/messages.ts";
import type { ExtensionActions, OwnMessage } from "./actions.ts";
import { compactionOf, contentIn, copyOf, isImage, jsonIn, listIn, objectIn, objectOf, ownMessage, textIn, textsIn } from "./answers.ts";
import type { CommandInfo, FlagRegistration, ProviderRegistration, RegisteredMcpServer } from "./api.ts";
import { ask, untilEither } from "./chain.ts";
import { commandContextOf } from "./context.ts";
import type {
	ExtensionEvent,
	ExtensionEventName,
	Fact,
	InputEvent,
	SessionBeforeCompactEvent,
	SessionBeforeSwitchEvent,
	SessionBeforeTreeEvent,
	SessionBeforeTreeResult,
} from "./events.ts";
import { type Link, type OnError, settle, textOf } from "./link.ts";
import type { LoadedExtensions } from "./load.ts";
import { type Ask, changedHeaders, changedMessages, changedPayload } from "./model-questions.ts";
import { commandsOf, firstOfEach, mcpServersOf, type Registered, type Registrations } from "./registrations.ts";
import { toolOf } from "./tool.ts";
import { treeAnswerOf } from "./tree-answer.ts";
import { type BashAnswer, bashAnswerOf, cancelledResult, runElsewhere } from "./user-bash.ts";

export interface HostOptions {
	/** Receives the errors that extensions throw; the cause has the stack. */
	onError: OnError;
	/** Command names that extensions cannot take. */
	isReserved?: (command: string) => boolean;
}

type Payload<Name extends ExtensionEventName> = Omit<ExtensionEvent<Name>, "type">;

const shutdownLimitMs = 1000;

export class ExtensionHost {
	#extensions: readonly Registrations[];
	#link: Link;
	#isReserved: (command: string) => boolean;
	/** Whether the lists of models must be there before the session begins. */
	readonly usesModels: boolean;

	constructor({ extensions, link, usesModels }: LoadedExtensions, { onError, isReserved = () => false }: HostOptions) {
		this.#extensions = extensions;
		this.#link = link;
		this.usesModels = usesModels;
		this.#isReserved = isReserved;
		link.onError = onError;
		link.notify = (fact) => this.notify(fact);
	}

	/** From now on extensions can act. No fact is reported and no question asked before. */
	bind(actions: ExtensionActions): void {
		this.#link.bind(actions);
	}

	/** Ends every wait; handlers, tools and commands are no longer called, and actions of extensions throw. */
	dispose(): void {
		this.#link.end();
		for (const own of this.#extensions) own.clear();
	}

	// ── Facts ───────────────────────────────────────────────────────────────────────────────────────

	/** Whether there are any listeners. */
	wants(name: ExtensionEventName): boolean {
		return this.#extensions.some((own) => own.handlers.has(name));
	}

	/** Reports a fact. Handlers are called at once, unless they are busy with an earlier one; the session does not wait for them. */
	notify(fact: Fact): void {
		if (this.#link.ended.aborted || !this.#link.isBound) return;
		for (const own of this.#extensions) {
			const handlers = own.handlers.get(fact.type);
			if (handlers) own.facts.tell({ fact, handlers });
		}
		// The family has two names for it.
		if (fact.type === "session_fork") this.notify({ ...fact, type: "session_branch" });
	}

	/** Waits for all handlers. */
	async sessionStart(reason: "startup" | "reload" = "startup", signal?: AbortSignal): Promise<void> {
		await this.#ask({ name: "session_start", event: () => ({ type: "session_start", reason }), signal });
	}

	/** Waits at most a second. Extensions do not wait for each other here, so that one that hangs does not delay the others. */
	async sessionShutdown(): Promise<void> {
		const limit = new AbortController();
		const timer = setTimeout(() => limit.abort(), shutdownLimitMs);
		const event = () => ({ type: "session_shutdown" }) as const;
		await Promise.all(
			this.#extensions.map(async (own) => {
				const isDone = await ask([own], this.#link, { name: "session_shutdown", event, signal: limit.signal });
				if (!isDone) this.#link.warn(`Extension ${own.path} was not done with session_shutdown after ${shutdownLimitMs / 1000} s.`);
			}),
		);
		clearTimeout(timer);
	}

	// ── Questions ───────────────────────────────────────────────────────────────────────────────────

	/** A message has arrived: `handled` when an extension took it, else the message to continue with. */
	async input(given: Payload<"input">, signal?: AbortSignal): Promise<{ action: "handled" } | { action: "continue"; text: string; images: Image[] }> {
		let current: InputEvent = { type: "input", ...given };
		let isHandled = false;
		await this.#ask({
			name: "input",
			event: () => ({ ...current }),
			signal,
			take: (given) => {
				const answer = objectOf(given);
				const action = answer && textIn(answer, "action");
				if (action === "handled") isHandled = true;
				else if (answer && action === "transform") {
					const images = listIn<Image>(answer, "images", "a list of images", isImage);
					current = { ...current, text: textIn(answer, "text") ?? current.text, images: images ?? current.images };
				} else if (action !== undefined && action !== "continue") throw new TypeError(`action must be continue, transform or handled, not ${action}`);
				return isHandled;
			},
		});
		return isHandled ? { action: "handled" } : { action: "continue", text: current.text, images: [...current.images] };
	}

	/** A run is about to start: messages to add next to the prompt, and the system prompt for this run. */
	async beforeAgentStart(given: Payload<"before_agent_start">, signal?: AbortSignal): Promise<{ messages: OwnMessage[]; systemPrompt: string }> {
		const messages: OwnMessage[] = [];
		let { systemPrompt } = given;
		await this.#ask({
			name: "before_agent_start",
			event: () => ({ type: "before_agent_start", ...given, systemPrompt }),
			signal,
			take: (given) => {
				const answer = objectOf(given);
				if (!answer) return undefined;
				const next = textIn(answer, "systemPrompt") ?? systemPrompt;
				const message = objectIn(answer, "message");
				if (message) messages.push(ownMessage(message));
				systemPrompt = next;
				return undefined;
			},
		});
		return { messages, systemPrompt };
	}

	/** The messages for one model call. The same list when there are no listeners. */
	async context(messages: readonly AgentMessage[], signal?: AbortSignal): Promise<readonly AgentMessage[]> {
		return this.wants("context") ? changedMessages(this.#ask, messages, signal) : messages;
	}

	/** The body of a request. The same one when there are no listeners. */
	async beforeProviderRequest<Body>(payload: Body, signal?: AbortSignal): Promise<Body> {
		return this.wants("before_provider_request") ? changedPayload(this.#ask, payload, signal) : payload;
	}

	/** The headers of a request. */
	beforeProviderHeaders(headers: Readonly<Record<string, string>>, signal?: AbortSignal): Promise<Record<string, string>> {
		return changedHeaders(this.#ask, headers, signal);
	}

	/** Nothing would follow automatically: resolves when every handler has had the chance to queue something. */
	async beforeSettle(signal?: AbortSignal): Promise<void> {
		await this.#ask({ name: "agent_before_settle", event: () => ({ type: "agent_before_settle" }), signal });
	}

	/** May a tool run, and with which arguments? A handler that throws, and an abort, block it. */
	async toolCall(
		{ toolName, toolCallId, input: given }: Payload<"tool_call">,
		signal?: AbortSignal,
	): Promise<{ block: true; reason: string } | { block: false; input: Record<string, unknown> }> {
		if (!this.wants("tool_call")) return { block: false, input: given };
		let input = copyOf(given);
		let reason: string | undefined;
		const isDone = await this.#ask({
			name: "tool_call",
			event: () => ({ type: "tool_call", toolName, toolCallId, input }),
			signal,
			take: (given, event) => {
				const answer = objectOf(given);
				input = objectIn({ ...event }, "input") ?? input;
				if (answer?.block) reason = textIn(answer, "reason") ?? "Tool execution was blocked by an extension";
				return reason !== undefined;
			},
			onFailure: (path, cause) => {
				reason = `Extension ${path} failed, so the tool was not run: ${textOf(cause)}`;
				return true;
			},
		});
		if (!isDone) reason = "Operation aborted";
		return reason === undefined ? { block: false, input } : { block: true, reason };
	}

	/** The result of a tool, as the model and the host will see it. */
	async toolResult(given: Payload<"tool_result">, signal?: AbortSignal): Promise<{ content: UserContent; details: unknown; isError: boolean }> {
		let { content, details, isError } = given;
		await this.#ask({
			name: "tool_result",
			event: () => ({ type: "tool_result", ...given, content: content.map((block) => ({ ...block })), details, isError }),
			signal,
			take: (given) => {
				const answer = objectOf(given);
				if (!answer) return undefined;
				content = contentIn(answer, "content") ?? content;
				details = jsonIn(answer, "details").details ?? details;
				if (typeof answer.isError === "boolean") isError = answer.isError;
				return undefined;
			},
		});
		return { content, details, isError };
	}

	async beforeSwitch(given: Omit<SessionBeforeSwitchEvent, "type">, signal?: AbortSignal): Promise<{ cancel: boolean }> {
		let cancel = false;
		await this.#ask({
			name: "session_before_switch",
			event: () => ({ type: "session_before_switch", ...given }),
			signal,
			take: (answer) => {
				cancel = objectOf(answer)?.cancel === true;
				return cancel;
			},
		});
		return { cancel };
	}

	/** Asked under both names that the family uses. */
	async beforeFork(given: { entryId: string }, signal?: AbortSignal): Promise<{ cancel: boolean; skipConversationRestore: boolean }> {
		let cancel = false;
		let skipConversationRestore = false;
		for (const name of ["session_before_fork", "session_before_branch"] as const) {
			if (cancel) break;
			await this.#ask({
				name,
				event: () => ({ type: name, ...given }),
				signal,
				take: (given) => {
					const answer = objectOf(given);
					skipConversationRestore ||= answer?.skipConversationRestore === true;
					cancel = answer?.cancel === true;
					return cancel;
				},
			});
		}
		return { cancel, skipConversationRestore };
	}

	/** The first handler that cancels or supplies a summary decides. */
	async beforeCompact(given: Omit<SessionBeforeCompactEvent, "type">): Promise<{ cancel: true } | { compaction: CompactionResult } | undefined> {
		let decision: { cancel: true } | { compaction: CompactionResult } | undefined;
		await this.#ask({
			name: "session_before_compact",
			event: () => ({ type: "session_before_compact", ...given }),
			signal: given.signal,
			take: (answer) => {
				const found = objectOf(answer);
				if (found?.cancel === true) decision = { cancel: true };
				const compaction = found && objectIn(found, "compaction");
				if (!decision && compaction) decision = { compaction: compactionOf(compaction) };
				return decision !== undefined;
			},
		});
		return decision;
	}

	/** The first handler that cancels decides; the other answers are merged, and the later one wins. */
	async beforeTree(given: Omit<SessionBeforeTreeEvent, "type">): Promise<SessionBeforeTreeResult> {
		let joined: SessionBeforeTreeResult = {};
		await this.#ask({
			name: "session_before_tree",
			event: () => ({ type: "session_before_tree", ...given }),
			signal: given.signal,
			take: (answer) => {
				joined = { ...joined, ...treeAnswerOf(answer) };
				return joined.cancel === true;
			},
		});
		return joined;
	}

	/** Additional directories for skills and templates. */
	async discoverResources(given: Payload<"resources_discover">, signal?: AbortSignal): Promise<{ skillPaths: string[]; promptPaths: string[] }> {
		const paths = { skillPaths: [] as string[], promptPaths: [] as string[] };
		await this.#ask({
			name: "resources_discover",
			event: () => ({ type: "resources_discover", ...given }),
			signal,
			take: (given) => {
				const answer = objectOf(given) ?? {};
				paths.skillPaths.push(...textsIn(answer, "skillPaths"));
				paths.promptPaths.push(...textsIn(answer, "promptPaths"));
				return undefined;
			},
		});
		return paths;
	}

	/** The result of a host's command if an extension supplies it or runs it elsewhere; else nothing. Rejects if that run fails. */
	async userBash({ command, cwd }: Payload<"user_bash">, given: AbortSignal): Promise<BashResult | undefined> {
		let answer: BashAnswer | undefined;
		await this.#ask({
			name: "user_bash",
			event: () => ({ type: "user_bash", command, cwd }),
			signal: given,
			take: (given) => {
				answer = bashAnswerOf(given);
				return answer !== undefined;
			},
		});
		if (!answer || "result" in answer) return answer?.result;
		const { operations } = answer;
		const { signal, release } = untilEither(given, this.#link.ended);
		return settleWithin(runElsewhere(operations, command, cwd, signal), signal, 0, cancelledResult).finally(release);
	}

	/** The handlers that are currently awaited, and where. */
	get waits(): { extensionPath: string; what: string }[] {
		return [...this.#link.waits];
	}

	// ── What they bring ─────────────────────────────────────────────────────────────────────────────

	/** The files that they came from. */
	get paths(): string[] {
		return this.#extensions.map(({ path }) => path);
	}

	/** The first one of each name. They replace built-in tools. */
	tools(): Tool[] {
		return this.#merged("tool", ({ tools }) => tools).map(([, tool, own]) => toolOf(tool, own.path, this.#link));
	}

	commands(): CommandInfo[] {
		for (const [name, , own] of this.#merged("command", ({ commands }) => commands)) {
			if (this.#isReserved(name)) this.#link.warnOnce(`The command ${name} of extension ${own.path} is not used: the name is taken.`);
		}
		return commandsOf(this.#extensions).filter(({ name }) => !this.#isReserved(name));
	}

	hasCommand(name: string): boolean {
		return !this.#isReserved(name) && this.#extensions.some(({ commands }) => commands.has(name));
	}

	/** Runs `/name args` to its end, or until the signal. Never rejects: errors are reported. */
	async runCommand(name: string, args: string, given?: AbortSignal): Promise<void> {
		const own = this.#extensions.find(({ commands }) => commands.has(name));
		const command = own?.commands.get(name);
		if (!own || !command || !this.hasCommand(name)) return;
		const { signal, release } = untilEither(given, this.#link.ended);
		const settling = settle(
			() => command.handler(args, commandContextOf(this.#link, own.path, signal)),
			signal,
			() => false,
		);
		const settled = await this.#link.waitingFor(own.path, `/${name}`, settling);
		release();
		if ("failure" in settled) this.#link.report(`command:${name}`, "command", settled.failure);
	}

	/** The additional flags that the command line accepts. */
	flags(): (FlagRegistration & { name: string; extensionPath: string })[] {
		return this.#merged("flag", ({ flags }) => flags).map(([name, flag, own]) => ({ ...flag, name, extensionPath: own.path }));
	}

	/** Takes the values from the command line. */
	setFlags(values: Readonly<Record<string, boolean | string>>): void {
		for (const [name, value] of Object.entries(values)) this.#link.flagValues.set(name, value);
	}

	/** As entries of `models.jsonc`, not yet checked. */
	providers(): Map<string, ProviderRegistration> {
		return new Map(this.#merged("provider", ({ providers }) => providers).map(([name, provider]) => [name, provider]));
	}

	/** MCP servers, as entries of `mcpServers`. */
	mcpServers(): RegisteredMcpServer[] {
		this.#merged("MCP server", ({ mcpServers }) => mcpServers);
		return mcpServersOf(this.#extensions);
	}

	/** All of a kind in load order, the first one of each name. The others are reported once. */
	#merged<T>(kind: string, table: (own: Registrations) => ReadonlyMap<string, T>): Registered<T>[] {
		return firstOfEach(this.#extensions, table, (name, own, first) =>
			this.#link.warnOnce(`The ${kind} ${name} of extension ${own.path} is not used: ${first.path} has one of that name.`),
		);
	}

	#ask: Ask = (question) => ask(this.#extensions, this.#link, question);
}
