/** The task tool of a session: what subagents inherit, and the sockets of the tool. Loaded with the tools. */

import { randomBytes } from "node:crypto";
import { join, resolve } from "node:path";
import type { Budget } from "../agent/budget.ts";
import type { Doors } from "../agent/doors.ts";
import type { Tool } from "../agent/tool.ts";
import { ownProgram } from "../client/own-program.ts";
import type { Options } from "../protocol/flags.ts";
import { settings as rows, type SettingName } from "../protocol/settings.ts";
import type { Conversation } from "../session/conversation.ts";
import type { Controls, Edges } from "../session/dependencies.ts";
import type { ModelChoice } from "../session/model-choice.ts";
import { loadAgents } from "../subagents/agents.ts";
import { Artifacts } from "../subagents/artifacts.ts";
import type { Isolation } from "../subagents/contracts.ts";
import type { InheritedDefaults } from "../subagents/inheritance.ts";
import { taskTool } from "../subagents/task-tool.ts";
import type { BeforeCommand } from "../verification/contracts.ts";
import type { Front } from "./front.ts";
import { hasCopies, worktreesOf } from "./interrupted-merges.ts";
import type { Mcp } from "./mcp.ts";
import type { Models } from "./models.ts";
import type { Permissions } from "./permissions.ts";
import type { Shells } from "./shells.ts";
import type { StepGate } from "./step-gate.ts";
import { addedTools, excludedTools, toolNames } from "./tool-names.ts";
import type { Workspace } from "./workspace.ts";

export interface TaskInput {
	workspace: Workspace;
	front: Pick<Front, "warn" | "atExit" | "variations">;
	models: Models;
	shells: Shells;
	mcp: Mcp;
	conversation: Conversation;
	choice: ModelChoice;
	controls: Controls;
	doors: Doors;
	budget?: Budget;
	edges: Edges;
	permissions: Permissions;
	/** Set once the host is asked before each step. */
	gate: { current: StepGate | undefined };
}

/** The tool that sends subagents; nothing where this agent may not send any. */
export async function taskToolOf(input: TaskInput): Promise<Tool | undefined> {
	const { workspace, front, models, shells, conversation, choice, budget, edges, permissions, gate } = input;
	const { options, settings, cwd, userDirectory, env, subagent, sandbox } = workspace;
	const { warn, atExit } = front;
	const { depth = 0, spawns = "*", artifacts: place } = subagent?.inheritance ?? {};
	const deepest = settings.get("task.maxRecursionDepth");
	if (spawns.length === 0 || (deepest >= 0 && depth >= deepest)) return undefined;
	const agents = await loadAgents({ cwd, userDirectory: options.hermetic ? undefined : userDirectory, isTrusted: settings.isTrusted, warn });
	const artifacts = new Artifacts({
		sessionFile: () => conversation.transcript.file,
		inherited: place,
		onDirectory: (path) => sandbox?.shareArtifacts(path),
		warn,
		atExit,
	});
	const isolation = isolationOf(input, artifacts);
	if (depth === 0 && settings.get("task.isolation.mode") !== "none" && hasCopies(worktreesOf(userDirectory)))
		isolation().catch((error) => edges.log.error("left-over copies could not be looked at", error));
	return taskTool({
		agents,
		spawns,
		depth,
		cwd,
		program: ownProgram,
		shell: () => shells.shell(),
		beforeCommand: (command, signal) => askAsBash(input, command, signal),
		permissions,
		gate: () => gate.current?.forChildren,
		listener: front.variations?.subagents,
		hasBash: !excludedTools(options).includes("bash") && (toolNames(options)?.includes("bash") ?? true),
		childShell: () => shells.childShell(),
		setting: (name) => settings.get(name),
		environment: env,
		defaults: () => inheritedDefaults(input),
		current: () => choice,
		findModel: (patterns) => models.firstOf(patterns),
		artifacts,
		isStored: !options["no-session"],
		isolation,
		budget,
		stream: models.stream,
		emit: edges.bus.emit,
		redact: edges.redact,
		log: edges.log,
		now: edges.now,
	});
}

