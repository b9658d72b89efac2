/** Credentials do not leave in deltas, wherever a reply is cut. */
import { expect, test } from "vitest";
import { redactor } from "../../src/lib/redact.ts";
import type { AgentEvent } from "../../src/protocol/events.ts";
import { EventWriter, type UpdateMode } from "../../src/rpc/event-writer.ts";
import { FrameWriter } from "../../src/rpc/stdio.ts";

const key = "sk-ant-canary-0123456789";

/** The text that a host reads from a reply that comes in these pieces. */
async function heard(pieces: string[], mode: UpdateMode, secrets: string[], isNumbered = false) {
	let text = "";
	const stream = {
		write: (bytes: string, done: () => void) => {
			text += bytes;
			done();
		},
		unsent: () => 0,
	};
	const writer = new FrameWriter(stream, () => undefined);
	let now = 0;
	const events = new EventWriter(writer, mode, () => (now += 100));
	const exits = redactor(() => secrets);
	writer.redact = exits.line;
	events.filterDeltas = exits.pieces;
	let last = 0;
	const next = () => (isNumbered ? ++last : undefined);
	if (isNumbered) events.numbers = { asOf: 0, next, take: next };
	let content = "";
	const partial = () => ({ role: "assistant", content: [{ type: "text", text: content }] });
	const step = (assistantMessageEvent: object) =>
		events.write({ type: "message_update", message: partial(), assistantMessageEvent } as unknown as AgentEvent, next());
	step({ type: "text_start", contentIndex: 0, partial: partial() });
	for (const delta of pieces) {
		content += delta;
		step({ type: "text_delta", contentIndex: 0, delta, partial: partial() });
		// Other events do not end the block.
		events.write({ type: "queue_update", steering: [], followUp: [] } as unknown as AgentEvent, next());
	}
	step({ type: "text_end", contentIndex: 0, content, partial: partial() });
	events.write({ type: "message_end", message: partial() } as unknown as AgentEvent, next());
	events.flush();
	await writer.drained();
	const frames = text
		.split("\n")
		.slice(0, -1)
		.map((line) => JSON.parse(line));
	const deltas = frames.flatMap(({ assistantMessageEvent }) => assistantMessageEvent?.delta ?? []);
	const end = frames.find(({ assistantMessageEvent }) => assistantMessageEvent?.type === "text_end");
	return { text, frames, deltas, content: end.assistantMessageEvent.content };
}

const cuts = Array.from({ length: key.length }, (_, at) => [`so: ${key.slice(0, at)}`, key.slice(at), ", yes"]);
const letters = [...`so: ${key}, yes`];

test.each<[UpdateMode]>([["delta"], ["full"]])("a key is replaced, and the deltas together are the text (%s)", async (mode) => {
	for (const pieces of [...cuts, letters]) {
		const { text, deltas, content } = await heard(pieces, mode, [key]);
		expect(content).toBe("so: [redacted], yes");
		expect(deltas.join("")).toBe(content);
		expect(text).not.toContain(key);
	}
});

test("a snapshot shows no more of a key that still arrives than the deltas do", async () => {
	for (const pieces of [...cuts, letters]) {
		const { frames } = await heard(pieces, "full", [key]);
		let said = "";
		for (const { type, message, assistantMessageEvent: step } of frames) {
			if (type !== "message_update") continue;
			said += step.delta ?? "";
			expect([message.content[0].text, step.partial.content[0].text]).toEqual([said, said]);
		}
	}
});

test("the held end of a block is written when the block ends", async () => {
	const { deltas, content } = await heard(["words and sk-ant"], "delta", [key]);
	expect([deltas, content]).toEqual([["words and ", "sk-ant"], "words and sk-ant"]);
});

test("with numbers every frame has one, also the held end of a block, and they increase", async () => {
	for (const pieces of [...cuts, letters, ["words and sk-ant"], ["words", " and ", "sk", "-ant"]]) {
		const { frames, deltas, content } = await heard(pieces, "delta", [key], true);
		const numbers = frames.map(({ seq }) => seq);
		expect(numbers.every((seq) => Number.isInteger(seq))).toBe(true);
		expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
		expect(deltas.join("")).toBe(content);
	}
});

test("without credentials deltas leave as they came", async () => {
	expect((await heard(["a", "s", "sk"], "delta", [])).deltas).toEqual(["a", "s", "sk"]);
});
