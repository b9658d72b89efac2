/** Undoes what commands leave in the project that would act later. The command continues, and its result says so. */
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { openedByPrograms } from "../../src/lib/protected-names.ts";
import { describeUnless } from "../unless.ts";
import { type Frame, Machine, missing, resultOf, until, users } from "./support.ts";

const machines: Machine[] = [];
afterEach(async () => {
	await Promise.all(machines.splice(0).map((machine) => machine.close()));
});
function machineOf(id?: number): Machine {
	const machine = new Machine(id);
	machines.push(machine);
	machine.repository();
	return machine;
}
const inside = ["--sandbox", "workspace-write"];
const isEnd = ({ type }: Frame) => type === "agent_settled";
const quarantined = (machine: Machine) =>
	existsSync(join(machine.user, "quarantine")) ? readdirSync(join(machine.user, "quarantine")).map((name) => name.replace(/^\d+-\d+-/, "")) : [];

/** Runs git in a directory as the person does, and returns what it printed. */
function gitIn(machine: Machine, directory: string, ...args: string[]): string {
	const env = { PATH: process.env.PATH, HOME: machine.home };
	return execFileSync("git", ["-c", "user.name=T", "-c", "user.email=t@localhost", ...args], {
		cwd: directory,
		env,
		encoding: "utf8",
		stdio: "pipe",
	});
}

