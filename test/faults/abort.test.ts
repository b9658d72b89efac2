/** `abort` from any state: answered in time, everything gone, the session idle and fit for the next prompt. */
import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Loopback } from "../models/loopback.ts";
import { askedBy, spoken } from "../models/wire.ts";
import { type Frame, Life } from "../torture/host.ts";
import { World } from "../torture/world.ts";

const root = join(import.meta.dirname, "../..");
const patience = 60_000;

interface State {
	/** The replies of the model. */
	replies?: object[];
	flags?: string[];
	env?: Record<string, string>;
	/** The commands to send first, and how the test knows that the state is reached. */
	say?: string;
	before?: (life: Life) => Promise<void>;
	reached: (frame: Frame) => boolean;
	/** A command that is under way, and its outcome. */
	command?: Frame & { id: string };
}

const is = (type: string) => (frame: Frame) => frame.type === type;
const call = (tool: string, args: object) => ({ blocks: [{ tool, arguments: args }] });
const bash = (command: string) => call("bash", { command });
const stubborn = "trap '' TERM INT HUP; echo up; setsid sh -c 'trap \"\" TERM; sleep 300' & (sleep 300 &) ; sleep 300; sleep 300";
const hostTools = { id: "tools", type: "set_host_tools", tools: [{ name: "host", description: "d", parameters: { type: "object" } }] };
const task = call("task", { agent: "task", tasks: ["A", "B"].map((id) => ({ id, description: id, assignment: `assignment ${id}` })) });
/** `first` as the model of the session, `then` as that of its subagents. */
const agents = (first: object, then: object) => [
	{ when: { agent: "main" }, ...first },
	{ when: { depth: 1 }, times: 2, ...then },
];
const isUp = (frame: Frame) => frame.type === "tool_execution_update" && JSON.stringify(frame.partialResult).includes("up");

const states: Record<string, State> = {
	"nothing going on": { reached: is("ready"), say: "" },
	"a model that says nothing": { replies: [{ stall: true }], reached: is("turn_start") },
	"the middle of a text": { replies: [{ text: "half a", stall: "mid-block" }], reached: is("message_update") },
	"the middle of a call's arguments": {
		replies: [{ ...call("bash", { command: "exit" }), stall: "mid-block" }],
		reached: (frame) => JSON.stringify(frame).includes("toolcall_delta"),
	},
	"a tool that ignores signals": { replies: [bash(stubborn)], reached: isUp },
	"several tools at once": {
		replies: [{ blocks: [...Array.from({ length: 4 }, () => ({ tool: "odd", arguments: { mode: "wait" } })), ...bash("sleep 300").blocks] }],
		reached: is("tool_execution_start"),
	},
	"a tool of an extension that hears nothing": { replies: [call("odd", { mode: "deaf" })], reached: is("tool_execution_start") },
	"a dialog that nobody answers": { replies: [call("odd", { mode: "ask nobody" })], reached: is("extension_ui_request") },
	"a host that never answers": {
		replies: [call("host", { mode: "never" })],
		before: async (life) => void (await life.ask(hostTools, patience)),
		reached: is("host_tool_call"),
	},
	"the wait for a retry": {
		replies: [{ fail: { status: 529 } }],
		flags: ["--set", "retry.baseDelayMs=60000"],
		reached: is("auto_retry_start"),
	},
	"an automatic compaction": {
		replies: [{ text: "long ".repeat(50), usage: { input: 9000 } }, { stall: true }],
		flags: ["--set", "compaction.thresholdTokens=4000", "--set", "compaction.keepRecentTokens=1"],
		reached: is("auto_compaction_start"),
	},
	"a compaction that was asked for": {
		replies: [{ text: "long ".repeat(50) }, { stall: true }],
		flags: ["--set", "compaction.keepRecentTokens=1"],
		before: async (life) => {
			const settled = life.until(is("agent_settled"), patience);
			life.send({ id: "first", type: "prompt", message: "first" });
			await settled;
		},
		say: "",
		command: { id: "long", type: "compact" },
		reached: (frame) => (frame.data as { isCompacting?: boolean } | undefined)?.isCompacting === true,
	},
	"an extension that does not answer a prompt": { say: "hang at input", reached: (frame) => frame.id === "go" },
	"an extension that does not let a run begin": { say: "hang before start", reached: (frame) => frame.id === "go" },
	"an extension that does not give the context": { say: "hang at context", reached: is("turn_start") },
	"an extension that does not let a tool run": { replies: [bash("echo hang at call")], reached: is("tool_execution_start") },
	"an extension that keeps a result": {
		replies: [bash("echo hang at result; touch done")],
		reached: is("tool_execution_start"),
	},
	"subagents that wait for their models": { replies: agents(task, { stall: true }), reached: is("subagent_start") },
	"subagents whose tools ignore signals": {
		replies: agents(task, bash(`touch $$.up; ${stubborn}`)),
		reached: (frame) => frame.type === "tool_execution_update" && JSON.stringify(frame).includes('"currentTool":"bash"'),
	},
};

