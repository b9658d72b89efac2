/** Tests of the checks: they notice each broken promise. */
import { expect, test } from "vitest";
import { digestOf } from "../../src/lib/canonical-json.ts";
import { checkFrames } from "./check-frames.ts";
import { pairing } from "./check-sessions.ts";
import type { Happening, Life } from "./host.ts";

const out = (type: string, members: object = {}): Happening => ({ at: 0, way: "<", frame: { type, ...members } });
const sent = (id: string, type: string, members: object = {}): Happening => ({ at: 0, way: ">", frame: { id, type, ...members } });
const noted = (type: string, members: object = {}): Happening => ({ at: 0, way: "!", frame: { type, ...members } });
const answer = (id: string, members: object = {}): Happening => out("response", { id, success: true, ...members });
const said = (role: string, members: object = {}): Happening[] => [
	out("message_start", { message: { role, ...members } }),
	out("message_end", { message: { role, ...members } }),
];
const user = (text: string) => said("user", { content: [{ type: "text", text }] });

/** A prompt, a reply with a call, and its end. */
const good: Happening[] = [
	out("ready"),
	sent("1", "prompt", { message: "hello" }),
	answer("1", { data: { disposition: "started" } }),
	out("agent_start"),
	out("turn_start"),
	...user("hello"),
	...said("assistant", { content: [] }),
	out("tool_execution_start", { toolCallId: "c1" }),
	out("tool_execution_end", { toolCallId: "c1" }),
	...said("toolResult", { toolCallId: "c1" }),
	out("turn_end"),
	out("agent_end"),
	out("agent_settled"),
];

function problems(trace: Happening[], more: Partial<Life> = {}): string[] {
	const life = { trace, hadTrouble: false, wasCalmed: false, stderr: "", ending: { how: "eof", code: 0, tookMs: 1 }, ...more };
	return checkFrames(life as unknown as Life);
}

const subject = { v: 1, kind: "command", tool: "bash", args: { command: "ls" }, cwd: "/w", targets: [], sandbox: "off" };
const digest = digestOf(subject);
const ending = (trace: Happening[]) => [...trace, out("turn_end"), out("agent_end"), out("agent_settled")];
const untilCall = good.slice(
	0,
	good.findIndex(({ frame }) => frame.type === "tool_execution_start"),
);
const ran = (isError = false) => [out("tool_execution_end", { toolCallId: "c1", isError }), ...said("toolResult", { toolCallId: "c1" })];
const response = (members: object = {}) => sent("q", "permission_response", { digest, decision: "allow", ...members });
const resolved = (members: object = {}) =>
	out("permission_resolved", { id: "q", toolCallId: "c1", digest, outcome: "allowed", by: "host", ...members });
/** A program that asks about its call. */
const asked = (...rest: Happening[]) =>
	ending([
		sent("h", "hello"),
		answer("h"),
		...untilCall,
		out("tool_execution_start", { toolCallId: "c1", toolName: "bash", args: { command: "ls" } }),
		...rest,
	]);
const question = (members: object = {}) => out("permission_request", { id: "q", toolCallId: "c1", subject, digest, origin: [], ...members });

const without = (...types: string[]) => good.filter(({ frame }) => !types.includes(frame.type));
const twice = (type: string) => good.flatMap((each) => (each.frame.type === type ? [each, each] : [each]));

test("what is right is right", () => expect(problems(good)).toEqual([]));

test("a question that was answered is right", () => {
	expect(problems(asked(question(), response(), resolved(), ...ran()))).toEqual([]);
	expect(problems(asked(question(), response({ decision: "deny" }), resolved({ outcome: "denied" }), ...ran(true)))).toEqual([]);
});

test.each<[what: string, trace: Happening[], noticed: string]>([
	["a question that is not closed", asked(question(), ...ran(true)), "the question q was never closed"],
	["a question that is closed twice", asked(question(), response(), resolved(), resolved(), ...ran()), "the question q was closed twice"],
	["a question that was not asked is closed", asked(resolved(), ...ran(true)), "q was closed and never asked"],
	["a call without a question", asked(...ran()), "bash ran in c1 without a question"],
	["a call that was denied and ran", asked(question(), response(), resolved({ outcome: "denied" }), ...ran()), "bash ran in c1, which was denied"],
	["a call that ran while the question was open", asked(question(), ...ran(), response(), resolved()), "which was still open"],
	["an approval by nobody", asked(question(), resolved(), ...ran()), "q was allowed, and the first answer was undefined"],
	["an approval with a forged digest", asked(question(), response({ digest: "x" }), resolved(), ...ran()), "q was allowed, and the first answer"],
	[
		"an approval after a denial",
		asked(question(), response({ decision: "deny" }), response(), resolved(), ...ran()),
		"q was allowed, and the first answer",
	],
	["a grant that was not given", asked(question(), response(), resolved({ by: "session" }), ...ran()), "the host granted nothing"],
	["a digest of something else", asked(question({ subject: {} }), response(), resolved(), ...ran()), "does not fit its subject"],
])("%s is noticed", (_what, trace, noticed) => expect(problems(trace).join("\n")).toContain(noticed));

