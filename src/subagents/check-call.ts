/** Whether a call can be carried out, before anything is started. Problems are sentences for the model. */
import type { ThinkingLevel } from "../protocol/levels.ts";
import type { TaskArguments } from "../protocol/subagents.ts";
import type { VerificationPlan } from "../verification/contracts.ts";
import { planVerification } from "../verification/index.ts";
import type { AgentDefinition } from "./agents.ts";
import { modelOverride, sendable, type TaskParts } from "./dependencies.ts";

/** A call with every question answered. */
export interface CheckedCall {
	agent: AgentDefinition;
	model: { provider: string; id: string };
	thinkingLevel: ThinkingLevel;
	isIsolated: boolean;
	verification: VerificationPlan | undefined;
}

const idPattern = /^[A-Za-z0-9][\w-]{0,47}$/;

export async function checkCall(args: TaskArguments, parts: TaskParts): Promise<CheckedCall | { problem: string }> {
	const agent = findAgent(args.agent, parts);
	if ("problem" in agent) return agent;
	const problem = problemWithTasks(args);
	if (problem) return { problem };
	const isIsolated = args.isolated === true;
	if (isIsolated && parts.setting("task.isolation.mode") === "none")
		return { problem: "Isolation is switched off. Call the tool without isolated, or set task.isolation.mode to worktree." };
	const planned = planVerification(args.verify, { isolated: isIsolated, settings: verificationSettings(parts) });
	if ("problem" in planned) return planned;
	if (planned.plan && !parts.hasBash && typeof args.verify === "object" && args.verify.commands)
		return { problem: "Checks are commands, and bash is not among the tools here. Name a profile that the settings define, or leave verify out." };
	const model = await modelFor(agent, parts);
	if ("problem" in model) return model;
	return { agent, ...model, isIsolated, verification: planned.plan };
}

function findAgent(name: string, parts: TaskParts): AgentDefinition | { problem: string } {
	const { agents, spawns, setting, environment } = parts;
	const names = sendable(parts).map((agent) => agent.name);
	const rest = names.length === 0 ? "There is none that can be sent." : `There is ${names.join(", ")}.`;
	const found = agents.list.find((agent) => agent.name === name);
	if (!found) return { problem: `Unknown agent: ${name}. ${rest}` };
	if (setting("task.disabledAgents").includes(name)) return { problem: `Agent ${name} is disabled by the setting task.disabledAgents. ${rest}` };
	if (spawns !== "*" && !spawns.includes(name)) return { problem: `Agent ${name} may not be sent from here. ${rest}` };
	if ([environment.BOWLINE_BLOCKED_AGENT, environment.PI_BLOCKED_AGENT].includes(name))
		return { problem: `Agent ${name} is blocked in this process. Do the work yourself, or send another agent. ${rest}` };
	return found;
}

function problemWithTasks({ tasks }: TaskArguments): string | undefined {
	if (tasks.length === 0) return "There are no tasks. Give at least one: {id, description, assignment}.";
	const seen = new Set<string>();
	for (const { id, assignment } of tasks) {
		if (!idPattern.test(id))
			return `Task id ${JSON.stringify(id)} cannot be used. Take a CamelCase word of at most 48 letters and digits, such as FixParser.`;
		if (seen.has(id.toLowerCase()))
			return `Task id ${id} is there twice. Every task of a call needs an id of its own; upper and lower case are the same.`;
		if (assignment.trim() === "") return `Task ${id} has no assignment. Say what is to be done.`;
		seen.add(id.toLowerCase());
	}
	return undefined;
}

async function modelFor(
	agent: AgentDefinition,
	parts: TaskParts,
): Promise<{ model: { provider: string; id: string }; thinkingLevel: ThinkingLevel } | { problem: string }> {
	const { model: own, level: ownLevel } = parts.current();
	const override = modelOverride(agent, parts);
	const patterns = override ?? agent.model;
	const found = patterns && (await parts.findModel(patterns));
	// A setting was written for this machine; the file of an agent may have been written for another.
	if (override && found && "problem" in found) {
		const named = `task.agentModelOverrides names ${override.join(", ")}, which cannot be asked`;
		return { problem: `No model for agent ${agent.name}: ${named}.${found.code === "price_unknown" ? ` ${found.problem}` : ""}` };
	}
	const chosen = found && "model" in found ? found : undefined;
	const model = chosen?.model ?? own;
	if (!model) return { problem: "There is no model to send an agent with." };
	return { model: { provider: model.provider, id: model.id }, thinkingLevel: chosen?.level ?? agent.thinkingLevel ?? ownLevel };
}

function verificationSettings({ setting }: TaskParts) {
	return {
		enabled: setting("task.verification.enabled"),
		requireForIsolated: setting("task.verification.requireForIsolated"),
		defaultProfile: setting("task.verification.defaultProfile"),
		maxRetries: setting("task.verification.maxRetries"),
		profiles: setting("task.verification.profiles") as Record<string, unknown>,
	};
}