async function play(state: State, env: Record<string, string>, modelFlags: string[] | undefined): Promise<void> {
	const world = new World();
	writeFileSync(join(world.cwd, "script.jsonc"), JSON.stringify({ replies: [...(state.replies ?? []), { text: "fine", times: "always" }] }));
	world.fault({});
	const model = modelFlags ?? ["--provider", "scripted", "--model", "script.jsonc"];
	const extension = ["--extension", join(root, "test/torture/fixtures/extension.ts")];
	const life = new Life(root, world, [...model, ...extension, "--updates", "delta", ...(state.flags ?? [])], { ...env, ...state.env });
	try {
		await life.until(is("ready"), patience);
		await state.before?.(life);
		if (state.say !== "") {
			const there = life.until(state.reached, patience);
			life.send({ id: "go", type: "prompt", message: state.say ?? "go" });
			expect(await there, life.stderr).toBeDefined();
		}
		let answered: Promise<Frame | undefined> | undefined;
		if (state.command) {
			answered = life.ask(state.command, patience);
			while (!state.reached((await life.ask({ id: "look", type: "get_state" }, patience)) ?? { type: "" }));
		}
		// Nothing that it ends would end by itself while the test lasts.
		const answer = await life.ask({ id: "stop", type: "abort" }, patience);
		expect(answer).toMatchObject({ success: true });
		expect(world.processes(life.pid)).toEqual([]);
		if (answered) expect(await answered).toMatchObject({ success: false });
		expect(await life.ask({ id: "state", type: "get_state" }, patience)).toMatchObject({ data: { isStreaming: false, isCompacting: false } });
		await expectNoTimers(life);
		const ends = (type: string) => life.trace.filter(({ way, frame }) => way === "<" && frame.type === type).length;
		// A prompt that was aborted before its run began has an end without messages and without a start.
		const lost = life.trace.filter(
			({ way, frame }) => way === "<" && frame.type === "agent_end" && (frame.messages as unknown[]).length === 0,
		).length;
		expect(ends("agent_end") - lost).toBe(ends("agent_start"));
		expect(ends("tool_execution_end")).toBe(ends("tool_execution_start"));
		if (modelFlags) return;
		const settled = life.until(is("agent_settled"), patience);
		life.send({ id: "again", type: "prompt", message: "again" });
		await settled;
		expect(JSON.stringify(life.trace.slice(-20))).toContain('"text":"fine"');
	} finally {
		await life.end("SIGKILL", patience);
		world.remove();
	}
}

async function expectNoTimers(life: Life): Promise<void> {
	const told = life.until((frame) => String(frame.message).startsWith("resources "), patience);
	life.send({ id: "resources", type: "prompt", message: "/resources" });
	expect(String((await told)?.message)).not.toContain("Timeout");
}

describe.runIf(process.platform === "linux").concurrent("abort", () => {
	test.each(Object.entries(states))("%s", (_name, state) => play(state, {}, undefined), patience);

	test(
		"a provider that takes the request and says nothing: the connection is closed",
		async () => {
			const server = await Loopback.start();
			server.answer(() => undefined);
			const { flags, env } = askedBy("anthropic", server.url, "some-key-0123456789");
			try {
				await play({ reached: is("turn_start") }, env, flags);
			} finally {
				await server.stop();
			}
		},
		patience,
	);

	test(
		"a provider that falls silent in the middle of a reply",
		async () => {
			const server = await Loopback.start();
			server.answer((response) => {
				response.writeHead(200, { "content-type": "text/event-stream" });
				response.write(spoken("chat", { text: ["one ", "two "] }).slice(0, 200));
			});
			const { flags, env } = askedBy("chat", server.url, "some-key-0123456789");
			try {
				await play({ reached: is("message_update") }, env, flags);
				await server.whenTorn();
			} finally {
				await server.stop();
			}
		},
		patience,
	);

	test(
		"an address that takes the connection and never says a word of TLS",
		async () => {
			const server = createServer(() => undefined);
			await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
			const { port } = server.address() as { port: number };
			const { flags, env } = askedBy("responses", `https://127.0.0.1:${port}`, "some-key-0123456789");
			try {
				await play({ reached: is("turn_start") }, env, flags);
			} finally {
				server.close();
			}
		},
		patience,
	);
});
