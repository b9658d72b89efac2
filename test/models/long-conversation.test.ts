/** Messages are converted to a provider's format once; a benchmark shows how much that saves. */
import { expect, test } from "vitest";
import type { ModelMessage } from "../../src/agent/contracts.ts";
import type { HttpClient, Post } from "../../src/lib/http/client.ts";
import { noUsage } from "../../src/models/builder.ts";
import { mergeCompat } from "../../src/models/compat.ts";
import { streamFunction } from "../../src/models/stream.ts";
import type { Model } from "../../src/protocol/model.ts";
import { defaultSetting, models, open, request } from "./support.ts";

function conversation(by: Model, count: number): ModelMessage[] {
	const messages: ModelMessage[] = [];
	for (let index = 0; index < count / 3; index += 1) {
		const id = `call_${index}`;
		messages.push({ role: "user", content: `please ${index} ${"x".repeat(300)}`, timestamp: index });
		const content = [
			{ type: "text" as const, text: "ok ".repeat(100) },
			{ type: "toolCall" as const, id, name: "read", arguments: { path: `src/${index}` } },
		];
		messages.push({
			role: "assistant",
			content,
			api: by.api,
			provider: by.provider,
			model: by.id,
			usage: noUsage,
			stopReason: "toolUse",
			timestamp: index,
		});
		messages.push({
			role: "toolResult",
			toolCallId: id,
			toolName: "read",
			content: [{ type: "text", text: "line\n".repeat(90) }],
			isError: false,
			timestamp: index,
		});
	}
	return messages;
}

test.each(Object.entries(models))("%s: one more turn after 10,000 messages does not serialise them again", async (_, model) => {
	const bodies: (readonly (string | Uint8Array)[])[] = [];
	const client: Pick<HttpClient, "post"> = {
		post: async (post: Post) => {
			bodies.push(post.body as readonly (string | Uint8Array)[]);
			return { type: "aborted" };
		},
	};
	const stream = streamFunction({
		access: async () => ({ model, baseUrl: model.baseUrl, modelId: model.id, compat: mergeCompat(), headers: {} }),
		client,
		setting: defaultSetting,
		env: {},
		now: () => 1,
		clean: (text) => text,
	});
	const messages = conversation(model, 9999);
	const ask = () =>
		stream(request({ model, messages: [...messages] }), { signal: new AbortController().signal, flow: open, onEvent: () => undefined });
	await ask();
	messages.push({ role: "user", content: "more", timestamp: 1 });
	await ask();
	const [before, after] = [bodies.at(-2) ?? [], bodies.at(-1) ?? []];
	expect(after.filter((piece) => typeof piece !== "string" && before.includes(piece)).length).toBeGreaterThan(60);
	const text = Buffer.concat(after.map((piece) => Buffer.from(piece as string))).toString("utf8");
	expect(() => JSON.parse(text)).not.toThrow();
});
