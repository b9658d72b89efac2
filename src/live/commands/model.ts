import type { ModelCatalogue } from "../../agent/models.ts";
import type { Session } from "../../session/session.ts";
import type { Call, Handlers } from "./contract.ts";

type Names = "set_model" | "cycle_model" | "get_available_models" | "set_thinking_level" | "cycle_thinking_level" | "get_available_thinking_levels";

export function modelHandlers(session: Session, catalogue: ModelCatalogue): Pick<Handlers, Names> {
	const { choice } = session;
	/** Does something that may change the model or the level, and reports it after the response. */
	const telling = <T>(call: Call, source: "set" | "cycle", work: () => T): T => {
		const { level, model: previousModel } = choice;
		call.afterResponse(() => {
			const { model } = choice;
			if (model && model !== previousModel) session.doors.notice({ type: "model_select", model, previousModel, source });
			if (choice.level !== level) session.emit({ type: "thinking_level_changed", level: choice.level });
		});
		return work();
	};
	return {
		set_model: ({ provider, modelId }, call) => telling(call, "set", () => choice.set(provider, modelId)),
		cycle_model: (_, call) =>
			telling(call, "cycle", async () => {
				const next = await choice.cycle();
				return next ? { model: next.model, thinkingLevel: choice.level, isScoped: next.isScoped } : null;
			}),
		get_available_models: async () => ({ models: await catalogue.available() }),
		set_thinking_level: ({ level }, call) =>
			telling(call, "set", () => {
				const before = choice.level;
				choice.setLevel(level);
				return choice.level !== before && session.requests.hasCachedMessages ? { cache: "messages" as const } : undefined;
			}),
		cycle_thinking_level: (_, call) =>
			telling(call, "cycle", () => {
				const level = choice.cycleLevel();
				return level ? { level } : null;
			}),
		get_available_thinking_levels: () => ({ levels: [...choice.levels()] }),
	};
}
