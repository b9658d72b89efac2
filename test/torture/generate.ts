/** Plans from seeds: sessions that no host would think of, with trouble of every kind in them. */
import type { Approval, CallPlan, Ending, Plan, ReplyPlan, Step } from "./plan.ts";
import { Random } from "./random.ts";

/** Commands of the shell. `sleep 301` is meant to stay in the background, `sleep 300` is not. */
const commands = [
	"echo hi",
	"exit 3",
	"sleep 0.03; echo late; echo more >&2",
	"printf 'a\\377\\000b\\033[31mred'",
	"yes line | head -c 200000",
	"kill -9 $$",
	"cat",
	"sleep 300",
	"trap '' TERM INT HUP; sleep 300; sleep 300",
	"sleep 300 & sleep 300",
	"setsid sleep 301 >/dev/null 2>&1 & echo left",
	"(trap '' TERM; sleep 301) >/dev/null 2>&1 & echo left",
	"echo throw at call",
	"echo throw at result",
];

const moments = [
	"agent_start",
	"message_start",
	"message_update",
	"message_end",
	"tool_execution_start",
	"tool_execution_update",
	"tool_execution_end",
	"turn_end",
	"host_tool_call",
	"extension_ui_request",
	"auto_retry_start",
	"auto_compaction_start",
	"queue_update",
	"agent_end",
	"agent_settled",
	"quiet",
];

const refusals: [status: number, body: string][] = [
	[400, '{"error":{"message":"bad request"}}'],
	[400, '{"error":{"message":"prompt is too long: 300000 tokens > 200000 maximum"}}'],
	[401, '{"error":{"message":"invalid x-api-key"}}'],
	[403, "no"],
	[404, '{"error":{"message":"no such model"}}'],
	[408, ""],
	[413, "request_too_large"],
	[429, '{"error":{"message":"rate limit"}}'],
	[429, '{"error":{"message":"insufficient_quota"}}'],
	[500, "<html>broken</html>"],
	[502, "upstream connect error"],
	[503, "Service Unavailable"],
	[529, '{"error":{"type":"overloaded_error","message":"Overloaded"}}'],
];

export function planFor(seed: number): Plan {
	const random = new Random(seed);
	const model = random.weighted([
		[5, "scripted"],
		[2, "anthropic"],
		[2, "chat"],
		[2, "responses"],
		[2, "google"],
	] as const);
	const plan: Plan = {
		seed,
		model,
		flags: flagsOf(random),
		replies: Array.from({ length: random.int(1, 9) }, () => replyOf(random)),
		steps: stepsOf(random),
	};
	// Chance of its own: the rest of a plan does not depend on it.
	const other = new Random(seed + 0x5eed);
	return other.chance(0.35) ? withApprovals(plan, other) : plan;
}

/** The same plan for a program that asks. */
export function withApprovals(plan: Plan, random: Random): Plan {
	return { ...plan, approvals: Array.from({ length: random.int(1, 6) }, () => random.pick(approvals)) };
}

export const approvals: Approval[] = [
	"allow",
	"allow for the session",
	"deny",
	"late",
	"too late",
	"allow, then deny",
	"deny, then allow",
	"malformed",
	"forged digest",
	"no digest",
	"mixed up",
	"unknown id",
	"never",
];

function flagsOf(random: Random): string[] {
	const flags: string[] = [];
	if (random.chance(0.5)) flags.push("--updates", "delta");
	if (random.chance(0.1)) flags.push("--no-session");
	if (random.chance(0.3)) flags.push("--interrupt-mode", "wait");
	if (random.chance(0.3)) flags.push("--set", "stream.firstEventTimeoutMs=150", "--set", "stream.idleTimeoutMs=150");
	if (random.chance(0.4)) flags.push("--set", "compaction.keepRecentTokens=20", "--set", "compaction.thresholdTokens=4000");
	if (random.chance(0.2)) flags.push("--set", "retry.maxRetries=1");
	if (random.chance(0.5)) flags.push("--set", "task.isolation.mode=worktree");
	if (random.chance(0.1)) flags.push("--set", "task.budget.maxToolCalls=4", "--set", "task.budget.maxTotalTokens=30000");
	return flags;
}

