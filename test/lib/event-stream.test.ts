import { describe, expect, test } from "vitest";
import { type EventStreamMessage, EventStreamReader } from "../../src/lib/event-stream.ts";
import { event, frame, message, prelude } from "../models/clouds/amazon.ts";

function read(...chunks: Uint8Array[]): { messages: { headers: EventStreamMessage["headers"]; payload: string }[]; events: number } {
	const messages: { headers: EventStreamMessage["headers"]; payload: string }[] = [];
	const reader = new EventStreamReader(({ headers, payload }) => messages.push({ headers, payload: payload.toString("utf8") }));
	for (const chunk of chunks) reader.push(Buffer.from(chunk));
	reader.end();
	return { messages, events: reader.events };
}

describe("an event stream of Amazon's", () => {
	test("the published messages are read, and none of their bytes may change", () => {
		const empty = Buffer.from("000000100000000005c248eb7d98c8ff", "hex");
		const plain = Buffer.from("0000001d00000000fd528c5a7b27666f6f273a27626172277dc3653936", "hex");
		expect(read(empty, plain).messages).toEqual([
			{ headers: {}, payload: "" },
			{ headers: {}, payload: "{'foo':'bar'}" },
		]);
		for (let at = 0; at < plain.length; at += 1) {
			const broken = Buffer.from(plain);
			broken[at] = (broken[at] as number) ^ 1;
			expect(() => read(empty, broken), `byte ${at}`).toThrow(SyntaxError);
		}
	});

	test("headers of every type are passed over; texts are kept", () => {
		const header = (name: string, type: number, ...value: number[]) => Buffer.from([name.length, ...Buffer.from(name), type, ...value]);
		const zeros = (count: number) => new Array<number>(count).fill(0);
		const headers = Buffer.concat([
			header("a", 0),
			header("b", 1),
			header("c", 2, 1),
			header("d", 3, 0, 1),
			header("e", 4, ...zeros(4)),
			header("f", 5, ...zeros(8)),
			header("g", 6, 0, 2, 9, 9),
			header("h", 7, 0, 2, 104, 105),
			header("i", 8, ...zeros(8)),
			header("j", 9, ...zeros(16)),
			header("k", 7, 0, 1, 120),
		]);
		expect(read(message(headers, Buffer.from("x"))).messages).toEqual([{ headers: { h: "hi", k: "x" }, payload: "x" }]);
		expect(() => read(message(header("z", 42), Buffer.alloc(0)))).toThrow("unknown type 42");
		expect(() => read(message(Buffer.from([200, 1]), Buffer.alloc(0)))).toThrow("cut off");
	});

	test("cut at every byte it reads the same", () => {
		const bytes = Buffer.concat([event("one", { text: "ä€😀" }), frame({}, ""), event("two", { n: 2 })]);
		const whole = read(bytes);
		expect(whole.messages.map(({ headers }) => headers[":event-type"])).toEqual(["one", undefined, "two"]);
		for (let at = 0; at <= bytes.length; at += 1) expect(read(bytes.subarray(0, at), bytes.subarray(at))).toEqual(whole);
		expect(read(...Array.from(bytes, (byte) => Buffer.from([byte])))).toEqual(whole);
	});

	test("a part of a message at the end is not delivered", () => {
		const bytes = event("one", {});
		for (let at = 0; at < bytes.length; at += 1) expect(read(bytes.subarray(0, at)).events).toBe(0);
	});

	test("another kind of answer gives no events; impossible lengths are refused", () => {
		expect(read(Buffer.from("<html>Please sign in</html>"), Buffer.from("more")).events).toBe(0);
		expect(() => read(event("one", {}), prelude(25 * 1024 * 1024, 0))).toThrow(RangeError);
		expect(() => read(event("one", {}), prelude(20, 10))).toThrow("contradict");
	});

	test("a large message in small pieces", () => {
		const bytes = event("large", { text: "x".repeat(256 * 1024) });
		const chunks: Uint8Array[] = [];
		for (let at = 0; at < bytes.length; at += 1000) chunks.push(bytes.subarray(at, at + 1000));
		expect(read(...chunks)).toEqual(read(bytes));
	});
});
