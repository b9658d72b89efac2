/** The project's files of variables in a sandbox that masks them: what commands and tools see, the ways around it, and that the real files stay as they are. */
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, linkSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { EnvFiles } from "../../src/sandbox/env-files.ts";
import { describeUnless, testUnless } from "../unless.ts";
import { toScript } from "../wire/support/script.ts";
import { apart, type Call, type Frame, folderOutsideTmp, Machine, missing, resultOf, together, until, users } from "./support.ts";

const machines: Machine[] = [];
const folders: string[] = [];
afterEach(async () => {
	await Promise.all(machines.splice(0).map((machine) => machine.close()));
	for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});
function machineOf(id?: number): Machine {
	const machine = new Machine(id);
	machines.push(machine);
	return machine;
}

const secret = "canary-of-the-project";
const masking = ["--sandbox", "workspace-write", "--set", "sandbox.envFiles=masked"];
const commandsIn = (commands: readonly string[]) => [together(commands)];
const tool = (name: string, args: Record<string, unknown>): Call => ({ tool: name, arguments: args });

/** The outcomes of commands, in a session whose sandbox holds. */
async function said(machine: Machine, commands: readonly string[], flags: readonly string[] = masking) {
	const { results, ready } = await machine.run(commandsIn(commands), flags);
	expect(ready.sandbox).toMatchObject({ active: true, verified: true });
	return apart(results[0]?.text ?? "", commands.length);
}

