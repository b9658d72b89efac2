/** The event log: numbers that are never used twice, lines that survive, and honest words about those that do not. */
import {
	appendFileSync,
	existsSync,
	mkdirSync,
	mkdtempSync,
	readFileSync,
	renameSync,
	rmSync,
	statSync,
	truncateSync,
	writeFileSync,
	writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { gapOf } from "../../src/transcript/event-frames.ts";
import { EventLog, type EventLogOptions } from "../../src/transcript/event-log.ts";

let folder: string;
let path: string;
beforeEach(() => {
	folder = mkdtempSync(join(tmpdir(), "bowline-events-"));
	path = join(folder, "s.events");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const open = (more: Partial<EventLogOptions> = {}) => new EventLog({ sessionId: "s", path, hasHistory: false, now: () => 1000, ...more });
const turn = (index: number) => JSON.stringify({ type: "turn_start", turnIndex: index });
const seqs = (log: EventLog, after = 0) => [...log.frames(after, log.last)].map(({ seq }) => seq);

/** Gives a number to `count` frames; every second one is kept. */
function fill(log: EventLog, count: number): void {
	for (let index = 0; index < count; index++) {
		const seq = log.next() as number;
		if (index % 2 === 0) log.keep(seq, turn(index));
	}
	log.flush();
}

test("what was kept is read again, in order, with its text", () => {
	const log = open();
	fill(log, 6);
	expect([...log.frames(1, 6)]).toEqual([
		{ seq: 3, text: turn(2), isInline: false },
		{ seq: 5, text: turn(4), isInline: false },
	]);
	expect(statSync(path).mode & 0o777).toBe(0o600);
	expect(readFileSync(path, "utf8").split("\n").slice(0, 3)).toEqual([
		expect.stringMatching(/^\{"type":"events","version":1,"sessionId":"s","first":1,"mark":"\d{15} \d{20} .{8}"\}$/),
		'{"r":4096,"e":1,"from":1}',
		`{"s":1,"t":1000,"f":${turn(0)}}`,
	]);
});

test("after a clean end the numbers go on; after a crash they go on behind the reservation", () => {
	const first = open();
	fill(first, 10);
	first.end();
	const second = open();
	expect([second.epoch, second.last]).toEqual([2, 10]);
	expect(second.next()).toBe(11);
	second.flush();
	second.close();
	const third = open();
	expect([third.epoch, third.next()]).toEqual([3, 10 + 4096 + 1]);
});

test("numbers are strictly increasing over many restarts with random kills, and none is used twice", () => {
	let random = 7;
	const next = () => {
		random = (random * 48271) % 2147483647;
		return random / 2147483647;
	};
	let last = 0;
	for (let process = 0; process < 1000; process++) {
		const log = open();
		expect(log.epoch).toBeLessThanOrEqual(process + 1);
		const count = Math.floor(next() * 40);
		for (let index = 0; index < count; index++) {
			const seq = log.next() as number;
			expect(seq).toBeGreaterThan(last);
			last = seq;
			if (next() < 0.3) log.keep(seq, turn(index));
		}
		log.flush();
		const ending = next();
		if (ending < 0.4) log.end();
		else log.close();
		if (ending > 0.7) appendFileSync(path, '{"s":99999999,"t":1,"f":{"type":"turn_st');
	}
}, 60_000);

test("a torn last line does not count and is removed", () => {
	const log = open();
	fill(log, 4);
	log.close();
	appendFileSync(path, '{"s":5,"t":1,"f":{"type":"tur');
	const again = open();
	expect(seqs(again)).toEqual([1, 3]);
	expect(readFileSync(path, "utf8").endsWith("}\n")).toBe(true);
});

describe("what is missing is told", () => {
	test("nothing, when every number was kept", () => {
		const log = open();
		for (let index = 0; index < 5; index++) log.keep(log.next() as number, turn(index));
		log.flush();
		expect(log.missing(1, 5)).toEqual({ missing: [], count: 4 });
	});

	test("a restart", () => {
		const log = open();
		fill(log, 3);
		log.close();
		const again = open();
		again.keep(again.next() as number, turn(9));
		again.flush();
		expect(again.missing(3, again.last)).toEqual({ missing: [{ reason: "restart", from: 4, to: 4096 }], count: 1 });
		expect(again.missing(4097, again.last)).toEqual({ missing: [], count: 0 });
	});

	test("a log that is gone, or not a log: a new one begins at the present time", () => {
		const log = open();
		fill(log, 3);
		log.end();
		for (const spoil of [() => rmSync(path), () => writeFileSync(path, "what is this\n")]) {
			spoil();
			const again = open({ hasHistory: true, now: () => 1_794_816_000_000 });
			expect(again.next()).toBe(1_794_816_000_000);
			again.flush();
			expect(again.missing(3, again.last).missing).toEqual([{ reason: "log_missing", from: 4, to: 1_794_816_000_000 - 1 }]);
			again.end();
		}
	});

	test("a full disk: the run goes on, and the next line says which numbers are missing", () => {
		let isFull = false;
		const failures: string[] = [];
		const write = (descriptor: number, bytes: Buffer) => {
			if (!isFull) return writeSync(descriptor, bytes);
			// Half of it still fits.
			writeSync(descriptor, bytes.subarray(0, bytes.length >> 1));
			throw Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
		};
		const log = open({ write, onFailure: ({ message }) => failures.push(message) });
		log.keep(log.next() as number, turn(0));
		log.flush();
		isFull = true;
		log.keep(log.next() as number, turn(1));
		log.flush();
		log.keep(log.next() as number, turn(2));
		log.flush();
		expect(log.missing(0, log.last).missing).toEqual([{ reason: "hole", from: 2, to: 3 }]);
		isFull = false;
		log.keep(log.next() as number, turn(3));
		log.flush();
		expect(failures).toHaveLength(1);
		expect(seqs(log)).toEqual([1, 4]);
		expect(readFileSync(path, "utf8")).toContain('\n{"hole":[2,3]}\n{"s":4,');
		expect(open().missing(0, 4).missing).toEqual([{ reason: "hole", from: 2, to: 3 }]);
	});

	test("a disk that takes no reservation: no number is given that another process may give again, and readers are told", () => {
		let isFull = false;
		const write = (descriptor: number, bytes: Buffer) => {
			if (isFull) throw Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
			return writeSync(descriptor, bytes);
		};
		const log = open({ write });
		fill(log, 4096);
		isFull = true;
		expect(log.next()).toBeUndefined();
		log.lose();
		expect([log.last, log.next()]).toEqual([4096, undefined]);
		// Killed here, the next process gives numbers that none has seen.
		expect(open({ isReader: true, hasWriter: true }).last).toBe(4095);
		expect(open({ isReader: true }).last).toBe(4096);
		expect(log.missing(4096, 4096).missing).toEqual([{ reason: "hole", from: 4097, to: 4097 }]);
		isFull = false;
		log.flush();
		// The loss has a number, so that a reader that has seen everything before it is told.
		expect(log.next()).toBe(4098);
		log.keep(4098, turn(1));
		log.flush();
		expect(log.hasLost).toBe(false);
		expect(log.missing(4096, 4098).missing).toEqual([{ reason: "hole", from: 4097, to: 4097 }]);
		expect(log.missing(4097, 4098)).toEqual({ missing: [], count: 1 });
		log.close();
		expect(open().next()).toBe(2 * 4096 + 1);
	});

	test("the first reservation of a process counts too", () => {
		fill(open(), 3);
		const write = () => {
			throw Object.assign(new Error("EIO: i/o error"), { code: "EIO" });
		};
		const again = open({ write });
		expect([again.next(), again.next(), again.last]).toEqual([undefined, undefined, 4096]);
		expect(open().next()).toBe(4097);
	});

	test("numbers that a process on another machine gave are skipped", () => {
		const log = open();
		fill(log, 3);
		log.skipTo(10_000);
		log.keep(log.next() as number, turn(9));
		log.flush();
		expect([log.last, seqs(log)]).toEqual([10_001, [1, 3, 10_001]]);
		expect(log.missing(3, 10_001)).toEqual({ missing: [{ reason: "restart", from: 4, to: 10_000 }], count: 1 });
		log.close();
		expect(open().next()).toBe(10_000 + 4096 + 1);
	});

	test("a log over its bound: the oldest half goes, and numbers go on", () => {
		const log = open({ maxBytes: 20_000 });
		for (let index = 0; index < 600; index++) {
			log.keep(log.next() as number, turn(index));
			log.flush();
		}
		expect(statSync(path).size).toBeLessThan(21_000);
		expect(log.first).toBeGreaterThan(100);
		expect(log.missing(5, log.last).missing).toEqual([{ reason: "log_trimmed", from: 6, to: log.first - 1 }]);
		expect(seqs(log)).toEqual(Array.from({ length: 600 - log.first + 1 }, (_, index) => log.first + index));
		log.close();
		const again = open({ hasHistory: true });
		expect(again.next()).toBe(4097);
	});

	test("memory keeps the newest part", () => {
		const log = open({ path: undefined, maxMemory: 4000 });
		for (let index = 0; index < 200; index++) log.keep(log.next() as number, turn(index));
		expect(log.first).toBeGreaterThan(100);
		expect(log.missing(0, 200).missing).toEqual([{ reason: "log_trimmed", from: 1, to: log.first - 1 }]);
		expect(seqs(log).at(-1)).toBe(200);
	});
});

test("a log that is deleted while it is written begins again, with the same numbers going on", () => {
	const log = open();
	fill(log, 4);
	rmSync(path);
	log.keep(log.next() as number, turn(1));
	log.flush();
	expect(seqs(log)).toEqual([5]);
	expect(log.missing(2, 5).missing).toEqual([{ reason: "log_missing", from: 3, to: 4 }]);
});

test("a long log is searched, not read: the same frames from any cursor", () => {
	const log = open();
	const padding = "x".repeat(3000);
	for (let index = 0; index < 1500; index++) log.keep(log.next() as number, JSON.stringify({ type: "notice", padding }));
	log.flush();
	for (const after of [0, 1, 700, 1498, 1499])
		expect(seqs(log, after)).toEqual(Array.from({ length: 1500 - after }, (_, index) => after + 1 + index));
});

test("what was left open is found behind the last idle moment, however long ago it was", () => {
	const log = open();
	fill(log, 3);
	log.idle();
	log.run({ runId: "r_1", key: "k" });
	for (let index = 0; index < 400; index++) log.keep(log.next() as number, JSON.stringify({ type: "notice", padding: "y".repeat(2000) }));
	log.closed("d1");
	log.flush();
	log.close();
	const { unfinished } = open();
	expect(unfinished.frames).toHaveLength(400);
	expect(unfinished.runs).toEqual([{ runId: "r_1", key: "k" }]);
	expect(unfinished.closed).toEqual(new Set(["d1"]));
});

describe("a log that was damaged after readers had its frames", () => {
	const now = () => 1_794_816_000_000;
	const noBodies = { has: () => false, message: () => undefined, result: () => undefined };

	/** A log of two processes, the second of which was killed. What readers had of it, by number. */
	function written(): { bytes: Buffer; had: Map<number, string> } {
		const had = new Map<number, string>();
		for (const isEnded of [true, false]) {
			const log = open({ now });
			for (let index = 0; index < 12; index++) {
				const seq = log.next() as number;
				if (index % 4 !== 1) {
					log.keep(seq, turn(index));
					had.set(seq, turn(index));
				}
				if (index % 3 === 0) log.flush();
				if (index === 7) log.idle();
			}
			log.flush();
			if (isEnded) log.end();
			else log.close();
		}
		return { bytes: readFileSync(path), had };
	}

	/** What every reader gets is what was sent, each number once, or a gap tells of it. */
	function check(log: EventLog, had: ReadonlyMap<number, string>, more: ReadonlyMap<number, string> = new Map()): void {
		const highest = Math.max(...had.keys());
		expect(log.last).toBeGreaterThanOrEqual(highest);
		for (const after of [0, ...had.keys()]) {
			const got = [...log.frames(after, log.last)];
			const numbers = got.map(({ seq }) => seq);
			expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
			for (const { seq, text } of got) expect(text).toBe(had.get(seq) ?? more.get(seq));
			const lost = [...had.keys()].filter((seq) => seq > after && !numbers.includes(seq));
			const gap = gapOf(log, noBodies, after, log.last);
			if (lost.length === 0) continue;
			expect(gap).toMatchObject({ durableLost: true });
			expect(gap?.from).toBeLessThanOrEqual(lost[0] as number);
			expect(gap?.to).toBeGreaterThanOrEqual(lost.at(-1) as number);
		}
	}

	/** By a server while no process has the session open, by the next agent, and by a server after it. */
	function checkAll(had: ReadonlyMap<number, string>): void {
		const reader = open({ now, isReader: true });
		check(reader, had);
		const next = open({ now, hasHistory: true });
		const seq = next.next() as number;
		expect(seq).toBeGreaterThan(reader.last);
		next.keep(seq, turn(99));
		next.flush();
		const more = new Map([[seq, turn(99)]]);
		check(next, had, more);
		next.close();
		check(open({ now, isReader: true }), had, more);
	}

	test("cut at any byte: every frame that is lost is in a gap that says so, and no number is given twice", () => {
		const { bytes, had } = written();
		for (let length = 1; length < bytes.length; length++) {
			// In place: a file that was cut is still the same file.
			truncateSync(path, 0);
			writeFileSync(path, bytes, { flag: "r+" });
			truncateSync(path, length);
			checkAll(had);
			if (existsSync(`${path}.unusable`)) renameSync(`${path}.unusable`, path);
		}
	});

	test("any line doubled: each frame comes once, and nothing is said to be lost", () => {
		const { bytes, had } = written();
		const lines = bytes.toString("utf8").split("\n").slice(0, -1);
		for (const [at] of lines.entries()) {
			writeFileSync(path, `${[...lines.slice(0, at + 1), ...lines.slice(at)].join("\n")}\n`);
			const reader = open({ now, isReader: true });
			check(reader, had);
			expect(reader.unfinished.frames.map(({ seq }) => seq)).toEqual([...new Set(reader.unfinished.frames.map(({ seq }) => seq))]);
			expect(gapOf(reader, noBodies, 0, Math.max(...had.keys()))?.durableLost).toBe(false);
			checkAll(had);
		}
	});

	test("lines that became something else are a gap that says so", () => {
		const { bytes, had } = written();
		const lines = bytes.toString("utf8").split("\n").slice(0, -1);
		for (const [at, line] of lines.entries()) {
			if (!line.includes('"f":')) continue;
			writeFileSync(path, `${lines.with(at, "\0".repeat(line.length)).join("\n")}\n`);
			checkAll(had);
		}
	});

	test("after a power loss, also one that took the note of how long the log was", () => {
		const { bytes, had } = written();
		const text = bytes.toString("utf8");
		const kept = text.slice(0, text.lastIndexOf('{"s":'));
		const size = String(Buffer.byteLength(kept)).padStart(15, "0");
		const anotherBoot = kept.replace(/("mark":")\d{15}( \d{20} ).{8}/, `$1${size}$2deadbeef`);
		writeFileSync(path, anotherBoot);
		checkAll(had);
	});

	test("a copy of a log is not held to the length of the original", () => {
		written();
		const text = readFileSync(path, "utf8");
		const kept = text.slice(0, text.lastIndexOf('{"s":'));
		renameSync(path, `${path}.original`);
		writeFileSync(path, kept);
		const log = open({ now });
		expect(log.missing(0, log.last).missing.filter(({ reason }) => reason === "hole")).toEqual([]);
	});

	test("something else in its place is set aside, and the session goes on beyond every number", () => {
		for (const make of [() => mkdirSync(join(path, "kept"), { recursive: true }), () => writeFileSync(path, "notes of a person\n")]) {
			make();
			const aside: string[] = [];
			const log = open({ now, hasHistory: true, onSetAside: (where) => aside.push(where) });
			fill(log, 2);
			expect(seqs(log)).toEqual([now()]);
			log.close();
			expect(aside).toHaveLength(1);
			expect(existsSync(aside[0] as string)).toBe(true);
			rmSync(path);
		}
		expect(readFileSync(`${path}.unusable-2`, "utf8")).toBe("notes of a person\n");
		expect(existsSync(`${path}.unusable/kept`)).toBe(true);
	});
});
