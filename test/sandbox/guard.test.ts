/** What no mount can stop: names that must not appear, and protected files that are replaced from outside. */
import { existsSync, readdirSync, readFileSync, readlinkSync, renameSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { describeUnless } from "../unless.ts";
import { type Frame, Machine, missing, resultOf } from "./support.ts";

const machines: Machine[] = [];
afterEach(async () => {
	await Promise.all(machines.splice(0).map((machine) => machine.close()));
});
function machineOf(): Machine {
	const machine = new Machine();
	machines.push(machine);
	machine.repository();
	return machine;
}
const inside = ["--sandbox", "workspace-write"];
const isEnd = ({ type }: Frame) => type === "agent_settled";

describeUnless(missing)("the guard", () => {
	test("a file that would lead git to another configuration is taken away, and everything inside ends", async () => {
		const machine = machineOf();
		machine.write("work/evil/config", "[core]\n\tfsmonitor = touch ran\n");
		const commondir = join(machine.work, ".git/commondir");
		const { results } = await machine.run(
			["echo begun; echo $PWD/evil > .git/commondir; sleep 600", "git status --short; echo fine", "echo evil > .git/commondir"],
			inside,
		);
		expect(results[0]).toMatchObject({ isError: true });
		expect(results[0]?.text).toContain("begun\n");
		expect(results[0]?.text).toContain(`The sandbox was rebuilt because ${commondir} was made by the command.`);
		expect(results[1]?.text).toContain("fine");
		// A command that ends at once.
		expect(results[2]?.text).toContain("was made by the command.");
		expect(existsSync(commondir)).toBe(false);
		const isSetAside = expect.stringMatching(/-commondir$/);
		expect(readdirSync(join(machine.user, "quarantine"))).toEqual([isSetAside, isSetAside]);
	});

	test("a configuration that is replaced from outside ends everything inside, and the new one cannot be written", async () => {
		const machine = machineOf();
		const agent = machine.start(["echo begun; sleep 600", "echo '[x]' >> .git/config || echo held"], inside);
		agent.send({ id: "1", type: "prompt", message: "go" });
		await agent.until(({ type, partialResult }) => type === "tool_execution_update" && JSON.stringify(partialResult).includes("begun"));
		machine.git("config", "some.thing", "new");
		const frames = await agent.until(isEnd);
		agent.child.stdin.end();
		await agent.gone;
		const [first, second] = frames.filter(({ type }) => type === "tool_execution_end").map(resultOf);
		expect(first).toMatchObject({ isError: true });
		expect(first?.text).toContain(`The sandbox was rebuilt because ${join(machine.work, ".git/config")} was changed from outside.`);
		expect(second?.text).toContain("held");
		expect(readFileSync(join(machine.work, ".git/config"), "utf8")).toContain("thing = new");
	});

	test("a link in place of the git directory is put back", async () => {
		const machine = machineOf();
		renameSync(join(machine.work, ".git"), join(machine.work, "store"));
		symlinkSync("store", join(machine.work, ".git"));
		const { results } = await machine.run(
			["echo 1 > one && git add one && git commit -qm One && echo committed", "rm .git && mkdir .git; sleep 600", "git log -1 --format=%s"],
			inside,
		);
		expect(results[0]?.text).toContain("committed");
		expect(results[1]?.text).toContain("was replaced.");
		expect(results[2]?.text.trim()).toBe("One");
		expect(readlinkSync(join(machine.work, ".git"))).toBe("store");
	});

	test("files that git, settings and rules name cannot be written, whether they exist or not, and links to them are put back", async () => {
		const machine = machineOf();
		machine.write("work/shared.gitconfig", "[user]\n\tname = T\n");
		machine.write("work/ci.real", "real\n");
		machine.write("work/linked.real", "real\n");
		symlinkSync("ci.real", join(machine.work, "ci.yml"));
		symlinkSync("linked.real", join(machine.work, "linked.yml"));
		symlinkSync("../outside", join(machine.work, ".bowline"));
		machine.directory("work/tools/more");
		symlinkSync("tools", join(machine.work, "way"));
		for (const path of ["../shared.gitconfig", "../later.gitconfig", "../way/more/gitconfig"]) machine.git("config", "--add", "include.path", path);
		machine.git("config", "core.hooksPath", "scripts/hooks");
		const attempts = [
			"echo x >> shared.gitconfig",
			"echo x > later.gitconfig",
			"mkdir -p scripts/hooks; echo x > scripts/hooks/pre-commit",
			"mv scripts away",
			"echo x > way/more/gitconfig",
			"rm way && mkdir -p way/more && echo x > way/more/gitconfig",
			"rm .bowline && mkdir .bowline && echo x > .bowline/settings.jsonc",
			"rm ci.yml && echo x > ci.yml",
			"mkdir -p new/er && echo x > new/er/ci.yml",
			"rm linked.yml && echo x > linked.yml",
		];
		const protectedPaths = ["ci.yml", "new/er/ci.yml"].map((name) => join(machine.work, name));
		const { results } = await machine.run(
			[...attempts, "git commit -q --allow-empty -m Fine", "echo x > new/er/other && rm new/er/other"],
			[
				...inside,
				...["--set", `sandbox.protected=${JSON.stringify(protectedPaths)}`],
				...["--set", `permissions.rules=${JSON.stringify([{ action: "deny", tool: "write", path: "./linked.yml" }])}`],
			],
		);
		expect(results.map(({ isError, text }) => (isError ? "held" : text))).toEqual([...attempts.map(() => "held"), "(no output)", "(no output)"]);
		for (const left of ["later.gitconfig", "scripts", "new/er/ci.yml", "tools/more/gitconfig"])
			expect(existsSync(join(machine.work, left))).toBe(false);
		const links = { way: "tools", ".bowline": "../outside", "ci.yml": "ci.real", "linked.yml": "linked.real" };
		expect(Object.fromEntries(Object.keys(links).map((name) => [name, readlinkSync(join(machine.work, name))]))).toEqual(links);
		expect(readFileSync(join(machine.work, "ci.real"), "utf8")).toBe("real\n");
		expect(readdirSync(machine.outside)).toEqual([]);
	});

	test("programs that git's configuration names cannot be written, nor made where they are missing", async () => {
		const machine = machineOf();
		for (const name of ["clean.sh", "fsmonitor", "pager", "textconv.py", "ask"]) machine.write(`work/tools/${name}`, "#!/bin/sh\n");
		const configured = {
			"filter.x.clean": "sh tools/clean.sh %f",
			"core.fsmonitor": "./tools/fsmonitor",
			"core.pager": "./tools/pager -R",
			"diff.x.textconv": "python3 tools/textconv.py",
			"core.askPass": "tools/ask",
			"core.editor": "./tools/missing/editor",
			"alias.lint": "!tools/missing/lint --all",
		};
		for (const [key, value] of Object.entries(configured)) machine.git("config", key, value);
		const attempts = [
			"echo x >> tools/clean.sh",
			"rm tools/fsmonitor",
			"mv tools/pager tools/other",
			"echo x > new && mv new tools/textconv.py",
			"mv tools away",
			"chmod +x tools/ask",
			"mkdir tools/missing && echo x > tools/missing/editor",
			"mkdir -p tools/missing/lint",
		];
		const { results } = await machine.run([...attempts, "echo x > tools/mine && git -c core.fsmonitor=false add tools/mine"], inside);
		expect(results.map(({ isError, text }) => (isError ? "held" : text))).toEqual([...attempts.map(() => "held"), "(no output)"]);
		expect(results[6]?.text).toContain(`The sandbox was rebuilt because ${join(machine.work, "tools/missing/editor")} was made by the command.`);
		expect(readdirSync(join(machine.work, "tools")).sort()).toEqual(["ask", "clean.sh", "fsmonitor", "mine", "missing", "pager", "textconv.py"]);
		expect(readdirSync(join(machine.work, "tools/missing"))).toEqual([]);
	});

	test("a protected file that is missing stays missing, and nothing takes its name meanwhile", async () => {
		const machine = machineOf();
		machine.write("work/Makefile", "all:\n\t@echo built\n");
		machine.write("outside/ci.yml", "mine\n");
		const protectedPaths = ["GNUmakefile", "new/ci.yml"].map((name) => join(machine.work, name));
		const { results } = await machine.run(
			[
				"make; ls -a; git status --short",
				"printf 'all:\\n\\t@echo evil\\n' > GNUmakefile",
				// A link must not make the guard take away what is elsewhere.
				`ln -s "${machine.outside}" new`,
				{ tool: "write", arguments: { path: "GNUmakefile", content: "x" } },
				{ tool: "write", arguments: { path: "new/ci.yml/x", content: "x" } },
				"make",
			],
			[...inside, "--set", `sandbox.protected=${JSON.stringify(protectedPaths)}`],
		);
		const words = results.map(({ text }) => text);
		expect(words[0]).toMatch(/^built\n(.*\n)*Makefile\n\?\? Makefile\s*$/);
		expect(words[0]).not.toContain("GNUmakefile");
		expect(words[1]).toContain(`The sandbox was rebuilt because ${protectedPaths[0]} was made by the command.`);
		expect(words[2]).toContain(`The sandbox was rebuilt because ${protectedPaths[1]} was made by the command.`);
		expect(words.slice(3, 5)).toEqual(Array(2).fill(expect.stringContaining("the sandbox protects it")));
		expect(words[5]?.trim()).toBe("built");
		expect(readFileSync(join(machine.outside, "ci.yml"), "utf8")).toBe("mine\n");
		expect(readdirSync(machine.work).sort()).toEqual([".git", "Makefile"]);
	});
});
