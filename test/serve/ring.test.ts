/** What memory keeps of an awake session: frames that no log has go first, and memory says what it no longer has. */
import { expect, test } from "vitest";
import { SessionPast } from "../../src/serve/past.ts";
import { Ring } from "../../src/serve/ring.ts";

const frame = (seq: number, isDurable: boolean, size = 100) => {
	const head = `{"seq":${seq},"type":"${isDurable ? "turn_start" : "message_update"}","x":"`;
	return { seq, type: isDurable ? "turn_start" : "message_update", isDurable, json: `${head}${"x".repeat(size - head.length - 2)}"}` };
};
const kept = (ring: Ring, after = 0) => [...ring.durable(after, ring.lastSeq)].map(({ seq }) => seq);

/** As a reader gets them that saw everything up to `after`. */
function replayed(ring: Ring, after: number) {
	const past = new SessionPast(() => undefined);
	const query = { after, upTo: ring.lastSeq, reason: "slow_reader", epoch: 1, ring, exact: new Map(), snapshot: undefined } as const;
	return [...past.frames(query)].map(({ json }) => JSON.parse(json));
}

test("ephemeral frames go first: the kept ones stay in memory, in order", () => {
	const ring = new Ring("s", 10_000);
	// One kept frame in ten.
	for (let seq = 1; seq <= 500; seq++) ring.add(frame(seq, seq % 10 === 0));
	expect(ring.size).toBeLessThanOrEqual(10_000);
	expect(ring.start).toBeGreaterThan(0);
	expect(kept(ring)).toEqual(Array.from({ length: 50 }, (_, at) => 10 * (at + 1)));
	expect(ring.hasDurableAfter(0)).toBe(true);
	const frames = replayed(ring, 95);
	expect(frames[0]).toEqual({ type: "gap", from: 96, to: 500, reason: "slow_reader", durableLost: false });
	expect(frames.slice(1, -1).map(({ seq }) => seq)).toEqual(kept(ring, 95));
	expect(frames.at(-1)).toMatchObject({ type: "snapshot", seq: 500 });
});

test("then the oldest kept ones go, and it says so", () => {
	const ring = new Ring("s", 10_000);
	for (let seq = 1; seq <= 500; seq++) ring.add(frame(seq, seq % 2 === 0));
	expect(ring.size).toBeLessThanOrEqual(10_000);
	const [first = 0] = kept(ring);
	expect(first).toBeGreaterThan(300);
	expect([ring.hasDurableAfter(first - 1), ring.hasDurableAfter(first - 3)]).toEqual([true, false]);
	expect(replayed(ring, 1)[0]).toEqual({ type: "gap", from: 2, to: 500, reason: "log_trimmed", durableLost: true });
	expect(ring.hasDurableBetween(499, 500)).toBe(true);
	expect(ring.hasDurableBetween(500, 500)).toBe(false);
	expect(ring.hasDurableBetween(1, 3)).toBe(true);
});

test("frames that are all kept leave a reader that is a little behind its place", () => {
	const ring = new Ring("s", 10_000);
	for (let seq = 1; seq <= 150; seq++) ring.add(frame(seq, true));
	expect(ring.end - ring.start).toBeGreaterThan(70);
	expect(ring.size).toBeLessThanOrEqual(10_000);
	expect(replayed(ring, 149).map(({ type }) => type)).toEqual(["turn_start", "snapshot"]);
});

test("numbers of the log and frames without a number are not in memory", () => {
	const ring = new Ring("s");
	ring.reach(40);
	expect([ring.hasDurableAfter(39), ring.hasDurableAfter(40)]).toEqual([false, true]);
	ring.add(frame(41, true));
	expect(ring.hasDurableAfter(40)).toBe(true);
	ring.miss();
	expect([ring.hasDurableAfter(41), ring.hasDurableAfter(42)]).toEqual([false, true]);
});
