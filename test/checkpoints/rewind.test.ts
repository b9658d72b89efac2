/** Files that rewind, as a host sees them: real files, real git, real shells. */
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { bash, open, rewindable, write } from "./support.ts";

const read = (cwd: string, path: string) => readFileSync(join(cwd, path), "utf8");
const git = (cwd: string, ...args: string[]) =>
	execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });

type Agent = Awaited<ReturnType<typeof rewindable>>["agent"];

/** The entry of a prompt, counted from the first. */
async function prompt(agent: Agent, number: number): Promise<string> {
	const { messages } = await agent.getForkMessages();
	return messages[number]?.entryId as string;
}

const rewind = (agent: Agent, entryId: string, options = {}) => agent.rewind({ entryId, ...options });

test("a run that makes too many files can be taken back, and what it left for later is reported", async () => {
	const { agent, cwd } = await rewindable({
		files: { "a.txt": "one\n" },
		replies: [
			{ blocks: [bash("mkdir many; (cd many && seq 30100 | xargs touch); echo all: > Makefile; rm a.txt")] },
			{ blocks: [bash("echo again")] },
			{ text: "done" },
		],
	});
	await agent.promptAndWait("fill it");
	expect(await agent.getCheckpoints()).toMatchObject({ enabled: false, reason: expect.stringContaining("there are more than 30000 files") });
	expect((await agent.getChanges()).runsLater).toEqual([{ path: "Makefile" }]);
	expect((await rewind(agent, await prompt(agent, 0))).restored).toContain("a.txt");
	expect(read(cwd, "a.txt")).toBe("one\n");
});

test("a rewind puts files and conversation back, and can be rewound", async () => {
	const { agent, cwd } = await rewindable({
		files: { "a.txt": "one\n", "gone.txt": "was here\n", "d/e.txt": "deep\n" },
		replies: [
			{ blocks: [write("a.txt", "two\n"), bash("rm gone.txt; rm -r d; echo new > d; chmod +x a.txt; ln -s a.txt link")] },
			{ text: "done" },
			{ blocks: [write("a.txt", "three\n")] },
			{ text: "done again" },
		],
	});
	await agent.promptAndWait("first");
	await agent.promptAndWait("second");
	const before = await agent.getState();
	const first = await prompt(agent, 0);
	const back = await rewind(agent, first);
	expect(back).toMatchObject({ cancelled: false, restored: ["a.txt", "d", "d/e.txt", "gone.txt", "link"], skipped: [], text: "first" });
	expect([read(cwd, "a.txt"), read(cwd, "gone.txt"), read(cwd, "d/e.txt")]).toEqual(["one\n", "was here\n", "deep\n"]);
	expect(existsSync(join(cwd, "link"))).toBe(false);
	expect(statSync(join(cwd, "a.txt")).mode & 0o111).toBe(0);
	expect((await agent.getMessages()).messages).toEqual([]);

	const forth = await rewind(agent, back.undoEntryId as string);
	expect(forth).toMatchObject({ cancelled: false, skipped: [] });
	expect([read(cwd, "a.txt"), read(cwd, "d")]).toEqual(["three\n", "new\n"]);
	expect(lstatSync(join(cwd, "link")).isSymbolicLink()).toBe(true);
	expect((await agent.getState()).messageCount).toBe(before.messageCount);
});

test.each([
	["a folder with empty folders", "mkdir -p a.txt/b/c"],
	["a folder with a file", "mkdir a.txt; echo x > a.txt/x"],
	["a pipe", "mkfifo a.txt"],
	["a link to itself", "ln -s a.txt a.txt"],
])("a file comes back where %s has taken its place", async (_, command) => {
	const { agent, cwd } = await rewindable({ files: { "a.txt": "one\n" }, replies: [{ blocks: [bash(`rm a.txt; ${command}`)] }, { text: "done" }] });
	await agent.promptAndWait("go");
	expect((await rewind(agent, await prompt(agent, 0))).restored).toContain("a.txt");
	expect([lstatSync(join(cwd, "a.txt")).isFile(), read(cwd, "a.txt")]).toEqual([true, "one\n"]);
});

