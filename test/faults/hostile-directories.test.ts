/** Directories made to stop the program: it always responds to its host. A prompt ends, an abort is answered, SIGTERM ends the process. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { Agent, type AgentOptions } from "../wire/support/agent.ts";

function put(path: string, content: string): void {
	mkdirSync(dirname(path), { recursive: true });
	writeFileSync(path, content);
}

function inside(spoil: (directory: string) => void, options: AgentOptions = {}): Agent {
	const directory = mkdtempSync(join(tmpdir(), "bowline-hostile-"));
	onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
	spoil(directory);
	const agent = new Agent({ script: { replies: [{ text: "fine", times: "always" }] }, ...options, cwd: directory });
	onTestFinished(() => agent.dispose());
	return agent;
}

/** The promised limit, in CPU time of the thread that reads from the host, so that a busy machine does not change it. */
const mostBusyMs = 2000;

/** How long the program's main thread has been computing. */
function busyMs({ child: { pid } }: Agent): number {
	if (process.platform !== "linux") return 0;
	const stat = readFileSync(`/proc/${pid}/task/${pid}/stat`, "latin1");
	const [user, system] = stat
		.slice(stat.lastIndexOf(")") + 2)
		.split(" ")
		.slice(11, 13)
		.map(Number) as [number, number];
	return (user + system) * 10;
}

async function answersInTime(agent: Agent, frame: { id: string; type: string }): Promise<void> {
	const before = busyMs(agent);
	agent.send(frame);
	expect(await agent.response(frame.id)).toMatchObject({ success: true });
	expect(busyMs(agent) - before).toBeLessThan(mostBusyMs);
}

async function endsInTime(agent: Agent): Promise<void> {
	agent.child.kill("SIGTERM");
	expect(await agent.exited()).toBe(143);
}

const bomb = () => {
	const lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"];
	for (let level = 1; level < 12; level += 1)
		lines.push(
			`a${level}: &a${level} [${Array(10)
				.fill(`*a${level - 1}`)
				.join(", ")}]`,
		);
	return lines.join("\n");
};
const skill = (name: string, head = "") => `---\nname: ${name}\ndescription: About ${name}.\n${head}---\nDo.`;

const traps: [what: string, lay: (directory: string) => void, said: RegExp][] = [
	[
		"heads that nearly end",
		(at) => {
			const text = `---\n${`---${" ".repeat(2000)}x\n`.repeat(450)}`;
			for (let index = 0; index < 5; index += 1) put(join(at, ".bowline/skills", `s${index}`, "SKILL.md"), text);
			put(join(at, ".bowline/prompts/p.md"), text);
		},
		/s0\/SKILL\.md: it has no description/,
	],
	[
		"aliases of aliases",
		(at) => {
			put(join(at, ".bowline/skills/bomb/SKILL.md"), skill("bomb", `${bomb()}\nargument-hint: *a11\n`));
			put(join(at, ".bowline/prompts/bomb.md"), `---\n${bomb()}\nargument-hint: *a11\n---\nDo.`);
		},
		/more than 5000 values/,
	],
	[
		"ignore rules that explode",
		(at) => {
			put(join(at, ".bowline/skills/.gitignore"), `${"a/**/".repeat(160)}b\n`.repeat(200));
			for (let index = 0; index < 20; index += 1) put(join(at, ".bowline/skills", ..."a".repeat(11).split(""), `${index}.md`), "x");
		},
		/^$|searching took/,
	],
	[
		"170,000 ignore rules",
		(at) => {
			put(join(at, ".bowline/skills/.gitignore"), "x/**/y\n".repeat(140_000));
			put(join(at, ".bowline/skills/one/SKILL.md"), skill("one"));
		},
		/\.gitignore is not used: it is larger than 256 KB/,
	],
	[
		"links to the root of the disk",
		(at) => {
			mkdirSync(join(at, ".bowline"), { recursive: true });
			mkdirSync(join(at, ".agents/skills"), { recursive: true });
			symlinkSync("/", join(at, ".bowline/skills"));
			symlinkSync("/", join(at, ".agents/skills/root"));
		},
		/is not searched: it is a link out of a project/,
	],
	[
		"thousands of skills",
		(at) => {
			for (let index = 0; index < 700; index += 1) put(join(at, ".bowline/skills", `s${index}`, "SKILL.md"), skill(`s${index}`));
		},
		/and what comes after it is not used: (there are more than 500 files|searching took|reading took)/,
	],
	[
		"pipes in the place of every file that is read",
		(at) => {
			const names = [
				"AGENTS.md",
				"CLAUDE.md",
				".mcp.json",
				".gitignore",
				"package.json",
				".bowline/settings.jsonc",
				".bowline/SYSTEM.md",
				".bowline/skills/.gitignore",
				".bowline/skills/one/SKILL.md",
				".bowline/prompts/p.md",
				".bowline/rules/r.md",
				".bowline/agents/a.md",
				".bowline/extensions/e.ts",
			];
			for (const name of names) mkdirSync(dirname(join(at, name)), { recursive: true });
			execFileSync(
				"mkfifo",
				names.map((name) => join(at, name)),
			);
		},
		/settings\.jsonc: it is not a regular file.*AGENTS\.md is not used: it is not a regular file.*\.mcp\.json cannot be read: it is not a regular file\. No MCP/s,
	],
	[
		"a settings file of dots",
		(at) => put(join(at, ".bowline/settings.jsonc"), JSON.stringify({ ["a.".repeat(450_000)]: 1, "retry.maxRetries": 1e9 })),
		/^Warning: project settings: there is no setting (a\.){1,60}….\n$/,
	],
];

