import type { ModelCatalogue } from "../../agent/contracts.ts";
import type { Session } from "../../session/session.ts";
import type { Call, Handlers } from "./contract.ts";

type Names = "set_model" | "cycle_model" | "get_available_models" | "set_thinking_level" | "cycle_thinking_level" | "get_available_thinking_levels";

export function modelHandlers(session: Session, catalogue: ModelCatalogue): Pick<Handlers, Names> {
	const { choice } = session;
	/** Does something that may change the level, and tells of it behind the response. */
	const telling = <T>(call: Call, work: () => T): T => {
		const before = choice.level;
		call.afterResponse(() => {
			if (choice.level !== before) session.emit({ type: "thinking_level_changed", level: choice.level });
		});
		return work();
	};
	return {
		set_model: ({ provider, modelId }, call) => telling(call, () => choice.set(provider, modelId)),
		cycle_model: (_, call) =>
			telling(call, async () => {
				const next = await choice.cycle();
				return next ? { model: next.model, thinkingLevel: choice.level, isScoped: next.isScoped } : null;
			}),
		get_available_models: async () => ({ models: await catalogue.available() }),
		set_thinking_level: ({ level }, call) => telling(call, () => choice.setLevel(level)),
		cycle_thinking_level: (_, call) =>
			telling(call, () => {
				const level = choice.cycleLevel();
				return level ? { level } : null;
			}),
		get_available_thinking_levels: () => ({ levels: [...choice.levels()] }),
	};
}
