/** What a killed process had begun gets its ends, exactly once, whoever finds it. */
import { rmSync } from "node:fs";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { OutboundFrame } from "../../src/protocol/frames.ts";
import type { AgentMessage } from "../../src/protocol/messages.ts";
import { balanceClosedLog } from "../../src/transcript/balance-log.ts";
import { frameText, linesOfLog, TranscriptBodies } from "../../src/transcript/event-frames.ts";
import { EventLog, eventLogPath } from "../../src/transcript/event-log.ts";
import type { Transcript } from "../../src/transcript/transcript.ts";
import { assistant, call, folder, result, said, transcriptsIn, user } from "./support.ts";

let cwd: string;
let transcript: Transcript;
let log: EventLog;
const ids = new Map<AgentMessage, string>();
const now = () => 5000;

beforeEach(() => {
	cwd = folder();
	transcript = transcriptsIn(cwd).create();
	store(user("go"));
	store(assistant("well"));
	transcript.store(true);
	log = new EventLog({ sessionId: transcript.sessionId, path: eventLogPath(transcript.file as string), hasHistory: false, now });
});
afterEach(() => {
	transcript.close();
	rmSync(cwd, { recursive: true, force: true });
});

function store(message: AgentMessage): AgentMessage {
	ids.set(message, transcript.append(said(message)).id);
	return message;
}

/** Frames that the process sent before it was killed. */
function killedAfter(runs: string[], ...frames: OutboundFrame[]): void {
	for (const runId of runs) log.run({ runId, key: `key of ${runId}` });
	for (const frame of frames) {
		const { text, isInline } = frameText(frame, (message) => ids.get(message), transcript.leafId);
		log.keep(log.next() as number, text, isInline);
	}
	log.flush();
	log.close();
}

const types = (frames: readonly OutboundFrame[]) => frames.map(({ type }) => type);
/** All that a reader gets from the log. */
function read(): OutboundFrame[] {
	const reader = new EventLog({ sessionId: "", path: log.path, hasHistory: false, now, isReader: true });
	return [...linesOfLog(reader, new TranscriptBodies(transcript), 0, Number.MAX_SAFE_INTEGER)].map(({ line }) => JSON.parse(line));
}

test("a run in the middle of a call: the call, the turn, the run and its account end, once", () => {
	const question = store(user("again"));
	const reply = store(call("c1", "c2"));
	const done = store(result("c1"));
	killedAfter(
		["r_1"],
		{ type: "agent_start", runId: "r_1" },
		{ type: "turn_start", turnIndex: 0 },
		{ type: "message_start", message: question },
		{ type: "message_end", message: question },
		{ type: "message_start", message: reply },
		{ type: "message_end", message: reply },
		{ type: "tool_execution_start", toolCallId: "c1", toolName: "bash", args: {} },
		{ type: "tool_execution_start", toolCallId: "c2", toolName: "bash", args: {} },
		{ type: "tool_execution_end", toolCallId: "c1", toolName: "bash", result: { content: [], details: {} }, isError: false },
		{ type: "message_start", message: done },
		{ type: "message_end", message: done },
	);
	const last = log.last;
	const added = balanceClosedLog(transcript, { now });
	expect(types(added)).toEqual(["tool_execution_end", "turn_end", "agent_end", "agent_settled", "run_result"]);
	expect(added[0]).toMatchObject({ toolCallId: "c2", isError: true });
	expect(added.at(-1)).toMatchObject({ runId: "r_1", key: "key of r_1", status: "interrupted" });
	// Numbers of a reservation of their own.
	expect((added as { seq: number }[]).map(({ seq }) => seq > 4096 && seq > last)).not.toContain(false);
	const frames = read();
	expect(types(frames).slice(-5)).toEqual(types(added));
	expect(frames.at(-3)).toMatchObject({ type: "agent_end", messages: [question, reply, done] });
	expect(balanceClosedLog(transcript, { now })).toEqual([]);
	expect(read()).toEqual(frames);
});

test("a reply that was cut ends as an error; one that was stored and not told of is told", () => {
	const question = store(user("again"));
	const shell = assistant("", { content: [] });
	killedAfter(
		["r_1"],
		{ type: "agent_start", runId: "r_1" },
		{ type: "turn_start", turnIndex: 0 },
		{ type: "message_start", message: question },
		{ type: "message_end", message: question },
		{ type: "message_start", message: shell },
	);
	const stored = store(assistant("it was stored"));
	transcript.store(true);
	const added = balanceClosedLog(transcript, { now });
	expect(types(added)).toEqual(["message_end", "turn_end", "agent_end", "agent_settled", "run_result"]);
	expect(added[0]).toMatchObject({ message: stored });
});

test("dialogs, questions and subagents end; a dialog that was answered is not withdrawn", () => {
	const dialog = (id: string): OutboundFrame => ({ type: "extension_ui_request", id, method: "confirm", title: "Sure?", message: "" });
	log.closed("d1");
	killedAfter(
		["r_1", "r_2"],
		{ type: "agent_start", runId: "r_1" },
		dialog("d1"),
		dialog("d2"),
		{ type: "subagent_start", id: "a1", agent: "task", isolated: false } as OutboundFrame,
		{ type: "compaction_start", reason: "manual" },
	);
	const added = balanceClosedLog(transcript, { now });
	expect(added.map((frame) => ("targetId" in frame ? frame.targetId : frame.type))).toEqual([
		"d2",
		"subagent_end",
		"agent_end",
		"compaction_end",
		"agent_settled",
		"run_result",
		"run_result",
	]);
});

test("a log that ended in order, and one that is not there, stay as they are", () => {
	log.run({ runId: "r_1" });
	for (const frame of [
		{ type: "agent_start", runId: "r_1" },
		{ type: "agent_settled", aborted: false },
	])
		log.keep(log.next() as number, JSON.stringify(frame));
	log.idle();
	log.end();
	expect(balanceClosedLog(transcript, { now })).toEqual([]);
	expect(types(read())).toEqual(["agent_start", "agent_settled"]);
	rmSync(log.path as string);
	expect(balanceClosedLog(transcript, { now })).toEqual([]);
});
