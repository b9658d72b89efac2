/** With `permissions.grantsLapse` an answer for a command that runs files of the project holds until those files change. */
import { chmodSync, mkdirSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import { startClient } from "../../src/client/index.ts";
import { Script } from "../../src/permissions/command-patterns.ts";
import { Lapses, lapseInWords, runsProject } from "../../src/permissions/lapse.ts";
import { readScript } from "../../src/permissions/lexer.ts";
import { environment, folder, kept } from "../client/support.ts";

const runs = (text: string) => runsProject(new Script(text, readScript(text)));

test.each([
	"npm test",
	"make",
	"pytest -q",
	"./script.sh",
	"node x.js",
	"cargo build",
	"npx tsc",
	"git commit -m x",
	"git checkout main",
	"find . -exec ./x {} +",
	"ls && npm test",
	"echo x | sh",
	"echo $x",
	"unknown",
	"/w/shop/ls",
	"rg --pre ./x y",
])("%s may run files of the project", (text) => {
	expect(runs(text)).toBe(true);
});

test.each(["ls", "ls -la src", "git status", "git -C sub log --oneline", "cat a && grep b c", "git diff | head -5", "mkdir x", "/usr/bin/ls"])(
	"%s runs nothing of the project",
	(text) => {
		expect(runs(text)).toBe(false);
	},
);

function put(cwd: string, name: string): void {
	mkdirSync(dirname(join(cwd, name)), { recursive: true });
	writeFileSync(join(cwd, name), "");
}

describe("what has changed", () => {
	const grant = (id: string, scope: "session" | "always" = "session") => ({ id, scope }) as Parameters<Lapses["give"]>[0];
	const one = grant("one");
	async function given(files: Record<string, string> = { "a.txt": "a", "src/b.txt": "b" }) {
		const cwd = realpathSync(folder(files));
		const other = realpathSync(folder());
		const lapses = new Lapses({ roots: () => [cwd, other, join(cwd, "src")], ownFiles: () => [join(cwd, "own")] });
		lapses.give(one, await lapses.look(cwd));
		return { cwd, other, lapses, changed: async () => ((await lapses.look(cwd)) && lapses.since(one, cwd)).files };
	}

	test.each<[string, (cwd: string) => void, string[]]>([
		["nothing", () => undefined, []],
		["a file that is written with the same text", (cwd) => writeFileSync(join(cwd, "a.txt"), "a"), ["a.txt"]],
		["a new file in a new directory", (cwd) => put(cwd, "x/y/z"), ["x/y/z"]],
		["a file that is removed", (cwd) => rmSync(join(cwd, "src/b.txt")), ["src/b.txt"]],
		["a directory that is renamed", (cwd) => renameSync(join(cwd, "src"), join(cwd, "lib")), ["lib/b.txt", "src/b.txt"]],
		["a file of a package", (cwd) => put(cwd, "node_modules/.bin/tool"), ["node_modules/.bin/tool"]],
		["a file that becomes executable", (cwd) => chmodSync(join(cwd, "a.txt"), 0o755), ["a.txt"]],
		[
			"a file that becomes a link",
			(cwd) => {
				rmSync(join(cwd, "a.txt"));
				symlinkSync("src/b.txt", join(cwd, "a.txt"));
			},
			["a.txt"],
		],
		["git's own files", (cwd) => put(cwd, ".git/index"), []],
		["Bowline's own files", (cwd) => writeFileSync(join(cwd, "own.jsonl"), ""), []],
		[
			"what runs later comes first",
			(cwd) => {
				for (const name of ["a.js", "package.json"]) writeFileSync(join(cwd, name), "");
			},
			["package.json", "a.js"],
		],
	])("%s", async (_, change, expected) => {
		const { cwd, lapses, changed } = await given();
		change(cwd);
		expect(await changed()).toEqual(expected);
		expect(lapses.holds(one, cwd)).toBe(expected.length === 0);
	});

	test("an additional directory counts, too", async () => {
		const { cwd, other, changed } = await given();
		put(other, "lib.js");
		expect(await changed()).toEqual([relative(cwd, join(other, "lib.js"))]);
	});

	test("what a covered command writes itself is forgiven, but not what runs next to it", async () => {
		const { cwd, lapses, changed } = await given();
		lapses.started("test");
		lapses.covers("test", cwd);
		writeFileSync(join(cwd, "report.txt"), "");
		lapses.ended("test");
		await lapses.begin(cwd, []);
		expect(await changed()).toEqual([]);
		lapses.started("test2");
		lapses.covers("test2", cwd);
		lapses.started("task");
		lapses.ended("task");
		writeFileSync(join(cwd, "by-task.txt"), "");
		lapses.ended("test2");
		expect(await changed()).toEqual(["by-task.txt"]);
	});

	test("an answer holds in its directory alone, and one that was never given here holds nowhere", async () => {
		const { cwd, lapses } = await given();
		const copy = realpathSync(folder());
		await lapses.look(copy);
		expect([lapses.holds(one, cwd), lapses.holds(one, copy), lapses.holds(grant("other"), cwd)]).toEqual([true, false, false]);
		expect(lapseInWords(lapses.since(one, copy))).toBe("You allowed it before, but Bowline cannot tell what has changed in this directory since.");
	});

	test("the question names some of the files, and says how many there are", async () => {
		const { cwd, lapses } = await given();
		for (let number = 10; number < 40; number += 1) writeFileSync(join(cwd, `f${number}`), "");
		await lapses.look(cwd);
		const lapse = lapses.since(one, cwd);
		expect([lapse.files.length, lapse.more]).toEqual([20, 10]);
		expect(lapseInWords(lapse)).toBe("You allowed it before 30 files of the project changed: f10, f11, f12, f13, f14 and 25 more.");
		expect(lapseInWords({ files: ["a\u001b[2Jb"], more: 0 })).toBe("You allowed it before a file of the project changed: a\\x1b[2Jb.");
	});
});

test("an answer for always holds in a later session until the model writes there", async () => {
	const cwd = folder({ "check.js": "require('node:fs').writeFileSync('report.txt', String(Math.random()))" });
	const user = folder();
	const check = { blocks: [{ tool: "bash", arguments: { command: "node check.js" } }] };
	const write = { blocks: [{ tool: "write", arguments: { path: "src.txt", content: "x" } }] };
	async function session(...calls: object[]) {
		writeFileSync(join(user, "script.jsonc"), JSON.stringify({ replies: [...calls, { text: "done" }] }));
		const asked: unknown[] = [];
		const flags = ["--no-session", "--permission-mode", "edit", "--set", "permissions.grantsLapse=true"];
		const client = await kept(
			startClient({
				cwd,
				env: { ...environment(cwd), BOWLINE_DIR: join(user, "user") },
				args: [...flags, "--provider", "scripted", "--model", join(user, "script.jsonc")],
				onPermission({ text, lapsed }) {
					asked.push(lapsed ? [text, lapsed.files] : text);
					return { decision: "allow", scope: "always" };
				},
			}),
		);
		await client.promptAndWait("go");
		const { grants } = await client.getPermissions();
		await client.close();
		return { asked, grants: grants.length };
	}
	expect(await session(check, check)).toEqual({ asked: ["node check.js"], grants: 1 });
	// A person may change the project between sessions.
	writeFileSync(join(cwd, "by-hand.txt"), "");
	expect(await session(check, write, check, check)).toEqual({ asked: [["node check.js", ["src.txt"]]], grants: 1 });
});
