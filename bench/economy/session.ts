/**
 * One long session, step by step: work with steering, a plan, another thinking level, an MCP server that comes late, a subagent, twelve calls at
 * once, a kill and a resume, a fork, a compaction, and what comes after it.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Reply } from "../../test/models/wire.ts";
import { ask, Place, prompt } from "./place.ts";
import { type Asked, partsOf } from "./prompt-cache.ts";
import { type Played, Recorder } from "./recorder.ts";
import { TokenCounter } from "./tokens.ts";

/** The steps, and how many requests of each have to lose what was cached. */
export const steps: Readonly<Record<string, number>> = {
	work: 0,
	plan: 0,
	// Another level voids the messages.
	"thinking level": 1,
	// Its tools come before everything else.
	"late MCP server": 1,
	subagent: 0,
	"twelve calls": 0,
	after: 0,
	resume: 0,
	fork: 0,
	compaction: 0,
	// A summary takes the place of messages.
	"after compaction": 1,
};

const codeLine = (file: number, line: number) => `export function f${file}_${line}(a, b) { return a * ${line} + b - ${file}; } // step ${line}\n`;
const code = (file: number) => Array.from({ length: 150 }, (_, line) => codeLine(file, line)).join("");
const files = Object.fromEntries([1, 2, 3, 4, 5, 6].map((file) => [`f${file}.js`, code(file)]));

const say = (text: string): Reply => ({ text: [text] });
const call = (name: string, args: object) => ({ name, arguments: [JSON.stringify(args)] });
const calls = (name: string, args: object): Reply => ({ call: call(name, args) });
const bash = (command: string) => calls("bash", { command });
const read = (file: number) => calls("read", { path: `f${file}.js`, offset: 1, limit: 150 });
const edit = (file: number, line: number, newText: string) =>
	calls("edit", { path: `f${file}.js`, edits: [{ oldText: codeLine(file, line), newText }] });

/** Calls the tool for plans with this many tasks done, in the shape that it asks for: operations, or the whole list. */
const plan =
	(done: number): Played =>
	({ tools = [] }: Asked) => {
		const tasks = ["Read the files", "Change f1", "Test"];
		const tool = tools.find(({ name }) => name === "todo_write");
		const [member = ""] = Object.keys(tool?.input_schema?.properties ?? {});
		if (member !== "ops") {
			const statuses = tasks.map((_, index) => (index < done ? "completed" : index === done ? "in_progress" : "pending"));
			return calls("todo_write", { [member]: tasks.map((content, index) => ({ content, status: statuses[index] })) });
		}
		const first = { op: "replace", phases: [{ name: "Work", tasks: tasks.map((content) => ({ content })) }] };
		return calls("todo_write", { ops: [done === 0 ? first : { op: "update", id: `task-${done}`, status: "completed" }] });
	};

const summary = "## Goal\nFinish MAINTASK. The files f1.js to f6.js were read; f1.js and f2.js changed.";

/** Reads a few lines, then hands its result in. */
const counting = ({ messages }: Asked): Reply =>
	messages.length === 1 ? calls("read", { path: "f1.js", limit: 5 }) : calls("submit_result", { result: { data: "six files" } });

export interface SessionOptions {
	/** Empty. */
	folder: string;
	/** The `bowline.js` that is measured. */
	program?: string;
	/** The file of the tests' small MCP server. */
	server: string;
}

/** Plays the session. Returns what the provider saw. */
export async function playSession({ folder, program, server }: SessionOptions): Promise<Recorder> {
	const recorder = await Recorder.start(new TokenCounter());
	recorder.summary = say(summary);
	recorder.subagent = counting;
	const gate = join(folder, "gate");
	const slow = { command: process.execPath, args: [server, `slowUntil=${gate}`], tools: ["echo"] };
	const settings = { "compaction.keepRecentTokens": 4000, mcpServers: { slow } };
	const place = new Place({ folder, program, recorder, files, settings });
	try {
		await play(recorder, place, gate);
		recorder.end();
		recorder.problems.push(...failedCalls(recorder));
	} finally {
		await place.close();
		await recorder.stop();
	}
	return recorder;
}

/** Returns what tools refused: a call that a tool does not take any more makes the figures worthless. */
function failedCalls({ recorded }: Recorder): string[] {
	return recorded.flatMap(({ step, request }) => {
		const last = partsOf(request.messages.at(-1)?.content ?? "");
		return last.filter(({ is_error }) => is_error === true).map(({ content }) => `${step}: a call failed: ${JSON.stringify(content)}`);
	});
}

async function play(recorder: Recorder, place: Place, gate: string): Promise<void> {
	// The server does not come before the gate is open: nobody waits for it.
	let agent = place.agent("--set", "mcp.waitMs=1");
	const step = (name: string, message: string, replies: Played[], meanwhile?: () => Promise<void>) => {
		recorder.begin({ step: name, replies });
		return prompt(agent, message, meanwhile);
	};

	const steer = async () => {
		await agent.until(({ type, args }) => type === "tool_execution_start" && JSON.stringify(args).includes("steered"));
		await ask(agent, { type: "steer", message: "Steering: keep the names short." });
		writeFileSync(place.path("steered"), "");
	};
	const working = [
		...[bash("ls -la"), read(1), read(2), bash("wc -l *.js"), edit(1, 3, "export const x = 1;\n"), bash("node --check f1.js && echo fine")],
		...[bash("until [ -e steered ]; do sleep 0.02; done; echo slept"), read(3), edit(2, 5, "export const y = 1;\n")],
		...[bash("node --check f2.js && echo fine"), say("First part done.")],
	];
	await step("work", "MAINTASK: tidy the files f1.js to f6.js.", working, steer);
	const planning = [plan(0), bash("echo working"), plan(1), bash("echo more"), plan(2), plan(3), say("Plan kept.")];
	await step("plan", "Make a plan and follow it.", planning);
	await ask(agent, { type: "set_thinking_level", level: "high" });
	await step("thinking level", "Think harder about f4.js.", [read(4), say("Thought.")]);

	writeFileSync(gate, "");
	await agent.until(({ type, status }) => type === "mcp_server_update" && status === "ready");
	await step("late MCP server", "Go on.", [bash("echo the server is here"), say("Ok.")]);
	const tasks = [{ id: "Look1", description: "Look around", assignment: "List the files and say how many." }];
	await step("subagent", "Send a subagent to count the files.", [calls("task", { agent: "explore", tasks }), say("The subagent is done.")]);
	const twelve = Array.from({ length: 12 }, (_, index) => call("bash", { command: `sed -n ${index * 10 + 1},${index * 10 + 6}p f5.js` }));
	await step("twelve calls", "Look at twelve places at once.", [{ calls: twelve }, say("Looked.")]);
	await step("after", "And again.", [bash("echo again"), say("Ok.")]);

	const { sessionFile } = await ask(agent, { type: "get_state" });
	agent.kill("SIGKILL");
	await agent.exited();
	agent = place.agent("--session", String(sessionFile));
	await step("resume", "Are you back?", [bash("echo resumed"), say("Back.")]);
	agent.endInput();
	await agent.exited();
	agent = place.agent("--fork", String(sessionFile));
	await step("fork", "Go another way.", [bash("echo forked"), say("Forked.")]);

	recorder.begin({ step: "compaction", replies: [], isSummary: true });
	await ask(agent, { type: "compact" });
	await step("after compaction", "Continue MAINTASK.", [read(6), bash("echo after"), say("Ok.")]);
}
