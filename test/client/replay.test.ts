/** Record a session once, and play it in tests of a host: no key, no network, no tools. */
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { recordArgs, replayArgs, startClient } from "../../src/client/index.ts";
import { environment, folder, kept } from "./support.ts";

const script = {
	replies: [
		{
			text: "I look.",
			blocks: [
				{ tool: "bash", arguments: { command: "echo ran >> log; cat note.txt" } },
				{ tool: "lookup", arguments: { word: "knot" } },
				{ tool: "clock", arguments: {} },
			],
		},
		{ text: "It says forty-two." },
		{ text: "Bye." },
	],
};

const lookup = { name: "lookup", description: "Looks up.", parameters: { type: "object" } };
const clock = { name: "clock", description: "The time.", parameters: { type: "object" }, effect: { kind: "none" as const } };

async function recorded(): Promise<string> {
	const cwd = folder({ "note.txt": "forty-two\n", "script.jsonc": JSON.stringify(script) });
	const client = await kept(
		startClient({ cwd, env: environment(cwd), args: [...recordArgs("record.jsonl"), "--provider", "scripted", "--model", "script.jsonc"] }),
	);
	await client.setCustomTools([
		{ ...lookup, execute: () => "a bowline" },
		{ ...clock, execute: () => "noon" },
	]);
	await client.promptAndWait("What is in note.txt?");
	await client.promptAndWait("Thanks");
	await client.close();
	for (const name of ["note.txt", "script.jsonc", "log"]) rmSync(join(cwd, name));
	return cwd;
}

test("a record plays offline, with the results of all tools, also those of the host", async () => {
	const cwd = await recorded();
	const client = await kept(startClient({ cwd, env: environment(cwd), args: replayArgs("record.jsonl") }));
	const execute = () => {
		throw new Error("must not run");
	};
	await client.setCustomTools([
		{ ...lookup, execute },
		{ ...clock, execute },
	]);
	const { messages, text } = await client.promptAndWait("What is in note.txt?");
	expect(text).toBe("It says forty-two.");
	expect(messages.filter(({ role }) => role === "toolResult")).toMatchObject([
		{ content: [{ text: "forty-two\n" }] },
		{ content: [{ text: "a bowline" }] },
		{ content: [{ text: "noon" }] },
	]);
	expect(existsSync(join(cwd, "log"))).toBe(false);
	expect((await client.promptAndWait("Thanks")).text).toBe("Bye.");
});

test("tools of MCP servers answer from the record, on a machine that does not have the servers", async () => {
	const replies = [{ blocks: [{ tool: "mcp__s__echo", arguments: { text: "hello" } }] }, { text: "It said hello." }];
	const cwd = folder({ "script.jsonc": JSON.stringify({ replies }) });
	const server = join(import.meta.dirname, "../mcp/servers/small.mjs");
	const servers = JSON.stringify({ s: { command: process.execPath, args: [server, "instructions=Be kind."] } });
	const args = [...recordArgs("record.jsonl"), "--provider", "scripted", "--model", "script.jsonc", "--mcp-config", servers];
	const recording = await kept(startClient({ cwd, env: environment(cwd), args }));
	await recording.promptAndWait("Say hello");
	await recording.close();
	const elsewhere = JSON.stringify({ s: { command: "/no/such/server" } });
	for (const flags of [[], ["--mcp-config", elsewhere]]) {
		const client = await kept(startClient({ cwd, env: environment(cwd), args: [...replayArgs("record.jsonl"), ...flags] }));
		const { messages, text } = await client.promptAndWait("Say hello");
		expect(text).toBe("It said hello.");
		expect(messages.filter(({ role }) => role === "toolResult")).toMatchObject([{ isError: false, content: [{ text: "hello" }] }]);
		await client.close();
	}
});

test("a host that asks something else learns what differs", async () => {
	const cwd = await recorded();
	const client = await kept(startClient({ cwd, env: environment(cwd), args: replayArgs("record.jsonl") }));
	await client.setCustomTools([{ ...lookup, execute: () => "" }]);
	const { stopReason, errorMessage } = await client.promptAndWait("What is in nope.txt?");
	expect(stopReason).toBe("error");
	expect(errorMessage).toContain('messages[0] was recorded as "user: What is in note.txt?"\n  and is now "user: What is in nope.txt?"');
});

test("tools can run for real while the model is played", async () => {
	const cwd = await recorded();
	writeFileSync(join(cwd, "note.txt"), "another\n");
	const client = await kept(startClient({ cwd, env: environment(cwd), args: replayArgs("record.jsonl", { realTools: true, isLoose: true }) }));
	await client.setCustomTools([
		{ ...lookup, execute: () => "a hitch" },
		{ ...clock, execute: () => "one" },
	]);
	const { messages, text } = await client.promptAndWait("What is in note.txt?");
	expect(text).toBe("It says forty-two.");
	expect(messages.filter(({ role }) => role === "toolResult")).toMatchObject([
		{ content: [{ text: "another\n" }] },
		{ content: [{ text: "a hitch" }] },
		{ content: [{ text: "one" }] },
	]);
	expect(readFileSync(join(cwd, "log"), "utf8")).toBe("ran\n");
});

test.each([
	[["--record", "there.txt"], "--record there.txt: the file exists. Remove it, or name another."],
	[["--replay-tools"], "--replay-tools needs a record to play"],
	[["--replay-tools", "--provider", "scripted", "--model", "echo"], "--replay-tools needs a record to play"],
])("what cannot be recorded or played is refused at the start: %j", async (args, text) => {
	const cwd = folder({ "there.txt": "" });
	await expect(startClient({ cwd, env: environment(cwd), args })).rejects.toThrow(text);
});

test("the requests of subagents are in the record, and are played to them", async () => {
	const tasks = [{ id: "Fix", description: "d", assignment: "do it" }];
	const replies = [
		{ when: { agent: "main", text: "go" }, blocks: [{ tool: "task", arguments: { agent: "task", tasks } }] },
		{ when: { agent: "task" }, blocks: [{ tool: "submit_result", arguments: { result: { data: "child was here" } } }] },
		{ when: { agent: "main" }, text: "Good." },
	];
	const cwd = folder({ "script.jsonc": JSON.stringify({ replies }) });
	const flags = ["--session-dir", "sessions", "--provider", "scripted"];
	const first = await kept(startClient({ cwd, env: environment(cwd), args: [...flags, "--model", "script.jsonc", "--record", "record.jsonl"] }));
	await first.promptAndWait("go");
	await first.close();
	rmSync(join(cwd, "script.jsonc"));
	const second = await kept(startClient({ cwd, env: environment(cwd), args: [...flags, "--model", "record.jsonl", "--replay", "loose"] }));
	const { text, messages } = await second.promptAndWait("go");
	expect(text).toBe("Good.");
	expect(JSON.stringify(messages)).toContain("child was here");
});
