/** The bounds of a server: readers that are slow or stuck, many at once, and requests without end cost a known amount and no more. */
import { describe, expect, test } from "vitest";
import { Connections, Rates, usualLimits } from "../../src/serve/connections.ts";
import { Feed, type Past, Reader, type Sink, Slots } from "../../src/serve/feed.ts";
import type { Encoding } from "../../src/serve/frames.ts";
import { type Frame, until } from "./support.ts";

const mebibyte = 1024 * 1024;

/** The other end of a connection, which takes bytes when it is told to. */
class SlowSink implements Sink {
	readonly encoding: Encoding = "lines";
	readonly isStuck: boolean;
	reader: Reader | undefined;
	pending = 0;
	mostPending = 0;
	/** How many frames were taken. */
	count = 0;
	#taken: Buffer[] = [];
	#waiting: Buffer[] = [];
	closed: [code: number, reason: string] | undefined;

	constructor(isStuck: boolean) {
		this.isStuck = isStuck;
	}

	write(bytes: Buffer): void {
		this.pending += bytes.length;
		this.#waiting.push(bytes);
		this.mostPending = Math.max(this.mostPending, this.pending);
		if (!this.isStuck) setImmediate(() => this.take());
	}

	take(): void {
		if (this.pending === 0) return;
		for (const bytes of this.#waiting.splice(0)) {
			this.#taken.push(bytes);
			for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) this.count++;
		}
		this.pending = 0;
		this.reader?.drained();
	}

	close(code: number, reason: string): void {
		this.closed = [code, reason];
		this.reader?.close();
	}

	get frames(): Frame[] {
		return Buffer.concat(this.#taken)
			.toString()
			.split("\n")
			.filter(Boolean)
			.map((line) => JSON.parse(line));
	}
}

const frame = (seq: number, length: number, type = "turn_start") => {
	const head = `{"seq":${seq},"type":"${type}","x":"`;
	return { seq, type, isDurable: type === "turn_start", json: `${head}${"x".repeat(length - head.length - 2)}"}` };
};