test("files alone and the conversation alone", async () => {
	const { agent, cwd } = await rewindable({ files: { "a.txt": "one\n" }, replies: [{ blocks: [write("a.txt", "two\n")] }, { text: "done" }] });
	await agent.promptAndWait("go");
	const { messageCount } = await agent.getState();
	const files = await rewind(agent, await prompt(agent, 0), { conversation: false });
	expect(files).toMatchObject({ restored: ["a.txt"] });
	expect(read(cwd, "a.txt")).toBe("one\n");
	expect((await agent.getState()).messageCount).toBe(messageCount);
	await rewind(agent, files.undoEntryId as string, { conversation: false });
	expect(read(cwd, "a.txt")).toBe("two\n");
	expect(await rewind(agent, await prompt(agent, 0), { files: false })).toMatchObject({ restored: [], text: "go" });
	expect(read(cwd, "a.txt")).toBe("two\n");
	expect((await agent.getState()).messageCount).toBe(0);
});

describe("files that others changed", () => {
	test("after the agent did are listed and stay", async () => {
		const { agent, cwd } = await rewindable({
			files: { "a.txt": "one\n", "b.txt": "one\n" },
			replies: [{ blocks: [write("a.txt", "two\n"), write("b.txt", "two\n"), write("c.txt", "two\n")] }, { text: "done" }],
		});
		await agent.promptAndWait("go");
		await agent.getCheckpoints();
		writeFileSync(join(cwd, "a.txt"), "mine\n");
		writeFileSync(join(cwd, "c.txt"), "mine too\n");
		writeFileSync(join(cwd, "own.txt"), "never seen before\n");
		expect(await rewind(agent, await prompt(agent, 0))).toMatchObject({ restored: ["b.txt"], skipped: ["a.txt", "c.txt", "own.txt"] });
		expect([read(cwd, "a.txt"), read(cwd, "b.txt"), read(cwd, "c.txt"), read(cwd, "own.txt")]).toEqual([
			"mine\n",
			"one\n",
			"mine too\n",
			"never seen before\n",
		]);
	});

	test("between two turns of the agent are not lost either", async () => {
		const { agent, cwd } = await rewindable({
			files: { "a.txt": "one\n" },
			replies: [{ blocks: [write("b.txt", "agent\n")] }, { text: "done" }, { blocks: [bash("sed -i s/mine/changed/ a.txt")] }, { text: "done" }],
		});
		await agent.promptAndWait("go");
		await agent.getCheckpoints();
		writeFileSync(join(cwd, "a.txt"), "mine\n");
		await agent.promptAndWait("again");
		expect(read(cwd, "a.txt")).toBe("changed\n");
		expect(await rewind(agent, await prompt(agent, 0))).toMatchObject({ restored: ["b.txt"], skipped: ["a.txt"] });
		expect(read(cwd, "a.txt")).toBe("changed\n");
	});

	test("by the host's own command are among them", async () => {
		const { agent, cwd } = await rewindable({ files: { "a.txt": "one\n" }, replies: [{ blocks: [write("a.txt", "two\n")] }, { text: "done" }] });
		await agent.promptAndWait("go");
		await agent.bash({ command: "echo host > a.txt" });
		expect(await rewind(agent, await prompt(agent, 0))).toMatchObject({ restored: [], skipped: ["a.txt"] });
		expect(read(cwd, "a.txt")).toBe("host\n");
	});
});

