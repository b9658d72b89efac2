/** Rewinds of files in whose place is something that git does not know, and of files that were locked: as root, and as an ordinary user. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { Machine, users } from "../sandbox/support.ts";
import { bash, rewindable } from "./support.ts";

const files = { "a.txt": "one\n", "src/b.txt": "two\n" };

async function rewound(command: string) {
	const { agent, cwd } = await rewindable({ files, replies: [{ blocks: [bash(command)] }, { text: "done" }] });
	await agent.promptAndWait("go");
	const { messages } = await agent.getForkMessages();
	const { restored } = await agent.rewind({ entryId: messages[0]?.entryId as string });
	return { cwd, restored, text: readFileSync(join(cwd, "a.txt"), "utf8") };
}

test.each([
	["folders without files", "rm a.txt; mkdir -p a.txt/x/y a.txt/z"],
	["a pipe", "rm a.txt; mkfifo a.txt"],
	["a socket", `rm a.txt; node -e 'require("node:net").createServer().listen("a.txt", () => process.kill(process.pid, "SIGKILL"))'; test -S a.txt`],
	["a link to a folder", "rm a.txt; mkdir -p other; ln -s other a.txt"],
])("a file is back where %s took its place", async (_, command) => {
	expect(await rewound(command)).toMatchObject({ restored: ["a.txt"], text: "one\n" });
});

test("a folder with files that git ignores is moved aside", async () => {
	const { cwd, text } = await rewound("rm a.txt; mkdir -p a.txt/ignored; echo mine > a.txt/ignored/x; mkdir a.txt.before-rewind");
	expect([text, readFileSync(join(cwd, "a.txt.before-rewind-2/ignored/x"), "utf8")]).toEqual(["one\n", "mine\n"]);
});

test("a file in the place of a folder that git ignores keeps nothing from coming back", async () => {
	const command = "rm -rf ignored a.txt; echo x > ignored";
	const { agent, cwd } = await rewindable({ files: { ...files, "ignored/y/z": "1\n" }, replies: [{ blocks: [bash(command)] }, { text: "done" }] });
	await agent.promptAndWait("go");
	const { messages } = await agent.getForkMessages();
	await agent.rewind({ entryId: messages[0]?.entryId as string });
	expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("one\n");
});

test("folders without files below a link are not touched", async () => {
	const { cwd } = await rewound("mkdir -p ignored/kept; rm a.txt; mkdir a.txt; ln -s ../ignored a.txt/link");
	expect(existsSync(join(cwd, "ignored/kept"))).toBe(true);
});

describe.each(users)("as $name", ({ id }) => {
	test.each([
		["a file", "chmod 000 a.txt"],
		["a folder", "chmod 000 src"],
		["a folder against writing", "echo three > src/b.txt; chmod 500 src"],
		["the project", "chmod 000 ."],
	])("access comes back after a rewind: %s", async (_, command) => {
		const machine = new Machine(id);
		onTestFinished(() => machine.close());
		for (const [name, content] of Object.entries(files)) machine.write(`work/${name}`, content);
		const lock = `echo '{"scripts":{"test":"x"}}' > package.json; ${command}`;
		const agent = machine.start([lock], ["--seq", "--set", "checkpoints.enabled=true"]);
		agent.send({ id: "1", type: "prompt", message: "go" });
		await agent.until(({ type }) => type === "agent_settled");
		agent.send({ id: "2", type: "get_fork_messages" });
		const [message] = dataOf(await agent.until(({ id: given }) => given === "2"), "2").messages as { entryId: string }[];
		agent.send({ id: "3", type: "rewind", entryId: message?.entryId });
		const frames = await agent.until(({ id: given }) => given === "3");
		agent.child.stdin?.end();
		await agent.gone;
		expect(frames.find((frame) => frame.id === "3")).toMatchObject({ success: true });
		expect(Object.keys(files).map((name) => readFileSync(join(machine.work, name), "utf8"))).toEqual(Object.values(files));
		const modes = ["", "src", "a.txt", "src/b.txt"].map((name) => (statSync(join(machine.work, name)).mode & 0o777).toString(8));
		expect(modes).toEqual(["755", "755", "644", "644"]);
		expect(existsSync(join(machine.work, "package.json"))).toBe(false);
		// A lock does not keep the other changes from being told.
		if (command !== "chmod 000 .")
			expect(frames.find(({ type }) => type === "run_result")?.runsLater).toEqual([{ path: "package.json", what: "scripts" }]);
	});
});

const dataOf = (frames: readonly { [member: string]: unknown }[], id: string) =>
	frames.find((frame) => frame.id === id)?.data as { [member: string]: unknown };
