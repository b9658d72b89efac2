/**
 * What a session costs, held against what it cost when the figures below were written. They change with the words of the system prompt, with the
 * definitions and the results of tools, with what goes into a request beside the messages, and with the places of cache marks. A change that was
 * meant is measured (`npm run bench -- economy`), and its figures are put here.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { playCompaction } from "../../bench/economy/compaction.ts";
import { failuresIn, playOutputs } from "../../bench/economy/outputs.ts";
import { dollars, type Recorder } from "../../bench/economy/recorder.ts";
import { playSession, steps } from "../../bench/economy/session.ts";

const server = join(import.meta.dirname, "../mcp/servers/small.mjs");
/** Paths, dates and names of users differ from machine to machine. */
const margin = 0.03;
/** The end of a request may be put together in another way; what is lost beyond that is a broken prefix. */
const unnoticed = 64;

const folder = () => mkdtempSync(join(tmpdir(), "bowline-economy-"));

function expectAbout(value: number | undefined, expected: number): void {
	expect(value).toBeGreaterThan(expected * (1 - margin));
	expect(value).toBeLessThan(expected * (1 + margin));
}

describe("the scripted session", () => {
	let recorder: Recorder;

	beforeAll(async () => {
		const place = folder();
		recorder = await playSession({ folder: place, server });
		rmSync(place, { recursive: true, force: true });
	});

	test("is played to its end", () => {
		expect(recorder.problems).toEqual([]);
		expect(recorder.recorded).toHaveLength(38);
		expect(new Set(recorder.recorded.map(({ step }) => step))).toEqual(new Set(Object.keys(steps)));
	});

	test("its first request has about 1,870 tokens, tools and all", () => expectAbout(recorder.recorded[0]?.sent, 1870));

	test("it costs about 0.421 dollars", () => expectAbout(dollars(recorder.recorded), 0.421));

	test("most of what it asks comes from the cache", () => {
		const sum = (part: "read" | "written" | "plain") => recorder.recorded.reduce((total, one) => total + one[part], 0);
		expectAbout(sum("read"), 525_300);
		expectAbout(sum("written"), 68_800);
		// The first request of a subagent is too short to be kept, and what asks for a summary is in no later request.
		expectAbout(sum("plain"), 1890);
	});

	test.each(Object.entries(steps))("%s: what was cached is found, but where it cannot be", (step, breaks) => {
		const broken = recorder.of(step).filter(({ lost }) => lost > unnoticed);
		expect(broken.map(({ cause, lost }) => `${lost} tokens, ${cause}`)).toHaveLength(breaks);
	});

	test.each(["thinking level", "after compaction"])("%s: tools and system prompt are still found", (step) => {
		const [first] = recorder.of(step);
		expect(first?.fixed).toBeGreaterThan(0);
		expect(first?.read).toBeGreaterThanOrEqual(first?.fixed ?? Number.POSITIVE_INFINITY);
	});
});

function emptyFolder(): string {
	const place = folder();
	onTestFinished(() => rmSync(place, { recursive: true, force: true }));
	return place;
}

test("the summary of a conversation of 180,000 tokens costs a fifth of reading it anew", async () => {
	const { tokens, usd } = await playCompaction(emptyFolder());
	expectAbout(tokens, 178_000);
	expectAbout(usd, 0.056);
});

test("no more of the output of a command reaches the model than it did, and no failure less", async () => {
	const admitted = await playOutputs(emptyFolder());
	const most = [12_232, 17_699, 18_926, 16_275, 18_035];
	for (const [index, { output, tokens }] of admitted.entries()) expect(tokens, output.what).toBeLessThan((most[index] ?? 0) * (1 + margin));
	expect(Math.max(...admitted.map(({ text }) => failuresIn(text)))).toBeGreaterThanOrEqual(1);
});
