/** Paths that settings name, and links that commands put in their place: what a command can redirect must open nothing, in this session or the next. */
import {
	existsSync,
	mkdirSync,
	mkdtempSync,
	readFileSync,
	readlinkSync,
	realpathSync,
	renameSync,
	rmSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { settings } from "../../src/protocol/settings.ts";
import { Sandbox } from "../../src/sandbox/index.ts";
import { pins } from "../../src/sandbox/plan.ts";
import { Survey } from "../../src/sandbox/survey.ts";
import { mayRead } from "../../src/sandbox/view.ts";
import { describeUnless } from "../unless.ts";
import { groundIn } from "./ground.ts";
import { Machine, missing } from "./support.ts";

let folder: string;
beforeEach(() => {
	folder = realpathSync.native(mkdtempSync(join(tmpdir(), "bowline-redirected-")));
	for (const name of ["work/sub", "home/.ssh", "user", "outside/deep", "private/tmp", "private/var-tmp"])
		mkdirSync(join(folder, name), { recursive: true });
	writeFileSync(join(folder, "home/.ssh/id_test"), "PRIVATE");
});
afterEach(() => {
	vi.restoreAllMocks();
	rmSync(folder, { recursive: true, force: true });
});
const at = (name: string) => join(folder, name);

/** Mode external has the same roots as the others, and needs no programs. */
async function stateOf(given: { cwd?: string; roots?: string[]; writable?: string[]; readable?: string[]; home?: "hidden" }) {
	const values: Record<string, unknown> = {
		"sandbox.mode": "external",
		"sandbox.writable": given.writable ?? [],
		"sandbox.readable": given.readable ?? [],
	};
	const sandbox = new Sandbox({
		cwd: given.cwd ?? at("work"),
		...(given.roots && { roots: given.roots }),
		userDirectory: at("user"),
		env: { HOME: at("home"), PATH: "/usr/bin" },
		setting: (name) => (values[name] ?? settings[name].default) as never,
	});
	await sandbox.open();
	await sandbox.close();
	return sandbox.state;
}

/** What a command of an earlier session did. */
function redirect(name: string, target: string): void {
	rmSync(at(name), { recursive: true });
	symlinkSync(target, at(name));
}

describe("a directory to write to", () => {
	test("that became a link inside another one is refused by name, with the link, where it leads, and the remedy", async () => {
		expect((await stateOf({ writable: [at("work/sub")] })).active).toBe(true);
		redirect("work/sub", at("outside"));
		const { active, reason, remedy } = await stateOf({ writable: [at("work/sub")] });
		expect(active).toBe(false);
		expect(reason).toBe(
			`${at("work/sub")} cannot be a directory to write to: it leads to ${at("outside")} through the link ${at("work/sub")}, which a command can have made`,
		);
		expect(remedy).toBe(`Name ${at("outside")} itself if you want commands to write there, or put the directory back.`);
		expect((await stateOf({ writable: [at("outside")] })).writable).toEqual([at("work"), at("outside")]);
	});

	test("is refused whichever way it was redirected, and in whichever order directories are named", async () => {
		const refused = async (given: Parameters<typeof stateOf>[0]) => (await stateOf(given)).reason?.match(/through the link (.*), which/)?.[1];
		redirect("work/sub", "../outside");
		expect(await refused({ writable: [at("work/sub/deep")] })).toBe(at("work/sub"));
		expect(await refused({ roots: [at("work/sub")] })).toBe(at("work/sub"));
		expect(await refused({ cwd: at("work/sub"), writable: [at("work")] })).toBe(at("work/sub"));
		expect(await refused({ cwd: at("work/sub/deep"), roots: [at("work")] })).toBe(at("work/sub"));
		// A chain: the user's own link leads to one that a command can replace.
		symlinkSync("work/sub", at("mine"));
		expect(await refused({ writable: [at("mine")] })).toBe(at("work/sub"));
		// Two dots after a link, in the name and in the target of a link.
		redirect("work/sub", at("outside/deep"));
		expect(await refused({ writable: [`${at("work/sub")}/..`] })).toBe(at("work/sub"));
		symlinkSync("work/sub/..", at("dots"));
		expect(await refused({ writable: [at("dots")] })).toBe(at("work/sub"));
		// A link inside the directory that it leads to: whoever may write there may lead it elsewhere.
		symlinkSync(at("outside"), at("outside/self"));
		expect(await refused({ writable: [at("outside/self")] })).toBe(at("outside/self"));
	});

	test("may be named through the user's own link outside of all of them, and through one that leads to what is writable anyway", async () => {
		symlinkSync("outside", at("mine"));
		symlinkSync("work", at("project"));
		expect((await stateOf({ cwd: at("project"), writable: [at("mine/deep"), at("project/sub")] })).writable).toEqual([
			at("work"),
			at("outside/deep"),
		]);
		redirect("work/sub", ".");
		expect((await stateOf({ writable: [at("work/sub")] })).writable).toEqual([at("work")]);
	});

	test("that is the working directory is refused when it was replaced while Bowline was starting", async () => {
		redirect("work", at("outside"));
		expect((await stateOf({})).writable).toEqual([at("outside")]);
		vi.spyOn(process, "cwd").mockReturnValue(at("work"));
		expect((await stateOf({})).reason).toBe(
			`the working directory ${at("work")} was replaced while Bowline was starting: it leads to ${at("outside")} now`,
		);
	});
});

describe("a path that is shown", () => {
	test("is refused when a link in a writable directory leads it to something hidden", async () => {
		redirect("work/sub", at("home/.ssh"));
		expect((await stateOf({ readable: [at("work/sub")] })).reason).toBe(
			`${at("work/sub")} cannot be shown: it leads to ${at("home/.ssh")} through the link ${at("work/sub")}, which a command can have made`,
		);
		symlinkSync(".ssh", at("home/keys"));
		expect((await stateOf({ readable: [at("home/keys"), at("work")] })).active).toBe(true);
	});

	test("opens nothing when a command puts the link there in the middle of a session", () => {
		const survey = new Survey(groundIn(folder, { readable: [at("work/sub"), at("home/keys")], ownReadable: [at("work/logs")] }));
		const key = at("home/.ssh/id_test");
		expect(mayRead(survey.commandView(), key).allowed).toBe(false);
		redirect("work/sub", at("home/.ssh"));
		symlinkSync(at("home/.ssh"), at("work/logs"));
		const view = survey.commandView();
		expect(mayRead(view, key).allowed).toBe(false);
		expect(view.shown).toEqual([]);
		symlinkSync(".ssh", at("home/keys"));
		expect(mayRead(survey.commandView(), key).allowed).toBe(true);
	});

	test("as an entry of PATH in a hidden home is no way to keys", () => {
		mkdirSync(at("home/project/bin"), { recursive: true });
		mkdirSync(at("home/tools"));
		symlinkSync("tools", at("home/bin"));
		const path = `${at("home/project/bin")}:${at("home/bin")}`;
		const shownFrom = (root: string) => new Survey(groundIn(folder, { isHomeHidden: true, path, cwd: root, roots: [root] })).commandView().shown;
		expect(shownFrom(at("work"))).toEqual([at("home/tools"), at("home/project/bin")]);
		redirect("home/project/bin", at("home/.ssh"));
		// Also for a session that works elsewhere.
		for (const root of [at("work"), at("home/project")]) expect(shownFrom(root)).toEqual([at("home/tools")]);
	});
});

describe("while a session lives", () => {
	test("a root that a program outside replaced is mounted nowhere: the command does not run, and the reason names both places", async () => {
		const survey = new Survey(groundIn(folder));
		renameSync(at("work"), at("moved"));
		symlinkSync(at("outside"), at("work"));
		const reason = `The directory ${at("work")} leads to ${at("outside")} now, so the command was not run. Put the directory back, or start another session where it is now.`;
		for (const reading of [true, false]) expect(() => survey.commandView(reading)).toThrow(reason);
		await expect(survey.gitView([])).rejects.toThrow(reason);
		rmSync(at("work"));
		expect(() => survey.commandView()).toThrow(`The directory ${at("work")} is missing`);
		renameSync(at("moved"), at("work"));
		expect(survey.commandView().writable).toContain(at("work"));
	});

	test("our own git writes to no directory that a command redirected", async () => {
		const survey = new Survey(groundIn(folder));
		expect((await survey.gitView([at("work/sub"), at("outside")])).writable).toContain(at("outside"));
		redirect("work/sub", at("home"));
		expect((await survey.gitView([at("work/sub")])).writable).toEqual([at("work")]);
	});

	test("what settings and rules name inside a root stays in its place, with the folders above it", () => {
		mkdirSync(at("work/a/b/secret"), { recursive: true });
		mkdirSync(at("work/shown"));
		symlinkSync("a/b/secret", at("work/way"));
		const rules = [{ literal: at("work/sub"), covers: () => false, denies: "reading" as const }];
		const survey = new Survey(groundIn(folder, { hidden: [at("work/way")], readable: [at("work/shown")], rules, innerRoots: [at("work/a")] }));
		const view = survey.commandView();
		expect(pins(view)).toEqual(["a", "shown", "a/b"].map((name) => at(`work/${name}`)));
		expect(view.links).toEqual([at("work/way")]);
	});
});

describeUnless(missing)("a command in the sandbox", () => {
	test("cannot move a hidden path away to read it, nor redirect what is shown and what is writable", async () => {
		const machine = new Machine();
		try {
			machine.write("home/.ssh/id_test", "PRIVATE");
			const hidden = machine.write("work/a/secret/key", "SECRET");
			const denied = machine.write("work/c/denied/key", "DENIED");
			const shown = dirname(machine.write("work/shown/file", "x"));
			const inner = machine.directory("work/sub");
			const linked = machine.write("work/real/key", "LINKED");
			symlinkSync("real/key", join(machine.work, "link"));
			const { results } = await machine.run(
				[
					"mv a b; mv c d; mv shown old && ln -s ~/.ssh shown; mv sub gone && ln -s ~ sub; echo tried",
					`cat ?/secret/key ?/denied/key shown/id_test; ls -d sub; rm link; ln -s sub link; sleep 600`,
					"cat real/key; echo x > usual && cat usual",
				],
				[
					...["--sandbox", "workspace-write", "--set", `sandbox.hidden=${JSON.stringify([dirname(hidden), join(machine.work, "link")])}`],
					...["--set", `sandbox.readable=${JSON.stringify([shown])}`, "--set", `sandbox.writable=${JSON.stringify([inner])}`],
					...["--set", `permissions.rules=${JSON.stringify([{ tool: "read", path: denied, action: "deny" }])}`],
				],
			);
			const text = results.map((result) => result.text).join("\n");
			expect(text).not.toMatch(/SECRET|DENIED|PRIVATE|LINKED/);
			expect(results[0]?.text).toContain("tried");
			expect(results[1]?.text).toContain(`The sandbox was rebuilt because ${machine.work}/link was replaced.`);
			expect(results[2]?.text).toContain("x");
			expect(readlinkSync(join(machine.work, "link"))).toBe("real/key");
			expect([existsSync(hidden), existsSync(denied), readFileSync(linked, "utf8")]).toEqual([true, true, "LINKED"]);
			for (const path of [shown, inner]) expect(realpathSync.native(path)).toBe(path);
		} finally {
			await machine.close();
		}
	});
});
