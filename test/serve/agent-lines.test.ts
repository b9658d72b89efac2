/** What an agent says, cut at any place: deltas as bytes, everything else as lines, all of it in order and as it was said. */
import { expect, test } from "vitest";
import { AgentLines } from "../../src/serve/agent-lines.ts";
import { Feed, Reader, type Sink, Slots } from "../../src/serve/feed.ts";
import { bodyOf, type Encoding, headOf, isDurable } from "../../src/serve/frames.ts";

const room = 1024 * 1024;
const delta = (seq: number, text: string) => `{"seq":${seq},"type":"message_update","assistantMessageEvent":{"type":"text_delta","delta":"${text}"}}`;
/** Short and long, with every length of a message's head, and what only looks like a delta. */
const said = [
	'{"type":"ready","epoch":1}',
	`{"seq":1,"type":"agent_start"}`,
	delta(2, "a"),
	delta(3, "ä€😀"),
	delta(4, "x".repeat(200)),
	'{"asOf":4,"id":"s1","type":"response","command":"get_state","success":true}',
	delta(5, "y".repeat(70_000)),
	'{"seq":6,"type":"message_updates","x":1}',
	'{"seq":,"type":"message_update"}',
	'{"seq":7,"type":"message_update"',
	delta(8, ""),
	delta(9, "z"),
	'{"seq":10,"type":"message_end"}',
];

/** Everything in order; deltas that came together are joined by a bar. */
function heard(chunks: readonly Buffer[], wantsLines = false): string[] {
	const all: string[] = [];
	const lines = new AgentLines(
		{
			line: (text) => all.push(text),
			deltas({ bytes, seqs, ends }) {
				if (wantsLines) return false;
				let from = 0;
				for (const [index, end] of ends.entries()) {
					const text = bytes.toString("utf8", from, end);
					expect([text.at(-1), headOf(text)]).toEqual(["\n", { kind: "event", seq: seqs[index], type: "message_update" }]);
					all.push(text.slice(0, -1));
					from = end;
				}
				expect(from).toBe(bytes.length);
				return true;
			},
			tooLong: () => all.push("too long"),
		},
		room,
	);
	for (const chunk of chunks) lines.push(chunk);
	lines.end();
	return all;
}

test("cut at any place, all lines come once and in order, also those that are wanted as lines", () => {
	const bytes = Buffer.from(`${said.join("\n")}\n`);
	const cut = (length: number) => Array.from({ length: Math.ceil(bytes.length / length) }, (_, at) => bytes.subarray(at * length, (at + 1) * length));
	for (const length of [bytes.length, 65_536, 997, 100, 31, 7]) {
		expect(heard(cut(length))).toEqual(said);
		expect(heard(cut(length), true)).toEqual(said);
	}
	expect(heard([Buffer.from(`${said[0]}\r\n${said[2]}\r\n\n${said[3]}`)])).toEqual([said[0], said[2], said[3]]);
});

test("a line over the limit is told once and left out, wherever it is cut; the next one is heard", () => {
	const all: string[] = [];
	const lines = new AgentLines({ line: (text) => all.push(text), deltas: () => false, tooLong: () => all.push("too long") }, 1000);
	const bytes = Buffer.from(`${said[0]}\n{"type":"${"x".repeat(1200)}"}\n${said[1]}\n`);
	for (let at = 0; at < bytes.length; at += 90) lines.push(bytes.subarray(at, at + 90));
	expect(all).toEqual([said[0], "too long", said[1]]);
});

test.each(["socket", "many", "events", "lines"] as const)(
	"readers get the same frames as %s, whether they are deltas or not, with a filter or without",
	async (encoding) => {
		const counts = { frames: 0, bytes: 0, gaps: new Map<string, number>(), replayBytes: 0 };
		const feed = new Feed("id", { replay: () => Promise.reject(new Error("not needed")) }, { counts, replays: new Slots(1) });
		const got: Buffer[] = [];
		const chosen: Buffer[] = [];
		const sink = (to: Buffer[]): Sink => ({ encoding, pending: 0, write: (bytes) => void to.push(bytes), close: () => undefined });
		feed.add(new Reader(feed, sink(got)));
		feed.add(new Reader(feed, sink(chosen), { filter: (type) => type === "message_update" }));
		const lines = new AgentLines(
			{
				line(json) {
					const head = headOf(json);
					if (head?.kind === "event") feed.push({ seq: head.seq, type: head.type, json, isDurable: isDurable(head.type, json) });
				},
				deltas(run) {
					feed.pushDeltas(run);
					return true;
				},
				tooLong: () => undefined,
			},
			room,
		);
		// A line that is cut off in itself is the agent's fault.
		for (const line of said) if (line.endsWith("}")) lines.push(Buffer.from(`${line}\n`));
		lines.push(
			Buffer.from([delta(11, "p"), delta(12, "q".repeat(300)), delta(13, "r".repeat(66_000)), '{"seq":14,"type":"turn_end"}', ""].join("\n")),
		);
		await new Promise((resolve) => setImmediate(resolve));
		const expected = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14];
		const ofAll = messages(Buffer.concat(got), encoding);
		expect(ofAll.map(({ seq }) => seq)).toEqual(expected.filter((seq) => seq !== 7));
		expect(JSON.stringify(ofAll)).toContain("ä€😀");
		if (encoding === "many") expect(ofAll.every(({ sessionId }) => sessionId === "id")).toBe(true);
		expect(messages(Buffer.concat(chosen), encoding).map(({ seq }) => seq)).toEqual([2, 3, 4, 5, 8, 9, 11, 12, 13]);
		expect(counts.frames).toBe(ofAll.length + 9);
	},
);

function messages(bytes: Buffer, encoding: Encoding): { seq: number; sessionId?: string }[] {
	if (encoding === "lines" || encoding === "events")
		return bytes
			.toString()
			.split("\n")
			.map((line) => line.replace(/^data: /, ""))
			.filter((line) => line.startsWith("{"))
			.map((line) => JSON.parse(line));
	const all: { seq: number }[] = [];
	for (let at = 0; at < bytes.length; ) {
		expect(bytes[at]).toBe(0x81);
		const short = bytes[at + 1] as number;
		const [head, length] = short < 126 ? [2, short] : short === 126 ? [4, bytes.readUInt16BE(at + 2)] : [10, Number(bytes.readBigUInt64BE(at + 2))];
		all.push(JSON.parse(bodyOf(bytes, at, at + head + length)));
		at += head + length;
	}
	return all;
}