describeUnless(missing)("after a command in the sandbox", () => {
	test("what editors and agents open is gone at any depth, and the command has done the rest", async () => {
		const machine = machineOf();
		const names = [...openedByPrograms, ".VSCode", ".bowline"];
		const made = names.filter((name) => name !== ".bowline").flatMap((name) => [name, `packages/one/${name}`, `a/b/c/d/${name}`]);
		const paths = [...made.filter((name) => name !== ".mcp.json"), "a/.bowline"];
		const { results } = await machine.run(
			[
				...paths.map((path) => `mkdir -p ${path} && echo x > ${path}/tasks.json && echo made`),
				"mkdir -p node_modules/dep/.vscode && echo x > node_modules/dep/.vscode/settings.json && echo installed",
				"echo fine",
			],
			inside,
		);
		for (const [index, path] of paths.entries()) {
			expect(results[index]).toMatchObject({ isError: false });
			expect(results[index]?.text).toMatch(/^made\n/);
			expect(results[index]?.text).toContain(
				`[Undone after the command: ${join(machine.work, path)} was moved to ${join(machine.user, "quarantine")}/`,
			);
			expect(existsSync(join(machine.work, path))).toBe(false);
		}
		expect(results.slice(paths.length).map(({ text }) => text.trim())).toEqual(["installed", "fine"]);
		expect(existsSync(join(machine.work, "node_modules/dep/.vscode/settings.json"))).toBe(true);
		expect(quarantined(machine)).toHaveLength(paths.length);
	});

	test("what was there before cannot be written at any depth, and stays", async () => {
		const machine = machineOf();
		for (const name of [".vscode/settings.json", "packages/one/.vscode/settings.json", "packages/two/.envrc"])
			machine.write(`work/${name}`, "mine\n");
		const { results } = await machine.run(
			[
				"echo x > packages/one/.vscode/settings.json",
				"mv packages/one packages/other",
				"rm -r packages/one/.vscode",
				"echo x > packages/two/.envrc",
				"echo x > packages/two/file && cat packages/one/.vscode/settings.json",
			],
			inside,
		);
		expect(results.map(({ isError }) => isError)).toEqual([true, true, true, true, false]);
		expect(readFileSync(join(machine.work, "packages/two/.envrc"), "utf8")).toBe("mine\n");
		expect(quarantined(machine)).toEqual([]);
	});

	test("a clone works without the folder of an editor that it brought, and the sentence is in the details", async () => {
		const machine = machineOf();
		const origin = machine.directory("outside/dep");
		gitIn(machine, origin, "init", "-q", "-b", "main");
		for (const name of ["index.js", ".vscode/tasks.json", ".idea/x.xml"]) machine.write(`outside/dep/${name}`, "x\n");
		gitIn(machine, origin, "add", ".");
		gitIn(machine, origin, "commit", "-qm", "One");
		const { results } = await machine.run(
			[`git clone -q ${origin} dep && ls dep`, "cd dep && git log --format=%s && echo y > new && git add new && echo added"],
			inside,
		);
		expect(results[0]).toMatchObject({ isError: false });
		expect(results[0]?.text).toMatch(
			/^index\.js\n\n\[Undone after the command: .*\.vscode was moved .*\.idea was moved .*\.\]$|^index\.js\n\n\[Undone after the command: .*\.idea was moved .*\.vscode was moved .*\.\]$/,
		);
		expect(results[0]?.details.sandbox).toMatchObject({ applied: true, note: expect.stringMatching(/^Undone after the command: /) });
		expect(results[1]?.text.trim()).toBe("One\nadded");
		expect(quarantined(machine).sort()).toEqual([".idea", ".vscode"]);
	});

	test("what a person makes between commands stays, and can then not be written", async () => {
		const machine = machineOf();
		const say = { text: "done" };
		const call = (command: string) => ({ blocks: [{ tool: "bash", arguments: { command } }] });
		const agent = machine.start({ replies: [call("echo one"), say, call("echo x > .vscode/mine; echo two"), say] }, inside);
		agent.send({ id: "1", type: "prompt", message: "go" });
		await agent.until(isEnd);
		machine.write("work/.vscode/mine", "mine\n");
		const from = agent.frames.length;
		agent.send({ id: "2", type: "prompt", message: "go" });
		const frames = await agent.until((frame) => isEnd(frame) && agent.frames.indexOf(frame) >= from);
		agent.child.stdin?.end();
		await agent.gone;
		const last = frames.filter(({ type }) => type === "tool_execution_end").map(resultOf)[1];
		expect(last?.text).toContain("Read-only file system");
		expect(last?.text).not.toContain("Undone");
		expect(readFileSync(join(machine.work, ".vscode/mine"), "utf8")).toBe("mine\n");
	});

	test("a program in the background cannot leave one either: the next command and the end of the session find it", async () => {
		const machine = machineOf();
		const later = (name: string, at: number) =>
			`(until [ -e go${at} ]; do sleep 0.02; done; mkdir -p ${name}; touch done${at}; sleep 600) >/dev/null 2>&1 & echo started`;
		const say = { text: "done" };
		const call = (command: string) => ({ blocks: [{ tool: "bash", arguments: { command } }] });
		const agent = machine.start({ replies: [call(later(".idea", 1)), call(later("sub/.claude", 2)), say, call("echo next"), say] }, inside);
		agent.send({ id: "1", type: "prompt", message: "go" });
		await agent.until(isEnd);
		machine.write("work/go1", "");
		await until(() => existsSync(join(machine.work, "done1")));
		const from = agent.frames.length;
		agent.send({ id: "2", type: "prompt", message: "go" });
		const frames = await agent.until((frame) => isEnd(frame) && agent.frames.indexOf(frame) >= from);
		expect(frames.filter(({ type }) => type === "tool_execution_end").map(resultOf)[2]?.text).toContain(
			`${join(machine.work, ".idea")} was moved to`,
		);
		machine.write("work/go2", "");
		await until(() => existsSync(join(machine.work, "done2")));
		agent.child.stdin?.end();
		await agent.gone;
		expect(quarantined(machine).sort()).toEqual([".claude", ".idea"]);
		expect(existsSync(join(machine.work, "sub/.claude"))).toBe(false);
	});

	test("a repository that a command made runs nothing, and can be used", async () => {
		const machine = machineOf();
		const ran = join(machine.outside, "ran");
		machine.write("home/.gitconfig", "[init]\n\ttemplateDir = ~/template\n");
		chmodSync(machine.write("home/template/hooks/pre-commit", "#!/bin/sh\nexit 0\n"), 0o755);
		const init = (name: string) => `git init -q ${name} && cd ${name} && git config user.name T && git config user.email t@localhost`;
		const evil = `printf '#!/bin/sh\\ntouch ${ran}\\n' > ../evil.sh && chmod +x ../evil.sh`;
		const { results } = await machine.run(
			[
				`${init("one")} && ${evil} && cp ../evil.sh .git/hooks/post-commit && git config core.fsmonitor ../evil.sh && git config alias.st '!touch ${ran}' && git config remote.origin.url ../x`,
				`${init("two")} && mv .git ../store && echo 'gitdir: ../store' > .git && mkdir -p ../store/hooks && cp ../evil.sh ../store/hooks/pre-commit && git config core.pager ../evil.sh`,
				`${init("three")} && rm -rf .git/hooks && mkdir ../hooks && cp ../evil.sh ../hooks/post-commit && ln -s ../../hooks .git/hooks && echo '[include] path = ../../more' >> .git/config`,
				`${init("four")} && mkdir -p ../common/hooks && cp -r .git/* ../common && cp ../evil.sh ../common/hooks/post-commit && echo ../../common > .git/commondir`,
				`${init("five")} && git config core.worktree ${machine.home}; git config core.hooksPath ../hooks`,
				`${init("six")} && git commit -q --allow-empty -m Mine && git config branch.main.remote x`,
			],
			inside,
		);
		const said = results.map(({ isError, text }) => ({ isError, undone: /\[Undone after the command: (.*)\.\]$/s.exec(text)?.[1] ?? "" }));
		expect(said.map(({ isError }) => isError)).toEqual(Array(6).fill(false));
		expect(said[0]?.undone).toContain("one/.git/hooks/post-commit was moved to");
		expect(said[0]?.undone).toContain(
			`core.fsmonitor, alias.st were taken out of ${join(machine.work, "one/.git/config")}, because git would run or follow it`,
		);
		expect(said[1]?.undone).toContain("store/hooks/pre-commit was moved to");
		expect(said[1]?.undone).toContain(`core.pager was taken out of ${join(machine.work, "store/config")}`);
		expect(said[2]?.undone).toContain("three/.git/hooks was moved to");
		expect(said[2]?.undone).toContain("include.path was taken out of");
		expect(said[3]?.undone).toContain("common/hooks/post-commit was moved to");
		expect(said[4]?.undone).toContain("core.worktree, core.hookspath were taken out of");
		expect(said[5]?.undone).toBe("");
		for (const name of ["one", "two", "three", "five", "six"]) {
			gitIn(machine, join(machine.work, name), "commit", "-q", "--allow-empty", "-m", "Person");
			gitIn(machine, join(machine.work, name), "status");
		}
		expect(existsSync(ran)).toBe(false);
		expect(gitIn(machine, join(machine.work, "one"), "config", "remote.origin.url").trim()).toBe("../x");
		// The hooks that the person gives every repository.
		expect(existsSync(join(machine.work, "six/.git/hooks/pre-commit"))).toBe(true);
	});

	test("nor does a folder that git takes for a repository, also when a later command adds to it", async () => {
		const machine = machineOf();
		const ran = join(machine.outside, "ran");
		const mine = machine.directory("work/mine.git");
		gitIn(machine, mine, "init", "-q", "--bare");
		gitIn(machine, mine, "config", "core.editor", "vim");
		const { results } = await machine.run(
			[
				`mkdir -p docs/x/objects docs/x/refs && cd docs/x && echo 'ref: refs/heads/main' > HEAD && printf '[core]\\n\\trepositoryformatversion = 0\\n\\tbare = false\\n\\tworktree = ..\\n\\tfsmonitor = "touch ${ran}; true"\\n' > config`,
				"git init -q --bare remote.git && git push -q remote.git HEAD:main && echo pushed",
				`printf '#!/bin/sh\\ntouch ${ran}\\n' > remote.git/hooks/pre-receive && chmod +x remote.git/hooks/pre-receive`,
			],
			inside,
		);
		expect(results.map(({ isError }) => isError)).toEqual([false, false, false]);
		expect(results[0]?.text).toContain(`core.fsmonitor was taken out of ${join(machine.work, "docs/x/config")}`);
		expect(results[1]?.text.trim()).toBe("pushed");
		expect(results[2]?.text).toContain(`${join(machine.work, "remote.git/hooks/pre-receive")} was moved to`);
		gitIn(machine, join(machine.work, "docs/x"), "status");
		gitIn(machine, machine.work, "push", "-q", "remote.git", "HEAD:other");
		expect(existsSync(ran)).toBe(false);
		expect(gitIn(machine, mine, "config", "core.editor").trim()).toBe("vim");
	});

	test.each(users)("permissions of the directory itself are set back ($name)", async ({ id }) => {
		const machine = machineOf(id);
		chmodSync(machine.work, 0o755);
		const modeOf = () => statSync(machine.work).mode & 0o7777;
		const { results } = await machine.run(
			["chmod 777 .; echo one", "chmod 000 .; mkdir -p x/.vscode", "chmod u+x . && mkdir sub && chmod 700 sub && echo three"],
			inside,
		);
		expect(results[0]).toMatchObject({
			isError: false,
			text: `one\n\n[Undone after the command: the permissions of ${machine.work} were set back from 777 to 755.]`,
		});
		expect(results[1]?.text).toContain(`the permissions of ${machine.work} were set back from 0 to 755`);
		expect(results[2]?.text.trim()).toBe("three");
		expect(modeOf()).toBe(0o755);
		expect(statSync(join(machine.work, "sub")).mode & 0o777).toBe(0o700);
	});

	test("a file tool cannot make one unasked in mode full", async () => {
		const machine = machineOf();
		const { results } = await machine.run([{ tool: "write", arguments: { path: "sub/.vscode/tasks.json", content: "x" } }], inside);
		expect(results[0]).toMatchObject({ isError: true });
		expect(existsSync(join(machine.work, "sub"))).toBe(false);
	});
});
