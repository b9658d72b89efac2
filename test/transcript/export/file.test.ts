/** The page on disk. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { exportSession } from "../../../src/transcript/export/index.ts";
import { fullSession, header, type SessionBuilder, subagentSession, taskSession } from "./session.ts";

let folder: string;
let sessionFile: string;

beforeEach(() => {
	folder = mkdtempSync(join(tmpdir(), "bowline-export-"));
	sessionFile = join(folder, "2026-03-04T09-30-00-000Z_cafe.jsonl");
	writeFileSync(sessionFile, `${[header, ...fullSession().entries].map((line) => JSON.stringify(line)).join("\n")}\n`);
});

test("gives the absolute path of a private file", async () => {
	const outputPath = join(folder, "page.html");
	expect(await exportSession(sessionFile, { outputPath })).toBe(outputPath);
	expect(statSync(outputPath).mode & 0o777).toBe(0o600);
	expect(readFileSync(outputPath, "utf8")).toContain("<title>Tide table repair · Bowline</title>");
	expect(readdirSync(folder).sort()).toEqual(["2026-03-04T09-30-00-000Z_cafe.jsonl", "page.html"]);
});

test("is named after the session file, in a directory that is given", async () => {
	mkdirSync(join(folder, "pages"));
	expect(await exportSession(sessionFile, { outputPath: join(folder, "pages") })).toBe(
		join(folder, "pages", "bowline-session-2026-03-04T09-30-00-000Z_cafe.html"),
	);
});

test("replaces an older page, and makes it private", async () => {
	const outputPath = join(folder, "page.html");
	writeFileSync(outputPath, "old", { mode: 0o644 });
	await exportSession(sessionFile, { outputPath });
	expect(readFileSync(outputPath, "utf8")).toContain("</html>");
	expect(statSync(outputPath).mode & 0o777).toBe(0o600);
});

test("the figures count subagents and summaries", async () => {
	const outputPath = join(folder, "page.html");
	await exportSession(sessionFile, { outputPath });
	const stats = /"stats":(\{.*?\}),"entries"/.exec(readFileSync(outputPath, "utf8"))?.[1];
	expect(JSON.parse(stats ?? "")).toMatchObject({ tokens: { output: 2870 } });
});

test.each([
	["Cannot export in-memory session to HTML", () => [undefined, {}]],
	["Nothing to export yet - start a conversation first", () => [join(folder, "none.jsonl"), {}]],
	["Page could not be written: ENOENT ", () => [sessionFile, { outputPath: join(folder, "no/such/place.html") }]],
	["Not a session file: ", () => [join(folder, "other.txt"), {}]],
	["Page would replace the session itself: ", () => [sessionFile, { outputPath: sessionFile }]],
	["Page would replace the session itself: ", () => [sessionFile, { outputPath: join(folder, "link.html") }]],
] as const)("refuses: %s", async (message, input) => {
	writeFileSync(join(folder, "other.txt"), "precious");
	symlinkSync(sessionFile, join(folder, "link.html"));
	const before = readdirSync(folder);
	const [file, options] = input() as unknown as [string | undefined, { outputPath?: string }];
	const failure = await exportSession(file, options).catch((error: Error) => error);
	expect(failure).toMatchObject({ name: "CommandError", message: expect.stringContaining(message) });
	expect(readdirSync(folder)).toEqual(before);
	expect(readFileSync(join(folder, "other.txt"), "utf8")).toBe("precious");
});

test("a session without an entry has nothing to show", async () => {
	writeFileSync(sessionFile, `${JSON.stringify(header)}\n`);
	await expect(exportSession(sessionFile)).rejects.toThrow("Nothing to export yet - start a conversation first");
});

const write = (path: string, { entries }: SessionBuilder) =>
	writeFileSync(path, `${[header, ...entries].map((line) => JSON.stringify(line)).join("\n")}\n`);

function subagentsIn(page: string): Record<string, { entries: unknown[] }> {
	const data = /<script type="application\/json" id="session">(.*?)<\/script>/s.exec(readFileSync(page, "utf8"))?.[1];
	return JSON.parse(data ?? "").subagents;
}

test("the conversations of subagents are in the page, with those of repairs and of their own subagents", async () => {
	const directory = sessionFile.replace(/\.jsonl$/, "");
	mkdirSync(directory);
	write(sessionFile, taskSession());
	const nested = subagentSession("Mend it");
	nested.assistant([{ type: "toolCall", id: "n", name: "task", arguments: {} }], {});
	nested.result("n", "task", "done", { details: { results: [{ id: "0-Mend.0-Deep" }, { id: "../other" }, { id: 5 }] } });
	write(join(directory, "0-Mend.jsonl"), nested);
	write(join(directory, "0-Mend-repair.jsonl"), subagentSession("Repair it"));
	write(join(directory, "0-Mend.0-Deep.jsonl"), subagentSession("Deep"));
	writeFileSync(join(directory, "1-Look.jsonl"), "not a session\n");
	// A session that came from elsewhere cannot bring other files into the page.
	write(join(folder, "other.jsonl"), subagentSession("Private"));
	const page = await exportSession(sessionFile, { outputPath: join(folder, "page.html") });
	expect(Object.keys(subagentsIn(page))).toEqual(["0-Mend", "0-Mend-repair", "0-Mend.0-Deep"]);
	expect(subagentsIn(page)["0-Mend.0-Deep"]?.entries.length).toBe(2);
	expect(readFileSync(page, "utf8")).not.toContain("Private");
});

test("a link among the files of subagents is not followed", async () => {
	const directory = sessionFile.replace(/\.jsonl$/, "");
	mkdirSync(directory);
	write(sessionFile, taskSession());
	write(join(folder, "other.jsonl"), subagentSession("Private"));
	symlinkSync(join(folder, "other.jsonl"), join(directory, "0-Mend.jsonl"));
	expect(subagentsIn(await exportSession(sessionFile, { outputPath: join(folder, "page.html") }))).toEqual({});
});
