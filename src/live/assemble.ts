/** Puts a session together, downwards: foundation, tools, policies, session. Each part exists before the next needs it. */
import type { Budget } from "../agent/budget.ts";
import type { Log } from "../lib/log.ts";
import type { CompactionPolicy } from "../policies/compaction/policy.ts";
import { estimatedUsage } from "../policies/estimated-usage.ts";
import type { RetryPolicy } from "../policies/retry.ts";
import { cacheRetention } from "../protocol/cache.ts";
import { Briefing } from "../session/briefing.ts";
import { Inbox } from "../session/inbox.ts";
import { Requests } from "../session/requests.ts";
import { Session } from "../session/session.ts";
import { TodoList } from "../session/todo-list.ts";
import { UserBash } from "../session/user-bash.ts";
import { WriteAhead } from "../session/write-ahead.ts";
import type { MakeBudget } from "./budget.ts";
import type { BuiltInTools } from "./built-in-tools.ts";
import { startControls } from "./controls.ts";
import { foundation } from "./foundation.ts";
import type { Front } from "./front.ts";
import type { Mcp } from "./mcp.ts";
import type { Models } from "./models.ts";
import type { Permissions } from "./permissions.ts";
import { policies } from "./policies.ts";
import { Prompting } from "./prompting.ts";
import type { Shells } from "./shells.ts";
import { resumeChoice } from "./start-session.ts";
import type { StepGate } from "./step-gate.ts";
import type { ToolSources } from "./tool-sources.ts";
import { tooling } from "./tooling.ts";
import type { Workspace } from "./workspace.ts";

/** Everything a live session is made of. */
export interface Assembly {
	session: Session;
	sources: ToolSources;
	builtIn: BuiltInTools;
	models: Models;
	prompting: Prompting;
	shells: Shells;
	retry: RetryPolicy;
	compaction: CompactionPolicy;
	bash: UserBash;
	budget: Budget | undefined;
	mcp: Mcp;
	permissions: Permissions;
	/** Set once the host is asked before each step. */
	gate: { current: StepGate | undefined };
	/** Receives entries as they are added to the session. */
	entries: { heard: ((entry: object) => void) | undefined };
	log: Log;
	/** Values that must not leave the process. */
	knownSecrets: () => readonly string[] | undefined;
	/** Chooses the model to start with. Resolves at once where nothing has to be looked up. */
	chooseModel(hasMoreProviders?: boolean): Promise<void> | undefined;
	/** Kills every process we started, closes every connection. */
	close(): Promise<void>;
}

/** `makeBudget`: watches over the session's ceilings, when there are any. */
export function assemble(workspace: Workspace, front: Front, makeBudget: MakeBudget | undefined): Assembly {
	const { options, settings, sandbox } = workspace;
	const { warn, variations = {} } = front;
	const base = foundation(workspace, front);
	const { doors, models, secrets, store, conversation, edges, choice, entries } = base;
	const { bus, log, now } = edges;

	const controls = startControls(workspace, variations);
	const inbox = new Inbox(settings.get("steeringMode"), settings.get("followUpMode"), (left) => bus.emit({ type: "queue_update", ...left }));
	const todos = new TodoList({ clearDelay: () => settings.get("tasks.todoClearDelay"), onAutoClear: () => bus.emit({ type: "todo_auto_clear" }) });
	const writeAhead = new WriteAhead(conversation, inbox, bus.emit, log);
	const budget = makeBudget?.(
		bus.emit,
		(reply) => estimatedUsage(reply, conversation.messages, choice.model),
		() => conversation.transcript,
	);
	const requests = new Requests(conversation, now, cacheRetention(workspace.env));
	const prompting = new Prompting(workspace, warn);
	const { shells, permissions, gate, mcp, builtIn, sources, offered, systemPrompt, idleAnswer, expand } = tooling({
		workspace,
		front,
		base,
		controls,
		todos,
		budget,
		prompting,
	});
	const briefing = new Briefing({ models, choice, tools: offered, systemPrompt, idleAnswer, emit: bus.emit });

	const made = policies({ workspace, variations, doors, budget, conversation, requests, briefing, inbox, todos, controls, prompting, edges });
	doors.set([writeAhead.policy, ...made.list]);
	const session = new Session({ conversation, store, briefing, doors, inbox, requests, writeAhead, todos, controls, edges, expand });
	if (options.name !== undefined) session.rename(options.name);

	return {
		session,
		sources,
		builtIn,
		models,
		prompting,
		shells,
		retry: made.retry,
		compaction: made.compaction,
		bash: new UserBash({
			shell: (isInside) => (isInside ? shells.insideShell() : shells.hostShell()),
			...(sandbox && { sandboxUse: (denied: readonly string[]) => sandbox.facts(denied) }),
			recorder: () => session.recorder(),
			doors,
			log,
			now,
		}),
		budget,
		mcp,
		permissions,
		gate,
		entries,
		log,
		knownSecrets: secrets.known,
		chooseModel(hasMoreProviders = false) {
			if (!base.isNew) return resumeChoice({ choice, transcript: base.transcript }, options, () => models.start(), warn);
			return !base.isScripted && (hasMoreProviders || models.mayHaveStart) ? models.startWith(choice, log) : undefined;
		},
		async close() {
			budget?.close();
			await Promise.all([shells.close(() => session.abort()), mcp.close(), models.close()]);
			await workspace.sandbox?.close();
		},
	};
}
