/** Sessions for the page: one that has a bit of everything, hostile ones, long ones. */
import { crc32, deflateSync } from "node:zlib";
import type { AssistantMessage, ToolResultMessage } from "../../../src/protocol/messages.ts";
import type { Entry, EntryBody, Header } from "../../../src/transcript/entries.ts";
import type { PageInput } from "../../../src/transcript/export/index.ts";

const start = Date.parse("2026-03-04T09:30:00.000Z");

export const header: Header = {
	type: "session",
	version: 3,
	id: "0195a1b2-7c3d-7000-8000-00000000cafe",
	timestamp: new Date(start).toISOString(),
	cwd: "/home/ada/projects/harbour",
};

/** A picture of waves, 240 by 120. */
export const picture = png(240, 120, (x, y) => (y > 60 + 22 * Math.sin(x / 18) ? [10, 106, 134] : [226, 240, 244]));

function png(width: number, height: number, colour: (x: number, y: number) => [number, number, number]): string {
	const rows = Array.from({ length: height }, (_, y) => [0, ...Array.from({ length: width }, (_, x) => colour(x, y)).flat()]);
	const chunk = (name: string, data: Buffer) => {
		const body = Buffer.concat([Buffer.from(name), data]);
		const frame = Buffer.alloc(8);
		frame.writeUInt32BE(data.length, 0);
		frame.writeUInt32BE(crc32(body), 4);
		return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
	};
	const size = Buffer.alloc(13);
	size.writeUInt32BE(width, 0);
	size.writeUInt32BE(height, 4);
	size.set([8, 2, 0, 0, 0], 8);
	const parts = [chunk("IHDR", size), chunk("IDAT", deflateSync(Buffer.from(rows.flat()))), chunk("IEND", Buffer.alloc(0))];
	return Buffer.concat([Buffer.from("89504e470d0a1a0a", "hex"), ...parts]).toString("base64");
}

/** Builds entries one after the other; `at` goes back to an earlier one. */
export class SessionBuilder {
	readonly entries: Entry[] = [];
	#leaf: string | null = null;
	#clock = start;

	get leafId(): string | null {
		return this.#leaf;
	}

	get now(): number {
		return this.#clock;
	}