function replyOf(random: Random): ReplyPlan {
	const calls = random.chance(0.55)
		? Array.from(
				{
					length: random.weighted([
						[5, 1],
						[2, 2],
						[1, 4],
					]),
				},
				() => callOf(random),
			)
		: [];
	const reply: ReplyPlan = {
		words: random.weighted([
			[1, 0],
			[5, random.int(1, 8)],
			[1, 400],
		]),
		calls,
		ending: endingOf(random),
	};
	if (random.chance(0.3)) reply.inputTokens = 9000;
	if (random.chance(0.2)) reply.delayMs = random.int(1, 15);
	return reply;
}

function callOf(random: Random): CallPlan {
	const tool = random.weighted([
		[5, "bash"],
		[2, "read"],
		[2, "write"],
		[1, "edit"],
		[3, "odd"],
		[3, "host"],
		[1, "todo_write"],
		[2, "task"],
		[1, "nothing"],
	]);
	return { tool, arguments: argumentsOf(tool, random) };
}

function argumentsOf(tool: string, random: Random): Record<string, unknown> {
	if (random.chance(0.05)) return { unexpected: [random.int(0, 9)] };
	switch (tool) {
		case "bash":
			return { command: random.pick(commands), ...(random.chance(0.1) ? { timeout: 1 } : {}) };
		case "read":
			return { path: random.pick(["a.txt", "missing.txt", ".", "../a.txt", "/dev/zero", "big.txt"]) };
		case "write":
			return { path: random.pick(["b.txt", "sub/c.txt", ".", "a.txt/d"]), content: "x".repeat(random.int(0, 3000)) };
		case "edit":
			return { path: random.pick(["a.txt", "missing.txt"]), oldText: "one", newText: "two" };
		case "odd":
			return {
				mode: random.pick([
					"fine",
					"throw",
					"throw nothing",
					"deaf",
					"wait",
					"updates",
					"late updates",
					"ask",
					"ask nobody",
					"nonsense",
					"throw at call",
				]),
			};
		case "host":
			return { mode: random.pick(hostModes) };
		case "todo_write":
			return { ops: [{ op: "replace", phases: [{ name: "P", tasks: [{ content: `task ${random.int(1, 9)}` }] }] }] };
		case "task": {
			const ids = random.pick([["A"], ["A", "B"], ["A", "B", "C"], []]);
			const check = random.pick(["true", "false", "sleep 300", "trap '' TERM; sleep 300"]);
			const verify = random.chance(0.5) ? { verify: { commands: [{ name: "check", command: check, timeoutMs: 300 }] } } : {};
			const more = random.chance(0.4) ? { isolated: true, ...verify } : {};
			return {
				agent: random.pick(["task", "explore", "none"]),
				tasks: ids.map((id) => ({ id, description: id, assignment: random.pick(assignments) })),
				...more,
			};
		}
		default:
			return {};
	}
}

/** The assignments of subagents; the model of the plan chooses its answer by these words. */
const assignments = ["submit", "work", "stall", "fail", "stubborn", "silent", "change"];

/** How the host answers a call of its tool. */
export const hostModes = ["result", "error", "updates", "never", "twice", "malformed", "late"] as const;

function endingOf(random: Random): Ending {
	const [status, body] = random.pick(refusals);
	return random.weighted<Ending>([
		[10, { kind: "end" }],
		[1, { kind: "length" }],
		[3, { kind: "refuse", status, body }],
		[2, { kind: "stall", after: random.pick([0, 0.2, 0.6, 0.95]) }],
		[2, { kind: "cut", after: random.pick([0, 0.1, 0.5, 0.9, 0.99]) }],
		[1, { kind: "broken-json" }],
		[1, { kind: "garbage", sort: random.pick(["html", "bytes", "json", "nul", "empty"] as const) }],
	]);
}

function stepsOf(random: Random): Step[] {
	const steps: Step[] = [];
	if (random.chance(0.5)) steps.push({ do: "send", frame: hostToolsFrame("tools") });
	let number = 0;
	const count = random.int(3, 18);
	while (steps.length < count) {
		const id = `c${++number}`;
		steps.push(stepOf(random, id));
		if (random.chance(0.55)) steps.push({ do: "wait", for: random.pick(moments) });
	}
	return steps;
}

function hostToolsFrame(id: string) {
	const parameters = { type: "object", properties: { mode: { type: "string" } } };
	return { id, type: "set_host_tools", tools: [{ name: "host", description: "Asks the host.", parameters }] };
}