test.each<[what: string, trace: Happening[], noticed: string, more?: Partial<Life>]>([
	["a run without an end", without("agent_end", "agent_settled"), "a run has no end"],
	["a run that ends twice", twice("agent_end"), "agent_end without agent_start"],
	["a period that is not settled", without("agent_settled"), "a busy period was not settled"],
	["a period that is settled twice", twice("agent_settled"), "agent_settled without a run before it"],
	["a turn without an end", without("turn_end"), "agent_end with something open"],
	["a call without an end", without("tool_execution_end"), "turn_end outside a turn or with open calls"],
	[
		"a call without a result",
		good.filter(({ frame }) => (frame.message as { role?: string })?.role !== "toolResult"),
		"agent_end without the results of c1",
	],
	["a message without an end", good.filter(({ frame }) => frame.type !== "message_end"), "inside another message"],
	["an update behind the end", [...good, out("tool_execution_update", { toolCallId: "c1" })], "tool_execution_update of c1, which is not running"],
	["a retry without an end", [...good, out("auto_retry_start")], "a retry has no end"],
	["a subagent without an end", [...good, out("subagent_start", { id: "0-A" })], "the subagent 0-A has no end"],
	["stdout that is no frame", [...good, out("not a frame", { line: "debug" })], "stdout carries what is no frame"],
	["a command without an answer", [...good, sent("2", "get_state")], "get_state 2 was not answered"],
	["a command with two answers", [...good, sent("2", "get_state"), answer("2"), answer("2")], "get_state 2 was answered 2 times"],
	["a prompt that is lost", [...good, sent("2", "prompt", { message: "lost" }), answer("2")], '"lost" was accepted and nothing came of it'],
	["a message that comes twice", [...good.slice(0, 6), ...user("hello"), ...good.slice(6)], '"hello" was delivered 2 times'],
	["a process that crashed", good, "it ended with 1", { ending: { how: "eof", code: 1, tookMs: 1 } }],
	["a bug that it noticed itself", good, "it noticed a bug of its own", { stderr: "bowline: unexpected error: x" }],
	[
		"a timer that is left",
		[...good, out("extension_ui_request", { message: 'resources ["Timeout"]' }), answer("calm state", idle(0))],
		"timers are left",
		{ wasCalmed: true },
	],
	[
		"a process that is left",
		[...good, answer("calm state", idle(0)), noted("children", { lines: ["sleep 300"] })],
		"these run: sleep 300",
		{ wasCalmed: true },
	],
	["a count that is wrong", [...good, answer("calm state", idle(1))], "1 messages are counted as queued", { wasCalmed: true }],
	["a session that stays busy", [...good, answer("calm state", { data: { isStreaming: true } })], "after an abort it is busy", { wasCalmed: true }],
])("%s is noticed", (_what, trace, noticed, more) => {
	expect(problems(trace, more).join("\n")).toContain(noticed);
});

function idle(count: number): object {
	return { data: { isStreaming: false, isCompacting: false, pendingMessageCount: count } };
}

test("a killed process may leave everything open, but says nothing twice", () => {
	const killed = { ending: { how: "SIGKILL", code: null, tookMs: 1 } } as const;
	expect(problems(without("agent_end", "agent_settled", "turn_end"), killed)).toEqual([]);
	expect(problems(twice("agent_end"), killed)).not.toEqual([]);
});

test("calls and results that do not belong together are noticed", () => {
	const call = (id: string) => ({ type: "toolCall", id, name: "t", arguments: {} });
	const reply = { role: "assistant", content: [call("1"), call("2")] };
	const result = (toolCallId: string) => ({ role: "toolResult", toolCallId });
	const check = (...messages: object[]) => pairing(messages as never);
	expect(check(reply, result("1"), result("2"), { role: "user" })).toEqual([]);
	expect(check(reply, result("2"), result("1"))).not.toEqual([]);
	expect(check(reply, result("1"), { role: "user" })).not.toEqual([]);
	expect(check(result("1"))).not.toEqual([]);
});
