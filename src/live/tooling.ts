/** The tools of a session: their sources in one list, what they run in, who permits them, and what prompts say about them. */
import type { Budget } from "../agent/budget.ts";
import type { Tool } from "../agent/tool.ts";
import type { BriefingParts } from "../session/briefing.ts";
import type { Controls, SessionParts } from "../session/dependencies.ts";
import type { TodoList } from "../session/todo-list.ts";
import { readJsoncText } from "../settings/settings.ts";
import type { ToolOptions } from "../tools/index.ts";
import { BuiltInTools } from "./built-in-tools.ts";
import type { Foundation } from "./foundation.ts";
import type { Front } from "./front.ts";
import { Mcp } from "./mcp.ts";
import { Permissions } from "./permissions.ts";
import type { Prompting } from "./prompting.ts";
import { Shells } from "./shells.ts";
import type { StepGate } from "./step-gate.ts";
import { excludedTools } from "./tool-names.ts";
import { ToolSources } from "./tool-sources.ts";
import type { Workspace } from "./workspace.ts";

export interface ToolingParts {
	workspace: Workspace;
	front: Front;
	base: Foundation;
	controls: Controls;
	todos: TodoList;
	budget: Budget | undefined;
	prompting: Prompting;
}

export interface Tooling {
	shells: Shells;
	permissions: Permissions;
	/** Set once the host is asked before each step. */
	gate: { current: StepGate | undefined };
	mcp: Mcp;
	builtIn: BuiltInTools;
	sources: ToolSources;
	/** The tools that the model is offered. */
	offered: BriefingParts["tools"];
	systemPrompt: BriefingParts["systemPrompt"];
	idleAnswer: BriefingParts["idleAnswer"];
	/** Skills, templates and prompts of servers that a text names, put in its place. */
	expand: SessionParts["expand"];
}

export function tooling({ workspace, front, base, controls, todos, budget, prompting }: ToolingParts): Tooling {
	const { doors, models, secrets, conversation, edges, choice } = base;
	const { warn, bus } = edges;
	const { subagent } = workspace;
	const shells = new Shells(workspace, secrets, () => ({
		BOWLINE_SESSION_ID: conversation.transcript.sessionId,
		BOWLINE_SESSION_FILE: conversation.transcript.file,
		BOWLINE_PROVIDER: choice.model?.provider,
		BOWLINE_MODEL: choice.model?.id,
	}));
	const permissions = new Permissions({ workspace, front, conversation, shells, controls, doors, edges });
	const sources = new ToolSources([], excludedTools(workspace.options));
	const taken = () => sources.takenFor("mcp");
	const mcp = new Mcp({
		workspace,
		front,
		shells,
		secrets,
		doors,
		emit: bus.emit,
		warn,
		readJsonc: readJsoncText,
		taken,
		guard: () => permissions.guardServers(),
	});
	const gate: Tooling["gate"] = { current: undefined };
	const taskParts = { gate, permissions, workspace, front, models, shells, mcp, conversation, choice, controls, doors, budget, edges };
	const taskTool = async () => (await import("./task.ts")).taskToolOf(taskParts);
	const closedTo: ToolOptions["closedTo"] = (...asked) => permissions.closedTo(...asked);
	const mayEscalate = () => permissions.mayEscalate;
	const builtIn = new BuiltInTools({ closedTo, mayEscalate, workspace, secrets, shells, todos, choice, files: front.files, warn, taskTool });
	workspace.sandbox?.watchMode(() => permissions.mode);
	workspace.sandbox?.listUncovered(() => [...sources.foreign(), ...mcp.names().map((name) => `MCP server ${name}`)]);
	sources.set([builtIn, ...(front.host ? [front.host.tools] : []), mcp]);
	return {
		shells,
		permissions,
		gate,
		mcp,
		builtIn,
		sources,
		async offered(starting) {
			await builtIn.load();
			if (starting) await mcp.prepare(starting);
			const tools = mcp.fit(sources.active(), choice.model);
			return subagent ? subagent.offer(tools) : tools;
		},
		async systemPrompt(tools: readonly Tool[]) {
			const text = await prompting.systemPrompt(tools);
			const instructions = mcp.instructions();
			return instructions ? `${text}\n\n${instructions}` : text;
		},
		async idleAnswer() {
			// Added for the last of several prompts, the tool would lose what the others left in the cache.
			const mayAsk = workspace.options["output-schema"] !== undefined || conversation.hasAsked;
			return mayAsk ? (await import("../answers/submit-result.ts")).idleSubmitTool() : undefined;
		},
		async expand(text, signal = new AbortController().signal) {
			const expanded = await prompting.expand(text);
			return expanded === text && text.startsWith("/mcp__") ? ((await mcp.expand(text, signal)) ?? text) : expanded;
		},
	};
}
