/** A reply without content: how one begins, and what remains of one that never came. */
import type { AssistantMessage } from "./messages.ts";
import type { Model } from "./model.ts";

type Source = Pick<Model, "api" | "provider" | "id">;

export function emptyReply({ api, provider, id }: Source, timestamp: number): AssistantMessage {
	const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
	const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost };
	return { role: "assistant", content: [], api, provider, model: id, usage, stopReason: "stop", timestamp };
}