test("a dirty repository keeps its index, its commits and its ignored files", async () => {
	const { agent, cwd } = await rewindable({
		files: { "a.txt": "one\n", "ignored/x": "secret\n" },
		replies: [{ blocks: [write("a.txt", "agent\n"), bash("echo y > ignored/x; echo n > new.txt; git add -A")] }, { text: "done" }],
	});
	git(cwd, "init", "-q");
	git(cwd, "add", "a.txt", ".gitignore");
	git(cwd, "commit", "-qm", "first");
	writeFileSync(join(cwd, "a.txt"), "dirty\n");
	await agent.promptAndWait("go");
	const index = readFileSync(join(cwd, ".git/index"));
	const objects = readdirSync(join(cwd, ".git/objects"), { recursive: true }).length;
	expect(await rewind(agent, await prompt(agent, 0))).toMatchObject({ restored: ["a.txt", "new.txt"], skipped: [] });
	expect(read(cwd, "a.txt")).toBe("dirty\n");
	expect(read(cwd, "ignored/x")).toBe("y\n");
	expect(readFileSync(join(cwd, ".git/index")).equals(index)).toBe(true);
	expect(readdirSync(join(cwd, ".git/objects"), { recursive: true }).length).toBe(objects);
});

test("a repository that a command removed comes back with the files, also in another process, and goes again", async () => {
	const { agent, cwd } = await rewindable({
		files: { "a.txt": "one\n" },
		replies: [{ blocks: [bash("rm -rf .git; echo two > a.txt")] }, { text: "done" }],
	});
	git(cwd, "init", "-q", "-b", "main");
	git(cwd, "add", "a.txt", ".gitignore");
	git(cwd, "commit", "-qm", "first");
	git(cwd, "branch", "side");
	await agent.promptAndWait("go");
	expect((await agent.getChanges()).history).toEqual([{ name: ".git" }]);
	await agent.close();
	const { agent: next } = await open(cwd, { continue: true });
	const commit = expect.stringMatching(/^[0-9a-f]{40}$/);
	const back = await rewind(next, await prompt(next, 0));
	const names = [{ name: ".git" }, { name: "refs/heads/main", after: commit }, { name: "refs/heads/side", after: commit }];
	expect(back).toMatchObject({ restored: ["a.txt"], history: { restored: names } });
	expect(git(cwd, "log", "--format=%s", "side")).toBe("first\n");
	expect(git(cwd, "status", "--porcelain", "-uno")).toBe("");
	expect(await rewind(next, back.undoEntryId as string)).toMatchObject({ restored: ["a.txt"], history: { restored: [{ name: ".git" }] } });
	expect(existsSync(join(cwd, ".git"))).toBe(false);
	expect(read(cwd, "a.txt")).toBe("two\n");
});

test("commits that a command took off a branch are back after a rewind, those that it made have a name, and nobody's own work is lost", async () => {
	const commits = "git -c user.name=a -c user.email=a@b commit --allow-empty -qm";
	const { agent, cwd } = await rewindable({
		files: { "a.txt": "one\n" },
		replies: [
			{ blocks: [bash(`${commits} agent`)] },
			{ text: "done" },
			{
				blocks: [
					bash(
						`git reset -q --hard HEAD~2 && ${commits} other && git branch -D side && git reflog expire --expire=now --all && git gc -q --prune=now`,
					),
				],
			},
			{ text: "done" },
		],
	});
	git(cwd, "init", "-q", "-b", "main");
	git(cwd, "add", "a.txt", ".gitignore");
	git(cwd, "commit", "-qm", "first");
	git(cwd, "branch", "side");
	await agent.promptAndWait("go");
	expect(await rewind(agent, await prompt(agent, 0), { conversation: false })).not.toHaveProperty("history");
	git(cwd, "commit", "-qm", "mine", "--allow-empty");
	await agent.promptAndWait("destroy");
	const { history } = await rewind(agent, await prompt(agent, 0));
	expect(history?.restored.map(({ name }) => name)).toEqual(["refs/heads/main", "refs/heads/side"]);
	expect(git(cwd, "log", "--format=%s", "main")).toBe("mine\nagent\nfirst\n");
	expect(git(cwd, "log", "--format=%s", "-1", history?.kept?.[0] as string)).toBe("other\n");
});

