/** The task tool of a session: what subagents inherit, and the sockets of the tool. Loaded with the tools. */
import { join, resolve } from "node:path";
import type { Budget, Emit, Hooks, Tool } from "../agent/contracts.ts";
import { ownProgram } from "../client/own-program.ts";
import { randomBytes } from "../lib/ids.ts";
import { settings as rows, type SettingName } from "../protocol/settings.ts";
import type { Session } from "../session/session.ts";
import type { SettingsView } from "../settings/settings.ts";
import { loadAgents } from "../subagents/agents.ts";
import { Artifacts } from "../subagents/artifacts.ts";
import type { BeforeCommand, Isolation } from "../subagents/contracts.ts";
import type { InheritedDefaults } from "../subagents/inheritance.ts";
import { taskTool } from "../subagents/task-tool.ts";
import type { Options, UnknownFlag } from "./arguments.ts";
import type { Subagent } from "./as-subagent.ts";
import { hasCopies, worktreesOf } from "./interrupted-merges.ts";
import type { Models } from "./models.ts";
import { toolNames } from "./tool-names.ts";
import type { Toolbox } from "./toolbox.ts";

export interface TaskInput {
	options: Options;
	unknown?: readonly UnknownFlag[];
	settings: SettingsView;
	cwd: string;
	userDirectory: string;
	environment: NodeJS.ProcessEnv;
	/** Set in a process that was sent itself. */
	subagent?: Subagent;
	models: Models;
	toolbox: Toolbox;
	session: () => Session;
	/** Settings that the host has changed for this session. */
	changed: () => Partial<Record<SettingName, unknown>>;
	budget?: Budget;
	hooks?: Hooks;
	emit: Emit;
	warn: (text: string) => void;
	/** Calls back when everything is over. */
	atExit: (then: () => void) => void;
}

/** Nothing where nobody can be sent from. */
export async function taskToolOf(input: TaskInput): Promise<Tool | undefined> {
	const { options, settings, cwd, userDirectory, environment, subagent, models, toolbox, session, budget, emit, warn, atExit } = input;
	const { depth = 0, spawns = "*", artifacts: place } = subagent?.inheritance ?? {};
	const deepest = settings.get("task.maxRecursionDepth");
	if (spawns.length === 0 || (deepest >= 0 && depth >= deepest)) return undefined;
	const agents = await loadAgents({ cwd, userDirectory: options.hermetic ? undefined : userDirectory, isTrusted: settings.isTrusted, warn });
	const artifacts = new Artifacts({ sessionFile: () => session().transcript.file, inherited: place, warn, atExit });
	const isolation = isolationOf(input, artifacts);
	if (depth === 0 && settings.get("task.isolation.mode") !== "none" && hasCopies(worktreesOf(userDirectory)))
		isolation().catch((error) => console.error("bowline: left-over copies could not be looked at:", error));
	return taskTool({
		agents,
		spawns,
		depth,
		cwd,
		program: ownProgram,
		shell: () => toolbox.shell(),
		beforeCommand: (command, signal) => askAsBash(input, command, signal),
		hasBash: toolNames(options)?.includes("bash") ?? true,
		childShell: () => toolbox.plumbing(),
		setting: (name) => settings.get(name),
		environment,
		defaults: () => inheritedDefaults(input),
		current: () => session().choice,
		findModel: (patterns) => models.firstOf(patterns),
		artifacts,
		isStored: !options["no-session"],
		isolation,
		budget,
		stream: models.stream,
		emit,
		redact: toolbox.redact,
		now: Date.now,
	});
}

/** A check is a command for the model, so it passes the door that `bash` passes. */
async function askAsBash({ hooks }: TaskInput, command: string, signal: AbortSignal): ReturnType<BeforeCommand> {
	const toolCallId = `check-${randomBytes(6).toString("hex")}`;
	const permit = await hooks?.beforeTool?.({ toolName: "bash", toolCallId, input: { command } }, signal);
	return permit && "input" in permit ? { command: String(permit.input.command) } : permit;
}

/** Copies of the repository. What a crashed process left of them is cleared away before the first. */
function isolationOf(input: TaskInput, artifacts: Artifacts): () => Promise<Isolation> {
	const { cwd, settings, toolbox, session, warn } = input;
	let collected: Promise<void> | undefined;
	return async () => {
		const { collectLeftOvers, gitIsolation } = await import("../subagents/isolation/index.ts");
		const environment = await toolbox.commandEnvironment();
		const place = { root: worktreesOf(input.userDirectory), shell: () => toolbox.plumbing(), environment };
		if (!collected && settings.get("task.isolation.mode") !== "worktree") warn("task.isolation.mode: only worktree is supported; it is used.");
		collected ??= collectLeftOvers({ ...place, now: Date.now, warn });
		await collected;
		const directory = artifacts.directory();
		const artifact = (id: string, suffix: string) => join(directory, `${id}.${suffix}`);
		return gitIsolation({ ...place, cwd, sessionId: session().transcript.sessionId, artifact, isTrusted: settings.isTrusted });
	};
}

async function inheritedDefaults({ options, unknown, settings, cwd, subagent, models, toolbox, changed }: TaskInput): Promise<InheritedDefaults> {
	const { apiKey } = models;
	const allowed = subagent ? subagent.inheritance.allowedTools : toolNames(options);
	const values = Object.keys(rows).map((name) => [name, settings.get(name as SettingName)]);
	return {
		credentials: { variables: await toolbox.withheld(), ...(apiKey ? { apiKey } : {}) },
		settings: { ...Object.fromEntries(values), ...changed() },
		trusted: settings.isTrusted,
		flags: { ...flagsFor(options, cwd), unknown },
		...(allowed ? { allowedTools: allowed } : {}),
		scriptDirectory: models.scriptDirectory,
	};
}

/** The flags that say where to look and what to load. A subagent may work elsewhere, so paths become absolute. */
function flagsFor(options: Options, cwd: string): Options {
	const { hermetic, extension, skill, "prompt-template": templates } = options;
	const absolute = (path: string) => (path.startsWith("~") ? path : resolve(cwd, path));
	return {
		hermetic,
		"no-extensions": options["no-extensions"],
		"no-skills": options["no-skills"],
		"no-prompt-templates": options["no-prompt-templates"],
		"no-rules": options["no-rules"],
		"no-context-files": options["no-context-files"],
		"provider-session-id": options["provider-session-id"],
		extension: extension?.map(absolute),
		skill: skill?.map(absolute),
		"prompt-template": templates?.map(absolute),
	};
}
