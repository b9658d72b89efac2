/** Puts the rooms together. The only file that sees them all. */
import type { Budget, Flow, Hooks, Tool } from "../agent/contracts.ts";
import { uuid } from "../lib/ids.ts";
import { sleep } from "../lib/sleep.ts";
import { clampLevel, supportedLevels } from "../models/thinking.ts";
import { type CompactionPolicy, compactionPolicy } from "../policies/compaction/policy.ts";
import { type RetryPolicy, retryPolicy } from "../policies/retry.ts";
import { streamRulesPolicy } from "../policies/stream-rules/policy.ts";
import { todoPreludePolicy } from "../policies/todo-prelude.ts";
import { todoReminderPolicy } from "../policies/todo-reminder.ts";
import type { InterruptMode } from "../protocol/commands/queue.ts";
import type { ThinkingLevel } from "../protocol/levels.ts";
import type { Dialect } from "../rpc/dialects/dialect.ts";
import { Bus } from "../session/bus.ts";
import { ModelChoice } from "../session/model-choice.ts";
import { usedRules } from "../session/restore.ts";
import { Session } from "../session/session.ts";
import { TodoList } from "../session/todo-list.ts";
import { UserBash } from "../session/user-bash.ts";
import type { SettingsView } from "../settings/settings.ts";
import type { Options, UnknownFlag } from "./arguments.ts";
import type { Subagent } from "./as-subagent.ts";
import type { MakeBudget } from "./budget.ts";
import { Models } from "./models.ts";
import { Prompting } from "./prompting.ts";
import { namedTranscript, resumeChoice, transcriptsOf } from "./start-session.ts";
import { ruleLoader } from "./stream-rules.ts";
import { Toolbox } from "./toolbox.ts";

export interface AssembleInput {
	options: Options;
	/** Flags for extensions. */
	unknown?: readonly UnknownFlag[];
	settings: SettingsView;
	cwd: string;
	userDirectory: string;
	environment: NodeJS.ProcessEnv;
	flow: Flow;
	/** Tools that live in the host. */
	hostTools: () => readonly Tool[];
	/** The doors of extensions; absent ones may come later. */
	hooks: Hooks;
	/** Watches over the session's ceilings, when there are any. */
	budget: MakeBudget | undefined;
	/** What the host's dialect wants to be different or to be told. */
	dialect?: Pick<Dialect, "interruptMode" | "hasMaxLevel" | "onEntry" | "onSummaryRetry" | "aroundCompaction">;
	warn: (text: string) => void;
	/** Calls back when everything is over. */
	atExit: (then: () => void) => void;
	/** Set in a process that was sent by another one of ours. */
	subagent?: Subagent;
}

export interface Assembly {
	session: Session;
	bash: UserBash;
	retry: RetryPolicy & { setEnabled(enabled: boolean): void };
	compaction: CompactionPolicy;
	prompting: Prompting;
	toolbox: Toolbox;
	todos: TodoList;
	models: Models;
	budget: Budget | undefined;
	/** Resolves when the model to start with is known, if it has to be looked up. */
	chooseModel(hasMoreProviders?: boolean): Promise<void> | undefined;
	/** Kills every process we started, closes every connection. */
	close(): Promise<void>;
}

