/** Puts the rooms together. The only file that sees them all. */
import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Flow, ModelAccess, Tool } from "../agent/contracts.ts";
import { randomBytes, uuid } from "../lib/ids.ts";
import { sleep } from "../lib/sleep.ts";
import { scriptedAccess } from "../models/scripted/access.ts";
import { scriptedModel } from "../models/scripted/model.ts";
import { type RetryPolicy, retryPolicy } from "../policies/retry.ts";
import { systemPrompt } from "../prompting/system-prompt.ts";
import type { ThinkingLevel } from "../protocol/model.ts";
import { Bus } from "../session/bus.ts";
import { Session } from "../session/session.ts";
import { UserBash } from "../session/user-bash.ts";
import { sessionDirectory, Transcript } from "../transcript/transcript.ts";
import type { Options } from "./args.ts";
import type { SettingsView } from "./settings.ts";
import { Toolbox } from "./toolbox.ts";

export interface AssembleInput {
	options: Options;
	settings: SettingsView;
	cwd: string;
	userDirectory: string;
	environment: NodeJS.ProcessEnv;
	flow: Flow;
}

export interface Assembly {
	session: Session;
	bash: UserBash;
	retry: RetryPolicy & { setEnabled(enabled: boolean): void };
	/** Kills every process we started. */
	close(): Promise<void>;
}

export function assemble({ options, settings, cwd, userDirectory, environment, flow }: AssembleInput): Assembly {
	const now = Date.now;
	const bus = new Bus();
	const toolbox = new Toolbox({
		options,
		settings,
		cwd,
		environment,
		facts: () => {
			const { sessionId, sessionFile, model } = session.state;
			return { BOWLINE_SESSION_ID: sessionId, BOWLINE_SESSION_FILE: sessionFile, BOWLINE_PROVIDER: model?.provider, BOWLINE_MODEL: model?.id };
		},
		secretNames: () => [],
		secrets: () => [],
		acceptsImages: () => session.model?.input.includes("image") ?? false,
	});
	const models = scriptedAccess(cwd, { agent: "main", depth: 0 });

	let isRetryEnabled = settings.get("retry.enabled");
	const retry = retryPolicy(
		() => ({
			enabled: isRetryEnabled,
			maxRetries: settings.get("retry.maxRetries"),
			baseDelayMs: settings.get("retry.baseDelayMs"),
			maxDelayMs: settings.get("retry.maxDelayMs"),
		}),
		bus.emit,
		sleep,
	);

	const directory = options["no-session"]
		? undefined
		: (options["session-dir"] ?? settings.get("sessionDir") ?? sessionDirectory(userDirectory, cwd));
	let chosenId = options["session-id"];
	const newTranscript = (parentSession: string | undefined) => {
		const sessionId = chosenId ?? uuid(now());
		chosenId = undefined;
		return new Transcript({
			cwd,
			sessionId,
			directory: directory && resolve(cwd, directory),
			parentSession,
			now,
			newId: () => randomBytes(4).toString("hex"),
		});
	};

	const prompt = { custom: options["system-prompt"], appended: options["append-system-prompt"] ?? [] };
	const session: Session = new Session({
		models,
		tools: () => toolbox.active(),
		validate: async (tool, args) => (await import("../agent/validate.ts")).validateArguments(tool, args),
		systemPrompt: (tools: readonly Tool[]) =>
			systemPrompt({ tools, cwd, custom: prompt.custom && textOrFile(prompt.custom), appended: prompt.appended.map(textOrFile), now }),
		policies: [retry],
		newTranscript,
		bus,
		flow,
		now,
		start: {
			...startModel(options, settings, models),
			thinkingLevel: (options.thinking as ThinkingLevel | undefined) ?? settings.get("defaultThinkingLevel"),
			steeringMode: settings.get("steeringMode"),
			followUpMode: settings.get("followUpMode"),
			interruptMode: (options["interrupt-mode"] as "immediate" | "wait" | undefined) ?? settings.get("interruptMode"),
			autoCompaction: settings.get("compaction.enabled"),
		},
	});

	return {
		session,
		bash: new UserBash({ shell: () => toolbox.shell(), record: (message) => session.record(message), now }),
		retry: {
			...retry,
			setEnabled(enabled) {
				isRetryEnabled = enabled;
			},
		},
		close: () => toolbox.close(),
	};
}

function startModel(options: Options, settings: SettingsView, _models: ModelAccess) {
	const provider = options.provider ?? settings.get("defaultProvider");
	const id = options.model ?? settings.get("defaultModel");
	if (provider === "scripted" && id) return { model: scriptedModel(id), noModelReason: "" };
	const remedy = "Pass --provider and --model (try --provider scripted --model echo).";
	return { model: undefined, noModelReason: id ? `${provider ? `${provider}/` : ""}${id} is not known. ${remedy}` : remedy };
}

/** A flag's value: text, or the name of a file that holds it. */
function textOrFile(value: string): string {
	return value.length < 4096 && existsSync(value) ? readFileSync(value, "utf8") : value;
}
