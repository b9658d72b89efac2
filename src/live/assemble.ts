/** Puts a session together, downwards: transcript, conversation, models, tools, policies, session. Each part exists before the next needs it. */
import type { Budget } from "../agent/budget.ts";
import { Doors } from "../agent/doors.ts";
import type { Tool } from "../agent/tool.ts";
import { type Log, stderrLog } from "../lib/log.ts";
import type { CompactionPolicy } from "../policies/compaction/policy.ts";
import { estimatedUsage } from "../policies/estimated-usage.ts";
import type { RetryPolicy } from "../policies/retry.ts";
import { Briefing } from "../session/briefing.ts";
import { Bus } from "../session/bus.ts";
import { Conversation } from "../session/conversation.ts";
import type { Edges } from "../session/dependencies.ts";
import { Inbox } from "../session/inbox.ts";
import { Session } from "../session/session.ts";
import { TodoList } from "../session/todo-list.ts";
import { UserBash } from "../session/user-bash.ts";
import { WriteAhead } from "../session/write-ahead.ts";
import { readJsoncText } from "../settings/settings.ts";
import type { MakeBudget } from "./budget.ts";
import { BuiltInTools } from "./built-in-tools.ts";
import { startControls } from "./controls.ts";
import type { Front } from "./front.ts";
import { Mcp } from "./mcp.ts";
import { modelChoice } from "./model-choice.ts";
import { Models } from "./models.ts";
import { Permissions } from "./permissions.ts";
import { policies } from "./policies.ts";
import { Prompting } from "./prompting.ts";
import { Secrets } from "./secrets.ts";
import { Shells } from "./shells.ts";
import { beginning, openStore, resumeChoice } from "./start-session.ts";
import { excludedTools } from "./tool-names.ts";
import { ToolSources } from "./tool-sources.ts";
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
	const { options, settings, subagent } = workspace;
	const { flow, warn, variations = {} } = front;
	const now = Date.now;
	const doors = new Doors();
	const models = new Models(workspace, doors, warn);
	const secrets = new Secrets(() => models.registry(), models.knownSecrets);
	const store = openStore(workspace, { redact: secrets.redact, now, onEntry: variations.onEntry });
	const { transcript, isNew } = beginning(options, store);
	const conversation = new Conversation(transcript, now);
	const log = stderrLog(() => conversation.transcript.sessionId);
	const bus = new Bus(log);
	const edges: Edges = { bus, flow, redact: secrets.redact, warn, log, now };
	const choice = modelChoice(workspace, models, conversation, variations);
	const script = models.startScript();
	choice.use(script);
	if (isNew) for (const entry of choice.entries()) conversation.transcript.prepare(entry);

	const controls = startControls(workspace, variations);
	const inbox = new Inbox(settings.get("steeringMode"), settings.get("followUpMode"), (left) => bus.emit({ type: "queue_update", ...left }));
	const todos = new TodoList({ clearDelay: () => settings.get("tasks.todoClearDelay"), onAutoClear: () => bus.emit({ type: "todo_auto_clear" }) });
	const writeAhead = new WriteAhead(conversation, inbox, bus.emit, log);
	const shells = new Shells(workspace, secrets, () => ({
		BOWLINE_SESSION_ID: conversation.transcript.sessionId,
		BOWLINE_SESSION_FILE: conversation.transcript.file,
		BOWLINE_PROVIDER: choice.model?.provider,
		BOWLINE_MODEL: choice.model?.id,
	}));
	const budget = makeBudget?.(bus.emit, (reply) => estimatedUsage(reply, conversation.messages, choice.model));
	const permissions = new Permissions({ workspace, front, conversation, shells, controls, doors, edges });
	const mcp: Mcp = new Mcp({
		workspace,
		front,
		shells,
		secrets,
		doors,
		emit: bus.emit,
		warn,
		readJsonc: readJsoncText,
		taken: () => sources.takenFor("mcp"),
	});
	const taskParts = { permissions, workspace, front, models, shells, mcp, conversation, choice, controls, doors, budget, edges };
	const taskTool = async () => (await import("./task.ts")).taskToolOf(taskParts);
	const builtIn = new BuiltInTools({
		isReadable: (path) => permissions.mayRead(path),
		workspace,
		secrets,
		shells,
		todos,
		choice,
		files: front.files,
		warn,
		taskTool,
	});

	const sources = new ToolSources(front.host ? [builtIn, front.host.tools, mcp] : [builtIn, mcp], excludedTools(options));
	const prompting = new Prompting(workspace, warn, now);
	const offered = async (starting?: AbortSignal) => {
		await builtIn.load();
		if (starting) await mcp.prepare(starting);
		const tools = mcp.fit(sources.active(), choice.model);
		return subagent ? subagent.offer(tools) : tools;
	};
	const systemPrompt = async (tools: readonly Tool[]) => {
		const text = await prompting.systemPrompt(tools);
		const instructions = mcp.instructions();
		return instructions ? `${text}\n\n${instructions}` : text;
	};
	const briefing = new Briefing({ models, choice, tools: offered, systemPrompt, emit: bus.emit });

	const { list, retry, compaction } = policies({
		workspace,
		variations,
		doors,
		budget,
		conversation,
		briefing,
		inbox,
		todos,
		controls,
		prompting,
		edges,
	});
	doors.set([writeAhead.policy, ...list]);
	const expand = async (text: string, signal = new AbortController().signal) => {
		const expanded = await prompting.expand(text);
		return expanded === text && text.startsWith("/mcp__") ? ((await mcp.expand(text, signal)) ?? text) : expanded;
	};
	const session = new Session({ conversation, store, briefing, doors, inbox, writeAhead, todos, controls, edges, expand });
	if (options.name !== undefined) session.rename(options.name);

	return {
		session,
		sources,
		builtIn,
		models,
		prompting,
		shells,
		retry,
		compaction,
		bash: new UserBash({ shell: () => shells.hostShell(), recorder: () => session.recorder(), doors, log, now }),
		budget,
		mcp,
		permissions,
		log,
		knownSecrets: secrets.known,
		chooseModel(hasMoreProviders = false) {
			if (!isNew) return resumeChoice({ choice, transcript }, options, () => models.start(), warn);
			return !script && (hasMoreProviders || models.mayHaveStart) ? models.startWith(choice, log) : undefined;
		},
		async close() {
			budget?.close();
			await Promise.all([shells.close(() => session.abort()), mcp.close(), models.close()]);
			await workspace.sandbox?.close();
		},
	};
}
