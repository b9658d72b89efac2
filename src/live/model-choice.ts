/** The model choice of a session, with the levels that the host's dialect knows. */
import { clampLevel, supportedLevels } from "../models/thinking.ts";
import type { ThinkingLevel } from "../protocol/levels.ts";
import type { Conversation } from "../session/conversation.ts";
import { ModelChoice } from "../session/model-choice.ts";
import type { Variations } from "./front.ts";
import type { Models } from "./models.ts";
import type { Workspace } from "./workspace.ts";

export function modelChoice({ options, settings }: Workspace, models: Models, conversation: Conversation, { hasMaxLevel }: Variations): ModelChoice {
	const max = hasMaxLevel ? "max" : "xhigh";
	return new ModelChoice({
		catalogue: models,
		levels: (model) => supportedLevels(model, hasMaxLevel),
		clamp: (model, level) => clampLevel(model, level, hasMaxLevel),
		max,
		scope: () => models.scope(),
		level: (options.thinking === "max" ? max : (options.thinking as ThinkingLevel | undefined)) ?? settings.get("defaultThinkingLevel"),
		record: (entry) => void conversation.append(entry),
	});
}
