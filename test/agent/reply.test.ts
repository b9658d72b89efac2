/** One model call always ends in exactly one message, whatever the provider does. */
import { expect, test } from "vitest";
import { Doors } from "../../src/agent/doors.ts";
import type { LoopInput } from "../../src/agent/loop.ts";
import { streamReply } from "../../src/agent/reply.ts";
import type { StreamFunction } from "../../src/agent/stream.ts";
import { ReplyBuilder } from "../../src/models/builder.ts";
import { scriptedModel } from "../../src/models/scripted/model.ts";
import type { AgentEvent } from "../../src/protocol/events.ts";

async function reply(stream: StreamFunction, signal = new AbortController().signal) {
	const events: AgentEvent[] = [];
	const setup = { model: scriptedModel("x"), thinkingLevel: "off" as const, systemPrompt: "", tools: [] };
	const flow = { isOpen: true, whenOpen: async () => undefined };
	const input = {
		context: () => [],
		stream,
		doors: new Doors(),
		sessionId: () => "s",
		flow,
		signal,
		now: () => 7,
	} as Partial<LoopInput> as LoopInput;
	const result = await streamReply(input, setup, (event) => events.push(event));
	return { ...result, types: events.map(({ type }) => type), events };
}

const builder = (...given: Parameters<StreamFunction>) => new ReplyBuilder(given[0].model, 0, given[1].onEvent);

test("a stream that throws is a transient failure with the text of the error", async () => {
	const { message, failure, types } = await reply(async () => {
		throw new Error("socket hang up");
	});
	expect(message).toMatchObject({ stopReason: "error", errorMessage: "socket hang up", content: [], timestamp: 7 });
	expect(failure).toEqual({ kind: "transient" });
	expect(types).toEqual(["message_start", "message_end"]);
});

test("a stream that ends without its last event keeps what came", async () => {
	const { message, failure } = await reply(async (...given) => {
		const made = builder(...given);
		made.append(made.open({ type: "text", text: "" }), "half");
	});
	expect(message).toMatchObject({ stopReason: "error", errorMessage: "The stream ended without its last event.", content: [{ text: "half" }] });
	expect(failure).toEqual({ kind: "transient" });
});

test("events after the last one are ignored", async () => {
	const { message, types } = await reply(async (...given) => {
		builder(...given).done("stop");
		builder(...given).fail("late", { kind: "permanent" });
	});
	expect(message.stopReason).toBe("stop");
	expect(types.filter((type) => type === "message_end")).toHaveLength(1);
});

test("a signal that has fired already asks no one", async () => {
	const controller = new AbortController();
	controller.abort();
	const { message } = await reply(() => Promise.reject(new Error("asked")), controller.signal);
	expect(message).toMatchObject({ stopReason: "aborted", errorMessage: "Request was aborted" });
});

test("a provider that does not end after an abort is left behind", async () => {
	const controller = new AbortController();
	const waiting = reply(() => new Promise(() => undefined), controller.signal);
	controller.abort();
	const { message, failure } = await waiting;
	expect(message.stopReason).toBe("aborted");
	expect(failure).toEqual({ kind: "permanent" });
});
