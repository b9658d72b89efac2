/** Facts about Claude models, by their names: all vendors that serve them keep the name in the id. Pure. */

export interface Claude {
	/** 4.05 for 4.5, so that 4.10 comes after it. */
	version: number;
	/** Decides itself how much to think. Older models get a token budget. */
	isAdaptive: boolean;
	/** Accepts its thinking only after the system prompt, tools and messages that it was made with. */
	bindsThinking: boolean;
	/** Its provider takes thinking out of earlier turns, which changes what its cache holds, unless the request says otherwise. */
	forgetsThinking: boolean;
}

/** Reads `claude-opus-4-6`, `anthropic/claude-opus-4.7`, `us.anthropic.claude-3-7-sonnet-20250219-v1:0`. Returns undefined for other models. */
export function claudeOf(id: string): Claude | undefined {
	const found = /claude-(?:([a-z]+)-)?(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)/i.exec(id);
	if (!found) return undefined;
	const [family, version] = [found[1]?.toLowerCase(), Number(found[2]) + Number(found[3] ?? 0) / 100];
	return {
		version,
		isAdaptive: version >= 4.06,
		// Mythos 5.1 signs its thinking and does not check where it is.
		bindsThinking: version >= 5.01 && !(family === "mythos" && version < 5.02),
		forgetsThinking: version >= 4 && version < (family === "opus" ? 4.05 : 4.06),
	};
}

/** Returns whether a model accepts its thinking only after the same prefix. */
export const bindsThinking = (id: string) => claudeOf(id)?.bindsThinking ?? false;
