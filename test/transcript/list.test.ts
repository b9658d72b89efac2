/** `bowline sessions`. */
import { execFileSync } from "node:child_process";
import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { age, shortIds } from "../../src/app/commands/sessions.ts";
import { summaryOf } from "../../src/transcript/summary.ts";
import { program } from "../wire/support/agent.ts";
import { assistant, chain, fileOf, folder, header, said, user } from "./support.ts";

const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0.125 };
const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 2, cost };
const talk = [
	...chain(said(user("Why is\nthe \u001b[31msky blue?")), said(assistant("2", { usage })), said(user("3")), {
		type: "compaction",
		summary: "s",
		firstKeptEntryId: "c",
		tokensBefore: 1,
		usage,
	}),
];

test("a session in a line: name, first prompt, messages, cost, whatever the size of its lines", () => {
	const path = join(folder(), "s.jsonl");
	const long = chain(said(user("x".repeat(3_000_000))), said(assistant("y".repeat(1_500_000), { usage })));
	writeFileSync(
		path,
		`${fileOf(header, ...talk, ...long, "garbage", { type: "session_info", id: "n", name: "Old" })}${fileOf({ type: "session_info", id: "o", name: "New" }).trimEnd()}`,
	);
	expect(summaryOf(path)).toEqual({
		path,
		id: "s",
		modified: expect.any(Number),
		name: "New",
		firstPrompt: "Why is\nthe \u001b[31msky blue?",
		messages: 5,
		cost: 0.375,
	});
});

test("what is not a session is not listed", () => {
	const path = join(folder(), "s.jsonl");
	writeFileSync(path, "text");
	expect(summaryOf(path)).toBeUndefined();
});

test("bowline sessions shows the newest first and how to go on", () => {
	const cwd = folder();
	const directory = join(cwd, "user", "sessions", `--${cwd.slice(1).replaceAll("/", "-")}--`);
	mkdirSync(directory, { recursive: true });
	const write = (id: string, hours: number, ...more: object[]) => {
		writeFileSync(join(directory, `x_${id}.jsonl`), fileOf({ ...header, id, cwd }, ...talk, ...more));
		const then = Date.now() / 1000 - hours * 3600;
		utimesSync(join(directory, `x_${id}.jsonl`), then, then);
	};
	write("0123456789", 3, { type: "session_info", id: "n", name: "Blue" });
	write("0123456799", 100);
	writeFileSync(join(directory, "y.jsonl"), "no session");
	const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;
	const text = execFileSync(process.execPath, [program, "sessions"], { cwd, env: { ...env, BOWLINE_DIR: join(cwd, "user") }, encoding: "utf8" });
	expect(text.split("\n").slice(0, 3)).toEqual([
		"id            age  messages    cost  name or first prompt",
		"012345678     3 h         3  $0.250  Blue: Why is the [31msky blue?",
		"012345679  4 days         3  $0.250  Why is the [31msky blue?",
	]);
	expect(text).toContain("--session <id>");
});

test("ages and ids in few characters", () => {
	const hour = 3_600_000;
	expect([0, 0.5, 30, 47, 100, 3000].map((hours) => age(hours * hour))).toEqual(["now", "30 min", "30 h", "47 h", "4 days", "4 months"]);
	expect(shortIds(["aaaaaaaab1", "aaaaaaaab2"])).toEqual(["aaaaaaaab1", "aaaaaaaab2"]);
	expect(shortIds(["a", "a"])).toEqual(["a", "a"]);
});