describe("a directory with", () => {
	test.each(traps)("%s", { timeout: 60_000 }, async (_what, lay, said) => {
		const agent = inside(lay);
		agent.send({ id: "1", type: "prompt", message: "hi" });
		await answersInTime(agent, { id: "2", type: "abort" });
		await answersInTime(agent, { id: "3", type: "get_commands" });
		agent.send({ id: "4", type: "prompt", message: "again" });
		await agent.until((frame) => frame.type === "agent_end" && JSON.stringify(frame).includes('"text":"fine"'));
		expect(agent.stderr).toMatch(said);
		await endsInTime(agent);
	});
});

const searching: [what: string, call: { tool: string; arguments: object }][] = [
	["grep for a pattern that explodes", { tool: "grep", arguments: { pattern: "^(a+)+$" } }],
	["find with a glob that explodes", { tool: "find", arguments: { pattern: "+(*a|*aa)b" } }],
	["find in a directory of many names", { tool: "find", arguments: { pattern: "**/*zzz*" } }],
];

describe("without ripgrep an abort and SIGTERM reach", () => {
	test.each(searching)("%s", { timeout: 60_000 }, async (_what, call) => {
		const agent = inside(
			(at) => {
				put(join(at, "a.txt"), `${"a".repeat(60)}!\n`);
				for (let index = 0; index < 3000; index += 1) writeFileSync(join(at, `${"a".repeat(100)}${index}!`), "");
			},
			{
				flags: ["--tools", "grep,find"],
				env: { BOWLINE_RG: "off" },
				script: {
					replies: [
						{ when: { text: "hi" }, times: 2, blocks: [call, call, call] },
						{ text: "fine", times: "always" },
					],
				},
			},
		);
		agent.send({ id: "1", type: "prompt", message: "hi" });
		await agent.event("tool_execution_start");
		await answersInTime(agent, { id: "2", type: "get_state" });
		await answersInTime(agent, { id: "3", type: "abort" });
		agent.send({ id: "4", type: "prompt", message: "hi" });
		await agent.event("tool_execution_start");
		await endsInTime(agent);
	});
});

test("a project that is not trusted cannot make it ask a provider for ever", { timeout: 60_000 }, async () => {
	const agent = inside(
		(at) => put(join(at, ".bowline/settings.jsonc"), JSON.stringify({ retry: { maxRetries: 1e9, baseDelayMs: 0, maxDelayMs: 1e12 } })),
		{ script: { replies: [{ fail: { status: 529, body: "overloaded" }, times: "always" }] } },
	);
	agent.send({ id: "1", type: "prompt", message: "hi" });
	await agent.event("agent_settled");
	const starts = agent.frames.filter(({ type }) => type === "auto_retry_start");
	expect(starts.map(({ maxAttempts }) => maxAttempts)).toEqual([3, 3, 3]);
});

test("names in a directory reach stderr without terminal sequences", { timeout: 60_000 }, async () => {
	const agent = inside((at) => {
		put(join(at, ".bowline/skills/\u001b[2J\u001b]0;owned\u0007.md"), "no description");
		put(join(at, ".bowline/prompts/a b\u009b31m\n.md"), "x");
	});
	agent.send({ id: "1", type: "get_commands" });
	await agent.response("1");
	await endsInTime(agent);
	expect(agent.stderr).toContain("\\x1b[2J\\x1b]0;owned\\x07.md");
	expect(["\u001b", "\u0007", "\u009b"].filter((control) => agent.stderr.includes(control))).toEqual([]);
});

test.runIf(process.platform === "linux")("SIGUSR1 opens no debugger", { timeout: 60_000 }, async () => {
	const agent = inside(() => undefined);
	await agent.event("ready");
	agent.child.kill("SIGUSR1");
	await answersInTime(agent, { id: "1", type: "get_state" });
	const listening = readFileSync(`/proc/${agent.child.pid}/net/tcp`, "utf8");
	expect(listening).not.toMatch(/0100007F:240D 00000000:0000 0A/);
	expect(agent.stderr).not.toContain("Debugger");
	await endsInTime(agent);
});

test.runIf(process.platform === "linux")("pipes that nobody reads do not keep the process from ending", { timeout: 60_000 }, async () => {
	const writes = Array.from({ length: 6 }, (_, index) => ({ tool: "write", arguments: { path: `pipe${index}`, content: "x" } }));
	const agent = inside(
		(at) => {
			for (let index = 0; index < 6; index += 1) execFileSync("mkfifo", [join(at, `pipe${index}`)]);
		},
		{
			script: {
				replies: [{ when: { text: "hi" }, blocks: [...writes, { tool: "write", arguments: { path: "file", content: "x" } }] }, { text: "fine" }],
			},
		},
	);
	agent.send({ id: "1", type: "prompt", message: "hi" });
	await agent.event("agent_settled");
	const ends = agent.frames.filter(({ type }) => type === "tool_execution_end");
	expect(ends.map(({ isError }) => isError)).toEqual([...Array(6).fill(true), false]);
	await endsInTime(agent);
});

test("a long output with a directory for temporary files that cannot be used is not an error", { timeout: 60_000 }, async () => {
	const agent = inside((at) => put(join(at, "file"), ""), {
		env: { TMPDIR: "/dev/null/nowhere" },
		script: { replies: [{ blocks: [{ tool: "bash", arguments: { command: "seq 1 3000" } }] }, { text: "fine" }] },
	});
	agent.send({ id: "1", type: "prompt", message: "hi" });
	const end = await agent.event("tool_execution_end");
	expect(end).toMatchObject({ isError: false, result: { details: { fullOutputPath: null } } });
	expect(JSON.stringify(end)).toContain("The full output could not be kept");
});
