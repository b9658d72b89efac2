/** Runs on a disk that fails at random: the reported messages, the context and the file are the same. */
import { writeSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { LoopInput, StreamFunction, Tool } from "../../src/agent/contracts.ts";
import { Doors } from "../../src/agent/doors.ts";
import { agentLoop } from "../../src/agent/loop.ts";
import { stderrLog } from "../../src/lib/log.ts";
import { ReplyBuilder } from "../../src/models/builder.ts";
import { scriptedModel } from "../../src/models/scripted/model.ts";
import type { AgentEvent } from "../../src/protocol/events.ts";
import type { AgentMessage, UserMessage } from "../../src/protocol/messages.ts";
import { Conversation } from "../../src/session/conversation.ts";
import { Inbox } from "../../src/session/inbox.ts";
import { WriteAhead } from "../../src/session/write-ahead.ts";
import { openTranscript } from "../../src/transcript/open.ts";
import { folder, partsOf, transcriptsIn, user } from "./support.ts";

const tool: Tool = {
	name: "work",
	label: "work",
	effect: { kind: "run" },
	offered: "default",
	description: "",
	parameters: {},
	concurrency: "shared",
	execute: async () => ({ content: [{ type: "text", text: "done" }] }),
};

/** The number of calls in each reply; the last reply has none. */
function playing(calls: number[]): StreamFunction {
	let next = 0;
	return async (request, { onEvent }) => {
		const builder = new ReplyBuilder(request.model, 0, onEvent);
		const count = calls[next++] ?? 0;
		builder.close(builder.open({ type: "text", text: `reply ${next}` }));
		for (let n = 0; n < count; n++) builder.close(builder.open({ type: "toolCall", id: `${next}.${n}`, name: "work", arguments: {} }));
		builder.done(count ? "toolUse" : "stop");
	};
}

function balanceOf(events: AgentEvent[]): string[] {
	const open: string[] = [];
	for (const { type } of events) {
		const [, what, edge] = /^(agent|turn|message)_(start|end)$/.exec(type) ?? [];
		if (edge === "start") open.push(what as string);
		else if (edge === "end") expect(open.pop()).toBe(what);
	}
	return open;
}

test("whatever write fails in whatever run", async () => {
	const place = folder();
	let round = 0;
	const run = fc.record({
		faults: fc.array(fc.constantFrom("ok", "ok", "ENOSPC", "half"), { maxLength: 8 }),
		queued: fc.array(fc.boolean(), { maxLength: 2 }),
	});
	await fc.assert(
		fc.asyncProperty(fc.array(run, { minLength: 1, maxLength: 4 }), fc.array(fc.nat(3), { maxLength: 6 }), async (runs, calls) => {
			let faults: string[] = [];
			const write = (descriptor: number, bytes: Buffer) => {
				const fault = faults.shift();
				if (fault === "half") {
					faults.unshift("ENOSPC");
					return writeSync(descriptor, bytes.subarray(0, bytes.length / 2));
				}
				if (fault === "ENOSPC") throw Object.assign(new Error(fault), { code: fault });
				return writeSync(descriptor, bytes);
			};
			const transcript = transcriptsIn(place, write).create(undefined, { path: join(place, `${++round}.jsonl`) });
			const conversation = new Conversation(transcript, () => 0);
			const inbox = new Inbox("one-at-a-time", "one-at-a-time", () => undefined);
			const stream = playing(calls);
			const owed: string[] = [];
			const told: AgentMessage[] = [];
			for (const [index, { faults: planned, queued }] of runs.entries()) {
				faults = [...planned];
				const events: AgentEvent[] = [];
				conversation.answerOpenCalls();
				for (const [n, isSteering] of queued.entries()) {
					inbox.add(isSteering ? "steering" : "followUp", user(`queued ${index}.${n}`) as UserMessage);
					owed.push(`queued ${index}.${n}`);
				}
				const writeAhead = new WriteAhead(conversation, inbox, (event) => void events.push(event), stderrLog());
				const input: LoopInput = {
					next: { from: "prompt", messages: [user(`prompt ${index}`)] },
					turn: {},
					context: () => conversation.messages,
					setup: async () => ({ model: scriptedModel("x"), thinkingLevel: "off", systemPrompt: "", tools: [tool] }),
					stream: writeAhead.storing(stream),
					validate: async (_, args) => ({ args }),
					queues: writeAhead.queues,
					interruptMode: () => "wait",
					doors: new Doors([writeAhead.policy]),
					sessionId: () => "s",
					redact: (text) => text,
					flow: { isOpen: true, whenOpen: async () => undefined },
					signal: new AbortController().signal,
					now: () => 0,
				};
				const outcome = await agentLoop(input, writeAhead.emit);
				expect(balanceOf(events)).toEqual([]);
				const ended = events.flatMap((event) => (event.type === "message_end" ? [event.message] : []));
				const last = ended.at(-1);
				const hasFailed = last?.role === "assistant" && (last.errorMessage?.startsWith("Session file could not be written: ENOSPC") ?? false);
				expect(outcome.failure).toEqual(hasFailed ? { kind: "permanent" } : undefined);
				expect(events.findLast((event) => event.type === "agent_end")).toMatchObject({ messages: ended });
				told.push(...(hasFailed ? ended.slice(0, -1) : ended));
			}
			const isFilled = (message: AgentMessage) => message.role === "toolResult" && message.isError;
			expect(conversation.messages.filter((message) => !isFilled(message))).toEqual(told);
			faults = [];
			conversation.add(user("the end"));
			const file = openTranscript(transcript.file as string, { ...partsOf("/"), mode: "read" });
			expect(file?.path().flatMap((entry) => (entry.type === "message" ? [entry.message] : []))).toEqual(conversation.messages);
			// A queued message is delivered once, or still there.
			const delivered = told.flatMap((message) => (message.role === "user" ? [(message.content[0] as { text: string }).text] : []));
			const { steering, followUp } = inbox.texts;
			expect([...delivered.filter((text) => text.startsWith("queued")), ...steering, ...followUp].sort()).toEqual(owed.sort());
			transcript.close();
		}),
		{ numRuns: 200 },
	);
});