test("a repository inside is covered", async () => {
	const { agent, cwd } = await rewindable({
		files: { "a.txt": "one\n", "inner/b.txt": "one\n" },
		replies: [{ blocks: [bash("echo two > a.txt; echo two > inner/b.txt; echo n > inner/new")] }, { text: "done" }],
	});
	git(join(cwd, "inner"), "init", "-q");
	await agent.promptAndWait("go");
	const { files, diff } = await agent.getChanges();
	expect(files.map(({ path }) => path)).toEqual(["a.txt", "inner/b.txt", "inner/new"]);
	expect(diff).toContain("+++ b/inner/b.txt");
	await rewind(agent, await prompt(agent, 0));
	expect([read(cwd, "a.txt"), read(cwd, "inner/b.txt"), existsSync(join(cwd, "inner/new"))]).toEqual(["one\n", "one\n", false]);
});

test("an agent that works in a directory of a repository covers all of it", async () => {
	const { agent: first, cwd } = await rewindable({ files: { "top.txt": "one\n", "sub/x.txt": "" }, replies: [] });
	await first.close();
	git(cwd, "init", "-q");
	writeFileSync(join(cwd, "script.jsonc"), JSON.stringify({ replies: [{ blocks: [bash("echo two > ../top.txt")] }, { text: "done" }] }));
	const { agent } = await open(join(cwd, "sub"), { model: join(cwd, "script.jsonc"), sessionDir: join(cwd, "sessions") });
	await agent.promptAndWait("go");
	expect(await rewind(agent, await prompt(agent, 0))).toMatchObject({ restored: ["top.txt"] });
	expect(read(cwd, "top.txt")).toBe("one\n");
});

test("changes between any two entries", async () => {
	const { agent } = await rewindable({
		files: { "a.txt": "1\n" },
		replies: [{ blocks: [write("a.txt", "2\n")] }, { text: "ok" }, { blocks: [write("a.txt", "3\n"), write("bin", "\0\0")] }, { text: "ok" }],
	});
	await agent.promptAndWait("one");
	await agent.promptAndWait("two");
	const [one, two] = [await prompt(agent, 0), await prompt(agent, 1)];
	expect((await agent.getChanges({ from: one, to: two })).diff).toMatch(/^-1\n\+2\n/m);
	const later = await agent.getChanges({ from: two });
	expect(later.diff).toMatch(/^-2\n\+3\n/m);
	expect(later.files).toEqual([
		{ path: "a.txt", status: "modified", added: 1, removed: 1 },
		{ path: "bin", status: "added" },
	]);
	await expect(agent.getChanges({ from: "nonsense" })).rejects.toThrow("Entry not found: nonsense");
});

test("turns that only read leave no checkpoint", async () => {
	const { agent } = await rewindable({
		files: { "a.txt": "1\n" },
		replies: [{ blocks: [{ tool: "read", arguments: { path: "a.txt" } }] }, { text: "ok" }],
	});
	await agent.promptAndWait("look");
	expect(await agent.getCheckpoints()).toMatchObject({ enabled: true, checkpoints: [] });
	expect(await rewind(agent, await prompt(agent, 0))).toMatchObject({ restored: [], text: "look" });
});

test("a session that is opened again goes back to what another process noted", async () => {
	const { agent, cwd } = await rewindable({ files: { "a.txt": "one\n" }, replies: [{ blocks: [write("a.txt", "two\n")] }, { text: "done" }] });
	await agent.promptAndWait("go");
	await agent.getCheckpoints();
	await agent.close();
	const { agent: next } = await open(cwd, { continue: true });
	expect(await rewind(next, await prompt(next, 0))).toMatchObject({ restored: ["a.txt"], skipped: [] });
	expect(read(cwd, "a.txt")).toBe("one\n");
});