/** A check is a command for the model, so it passes the door that `bash` passes. */
async function askAsBash({ doors }: TaskInput, command: string, signal: AbortSignal): ReturnType<BeforeCommand> {
	if (!doors.beforeTool) return undefined;
	const toolCallId = `check-${randomBytes(6).toString("hex")}`;
	const decision = await doors.beforeTool({ toolName: "bash", toolCallId, input: { command } }, signal, async (input) => input);
	return "denied" in decision ? { reason: decision.denied } : { command: String(decision.input.command) };
}

/** Copies of the repository. Leftovers of a crashed process are removed before the first copy is made. */
function isolationOf(input: TaskInput, artifacts: Artifacts): () => Promise<Isolation> {
	const { workspace, front, shells, conversation } = input;
	const { cwd, settings } = workspace;
	const { warn } = front;
	let collected: Promise<void> | undefined;
	return async () => {
		const { collectLeftOvers, gitIsolation } = await import("../subagents/isolation/index.ts");
		const environment = await shells.commandEnvironment();
		const place = { root: worktreesOf(workspace.userDirectory), shell: () => shells.gitStarter(), environment };
		if (!collected && settings.get("task.isolation.mode") !== "worktree") warn("task.isolation.mode: only worktree is supported; it is used.");
		collected ??= collectLeftOvers({ ...place, now: Date.now, warn });
		await collected;
		const directory = artifacts.directory();
		const artifact = (id: string, suffix: string) => join(directory, `${id}.${suffix}`);
		return gitIsolation({ ...place, cwd, sessionId: conversation.transcript.sessionId, artifact, isTrusted: settings.isTrusted });
	};
}

async function inheritedDefaults({ workspace, models, shells, controls, permissions, mcp }: TaskInput): Promise<InheritedDefaults> {
	const { options, unknown, settings, cwd, subagent } = workspace;
	const { apiKey } = models;
	const allowed = subagent ? subagent.inheritance.allowedTools : toolNames(options);
	const mcpServers = await mcp.entries();
	const values = Object.keys(rows).map((name) => [name, settings.get(name as SettingName)]);
	return {
		credentials: { variables: await shells.withheld(), ...(apiKey ? { apiKey } : {}) },
		settings: {
			...Object.fromEntries(values),
			"retry.enabled": controls.autoRetry,
			"compaction.enabled": controls.autoCompaction,
			"permissions.mode": permissions.mode,
			// A subagent asks through this session: where no person can be asked here, its model is not told that it may ask.
			...(permissions.hasTypedRoute ? {} : { "sandbox.escalation": "never" }),
		},
		trusted: settings.isTrusted,
		flags: { ...flagsFor(options, cwd), unknown },
		...(allowed ? { allowedTools: allowed } : {}),
		...(mcpServers.length > 0 ? { mcpServers } : {}),
		scriptDirectory: models.scriptDirectory,
	};
}

/** The flags that say where to look and what to load. A subagent may work elsewhere, so paths become absolute. */
function flagsFor(options: Options, cwd: string): Options {
	const { hermetic, extension, skill, "prompt-template": templates } = options;
	const excluded = excludedTools(options);
	const added = addedTools(options);
	const absolute = (path: string) => (path.startsWith("~") ? path : resolve(cwd, path));
	return {
		hermetic,
		"exclude-tools": excluded.length > 0 ? excluded.join(",") : undefined,
		tools: added.length > 0 ? added.map((name) => `+${name}`).join(",") : undefined,
		"no-extensions": options["no-extensions"],
		"no-skills": options["no-skills"],
		"no-prompt-templates": options["no-prompt-templates"],
		"no-rules": options["no-rules"],
		"no-context-files": options["no-context-files"],
		"provider-session-id": options["provider-session-id"],
		gate: options.gate,
		...(options.record === undefined ? {} : { record: absolute(options.record) }),
		replay: options.replay,
		"replay-tools": options["replay-tools"],
		"replay-speed": options["replay-speed"],
		extension: extension?.map(absolute),
		skill: skill?.map(absolute),
		"prompt-template": templates?.map(absolute),
	};
}