function stepOf(random: Random, id: string): Step {
	const send = (type: string, members: object = {}): Step => ({ do: "send", frame: { id, type, ...members } });
	const words = (kind: string) =>
		`${kind} ${id}${random.weighted([
			[20, ""],
			[1, " throw at input"],
			[1, " taken at input"],
			[1, " throw at fact"],
		])}`;
	const behaviour = random.pick([{}, {}, { streamingBehavior: "steer" }, { streamingBehavior: "followUp" }]);
	const moves: (readonly [number, () => Step])[] = [
		[30, () => send("prompt", { message: words("prompt"), ...behaviour })],
		[8, () => send("steer", { message: words("steer") })],
		[8, () => send("follow_up", { message: words("follow") })],
		[8, () => send("abort")],
		[4, () => send("abort_and_prompt", { message: words("instead") })],
		[6, () => send("bash", { command: random.pick(commands) })],
		[2, () => send("abort_bash")],
		[2, () => send("abort_retry")],
		[3, () => send("compact")],
		[3, () => send("new_session")],
		[2, () => send("clone")],
		[3, () => ({ do: "fork", id, nth: random.int(0, 3), command: random.pick(["fork", "branch"] as const) })],
		[3, () => ({ do: "switch", id, to: random.pick(["first", "same", "fresh", "no session", "no directory"] as const) })],
		[2, () => send("clear_queue")],
		[5, () => send("prompt", { message: random.pick(extensionCommands) })],
		[6, () => send(random.pick(questions))],
		[4, () => setting(random, send)],
		[2, () => ({ do: "raw", text: random.pick(lines) })],
		[1, () => send("prompt", { message: `large ${id} ${"x".repeat(300_000)}`, streamingBehavior: "followUp" })],
		[1, () => ({ do: "flood", frame: { type: random.pick(["get_state", "get_messages", "abort", "nonsense"]) }, count: 2000 })],
		[3, () => ({ do: "reader", reads: random.chance(0.5) })],
		[4, () => ({ do: "disk", fault: random.pick(["none", "ENOSPC", "EIO", "EROFS", "half", "stuck"] as const), after: random.int(0, 5) })],
		[2, () => ({ do: "clock", byMs: random.pick([-86_400_000, -1000, 3_600_000, 8 * 86_400_000]) })],
		[1, () => ({ do: "intruder" })],
		[3, () => ({ do: "end", how: random.pick(["eof", "SIGTERM", "SIGKILL"] as const) })],
	];
	return random.weighted(moves)();
}

const extensionCommands = [
	"/throw",
	"/ask select answer",
	"/ask select ignore",
	"/ask confirm cancel",
	"/ask input wrong",
	"/ask editor ignore",
	"/say something of its own",
	"/aside something beside",
	"/note something",
	"/exec",
	"/move new",
	"/move fork",
	"/move tree",
	"/move summary",
	"/move reload",
	"/move compact",
	"/move abort",
	"/move idle",
];

const questions = [
	"get_state",
	"get_messages",
	"get_session_stats",
	"get_entries",
	"get_tree",
	"get_fork_messages",
	"get_last_assistant_text",
	"get_commands",
	"get_available_models",
	"export_html",
	"cycle_thinking_level",
	"cycle_model",
];

const lines = ["{", "", "\0\0", "[]", '{"type":"no such thing","id":"x"}', '{"type":"host_tool_result","id":"none","result":{}}', "\u2028"];

function setting(random: Random, send: (type: string, members: object) => Step): Step {
	return random.pick([
		() => send("set_steering_mode", { mode: random.pick(["all", "one-at-a-time"]) }),
		() => send("set_follow_up_mode", { mode: random.pick(["all", "one-at-a-time"]) }),
		() => send("set_interrupt_mode", { mode: random.pick(["immediate", "wait"]) }),
		() => send("set_auto_retry", { enabled: random.chance(0.5) }),
		() => send("set_auto_compaction", { enabled: random.chance(0.5) }),
		() => send("set_session_name", { name: `name ${random.int(1, 99)}` }),
		() => send("set_thinking_level", { level: random.pick(["off", "low", "high"]) }),
		() => send("set_todos", { phases: [{ name: "P", tasks: [{ content: "one" }] }] }),
		() => send("set_host_tools", { tools: [] }),
	])();
}