export function assemble(input: AssembleInput): Assembly {
	const { options, settings, cwd, userDirectory, environment, flow, hostTools, hooks, dialect = {}, warn, subagent } = input;
	const now = Date.now;
	const { aroundCompaction, hasMaxLevel } = dialect;
	const max = hasMaxLevel ? "max" : "xhigh";
	const bus = new Bus();
	const budget = input.budget?.(bus.emit);
	const models = new Models({ options, settings, cwd, userDirectory, environment, hooks, warn, inheritance: subagent?.inheritance });
	const choice = new ModelChoice({
		catalogue: models,
		levels: (model) => supportedLevels(model, hasMaxLevel),
		clamp: (model, level) => clampLevel(model, level, hasMaxLevel),
		max,
		scope: () => models.scope(),
		level: (options.thinking === "max" ? max : (options.thinking as ThinkingLevel | undefined)) ?? settings.get("defaultThinkingLevel"),
	});
	const todos = new TodoList({ clearDelay: () => settings.get("tasks.todoClearDelay"), onAutoClear: () => bus.emit({ type: "todo_auto_clear" }) });
	const toolbox = new Toolbox({
		options,
		settings,
		cwd,
		environment,
		facts: () => {
			const { sessionId, sessionFile, model } = session.state;
			return { BOWLINE_SESSION_ID: sessionId, BOWLINE_SESSION_FILE: sessionFile, BOWLINE_PROVIDER: model?.provider, BOWLINE_MODEL: model?.id };
		},
		credentials: () => models.registry(),
		secrets: models.knownSecrets,
		acceptsImages: () => choice.model?.input.includes("image") ?? false,
		todos,
		isStored: !options["no-session"],
		task: async () => (await import("./task.ts")).taskToolOf({ ...input, budget, models, toolbox, session: () => session, changed, emit: bus.emit }),
	});
	const changed = () => ({ "retry.enabled": isRetryEnabled, "compaction.enabled": session.autoCompaction });

	let isRetryEnabled = settings.get("retry.enabled");
	const retrySettings = () => ({
		enabled: isRetryEnabled,
		maxRetries: settings.get("retry.maxRetries"),
		baseDelayMs: settings.get("retry.baseDelayMs"),
		maxDelayMs: settings.get("retry.maxDelayMs"),
	});
	const retry = retryPolicy(retrySettings, bus.emit, sleep);
	const compaction = compactionPolicy({
		conversation: {
			branch: () => session.transcript.branch,
			messages: () => session.messages,
			model: () => choice.model,
			setup: () => session.setup(),
			store: (body) => {
				session.append(body);
				session.reproject();
			},
		},
		settings: () => ({
			enabled: session.autoCompaction,
			reserveTokens: settings.get("compaction.reserveTokens"),
			keepRecentTokens: settings.get("compaction.keepRecentTokens"),
			thresholdPercent: settings.get("compaction.thresholdPercent"),
			thresholdTokens: settings.get("compaction.thresholdTokens"),
		}),
		retry: retrySettings,
		onRetry: dialect.onSummaryRetry,
		stream: budget?.meter(models.stream) ?? models.stream,
		newSessionId: () => uuid(now()),
		hooks,
		emit: bus.emit,
		flow,
		sleep,
		now,
	});

	const transcripts = transcriptsOf({ options, settings, cwd, userDirectory }, { redact: toolbox.redact, now, onEntry: dialect.onEntry });
	const opened = namedTranscript(options, transcripts);

	const reminder = todoReminderPolicy({
		settings: () => ({ enabled: settings.get("todo.enabled"), reminders: settings.get("todo.reminders"), max: settings.get("todo.reminders.max") }),
		todos: () => todos.read(),
		isToolActive: () => session.isToolActive("todo_write"),
		hasQueued: () => session.inbox.count > 0,
		emit: bus.emit,
		now,
	});
	const prelude = todoPreludePolicy({
		isEager: () => settings.get("todo.eager"),
		todos: () => todos.read(),
		isToolActive: () => session.isToolActive("todo_write"),
		isBeginning: () => !session.messages.some(({ role }) => role === "user"),
		holdsCall: (id) => session.messages.some((message) => message.role === "toolResult" && message.toolCallId === id),
		now,
	});
	const rules = streamRulesPolicy({
		load: ruleLoader({ resources: () => prompting.resources(), used: () => usedRules(session), settings, warn }),
		contextMode: () => settings.get("ttsr.contextMode"),
		note: (injectedRules) => void session.append({ type: "ttsr_injection", injectedRules }),
		emit: bus.emit,
		now,
	});
	const prompting = new Prompting({ options, settings, cwd, userDirectory, home: environment.HOME, hooks, warn, now });
	const script = models.startScript();
	if (script) choice.take(script);
	const session: Session = new Session({
		models,
		choice,
		noModelText: () => models.noModelText,
		tools: async () => {
			const builtIn = await toolbox.tools();
			const tools = hooks.tools ? hooks.tools(builtIn, hostTools()) : [...builtIn.active, ...hostTools().filter(({ isHidden }) => !isHidden)];
			return subagent ? subagent.offer(tools) : tools;
		},
		validate: async (tool, args) => (await import("../agent/validate.ts")).validateArguments(tool, args),
		systemPrompt: (tools) => prompting.systemPrompt(tools),
		expand: (text) => prompting.expand(text),
		todos,
		hooks,
		policies: [...(budget ? [budget] : []), retry, compaction, rules, reminder, prelude, ...(subagent ? [subagent.policy] : [])],
		redact: toolbox.redact,
		transcripts,
		transcript: opened,
		bus,
		flow,
		now,
		start: {
			steeringMode: settings.get("steeringMode"),
			followUpMode: settings.get("followUpMode"),
			interruptMode: interruptMode(options, settings, dialect),
			autoCompaction: settings.get("compaction.enabled"),
		},
	});

	if (options.name !== undefined) session.rename(options.name);

	return {
		session,
		todos,
		bash: new UserBash({ shell: () => toolbox.shell(), recorder: () => session.recorder(), hooks, now }),
		retry: {
			...retry,
			setEnabled(enabled) {
				isRetryEnabled = enabled;
			},
		},
		compaction: aroundCompaction
			? { ...compaction, compact: (instructions, signal) => aroundCompaction(() => compaction.compact(instructions, signal), signal) }
			: compaction,
		prompting,
		toolbox,
		models,
		budget,
		chooseModel(hasMoreProviders = false) {
			if (opened) return resumeChoice(session, options, () => models.start(), warn);
			return !script && (hasMoreProviders || models.mayHaveStart) ? chooseModel(models, choice) : undefined;
		},
		close: async () => {
			budget?.close();
			await Promise.all([toolbox.close(() => session.abort()), models.close()]);
		},
	};
}

/** A flag or a setting that somebody has made, else what is usual in the dialect. */
function interruptMode(options: Options, settings: SettingsView, dialect: Pick<Dialect, "interruptMode">): InterruptMode {
	const usual = settings.origin("interruptMode") === "default" ? dialect.interruptMode : undefined;
	return (options["interrupt-mode"] as InterruptMode | undefined) ?? usual ?? settings.get("interruptMode");
}

/** Looks up the model to start with; a failure only means that there is none. */
async function chooseModel(models: Models, choice: ModelChoice): Promise<void> {
	try {
		const start = await models.start();
		if (start) choice.take(start);
	} catch (error) {
		console.error("bowline: the model could not be looked up:", error);
	}
}
