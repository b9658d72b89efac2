/** The scripted provider as the session sees it. Scripts are loaded when the first prompt needs them, once per process. */
import type { ModelAccess, StreamFunction } from "../../agent/contracts.ts";
import type { Model } from "../../protocol/model.ts";
import type { ReplayOptions } from "../records/player.ts";
import { scriptedModel } from "./model.ts";

export interface Asker {
	agent: string;
	depth: number;
}

/** `replay`: how records are played. */
export function scriptedAccess(cwd: string, asker: Asker, replay: ReplayOptions): ModelAccess {
	const players = new Map<string, Promise<{ model: Model; stream: StreamFunction } | { problem: string }>>();
	const load = async (name: string) => {
		const { loadScript, ScriptPlayer } = await import("./index.ts");
		const loaded = await loadScript(name, cwd);
		if ("problem" in loaded) return loaded;
		if ("record" in loaded) {
			const { RecordPlayer } = await import("../records/player.ts");
			const player = new RecordPlayer(loaded.record, loaded.source, replay);
			const { provider: _, id, api: __, ...facts } = player.model ?? { provider: "", id: "", api: "" };
			return { model: { ...scriptedModel(name), ...facts, name: `${id} (record)` }, stream: player.stream };
		}
		const player = new ScriptPlayer(loaded.script, loaded.source, asker);
		return { model: scriptedModel(name, loaded.script), stream: player.stream };
	};
	const player = async (name: string) => {
		const known = players.get(name) ?? load(name);
		players.set(name, known);
		const result = await known;
		// A script that could not be read may be mended: look again next time.
		if ("problem" in result) players.delete(name);
		return result;
	};
	return {
		async prepare(model) {
			const result = await player(model.id);
			return "problem" in result ? result : { model: result.model };
		},
		async stream(request, options) {
			const result = await player(request.model.id);
			if (!("problem" in result)) return result.stream(request, options);
			const { ReplyBuilder } = await import("./index.ts");
			new ReplyBuilder(request.model, Date.now(), options.onEvent).fail(result.problem, { kind: "permanent" });
		},
	};
}
