/** For how long a session counts on what a provider has cached. */
import { expect, test } from "vitest";
import type { ModelRequest, StreamOptions } from "../../src/agent/contracts.ts";
import { asksForLong, type CacheRetention, cacheLifetimeMs, cacheRetention } from "../../src/protocol/cache.ts";
import type { Model } from "../../src/protocol/model.ts";
import { Conversation } from "../../src/session/conversation.ts";
import { Requests } from "../../src/session/requests.ts";
import { FileSessionStore } from "../../src/transcript/file-store.ts";
import { models, open, request } from "../models/support.ts";
import { assistant } from "../transcript/support.ts";

const minute = 60_000;
const known: Model = { ...models.anthropic, promptCache: { short: 120, long: 3600 } };

test("the variable of a retention is read in any case; what it does not know is the usual one", () => {
	const asked = ["LONG", "none", "", "forever"].map((BOWLINE_CACHE_RETENTION) => cacheRetention({ BOWLINE_CACHE_RETENTION }));
	expect(asked).toEqual(["long", "none", "short", "short"]);
});

test("a lifetime is that of the catalogue; a model without one has five minutes", () => {
	expect([cacheLifetimeMs(known, "short"), cacheLifetimeMs(known, "long")]).toEqual([2 * minute, 60 * minute]);
	expect([cacheLifetimeMs(models.anthropic, "short"), cacheLifetimeMs(models.chat, "long")]).toEqual([5 * minute, 5 * minute]);
});

test("behind an address that is not asked for a long lifetime, the short one holds", () => {
	const proxied = { ...known, baseUrl: "http://127.0.0.1:9" };
	expect(asksForLong(proxied, "long")).toBe(false);
	expect(cacheLifetimeMs(proxied, "long")).toBe(2 * minute);
});

/** Returns whether the last request can be continued from the cache when so much time has passed. */
async function canContinue(model: Model, retention: CacheRetention, passedMs: number): Promise<boolean> {
	let now = 0;
	const newId = () => "id";
	const parts = { cwd: "/", directory: undefined, redact: (text: string) => text, now: () => now, newId, newSessionId: newId };
	const conversation = new Conversation(new FileSessionStore(parts).create(), () => now);
	const requests = new Requests(conversation, () => now, retention);
	const answer = { ...assistant("ok"), usage: { ...assistant("ok").usage, cacheWrite: 2000 } };
	const ask = requests.watching(async (_: ModelRequest, { onEvent }: StreamOptions) => onEvent({ type: "done", reason: "stop", message: answer }));
	const { cacheKey } = conversation.transcript;
	const { signal } = new AbortController();
	await ask(request({ model, messages: [], sessionId: cacheKey }), { signal, flow: open, onEvent: () => undefined });
	now += passedMs;
	return requests.continued(model) !== undefined;
}

test.each([
	[known, "short", 2],
	[known, "long", 60],
	[models.anthropic, "short", 5],
] as const)("a cached request of a model is counted on until its lifetime is over (%#)", async (model, retention, minutes) => {
	expect(await canContinue(model, retention, minutes * minute - 1)).toBe(true);
	expect(await canContinue(model, retention, minutes * minute)).toBe(false);
});
