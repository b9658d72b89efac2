/** This process was sent by another one of ours: who it is, and what it was given. Loaded only then. */

import { closeSync, readFileSync } from "node:fs";
import type { Policy, Tool } from "../agent/contracts.ts";
import { answerSchema } from "../answers/answer-schema.ts";
import { submission } from "../answers/submit-result.ts";
import { asSentence } from "../lib/as-sentence.ts";
import { settings as rows } from "../protocol/settings.ts";
import { userDirectory } from "../settings/directories.ts";
import { projectDirectoryOf, type SettingsView } from "../settings/settings.ts";
import { type Inheritance, inheritVariable } from "../subagents/inheritance.ts";
import type { Options, UnknownFlag } from "./arguments.ts";
import { allowedTools, builtInNames } from "./tool-names.ts";

export interface Subagent {
	inheritance: Inheritance;
	options: Options;
	unknown: UnknownFlag[];
	settings: SettingsView;
	/** Asks for the result when the model forgets it. */
	policy: Policy;
	/** The tools that the model is offered, of those there are. */
	offer: (tools: readonly Tool[]) => Tool[];
}

/** A subagent's second answer counts, whatever its shape: the sender judges it. */
const limits = { refusals: 1, mayOverride: true, reminders: 3 };

/** Takes what the sender left at the descriptor. From then on the process is as if it had been started with it. */
export async function inherited(given: Options, cwd: string, env: NodeJS.ProcessEnv): Promise<Subagent> {
	const descriptor = Number(env[inheritVariable]);
	delete env[inheritVariable];
	const inheritance = receive(descriptor);
	// In our own memory only: what we start does not see them, as ever.
	Object.assign(env, inheritance.credentials.variables);
	const { flags, model, thinkingLevel, systemPrompt, tools, allowedTools: allowed, schema } = inheritance;
	const validate = async (...args: Parameters<typeof import("../agent/validate.ts").validateArguments>) =>
		(await import("../agent/validate.ts")).validateArguments(...args);
	const { tool, policy, contract } = submission({ shape: answerSchema(schema), limits, validate, now: Date.now });
	const names = allowedTools(tools, allowed);
	const { unknown = [], ...passed } = flags as Options & { unknown?: UnknownFlag[] };
	return {
		inheritance,
		options: {
			...given,
			...passed,
			provider: model.provider,
			model: model.id,
			thinking: thinkingLevel,
			"system-prompt": systemPrompt,
			"append-system-prompt": [contract],
			...(names ? { tools: names.filter((name) => builtInNames.includes(name)).join(",") } : {}),
		},
		unknown,
		settings: await settingsOf(inheritance, cwd, env),
		policy,
		// Tools of MCP servers are there only where the definition names them, with patterns.
		offer: (all) => [...(tools ? all.filter(({ name }) => name.startsWith("mcp__") || tools.includes(name)) : all), tool],
	};
}

function receive(descriptor: number): Inheritance {
	try {
		const inheritance = JSON.parse(readFileSync(descriptor, "utf8")) as Inheritance;
		closeSync(descriptor);
		return inheritance;
	} catch (error) {
		throw new Error(
			`What ${inheritVariable} promises could not be read: ${asSentence((error as Error).message)} The variable is for subagents; unset it.`,
		);
	}
}

async function settingsOf({ settings: given, trusted }: Inheritance, cwd: string, env: NodeJS.ProcessEnv): Promise<SettingsView> {
	// A plan is for the user of the session, who does not see this one.
	const values: Record<string, unknown> = { ...given, "todo.enabled": false };
	return {
		get: (name) => (Object.hasOwn(values, name) ? values[name] : rows[name].default) as never,
		origin: () => "the sender",
		scope: () => "temporary",
		layers: () => [],
		refused: () => [],
		warnings: [],
		unused: [],
		misspelt: [],
		isTrusted: trusted,
		projectDirectory: projectDirectoryOf({ cwd, userDirectory: userDirectory(env) }),
	};
}