test("what a turn did before the process was killed is the turn's work", async () => {
	const { agent, cwd } = await rewindable({ files: { "a.txt": "one\n" }, replies: [{ blocks: [bash("echo two > a.txt; sleep 600")] }] });
	const started = new Promise<void>((resolve) => agent.on("tool_execution_start", () => resolve()));
	void agent.promptAndWait("go").catch(() => undefined);
	await started;
	await expect.poll(() => read(cwd, "a.txt")).toBe("two\n");
	const copy = join(cwd, "sessions");
	// The file as a kill leaves it: without the end of the turn.
	const [name] = readdirSync(copy).filter((each) => each.endsWith(".jsonl"));
	const text = read(copy, name as string);
	expect(text).toContain('"phase":"before"');
	await agent.close();
	writeFileSync(join(copy, name as string), text);
	const { agent: next } = await open(cwd, { continue: true });
	expect(await rewind(next, await prompt(next, 0))).toMatchObject({ restored: ["a.txt"], skipped: [] });
});

test("a rewind during a run aborts it first", async () => {
	const { agent, cwd } = await rewindable({ files: { "a.txt": "one\n" }, replies: [{ blocks: [bash("echo two > a.txt; sleep 600")] }] });
	const started = new Promise<void>((resolve) => agent.on("tool_execution_start", () => resolve()));
	const run = agent.promptAndWait("go");
	await started;
	await expect.poll(() => read(cwd, "a.txt")).toBe("two\n");
	expect(await rewind(agent, await prompt(agent, 0))).toMatchObject({ restored: ["a.txt"] });
	expect((await run).stopReason).toBe("aborted");
	expect(read(cwd, "a.txt")).toBe("one\n");
});

test("an extension may refuse, and then nothing happens", async () => {
	const keep = "export default (api) => { api.on('session_before_tree', () => ({ cancel: true })); }";
	const { agent, cwd } = await rewindable({
		files: { "a.txt": "one\n", "keep.ts": keep },
		replies: [{ blocks: [write("a.txt", "two\n")] }, { text: "done" }],
		extension: ["keep.ts"],
	});
	await agent.promptAndWait("go");
	expect(await rewind(agent, await prompt(agent, 0))).toEqual({ cancelled: true, restored: [], skipped: [] });
	expect(read(cwd, "a.txt")).toBe("two\n");
});

describe("what cannot be done is said in words", () => {
	test("without the setting, and without a session file", async () => {
		for (const options of [{ settings: { "checkpoints.enabled": false } }, { noSession: true, sessionDir: undefined }]) {
			const { agent } = await rewindable({ replies: [], ...options });
			expect(await agent.getCheckpoints()).toMatchObject({ enabled: false, reason: expect.stringContaining("checkpoints.enabled") });
			await expect(rewind(agent, "x")).rejects.toThrow("There are no checkpoints");
			await expect(agent.getChanges()).rejects.toThrow("There are no checkpoints");
		}
	});

	test("an entry that is not there, and nothing to do", async () => {
		const { agent } = await rewindable({ replies: [{ text: "x" }] });
		await agent.promptAndWait("go");
		await expect(rewind(agent, "nonsense")).rejects.toThrow("Entry not found: nonsense");
		await expect(rewind(agent, await prompt(agent, 0), { files: false, conversation: false })).rejects.toThrow("nothing to do");
	});

	test("files that are no longer kept", async () => {
		const { agent, cwd } = await rewindable({ files: { "a.txt": "one\n" }, replies: [{ blocks: [write("a.txt", "two\n")] }, { text: "done" }] });
		await agent.promptAndWait("go");
		await agent.getCheckpoints();
		const objects = join(cwd, ".user/checkpoints");
		for (const name of readdirSync(objects)) rmSync(join(objects, name, "git/objects"), { recursive: true });
		for (const name of readdirSync(objects)) mkdirSync(join(objects, name, "git/objects/info"), { recursive: true });
		await expect(rewind(agent, await prompt(agent, 0))).rejects.toThrow(/no longer kept|could not|failed/);
		expect(read(cwd, "a.txt")).toBe("two\n");
	});

	test("a file that cannot be changed leaves everything as it was", async () => {
		if (process.getuid?.() === 0) return;
		const { agent, cwd } = await rewindable({
			files: { "a.txt": "one\n", "d/b.txt": "one\n" },
			replies: [{ blocks: [write("a.txt", "two\n"), write("d/b.txt", "two\n")] }, { text: "done" }],
		});
		await agent.promptAndWait("go");
		chmodSync(join(cwd, "d"), 0o500);
		await expect(rewind(agent, await prompt(agent, 0))).rejects.toThrow();
		expect([read(cwd, "a.txt"), read(cwd, "d/b.txt")]).toEqual(["two\n", "two\n"]);
		chmodSync(join(cwd, "d"), 0o700);
	});
});

