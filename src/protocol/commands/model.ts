import Type from "typebox";
import { command, flag, list, orNothing, orNull, shape, text, words } from "../define.ts";
import { samples } from "../examples.ts";
import { Model, ThinkingLevelWord } from "../model.ts";

export const modelCommands = {
	set_model: command({
		doc: "Choose the model for the next model call.",
		lane: "serial",
		access: "seat",
		params: { provider: text(), modelId: text() },
		result: Model,
		example: { send: { provider: "anthropic", modelId: "claude-sonnet-4-5" }, data: samples.model },
	}),
	cycle_model: command({
		doc: "The next model of the scope, or of all available ones. `null` when there is at most one.",
		lane: "serial",
		access: "seat",
		params: {},
		result: orNull(shape("CycledModel", "The model that was chosen.", { model: Model, thinkingLevel: ThinkingLevelWord, isScoped: flag() })),
		example: { send: {}, data: { model: samples.model, thinkingLevel: "medium", isScoped: false } },
	}),
	get_available_models: command({
		doc: "The models that can be used with the credentials at hand.",
		lane: "serial",
		access: "read",
		params: {},
		result: Type.Object({ models: list(Model) }),
		example: { send: {}, data: { models: [samples.model] } },
	}),
	set_thinking_level: command({
		doc: 'How much the model thinks: off, minimal, low, medium, high or xhigh (`max` means the highest there is). A level the model lacks becomes the nearest one it has. It counts from the next prompt: a turn keeps the level with which it began. The answer has `cache: "messages"` when the model\'s provider then forgets the messages that it keeps, so that the next request costs more.',
		lane: "serial",
		access: "seat",
		params: { level: text() },
		result: orNothing(shape("LevelChange", "What another thinking level costs. Absent when it costs nothing.", { cache: words("messages") })),
		example: { send: { level: "high" }, data: { cache: "messages" } },
	}),
	cycle_thinking_level: command({
		doc: "The next level the model has. `null` when it does not reason.",
		lane: "serial",
		access: "seat",
		params: {},
		result: orNull(Type.Object({ level: ThinkingLevelWord })),
		example: { send: {}, data: { level: "high" } },
	}),
	get_available_thinking_levels: command({
		doc: "The levels the model has; only `off` when it does not reason.",
		lane: "serial",
		access: "read",
		params: {},
		result: Type.Object({ levels: list(text()) }),
		example: { send: {}, data: { levels: ["off", "minimal", "low", "medium", "high"] } },
	}),
};