/** A log of so many frames, and how many of its replays are under way. */
function feedOf(count: number, length: number) {
	const at = { now: 0, most: 0, started: 0 };
	const all = Array.from({ length: count }, (_, index) => frame(index + 1, length));
	const past: Past = {
		async replay(after) {
			at.started++;
			at.now++;
			at.most = Math.max(at.most, at.now);
			const upTo = feed.ring.lastSeq;
			function* frames() {
				try {
					yield* all.filter(({ seq }) => seq > after && seq <= upTo);
				} finally {
					at.now--;
				}
			}
			return { frames: frames(), position: feed.ring.end, upTo };
		},
	};
	const counts = { frames: 0, bytes: 0, gaps: new Map<string, number>(), replayBytes: 0 };
	const feed = new Feed("s", past, { counts, replays: new Slots(16) });
	const attach = (isStuck = false, isPastOnly = false) => {
		const sink = new SlowSink(isStuck);
		const reader = new Reader(feed, sink, { isPastOnly });
		sink.reader = reader;
		feed.add(reader);
		return { sink, reader };
	};
	return { feed, all, at, attach };
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe("readers", () => {
	test("forty that come back at once: sixteen replays under way, the others wait their turn, and all get everything", async () => {
		const { feed, all, at, attach } = feedOf(600, 2000);
		for (const each of all) feed.push(each);
		const readers = Array.from({ length: 40 }, () => attach());
		await Promise.all(readers.map(({ reader }) => reader.catchUp(0, "ephemeral")));
		for (const { sink } of readers) await until("all is taken", () => sink.count === all.length);
		for (const { sink } of readers) expect(sink.frames.map(({ seq }) => seq)).toEqual(all.map(({ seq }) => seq));
		expect(at).toEqual({ now: 0, most: 16, started: 40 });
		// Sixteen of them hold less than 8 MiB.
		const held = readers.map(({ sink }) => sink.mostPending);
		expect(Math.max(...held) * 16).toBeLessThanOrEqual(8 * mebibyte);
	});

	test("stuck ones give their place back when they are closed, also when they want the past alone", async () => {
		const { feed, all, at, attach } = feedOf(600, 2000);
		for (const each of all) feed.push(each);
		const stuck = Array.from({ length: 16 }, (_, index) => attach(true, index % 2 === 0));
		const replays = stuck.map(({ reader }) => reader.catchUp(0, "ephemeral"));
		const next = attach();
		const last = next.reader.catchUp(0, "ephemeral");
		for (let count = 0; count < 50; count++) await turn();
		expect([at.started, at.now, next.sink.count]).toEqual([16, 16, 0]);
		for (const { sink } of stuck) expect(sink.mostPending).toBeLessThan(mebibyte / 2);
		const check = (time: number) => {
			for (const reader of [...feed.readers]) reader.checkStalled(time);
		};
		check(1000);
		check(60_999);
		expect(stuck.filter(({ sink }) => sink.closed)).toEqual([]);
		check(61_000);
		expect(stuck.map(({ sink }) => sink.closed?.[0])).toEqual(stuck.map(() => 4408));
		await Promise.all([...replays, last]);
		await until("the next one has it all", () => next.sink.count === all.length);
		expect([...feed.readers]).toEqual([next.reader]);
	});

	test("a stopped one holds 1.5 MiB at most, others get all at once, and it catches up with what is kept", async () => {
		const { feed, all, at, attach } = feedOf(800, 20_000);
		const stopped = attach(true);
		const other = attach();
		for (const each of all) {
			feed.push(each);
			await turn();
		}
		await until("the other one has it all", () => other.sink.count === all.length);
		expect(at.started).toBe(0);
		expect(stopped.sink.mostPending).toBeLessThanOrEqual(1.5 * mebibyte);
		expect(feed.ring.size).toBeLessThanOrEqual(4 * mebibyte);
		await until("it caught up", () => {
			stopped.sink.take();
			return stopped.sink.count >= all.length;
		});
		expect(at.started).toBe(1);
		expect(stopped.sink.frames.map(({ seq }) => seq)).toEqual(all.map(({ seq }) => seq));
		// One that reads a little now and then is not closed.
		for (let time = 1; time <= 5; time++) {
			stopped.sink.write(Buffer.alloc(10));
			stopped.reader.checkStalled(time * 50_000);
			stopped.sink.take();
		}
		expect(stopped.sink.closed).toBeUndefined();
	});

	test("a log that cannot be read closes the slow reader alone", async () => {
		const broken: Past = { replay: () => Promise.reject(new Error("EIO")) };
		const counts = { frames: 0, bytes: 0, gaps: new Map<string, number>(), replayBytes: 0 };
		const feed = new Feed("s", broken, { counts, replays: new Slots(1) });
		const sinks = [new SlowSink(true), new SlowSink(false)];
		for (const sink of sinks) {
			sink.reader = new Reader(feed, sink);
			feed.add(sink.reader);
		}
		for (let seq = 1; seq <= 800; seq++) {
			feed.push(frame(seq, 20_000));
			await turn();
		}
		sinks[0]?.take();
		await until("it is closed", () => sinks[0]?.closed);
		expect(sinks.map((sink) => sink.closed?.[0])).toEqual([1011, undefined]);
		await until("the other one has it all", () => sinks[1]?.count === 800);
	});

	test("one that wants the past alone gets nothing after it", async () => {
		const { feed, all, attach } = feedOf(20, 200);
		for (const each of all) feed.push(each);
		const { sink, reader } = attach(false, true);
		await reader.catchUp(0, "ephemeral");
		feed.push(frame(21, 200));
		feed.announce({ type: "session_state" });
		for (let count = 0; count < 5; count++) await turn();
		expect(sink.frames).toHaveLength(20);
		expect(reader.lag).toBe(0);
	});
});

test("requests of a token: a burst of 400, then 200 a second, and others are not slowed", () => {
	let now = 0;
	const rates = new Rates(200, 400, () => now);
	const admitted = (key: string, count: number) => Array.from({ length: count }, () => rates.admits(key)).filter(Boolean).length;
	expect(admitted("a", 1000)).toBe(400);
	expect(admitted("b", 10)).toBe(10);
	now += 500;
	expect(admitted("a", 1000)).toBe(100);
	now += 60_000;
	expect(admitted("a", 1000)).toBe(400);
});

test("connections: in all, of a token, to a session; a place that is left is free", () => {
	const connections = new Connections(usualLimits);
	const bearer = (sha256: string) => ({ name: sha256, scope: "read" as const, sha256 });
	const add = (token: string) => {
		const open = { kind: "socket" as const, bearer: bearer(token), close: () => undefined };
		connections.check(open.bearer, 0);
		connections.add(open);
		return open;
	};
	expect(() => connections.check(bearer("a"), 256)).toThrow("too many connections to this session (256)");
	const [first] = Array.from({ length: 256 }, () => add("a"));
	expect(() => add("a")).toThrow("too many connections with this token (256)");
	for (const token of ["b", "c", "d"]) for (let count = 0; count < 256; count++) add(token);
	expect(() => add("e")).toThrow("too many connections to this server (1024)");
	connections.delete(first as NonNullable<typeof first>);
	add("e");
	expect(() => add("f")).toThrow("too many connections to this server (1024)");
});