test("two agents in one directory do not undo each other's work", async () => {
	const { agent: one, cwd } = await rewindable({
		files: { "a.txt": "one\n" },
		replies: [{ blocks: [write("a.txt", "first agent\n")] }, { text: "done" }],
	});
	writeFileSync(join(cwd, "other.jsonc"), JSON.stringify({ replies: [{ blocks: [write("b.txt", "second agent\n")] }, { text: "done" }] }));
	const { agent: two } = await open(cwd, { model: "other.jsonc" });
	await one.promptAndWait("go");
	await one.getCheckpoints();
	await two.promptAndWait("go");
	await two.getCheckpoints();
	expect(await rewind(one, await prompt(one, 0))).toMatchObject({ restored: ["a.txt"], skipped: ["b.txt"] });
	expect(read(cwd, "b.txt")).toBe("second agent\n");
});

test("a file that was only touched costs nothing and changes nothing", async () => {
	const { agent, cwd } = await rewindable({ files: { "a.txt": "one\n" }, replies: [{ blocks: [bash("touch a.txt")] }, { text: "done" }] });
	await agent.promptAndWait("go");
	utimesSync(join(cwd, "a.txt"), 1, 1);
	expect(await rewind(agent, await prompt(agent, 0))).toMatchObject({ restored: [], skipped: [] });
	expect(statSync(join(cwd, "a.txt")).mtimeMs).toBe(1000);
});

