/** What the task tool is made of; the app puts it together. */
import type { Budget, Emit, StreamFunction } from "../agent/contracts.ts";
import type { Shell } from "../lib/shell/index.ts";
import type { ThinkingLevel } from "../protocol/levels.ts";
import type { Model } from "../protocol/model.ts";
import type { SettingName, SettingValue } from "../protocol/settings.ts";
import type { AgentDefinition, Agents } from "./agents.ts";
import type { Artifacts } from "./artifacts.ts";
import type { BeforeCommand, Isolation } from "./contracts.ts";
import type { Household } from "./inheritance.ts";

export const taskToolName = "task";

export interface TaskParts {
	agents: Agents;
	/** Whom this process may send. */
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
	/** Whether the model may run commands of its own making. */
	hasBash: boolean;
	/** Starts subagents. It outlives the other one at the end of the session, so that they come to an end of their own. */
	childShell: () => Promise<Shell>;
	setting: <Name extends SettingName>(name: Name) => SettingValue<Name>;
	environment: Readonly<Record<string, string | undefined>>;
	household: () => Promise<Household>;
	/** The model and level of the session. */
	current: () => { model: Model | undefined; level: ThinkingLevel };
	/** The first of several patterns that means a model that can be asked. */
	findModel: (patterns: readonly string[]) => Promise<{ model: Model; level?: ThinkingLevel } | undefined>;
	artifacts: Artifacts;
	/** Whether subagents keep their conversations on disk. */
	isStored: boolean;
	isolation: () => Promise<Isolation>;
	budget?: Budget;
	/** Asks a model. */
	stream: StreamFunction;
	emit: Emit;
	/** Takes credentials out of a text. */
	redact: (text: string) => string;
	now: () => number;
}

/** Whom this process may send. */
export function sendable({ agents, spawns, setting }: Pick<TaskParts, "agents" | "spawns" | "setting">): AgentDefinition[] {
	const disabled = setting("task.disabledAgents");
	return agents.list.filter(({ name }) => !disabled.includes(name) && (spawns === "*" || spawns.includes(name)));
}

/** The setting holds what somebody wrote: a record of anything. */
export function modelOverride({ name }: AgentDefinition, { setting }: Pick<TaskParts, "setting">): string[] | undefined {
	const given = (setting("task.agentModelOverrides") as Record<string, unknown>)[name];
	const patterns = Array.isArray(given) ? given.map(String) : typeof given === "string" ? given.split(",") : [];
	const named = patterns.map((pattern) => pattern.trim()).filter((pattern) => pattern !== "");
	return named.length === 0 ? undefined : named;
}