describeUnless(missing)("files of variables", () => {
	for (const { name, id } of users) {
		test(`are seen with placeholders, by commands and by tools, as ${name}`, async () => {
			const machine = machineOf(id);
			machine.repository();
			machine.write("work/.gitignore", ".env*\n");
			const files = [".env", ".env.local", "packages/api/.env.production", "a/b/c/d/e/f/g/docker.env", ".envrc", ".dev.vars"];
			for (const file of files) machine.write(`work/${file}`, `# Keys\nAPI_KEY=${secret}\nPORT=3000\n`);
			machine.write("work/.env.broken", `${secret}\n`);
			machine.write("work/.env.example", "API_KEY=put-yours-here\n");
			const reads = [...files, ".env.broken", ".env.example"].map((path) => tool("read", { path }));
			const searches = [tool("grep", { pattern: "canary|API_KEY", path: "." }), tool("grep", { pattern: "canary", path: ".env" })];
			const program = `node --env-file=.env -e 'console.log(process.env.API_KEY, process.env.PORT)' 2>&1; grep -rsl ${secret} .; cat .env.example`;
			const { results } = await machine.run(
				[...reads, ...searches, program],
				[...masking, "--tools", "read,grep,bash", "--set", "retry.enabled=false"],
			);
			const texts = results.map(({ text }) => text);
			expect(texts.slice(0, files.length)).toEqual(files.map(() => "# masked-by-sandbox\nAPI_KEY=masked-by-sandbox-masked-by-sand\nPORT=1024\n"));
			expect(texts[files.length]).toMatch(/^# masked-by-sandbox: /);
			expect(texts[files.length + 1]).toBe("API_KEY=put-yours-here\n");
			expect(texts[files.length + 2]).toContain("API_KEY=masked-by-sandbox");
			expect(texts.at(-1)).toBe("masked-by-sandbox-masked-by-sand 1024\nAPI_KEY=put-yours-here\n");
			expect(texts.join()).not.toContain(secret);
			for (const file of files) expect(readFileSync(join(machine.work, file), "utf8")).toContain(secret);
		});
	}

	/** Ways to the values. Each works without masking. */
	const ways: Record<string, string> = {
		"reading it": "cat .env",
		"another spelling": "cat ./sub/../.env",
		"the root of the process": 'cat "/proc/self/root$PWD/.env"',
		"the working directory of the process": "cat /proc/self/cwd/.env",
		"a new link": "ln -s .env soft && cat soft",
		"a new hard link": "ln .env hard && cat hard",
		"a copy": "cp .env copied && cat copied",
		"a rename": "mv .env moved && cat moved",
		"a rename of the folder": "mv sub away && cat away/.env",
		"a rename of the folder above": "mv up gone && cat gone/in/.env",
		"a copy in place of the folder": "cp -r sub other && mv sub old && mv other sub; cat old/.env",
		"another name of the same file": "cat settings.txt",
		"a link that was there": "cat linked/.env",
		"the target of a link": "cat conf/real.conf",
		"the target, once the link leads elsewhere": "ln -sfn /dev/null linked/.env; cat conf/real.conf",
		"git's list of objects": "git hash-object -w .env | xargs git cat-file -p",
		"git's index": "git add -f .env && git show :.env",
		"git's stash": "git add -f .env; git stash -q; git stash show -p --include-untracked; git stash pop -q",
		"a mount in a namespace of its own": "unshare -Urm sh -c 'umount .env; cat .env'",
		"an archive": "tar cf - . | tar xOf - ./.env",
		"a search": "grep -rh canary . --include=.env",
	};

	test("cannot be read by a way around, in this command or in the next ones", async () => {
		const machine = machineOf();
		machine.repository();
		for (const name of [".env", "sub/.env", "up/in/.env"]) machine.write(`work/${name}`, `API_KEY=${secret}\n`);
		linkSync(join(machine.work, ".env"), join(machine.work, "settings.txt"));
		machine.write("work/conf/real.conf", `API_KEY=${secret}\n`);
		mkdirSync(join(machine.work, "linked"));
		symlinkSync("../conf/real.conf", join(machine.work, "linked/.env"));
		machine.write("outside/shared.conf", `API_KEY=${secret}\n`);
		symlinkSync(join(machine.outside, "shared.conf"), join(machine.work, ".env.shared"));
		const calls: Call[] = Object.values(ways);
		calls.push(`cat ${machine.outside}/shared.conf; grep -rs ${secret} ${machine.work} ${machine.outside}`);
		for (const path of ["soft", "hard", "copied", "settings.txt", "linked/.env", "conf/real.conf", "sub/.env", `${machine.outside}/shared.conf`])
			calls.push(tool("read", { path }));
		const { results, ready } = await machine.run(calls, masking);
		expect(ready.sandbox).toMatchObject({ active: true, verified: true });
		expect(results).toHaveLength(calls.length);
		const leaks = results.flatMap(({ text }, index) => (text.includes(secret) ? [Object.keys(ways)[index] ?? calls[index]] : []));
		expect(leaks).toEqual([]);
		for (const name of [".env", "sub/.env", "up/in/.env", "settings.txt", "conf/real.conf"])
			expect(readFileSync(join(machine.work, name), "utf8")).toBe(`API_KEY=${secret}\n`);
	});

	test("the same ways lead to the values where nothing is masked", async () => {
		const missed: string[] = [];
		for (const [way, command] of Object.entries(ways)) {
			// A namespace needs more rights than every machine gives.
			if (way.startsWith("a mount")) continue;
			const machine = machineOf();
			machine.repository();
			for (const name of [".env", "sub/.env", "up/in/.env", "conf/real.conf"]) machine.write(`work/${name}`, `API_KEY=${secret}\n`);
			linkSync(join(machine.work, ".env"), join(machine.work, "settings.txt"));
			mkdirSync(join(machine.work, "linked"));
			symlinkSync("../conf/real.conf", join(machine.work, "linked/.env"));
			const { stdout } = spawnSync("bash", ["-c", command], { cwd: machine.work, encoding: "utf8", env: { ...process.env, HOME: machine.home } });
			if (!stdout.includes(secret)) missed.push(way);
		}
		expect(missed).toEqual([]);
	});

	test("refuse to be written, in words that name the remedy, and keep their values", async () => {
		const machine = machineOf();
		machine.repository();
		const file = machine.write("work/.env", `API_KEY=${secret}\n`);
		symlinkSync(".env", join(machine.work, "soft"));
		const before = statSync(file);
		const tools: Call[] = [
			tool("write", { path: ".env", content: "API_KEY=x\n" }),
			tool("edit", { path: ".env", edits: [{ oldText: "masked-by-sandbox-masked-by-sand", newText: "x" }] }),
			tool("write", { path: "soft", content: "x" }),
		];
		const commands = ["echo X=1 >> .env", "sed -i s/API/BPI/ .env", "rm .env", "mv .env gone", "echo X=1 > x && mv x .env", ": > soft"];
		const { results } = await machine.run([...tools, ...commands], masking);
		for (const { text, isError } of results.slice(0, tools.length)) {
			expect(isError).toBe(true);
			expect(text).toMatch(/cannot be written: the sandbox shows a copy of it with masked values.*sandbox\.readable/);
		}
		for (const { text, isError } of results.slice(tools.length)) {
			expect(isError).toBe(true);
			expect(text).toMatch(/\.env is a copy with masked values: it cannot be changed, .* The user can show the file itself with sandbox\.readable/);
		}
		expect(readFileSync(file, "utf8")).toBe(`API_KEY=${secret}\n`);
		expect(statSync(file).ino).toBe(before.ino);
	});

	test("are shown where sandbox.readable names them, and can then be written", async () => {
		const machine = machineOf();
		const file = machine.write("work/.env", `API_KEY=${secret}\n`);
		machine.write("work/sub/.env", `API_KEY=${secret}\n`);
		const { results } = await machine.run(
			["cat .env && echo MORE=1 >> .env", tool("read", { path: ".env" }), "cat sub/.env"],
			[...masking, "--set", 'sandbox.readable=["./.env"]'],
		);
		expect(results.map(({ text }) => text.includes(secret))).toEqual([true, true, false]);
		expect(readFileSync(file, "utf8")).toBe(`API_KEY=${secret}\nMORE=1\n`);
	});

	test("that the model makes are its own", async () => {
		const machine = machineOf();
		machine.write("work/.env", `API_KEY=${secret}\n`);
		const { results } = await machine.run(
			[
				"echo A=fine > .env.test",
				"cat .env.test && echo B=more >> .env.test",
				tool("write", { path: "new/.env", content: "C=third\n" }),
				"cat new/.env .env.test",
			],
			masking,
		);
		expect(results.map(({ isError }) => isError)).toEqual([false, false, false, false]);
		expect(results.at(-1)?.text).toContain("C=third\nA=fine\nB=more");
	});

	test("that git has anyway stay as they are, but for secrets; git goes on working", async () => {
		const machine = machineOf();
		machine.repository();
		const plain = "APP_ENV=dev\nPORT=3000\nNAME=shop\n";
		machine.write("work/.env", plain);
		machine.write("work/.env.prod", `NAME=shop\nAPI_KEY=${secret}\n`);
		machine.write("work/.env.changed", "NAME=shop\n");
		machine.git("add", "-A");
		machine.git("commit", "--quiet", "-m", "Settings");
		writeFileSync(join(machine.work, ".env.changed"), `NAME=${secret}\n`);
		const [shown, prod, changed, status, commit] = await said(machine, [
			"cat .env",
			"cat .env.prod",
			"cat .env.changed",
			"git status --porcelain",
			"echo PORT=4000 >> .env && git commit -qm More .env && git show --stat --format= HEAD",
		]);
		expect(shown?.text).toBe(plain);
		expect(prod?.text).toBe("NAME=shop\nAPI_KEY=masked-by-sandbox-masked-by-sand\n");
		expect(changed?.text).toBe("NAME=masked-by-sandbox-masked-by-sand\n");
		expect(status?.text).toBe(" M .env.changed\n M .env.prod\n");
		expect(commit).toMatchObject({ status: 0, text: expect.stringContaining(".env") });
	});

	test("of package managers lose their tokens, and are ordinary without one", async () => {
		const machine = machineOf();
		machine.write("work/.npmrc", `registry=https://npm.example/\n//npm.example/:_authToken=${secret}\n`);
		machine.write("work/sub/.npmrc", "save-exact=true\n");
		const [token, refused, plain] = await said(machine, ["cat .npmrc", "echo x=1 >> .npmrc", "echo x=1 >> sub/.npmrc && cat sub/.npmrc"]);
		expect(token?.text).toBe("registry=https://npm.example/\n//npm.example/:_authToken=masked-by-sandbox\n");
		expect(refused?.status).toBe(1);
		expect(plain).toEqual({ status: 0, text: "save-exact=true\nx=1\n" });
	});

	test("a rule that denies reading wins, and dependencies are left alone", async () => {
		const machine = machineOf();
		machine.write("work/.env", `API_KEY=${secret}\n`);
		machine.write("work/node_modules/x/.env", "A=of-a-package\n");
		const rules = JSON.stringify([{ action: "deny", tool: "read", path: "**/.env.local" }]);
		machine.write("work/.env.local", `API_KEY=${secret}\n`);
		const [masked, ruled, foreign] = await said(
			machine,
			["cat .env", "cat .env.local", "cat node_modules/x/.env"],
			[...masking, "--set", `permissions.rules=${rules}`],
		);
		expect(masked?.text).toContain("masked-by-sandbox");
		expect(ruled).toMatchObject({ status: 1, text: expect.stringContaining("Permission denied") });
		expect(foreign?.text).toBe("A=of-a-package\n");
	});

	test("are masked in the copy of an isolated subagent, whose work comes back without them", async () => {
		const machine = machineOf();
		machine.write("work/a.txt", "wrong\n");
		machine.repository();
		machine.git("add", "-A");
		machine.git("commit", "-q", "-m", "Files");
		const file = machine.write("work/.env", `API_KEY=${secret}\n`);
		linkSync(file, join(machine.work, "other.txt"));
		const bash = (command: string) => `call bash ${JSON.stringify({ command })}`;
		const task = { agent: "task", isolated: true, tasks: [{ id: "Fix", description: "d", assignment: "Mend it." }] };
		const verify = { commands: [{ name: "test", command: "grep -q masked-by-sandbox .env && ! grep -q canary .env" }] };
		const script = toScript(
			[
				`agent main + call #T task ${JSON.stringify({ ...task, verify })}`,
				`agent task + sees "Mend it." + ${bash(`echo right > a.txt; cat .env > seen; cat ${machine.work}/.env ${machine.work}/other.txt other.txt >> seen; echo X=1 >> .env`)}`,
				'agent task + call submit_result {"result":{"data":"Mended."}}',
				`agent main + ${bash("cat seen")}`,
				'agent main + say "Good."',
			].join(" · "),
		);
		const { results, frames } = await machine.run(script, [...masking, "--set", "task.isolation.mode=worktree"]);
		const text = results.map((each) => each.text).join("\n---\n");
		expect(text).toContain("1 of 1 task succeeded");
		expect(text.match(/API_KEY=masked-by-sandbox/g)?.length).toBe(1);
		expect(text).not.toContain(secret);
		expect(JSON.stringify(frames)).not.toContain(secret);
		expect(readFileSync(join(machine.work, "a.txt"), "utf8")).toBe("right\n");
		expect(readFileSync(file, "utf8")).toBe(`API_KEY=${secret}\n`);
	});

	test("are masked where nothing may be written, too, and a hidden home with a link to one shows nothing of it", async () => {
		const machine = machineOf();
		machine.write("work/sub/.env", `API_KEY=${secret}\n`);
		machine.write("home/keys.env", `API_KEY=${secret}\n`);
		symlinkSync(join(machine.home, "keys.env"), join(machine.work, ".env"));
		const [masked, linked] = await said(
			machine,
			["cat sub/.env", "cat .env ~/keys.env"],
			["--sandbox", "read-only", "--set", "sandbox.envFiles=masked", "--set", "sandbox.home=hidden"],
		);
		expect(masked?.text).toBe("API_KEY=masked-by-sandbox-masked-by-sand\n");
		expect(linked?.text).toMatch(/^(cat: .*No such file or directory\n){2}$/);
	});

	test.runIf(process.getuid?.() === 0)("are looked for everywhere, or the session has no sandbox and says why", async () => {
		const machine = machineOf(65534);
		machine.write("work/sub/.env", `API_KEY=${secret}\n`);
		const [closed] = await said(machine, ["chmod 000 sub"]);
		expect(closed?.status).toBe(0);
		const agent = machine.start(["chmod 755 sub; cat sub/.env"], masking);
		const [ready] = await agent.until(({ type }) => type === "ready");
		expect((ready as Frame & { sandbox: object }).sandbox).toMatchObject({
			active: false,
			reason: expect.stringContaining("sub: the folder cannot be listed"),
		});
		agent.child.stdin?.end();
		await agent.gone;
	});

	test("do not reach the model as instructions of the next session", async () => {
		const machine = machineOf();
		machine.write("work/.env", `API_KEY=${secret}\n`);
		await said(machine, ["ln -s .env AGENTS.md && mkdir -p .agents/skills/x && ln -s ../../../.env .agents/skills/x/SKILL.md"]);
		const agent = machine.start(["true"], masking);
		agent.send({ id: "s", type: "get_state", full: true });
		agent.send({ id: "1", type: "prompt", message: "go" });
		const frames = await agent.until(({ type }) => type === "agent_settled");
		agent.child.stdin?.end();
		await agent.gone;
		expect(JSON.stringify(frames)).not.toContain(secret);
		expect(agent.stderr()).toContain("AGENTS.md is not used: it is a link to a file of secrets");
	});

	test("are shown as they are without the setting", async () => {
		const machine = machineOf();
		machine.write("work/.env", `API_KEY=${secret}\n`);
		const [shown] = await said(machine, ["cat .env && echo X=1 >> .env"], ["--sandbox", "workspace-write"]);
		expect(shown).toEqual({ status: 0, text: `API_KEY=${secret}\n` });
	});

	test("come back from a rewind as they were, and a person's change is seen masked by the next command", async () => {
		const machine = machineOf();
		machine.repository();
		const file = machine.write("work/.env", `API_KEY=${secret}\n`);
		machine.write("work/a.txt", "one\n");
		const agent = machine.start(["echo two > a.txt; cat .env", "cat .env"], [...masking, "--set", "checkpoints.enabled=true"]);
		agent.send({ id: "1", type: "prompt", message: "go" });
		await agent.until(({ type, result }) => type === "tool_execution_end" && result !== undefined);
		await agent.until(({ type }) => type === "agent_settled");
		writeFileSync(file, `API_KEY=${secret}-changed\nMORE=${secret}\n`);
		agent.send({ id: "b", type: "bash", command: "cat .env", sandbox: true });
		const frames = await agent.until(({ id }) => id === "b");
		expect(JSON.stringify(frames.at(-1))).toContain("MORE=masked-by-sandbox");
		expect(JSON.stringify(frames)).not.toContain(secret);
		agent.send({ id: "c", type: "get_checkpoints" });
		const listed = (await agent.until(({ id }) => id === "c")).at(-1) as Frame & { data: { checkpoints: { entryId: string }[] } };
		agent.send({ id: "r", type: "rewind", entryId: listed.data.checkpoints[0]?.entryId, conversation: false });
		const rewound = (await agent.until(({ id }) => id === "r")).at(-1);
		expect(rewound).toMatchObject({ success: true });
		agent.child.stdin?.end();
		await agent.gone;
		expect(readFileSync(join(machine.work, "a.txt"), "utf8")).toBe("one\n");
		expect(readFileSync(file, "utf8")).toContain(secret);
		expect(readFileSync(file, "utf8")).not.toContain("masked");
	});

	test("a file that a program outside replaces while a command runs ends the command", async () => {
		const machine = machineOf();
		const file = machine.write("work/.env", `API_KEY=${secret}\n`);
		const command = "echo begun > begun; while ! grep -q canary .env; do sleep 0.01; done; cat .env";
		const agent = machine.start([command, "cat .env"], masking);
		agent.send({ id: "1", type: "prompt", message: "go" });
		await until(() => existsSync(join(machine.work, "begun")));
		const next = machine.write("work/next", `API_KEY=${secret}\n`);
		renameSync(next, file);
		const frames = await agent.until(({ type }) => type === "agent_settled");
		const [ended, after] = frames.filter(({ type }) => type === "tool_execution_end").map(resultOf);
		expect(ended).toMatchObject({ isError: true, text: expect.stringContaining("was changed from outside") });
		expect(after?.text).toContain("masked-by-sandbox");
		agent.child.stdin?.end();
		await agent.gone;
	});
});

describe("the search for files of variables", () => {
	const find = (root: string) => EnvFiles.find({ roots: [root], directory: join(root, "../copies"), git: undefined, home: undefined });
	function project(): string {
		const folder = folderOutsideTmp();
		folders.push(folder);
		mkdirSync(join(folder, "work/deep/er"), { recursive: true });
		return join(folder, "work");
	}

	testUnless(process.getuid?.() === 0 && "root opens every folder")("refuses a folder that a command can open again later", async () => {
		const root = project();
		chmodSync(join(root, "deep"), 0o000);
		await expect(find(root)).rejects.toThrow(`${join(root, "deep")}: the folder cannot be listed. Make it readable`);
		chmodSync(join(root, "deep"), 0o700);
	});

	test("makes a copy again only when the file has changed, and none for what is gone", async () => {
		const root = project();
		writeFileSync(join(root, "deep/er/.env"), "A=one-value\n");
		const files = await find(root);
		const [copy] = files.now();
		const first = statSync(copy?.source as string).ino;
		expect(statSync(files.now()[0]?.source as string).ino).toBe(first);
		writeFileSync(join(root, "deep/er/.env"), "A=one-value\nB=another-one\n");
		expect(readFileSync(files.now()[0]?.source as string, "utf8")).toBe("A=masked-by-sandbox\nB=masked-by-sandbox\n");
		rmSync(join(root, "deep/er/.env"));
		expect(files.now()).toEqual([]);
		writeFileSync(join(root, ".env"), "A=later\n");
		expect(files.now()).toEqual([]);
	});
});