describe("what git ignores", () => {
	const files = {
		".env": "KEY=1\n",
		"conf/local.json": "{}\n",
		"ignored/x": "deep\n",
		"modules/1": "",
		"big.bin": "x".repeat(1024 * 1024 + 1),
		"made.log": "",
	};
	const ignore = ".gitignore\n.env\nconf/local.json\n*.bin\n*.log\nmodules/\nscript.jsonc\nignored/\nsessions/\n.user/\n";
	const project = async (command: string, more: string[] = []) => {
		const replies = [command, ...more].flatMap((each) => [{ blocks: [bash(each)] }, { text: "done" }]);
		const { agent: first, cwd } = await rewindable({ files, replies });
		await first.close();
		writeFileSync(join(cwd, ".gitignore"), ignore);
		chmodSync(join(cwd, ".env"), 0o600);
		for (let number = 0; number < 60; number++) writeFileSync(join(cwd, `modules/${number}`), "");
		return { cwd, ...(await open(cwd)) };
	};

	test("comes back when it is a small file that was removed or emptied, and is named when it was more", async () => {
		const { agent, cwd } = await project("rm -r .env conf ignored modules big.bin; true");
		await agent.promptAndWait("go");
		expect((await agent.getChanges()).lost).toEqual(["big.bin", "modules"]);
		const back = await rewind(agent, await prompt(agent, 0));
		expect(back).toMatchObject({ restored: [".env", "conf/local.json", "ignored/x"], lost: ["big.bin", "modules"] });
		expect([read(cwd, ".env"), read(cwd, "conf/local.json")]).toEqual(["KEY=1\n", "{}\n"]);
		expect(statSync(join(cwd, ".env")).mode & 0o777).toBe(0o600);
	});

	test("comes back when it was emptied, and stays when it was changed or made", async () => {
		const { agent, cwd } = await project("> .env; echo '{1}' > conf/local.json; rm modules/*; echo new > made.log; echo new > new.log");
		await agent.promptAndWait("go");
		expect(await rewind(agent, await prompt(agent, 0))).toMatchObject({ restored: [".env"], lost: ["modules"] });
		expect([read(cwd, ".env"), read(cwd, "conf/local.json"), read(cwd, "made.log"), read(cwd, "new.log")]).toEqual([
			"KEY=1\n",
			"{1}\n",
			"new\n",
			"new\n",
		]);
	});

	test("comes back when it holds the project's variables and was changed, and goes again; not where others changed it", async () => {
		const { agent, cwd } = await project("echo KEY=2 > .env", ["echo 1 > a.txt"]);
		await agent.promptAndWait("go");
		const back = await rewind(agent, await prompt(agent, 0), { conversation: false });
		expect([back.restored, read(cwd, ".env")]).toEqual([[".env"], "KEY=1\n"]);
		await rewind(agent, back.undoEntryId as string, { conversation: false });
		expect(read(cwd, ".env")).toBe("KEY=2\n");
		writeFileSync(join(cwd, ".env"), "KEY=mine\n");
		await agent.promptAndWait("again");
		await rewind(agent, await prompt(agent, 0));
		expect(read(cwd, ".env")).toBe("KEY=mine\n");
	});

	test("stays away when others removed it, and leaves no word where nothing is gone", async () => {
		const { agent, cwd } = await project("echo 1 > a.txt", ["echo 2 > a.txt"]);
		await agent.promptAndWait("go");
		await agent.getCheckpoints();
		rmSync(join(cwd, ".env"));
		rmSync(join(cwd, "modules"), { recursive: true });
		await agent.promptAndWait("again");
		const back = await rewind(agent, await prompt(agent, 0));
		expect(back).toMatchObject({ restored: ["a.txt"] });
		expect(back).not.toHaveProperty("lost");
		expect(existsSync(join(cwd, ".env"))).toBe(false);
	});

	test("is not removed by a rewind because a command stopped ignoring it", async () => {
		const { agent, cwd } = await project("echo > .gitignore; echo 1 > a.txt");
		await agent.promptAndWait("go");
		const { restored, skipped } = await rewind(agent, await prompt(agent, 0));
		expect(restored).toEqual(["a.txt"]);
		expect(skipped).toEqual(expect.arrayContaining([".env", "big.bin", "conf/local.json", "ignored/x", "modules/1"]));
		expect([read(cwd, ".env"), read(cwd, "ignored/x")]).toEqual(["KEY=1\n", "deep\n"]);
	});
});

test("a directory that a command has closed is opened, and closed again by the way back", async () => {
	const { agent, cwd } = await rewindable({
		files: { "a.txt": "one\n" },
		replies: [{ blocks: [bash("echo two > a.txt; chmod 0500 .")] }, { text: "done" }],
	});
	const mode = () => statSync(cwd).mode & 0o7777;
	chmodSync(cwd, 0o750);
	await agent.promptAndWait("go");
	expect(mode()).toBe(0o500);
	const back = await rewind(agent, await prompt(agent, 0));
	expect([back.restored, mode(), read(cwd, "a.txt")]).toEqual([[".", "a.txt"], 0o750, "one\n"]);
	await rewind(agent, back.undoEntryId as string);
	expect([mode(), read(cwd, "a.txt")]).toEqual([0o500, "two\n"]);
	chmodSync(cwd, 0o700);
});
