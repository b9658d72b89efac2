/** The writer: order, one write per tick, frames of their own, and who has to wait. */
import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { FrameWriter } from "../../src/rpc/stdio.ts";

/** A stream that accepts a write when the test says so. */
function slowStream() {
	const writes: string[] = [];
	const waiting: ((error?: Error) => void)[] = [];
	return {
		writes,
		stream: {
			write: (text: string, done: (error?: Error | null) => void) => {
				writes.push(text);
				waiting.push(done);
			},
			unsent: () => 0,
		},
		take: (error?: Error) => waiting.shift()?.(error),
	};
}

const tick = () => new Promise((resolve) => setImmediate(resolve));
const never = () => {
	throw new Error("no error was expected");
};

test("frames of one tick go out in one write", async () => {
	const { writes, stream } = slowStream();
	const writer = new FrameWriter(stream, never);
	writer.write("a");
	writer.write("b");
	await tick();
	expect(writes).toEqual(["a\nb\n"]);
});

test("a frame that cannot be put into words does not take its neighbours along", async () => {
	const complain = vi.spyOn(console, "error").mockImplementation(() => undefined);
	const { writes, stream, take } = slowStream();
	const writer = new FrameWriter(stream, never);
	writer.write("a");
	await tick();
	const line = () => {
		throw new RangeError("Invalid string length");
	};
	writer.write("b");
	writer.write({ size: 3, line });
	writer.write("c");
	take();
	await tick();
	expect(writes).toEqual(["a\n", "b\nc\n"]);
	expect(complain).toHaveBeenCalledOnce();
	complain.mockRestore();
});

test("a frame that wants a write of its own gets one", async () => {
	const { writes, stream, take } = slowStream();
	const writer = new FrameWriter(stream, never);
	writer.write("agent_end");
	writer.write("agent_settled", true);
	writer.write("next");
	await tick();
	take();
	take();
	expect(writes).toEqual(["agent_end\n", "agent_settled\n", "next\n"]);
});

test("whatever is written in whatever portions comes out whole and in order", async () => {
	const frame = fc.record({ text: fc.string({ minLength: 1, maxLength: 30 }), alone: fc.boolean(), pause: fc.boolean() });
	await fc.assert(
		fc.asyncProperty(fc.array(frame, { maxLength: 40 }), async (frames) => {
			const { writes, stream, take } = slowStream();
			const writer = new FrameWriter(stream, never);
			const lines = frames.map(({ text }) => JSON.stringify(text));
			for (const [index, { alone, pause }] of frames.entries()) {
				writer.write(lines[index] as string, alone);
				if (pause) {
					await tick();
					take();
				}
			}
			const drained = writer.drained();
			for (let n = 0; n < 200; n++) take();
			await drained;
			expect(writes.join("")).toBe(lines.map((line) => `${line}\n`).join(""));
			for (const [index, { alone }] of frames.entries()) if (alone) expect(writes).toContain(`${lines[index]}\n`);
			expect(writer.waiting).toBe(0);
		}),
		{ numRuns: 60 },
	);
});

test("producers wait above 8 MiB and go on when half of it is gone", async () => {
	const { stream, take } = slowStream();
	const writer = new FrameWriter(stream, never);
	for (let n = 0; n < 9; n++) writer.write("x".repeat(1024 * 1024));
	expect(writer.isOpen).toBe(false);
	let isOpen = false;
	const opened = writer.whenOpen().then(() => {
		isOpen = true;
	});
	await tick();
	for (let n = 0; n < 5; n++) take();
	await tick();
	expect(isOpen).toBe(false);
	take();
	await opened;
	expect(writer.isOpen).toBe(true);
});

test("waiting ends when the signal fires", async () => {
	const writer = new FrameWriter(slowStream().stream, never);
	writer.write("x".repeat(9 * 1024 * 1024));
	const controller = new AbortController();
	const waited = writer.whenOpen(controller.signal);
	controller.abort();
	await waited;
	expect(writer.isOpen).toBe(false);
});

test("a broken pipe is reported once and nothing waits any more", async () => {
	const { stream, take } = slowStream();
	const errors: Error[] = [];
	const writer = new FrameWriter(stream, (error) => errors.push(error));
	writer.write("x".repeat(9 * 1024 * 1024));
	await tick();
	take(new Error("EPIPE"));
	writer.write("more");
	await writer.whenOpen();
	await writer.drained();
	expect(errors.map((error) => error.message)).toEqual(["EPIPE"]);
});

test("a long frame is written part by part, between its neighbours, and counts until it is taken", async () => {
	const { writes, stream, take } = slowStream();
	const made: string[] = [];
	function* parts() {
		for (const part of ["{long", "er", "}"]) {
			made.push(part);
			yield Buffer.from(part);
		}
	}
	const writeBytes = (bytes: Uint8Array, done: (error?: Error | null) => void) => stream.write(Buffer.from(bytes).toString(), done);
	const writer = new FrameWriter({ ...stream, writeBytes }, never);
	writer.write("a");
	writer.write({ size: 8, parts: parts() });
	writer.write("b");
	await tick();
	expect(writes).toEqual(["a\n"]);
	expect(made).toEqual([]);
	for (let count = 0; count < 4; count++) take();
	expect(writes.join("")).toBe("a\n{longer}\n");
	take();
	expect(writes.join("")).toBe("a\n{longer}\nb\n");
	take();
	expect(writer.waiting).toBe(0);
	await writer.drained();
});

test("a long frame is one text where lines are divided, or where the stream takes lines only", async () => {
	const { writes, stream, take } = slowStream();
	const writer = new FrameWriter(stream, never);
	const long = () => ({ size: 4, parts: [Buffer.from("on"), Buffer.from("e")] });
	writer.write(long());
	await tick();
	take();
	writer.split = (line) => [...line].join("\n");
	writer.write(long());
	await tick();
	expect(writes).toEqual(["one\n", "o\nn\ne\n"]);
});

test("a stream that fails in the middle of a long frame ends the writing", async () => {
	const { stream, take } = slowStream();
	const failed = vi.fn();
	const writer = new FrameWriter({ ...stream, writeBytes: (_, done) => stream.write("", done) }, failed);
	writer.write({ size: 4, parts: [Buffer.from("on"), Buffer.from("e")] });
	await tick();
	take(new Error("EPIPE"));
	expect(failed).toHaveBeenCalledOnce();
	await writer.drained();
});
