/** The parts of the task tool, and which agents it may send. */
import type { Budget, Emit, ModelProblem, StreamFunction } from "../agent/contracts.ts";
import type { Log } from "../lib/log.ts";
import type { Shell } from "../lib/shell/index.ts";
import type { ThinkingLevel } from "../protocol/levels.ts";
import type { Model } from "../protocol/model.ts";
import type { SettingName, SettingValue } from "../protocol/settings.ts";
import type { BeforeCommand } from "../verification/contracts.ts";
import type { AgentDefinition, Agents } from "./agents.ts";
import type { Artifacts } from "./artifacts.ts";
import type { ChildGate, ChildListener, ChildPermissions, Isolation } from "./contracts.ts";
import type { InheritedDefaults } from "./inheritance.ts";

export const taskToolName = "task";

export interface TaskParts {
	agents: Agents;
	/** The agents this process may send. */
	spawns: "*" | readonly string[];
	/** How deep this process is nested. */
	depth: number;
	cwd: string;
	/** Where our own program is. */
	program: () => string;
	/** Runs checks. */
	shell: () => Promise<Shell>;
	/** Asked before each check, as the tools' own commands are asked about. */
	beforeCommand?: BeforeCommand;
	permissions?: ChildPermissions;
	/** Asks the host before each step, where it wants to be asked. */
	gate?: () => ChildGate | undefined;
	/** Hears of subagents, where a host wants to. */
	listener?: ChildListener;
	/** Whether the model may run commands of its own making. */
	hasBash: boolean;
	/** Starts subagents. At the end of the session it is closed after the other shell, so that subagents can finish in order. */
	childShell: () => Promise<Shell>;
	setting: <Name extends SettingName>(name: Name) => SettingValue<Name>;
	environment: Readonly<Record<string, string | undefined>>;
	defaults: () => Promise<InheritedDefaults>;
	/** The model and level of the session. */
	current: () => { model: Model | undefined; level: ThinkingLevel };
	/** The first of these patterns that names an available model. */
	findModel: (patterns: readonly string[]) => Promise<{ model: Model; level?: ThinkingLevel } | ModelProblem>;
	artifacts: Artifacts;
	/** Whether subagents keep their conversations on disk. */
	isStored: boolean;
	isolation: () => Promise<Isolation>;
	budget?: Budget;
	/** Asks a model. */
	stream: StreamFunction;
	emit: Emit;
	/** Removes credentials from a text. */
	redact: (text: string) => string;
	log: Log;
	now: () => number;
}

/** The agents this process may send. */
export function sendable({ agents, spawns, setting }: Pick<TaskParts, "agents" | "spawns" | "setting">): AgentDefinition[] {
	const disabled = setting("task.disabledAgents");
	return agents.list.filter(({ name }) => !disabled.includes(name) && (spawns === "*" || spawns.includes(name)));
}

/** The setting comes from a file and may hold anything. */
export function modelOverride({ name }: AgentDefinition, { setting }: Pick<TaskParts, "setting">): string[] | undefined {
	const given = (setting("task.agentModelOverrides") as Record<string, unknown>)[name];
	const patterns = Array.isArray(given) ? given.map(String) : typeof given === "string" ? given.split(",") : [];
	const named = patterns.map((pattern) => pattern.trim()).filter((pattern) => pattern !== "");
	return named.length === 0 ? undefined : named;
}