	add(body: EntryBody | Record<string, unknown>, id = `e${this.entries.length + 1}`): string {
		this.#clock += 7000;
		this.entries.push({ ...body, id, parentId: this.#leaf, timestamp: new Date(this.#clock).toISOString() } as Entry);
		this.#leaf = id;
		return id;
	}

	at(id: string | null): this {
		this.#leaf = id;
		return this;
	}

	user(text: string): string {
		return this.add({ type: "message", message: { role: "user", content: [{ type: "text", text }], timestamp: this.#clock } });
	}

	reply(...content: AssistantMessage["content"]): string {
		return this.assistant(content, {});
	}

	assistant(content: AssistantMessage["content"], more: Partial<AssistantMessage>): string {
		const cost = { input: 0.0042, output: 0.0061, cacheRead: 0.0007, cacheWrite: 0, total: 0.011 };
		return this.add({
			type: "message",
			message: {
				role: "assistant",
				content,
				api: "anthropic-messages",
				provider: "anthropic",
				model: "claude-sonnet-4-5",
				usage: { input: 1400, output: 410, cacheRead: 7300, cacheWrite: 0, totalTokens: 9110, cost },
				stopReason: "stop",
				duration: 4200,
				timestamp: this.#clock,
				...more,
			},
		});
	}

	result(toolCallId: string, toolName: string, text: string, more: Partial<ToolResultMessage> = {}): string {
		const content = [{ type: "text" as const, text }];
		return this.add({
			type: "message",
			message: { role: "toolResult", toolCallId, toolName, content, isError: false, timestamp: this.#clock, ...more },
		});
	}

	page(more: Partial<PageInput> = {}): PageInput {
		return { header, entries: this.entries, leafId: this.#leaf, ...more };
	}
}

export const text = (value: string) => ({ type: "text" as const, text: value });
export const thinking = (value: string) => ({ type: "thinking" as const, thinking: value, thinkingSignature: "c2lnbmF0dXJl" });
export const call = (id: string, name: string, args: Record<string, unknown>) => ({ type: "toolCall" as const, id, name, arguments: args });

const patch = `--- a/src/tide.ts
+++ b/src/tide.ts
@@ -12,9 +12,12 @@ export class TideTable {
 	/** Height at a moment, between the two readings around it. */
 	heightAt(time: number): number {
-		const index = this.readings.findIndex((reading) => reading.time > time);
-		const before = this.readings[index - 1];
+		const index = this.readings.findIndex((reading) => reading.time >= time);
+		if (index === 0) return this.readings[0].height;
+		if (index < 0) return this.readings.at(-1).height;
+		const before = this.readings[index - 1];
 		const after = this.readings[index];
 		const share = (time - before.time) / (after.time - before.time);
 		return before.height + share * (after.height - before.height);
 	}
`;

/** A session with everything that a page shows. */
export function fullSession(): SessionBuilder {
	const s = new SessionBuilder();
	s.add({ type: "model_change", provider: "anthropic", modelId: "claude-sonnet-4-5" });
	s.add({ type: "thinking_level_change", thinkingLevel: "medium" });
	s.user(
		"The tide table crashes for times before the first reading.\n\nPlease find out **why**, repair it, and add a test. The file is `src/tide.ts`.",
	);
	s.assistant(
		[
			thinking("The crash is probably an index of -1 or 0. Let me read the file first, then run the tests. The moonstone is hidden here."),
			text("I'll look at the code and run its tests first."),
			call("c1", "read", { path: "src/tide.ts", offset: 1, limit: 24 }),
			call("c2", "bash", { command: "npm test -- tide", timeout: 60 }),
		],
		{ stopReason: "toolUse" },
	);
	s.result(
		"c1",
		"read",
		'import type { Reading } from "./reading.ts";\n\n/** Readings of one harbour, in order of time. */\nexport class TideTable {\n\treadonly readings: readonly Reading[];\n\n\tconstructor(readings: readonly Reading[]) {\n\t\tthis.readings = readings.toSorted((a, b) => a.time - b.time);\n\t}\n\n\theightAt(time: number): number {\n\t\tconst index = this.readings.findIndex((reading) => reading.time > time);\n\t\tconst before = this.readings[index - 1];\n\t\tconst after = this.readings[index];\n\t}\n}\n',
	);
	s.result(
		"c2",
		"bash",
		`\u001b[31m✗ tide before the first reading\u001b[0m\nTypeError: Cannot read properties of undefined (reading 'time')\n${Array.from({ length: 60 }, (_, index) => `    at line ${index + 1} of the stack`).join("\n")}\nneedle-in-the-hay\nTests: 1 failed, 11 passed`,
		{
			isError: true,
		},
	);
	s.assistant(
		[
			text(
				"Found it. `findIndex` gives **0** for early times, so `index - 1` is `-1` and `before` is `undefined`.\n\nTwo cases are missing:\n\n| time | index | what happens |\n|---|---:|---|\n| before the first | 0 | crash |\n| after the last | -1 | crash |\n\nA guard for each is enough:\n\n```ts\nif (index === 0) return this.readings[0].height;\nif (index < 0) return this.readings.at(-1).height; // after the last one\n```\n\n1. change `heightAt`\n2. add tests\n   - [x] early\n   - [ ] late\n\n> Tables are sorted when they are made, so nothing else can break.\n\nSee [the docs](https://example.com/tides?a=1&b=2) &amp; notes.",
			),
			call("c3", "edit", { path: "src/tide.ts", edits: [{ oldText: "reading.time > time", newText: "reading.time >= time" }] }),
		],
		{ stopReason: "toolUse" },
	);
	const forkPoint = s.result("c3", "edit", "Edited src/tide.ts: 1 replacement", { details: { diff: "", patch, firstChangedLine: 14 } });
	s.reply(text("A first attempt: I could **clamp** the time instead. This is the road not taken."));
	s.user("No, guards are better. Go back.");
	s.at(forkPoint);
	s.add({ type: "branch_summary", fromId: "e9", summary: "## Left\nClamping the time was tried and *rejected*." });
	s.reply(
		thinking("Now the test."),
		call("c4", "write", {
			path: "test/tide.test.ts",
			content:
				'import { expect, test } from "vitest";\nimport { TideTable } from "../src/tide.ts";\n\ntest("a time before the first reading has its height", () => {\n\tconst table = new TideTable([{ time: 10, height: 2 }]);\n\texpect(table.heightAt(5)).toBe(2);\n});\n',
		}),
		call("c5", "grep", { pattern: "heightAt\\(", path: "src", glob: "*.ts" }),
		call("c6", "mystery", { subject: "an argument", deep: { list: [1, 2, { three: true }] }, long: "line one\nline two" }),
	);
	s.result("c4", "write", "Wrote test/tide.test.ts");
	s.result("c5", "grep", "src/tide.ts:12: heightAt(time: number)\nsrc/harbour.ts:40: table.heightAt(now)");
	s.add({
		type: "message",
		message: {
			role: "bashExecution",
			command: "git status --short",
			output: " M src/tide.ts\n?? test/tide.test.ts\n",
			exitCode: 0,
			cancelled: false,
			truncated: false,
			fullOutputPath: null,
			timestamp: s.now,
		},
	});
	s.add({
		type: "message",
		message: {
			role: "user",
			content: [text("Here is what the chart looks like now:"), { type: "image", data: picture, mimeType: "image/png" }],
			timestamp: s.now,
		},
	});
	const labelled = s.reply(text("That is the fill colour of an empty chart: *no readings were loaded*. The guards hold; the data is missing."));
	s.add({ type: "label", targetId: labelled, label: "the cause" });
	s.add({
		type: "compaction",
		summary: "## Goal\nRepair `heightAt` for early and late times.\n\n## Done\n- guards\n- test",
		firstKeptEntryId: "e14",
		tokensBefore: 91_234,
		details: { readFiles: ["src/tide.ts"], modifiedFiles: ["src/tide.ts", "test/tide.test.ts"] },
	});
	s.add({ type: "model_change", provider: "openai", modelId: "gpt-5.2" });
	s.user("Now make the chart load its readings.");
	s.assistant([text("I'll start with")], {
		model: "gpt-5.2",
		provider: "openai",
		stopReason: "error",
		errorMessage: "529 overloaded_error: try again later",
	});
	s.add({ type: "custom_message", customType: "budget", content: "Half of the budget is used.", display: true });
	s.add({ type: "message", message: { role: "developer", content: "Remember your todo list.", timestamp: s.now } });
	s.add({ type: "custom", customType: "todo-state", data: { open: 2 } });
	s.add({ type: "never_heard_of", payload: { anything: true } });
	s.assistant([text("Done: the chart loads its readings when it is opened, and every test passes.")], { model: "gpt-5.2", provider: "openai" });
	s.add({ type: "session_info", name: "Tide table repair" });
	return s;
}

export const fullPage = (): PageInput =>
	fullSession().page({
		systemPrompt: "You are a coding agent.\n\n## Guidelines\n- Read a file before you change it.\n- Be brief.",
		tools: [
			{ name: "read", description: "Read a file.", parameters: { type: "object", properties: { path: { type: "string" } } } },
			{ name: "bash", description: "Run a command.", parameters: { type: "object" } },
		],
	});

/** A call of `task` with two subagents: one was checked, failed, was repaired and passed; the other failed. */
export function taskSession(): SessionBuilder {
	const s = new SessionBuilder();
	s.add({ type: "model_change", provider: "anthropic", modelId: "claude-sonnet-4-5" });
	s.add({ type: "thinking_level_change", thinkingLevel: "high" });
	s.user("Mend the word, and look around.");
	const tasks = [
		{ id: "Mend", description: "Mend the word", assignment: "Mend the word in `a.txt`." },
		{ id: "Look", description: "Look around", assignment: "Look around." },
	];
	s.assistant([call("t1", "task", { agent: "task", context: "A small project.", isolated: true, tasks })], { stopReason: "toolUse" });
	const check = (exitCode: number, outputPreview: string) => ({
		name: "test",
		command: "grep right a.txt",
		exitCode,
		durationMs: 120,
		outputPreview,
	});
	const attempts = [
		{ attempt: 1, status: "failed", startedAt: 1, endedAt: 2, commandResults: [check(1, "the word was worse")] },
		{ attempt: 2, status: "passed", startedAt: 3, endedAt: 4, commandResults: [check(0, "the word was right")] },
	];
	const common = { agent: "task", agentSource: "bundled", stderr: "", truncated: false };
	const results = [
		{
			...common,
			...tasks[0],
			index: 0,
			id: "0-Mend",
			exitCode: 0,
			output: "The word is **right** now.",
			durationMs: 2300,
			tokens: 10_250,
			toolCalls: 3,
			verification: { requested: true, mode: "command", status: "passed", attempts, retriesUsed: 1, onFailure: "retry_once" },
		},
		{ ...common, ...tasks[1], index: 1, id: "1-Look", exitCode: 1, output: "", error: "Out of time.", durationMs: 900, tokens: 20 },
	];
	s.result("t1", "task", "1 of 2 tasks succeeded in 2.4 s.", { details: { projectAgentsDir: null, results, totalDurationMs: 2400 } });
	s.reply(text("One is done."));
	return s;
}

/** The conversation of a subagent, by what it called. */
export function subagentSession(prompt: string, ...calls: [name: string, args: Record<string, unknown>, result: string][]): SessionBuilder {
	const s = new SessionBuilder();
	s.add({ type: "model_change", provider: "anthropic", modelId: "claude-haiku-4-5" });
	s.user(prompt);
	for (const [index, [name, args, result]] of calls.entries()) {
		s.assistant([call(`s${index}`, name, args)], { stopReason: "toolUse", model: "claude-haiku-4-5" });
		s.result(`s${index}`, name, result);
	}
	return s;
}

/** This many messages, one after the other, about 400 bytes each. */
export function longSession(messages: number): SessionBuilder {
	const s = new SessionBuilder();
	const filler = "The harbour lay quiet, and `tide.ts` compiled on the **first** attempt while gulls looked on. ";
	while (s.entries.length < messages) {
		const number = s.entries.length;
		s.user(`Prompt number ${number}. ${filler.repeat(2)}`);
		s.assistant([text(`Reply to ${number}.\n\n${filler.repeat(2)}`), call(`c${number}`, "read", { path: `src/file-${number}.ts` })], {
			stopReason: "toolUse",
		});
		s.result(`c${number}`, "read", `export const value = ${number};\n// ${filler}`);
		s.reply(text(`That was number ${number}.\n\n\`\`\`ts\nconst answer = ${number};\n\`\`\``));
	}
	s.entries.length = messages;
	return s.at(s.entries.at(-1)?.id ?? null);
}
