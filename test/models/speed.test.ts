/** Guards against costs that grow with the square; the limits are far above what is measured, for slow machines. */
import { expect, test } from "vitest";
import type { ModelMessage } from "../../src/agent/contracts.ts";
import type { HttpClient, Post } from "../../src/lib/http/client.ts";
import { noUsage } from "../../src/models/builder.ts";
import { mergeCompat } from "../../src/models/compat.ts";
import { streamFunction } from "../../src/models/stream.ts";
import type { Model } from "../../src/protocol/model.ts";
import { playing, replay } from "./replay.ts";
import { defaultSetting, models, open, request } from "./support.ts";

function argumentStream(pieces: number, piece: string): Buffer {
	const event = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
	const delta = (partial_json: string) => event({ type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json } });
	const start = event({ type: "content_block_start", index: 0, content_block: { type: "tool_use", id: "t", name: "write", input: {} } });
	return Buffer.from(`${start}${delta('{"content":"')}${delta(piece).repeat(pieces)}${delta('"}')}${event({ type: "message_stop" })}`);
}

test("16,000 pieces of arguments cost about four times as much as 4,000", async () => {
	const time = async (pieces: number) => {
		const bytes = argumentStream(pieces, "some words ");
		const began = performance.now();
		const events = await replay(models.anthropic, playing([bytes]));
		expect(events.at(-1)?.type).toBe("done");
		return performance.now() - began;
	};
	await time(4000);
	const [few, many] = [await time(4000), await time(16_000)];
	expect(many).toBeLessThan(Math.max(400, few * 12));
});

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
	const ask = async () => {
		const began = performance.now();
		await stream(request({ model, messages: [...messages] }), { signal: new AbortController().signal, flow: open, onEvent: () => undefined });
		return performance.now() - began;
	};
	const times = [await ask()];
	for (let turn = 0; turn < 6; turn += 1) {
		messages.push({ role: "user", content: `more ${turn}`, timestamp: turn });
		times.push(await ask());
	}
	expect(Math.min(...times.slice(1))).toBeLessThan(60);
	const [before, after] = [bodies.at(-2) ?? [], bodies.at(-1) ?? []];
	expect(after.filter((piece) => typeof piece !== "string" && before.includes(piece)).length).toBeGreaterThan(60);
	const text = Buffer.concat(after.map((piece) => Buffer.from(piece as string))).toString("utf8");
	expect(() => JSON.parse(text)).not.toThrow();
});
