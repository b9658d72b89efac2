/** Any session, compacted in any way at any moment: every start has its end, every request is whole, and no message is lost. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { ModelRequest, StreamFunction, Tool } from "../../../src/agent/contracts.ts";
import { ReplyBuilder } from "../../../src/models/builder.ts";
import { scriptedModel } from "../../../src/models/scripted/model.ts";
import { type CompactionPolicy, compactionPolicy } from "../../../src/policies/compaction/policy.ts";
// Loaded lazily by the policy; here in advance, so that it takes ticks and nothing else.
import "../../../src/policies/compaction/summarize.ts";
import { retryPolicy } from "../../../src/policies/retry.ts";
import type { AgentEvent } from "../../../src/protocol/events.ts";
import { compactWhenReady } from "../../../src/session/compact-when-ready.ts";
import type { Session } from "../../../src/session/session.ts";
import { type KernelParts, kernel, tick, ticks } from "../../session/kernel.ts";
import { usageOf } from "./support.ts";

type Act = { do: "prompt" | "steer" | "followUp" | "compact" | "abort" | "switch" } | { do: "tick"; count: number };

interface Plan {
	ticks: number;
	calls: number;
	/** The reported fill level of the window. */
	used: number;
	ending: "stop" | "overflow" | "transient" | "error" | "speechless";
	summary: "good" | "good" | "empty" | "error" | "transient" | "length";
}

const window = 1000;
const marks = (text: string) => [...new Set(text.match(/«[^»]*»/g) ?? [])];
const textOf = (value: unknown) => JSON.stringify(value);

function playedBy(plans: readonly Plan[], asked: (request: ModelRequest) => void): StreamFunction {
	let next = 0;
	return async (request, { signal, onEvent }) => {
		const plan = plans[next++ % plans.length] as Plan;
		const builder = new ReplyBuilder(request.model, 0, onEvent);
		const say = (text: string) => {
			const index = builder.open({ type: "text", text: "" });
			builder.append(index, text);
			builder.close(index);
		};
		await ticks(plan.ticks, signal);
		if (signal.aborted) return builder.abort();
		if (request.systemPrompt !== "") {
			if (plan.summary === "error") return builder.fail("400 no", { kind: "permanent" });
			if (plan.summary === "transient") return builder.fail("529 busy", { kind: "transient" });
			// A perfect summary names everything in its request.
			if (plan.summary !== "empty") say(marks(textOf(request.messages)).join(" "));
			return builder.done(plan.summary === "length" ? "length" : "stop");
		}
		asked(request);
		if (plan.ending === "overflow") return builder.fail("400 prompt is too long", { kind: "overflow" });
		if (plan.ending === "transient") return builder.fail("529 busy", { kind: "transient" });
		if (plan.ending === "error") return builder.fail("400 no", { kind: "permanent" });
		builder.set({ usage: usageOf(plan.ending === "speechless" ? window : plan.used) });
		if (plan.ending === "speechless") return builder.done("length");
		say(`reply «reply ${next}»`);
		const calls = next > 60 ? 0 : plan.calls;
		for (let n = 0; n < calls; n++) builder.close(builder.open({ type: "toolCall", id: `${next}.${n}`, name: "work", arguments: {} }));
		builder.done(calls ? "toolUse" : "stop");
	};
}

const work: Tool = {
	name: "work",
	label: "work",
	effect: { kind: "run" },
	offered: "default",
	description: "",
	parameters: {},
	concurrency: "shared",
	async execute({ toolCallId, signal }) {
		await ticks(1, signal);
		return { content: [{ type: "text", text: `«result ${toolCallId}»` }] };
	},
};

function makeSession(plans: readonly Plan[], keep: number, asked: (request: ModelRequest) => void) {
	const sleep = async (_: number, signal?: AbortSignal) => {
		await ticks(2, signal);
		return signal?.aborted ? ("aborted" as const) : ("elapsed" as const);
	};
	let id = 0;
	const stream = playedBy(plans, asked);
	const retrySettings = () => ({ enabled: true, maxRetries: 1, baseDelayMs: 1, maxDelayMs: 10 });
	const compactionOf = ({ conversation, briefing, doors, controls, edges }: KernelParts) =>
		compactionPolicy({
			conversation: {
				branch: () => conversation.transcript.branch,
				messages: () => conversation.messages,
				model: () => briefing.choice.model,
				setup: () => briefing.setup(),
				store(body) {
					conversation.append(body);
					conversation.reproject();
				},
			},
			settings: () => ({ enabled: controls.autoCompaction, reserveTokens: 400, keepRecentTokens: keep, thresholdPercent: -1, thresholdTokens: -1 }),
			retry: retrySettings,
			stream,
			newSessionId: () => `summary-${++id}`,
			doors,
			emit: edges.bus.emit,
			log: edges.log,
			flow: edges.flow,
			sleep,
			now: edges.now,
		});
	let compaction: CompactionPolicy | undefined;
	const { session } = kernel({
		stream,
		model: { ...scriptedModel("x"), contextWindow: window },
		tools: [work],
		policies(parts) {
			compaction = compactionOf(parts);
			return [retryPolicy(retrySettings, parts.edges.bus.emit, sleep), compaction];
		},
	});
	return { session, compaction: compaction as CompactionPolicy };
}

/** Follows the events and complains about the first that must not come. */
function watch(session: Session, said: Set<string>) {
	const open = { run: false, turn: false, compaction: false, retry: false, settled: true };
	const rest = { ...open };
	const problems: string[] = [];
	const must = (event: AgentEvent, ...holds: boolean[]) => void (holds.every(Boolean) || problems.push(`${event.type} in ${textOf(open)}`));
	session.edges.bus.observe((event) => {
		if (event.type !== "auto_compaction_end") must(event, !open.compaction || event.type === "queue_update");
		switch (event.type) {
			case "agent_start":
				must(event, !open.run);
				open.run = true;
				open.settled = false;
				break;
			case "agent_end":
				// A prompt that was aborted before its run began has an end without a start.
				must(event, open.run || event.messages.length === 0, !open.turn);
				if (!open.run) open.settled = false;
				open.run = false;
				break;
			case "agent_settled":
				must(event, !open.run, !open.retry, !open.settled);
				open.settled = true;
				break;
			case "turn_start":
				must(event, open.run, !open.turn);
				open.turn = true;
				break;
			case "turn_end":
				must(event, open.turn);
				open.turn = false;
				break;
			case "message_end":
				must(event, open.turn);
				for (const mark of marks(textOf(event.message))) said.add(mark);
				break;
			case "auto_compaction_start":
				// Between two turns of a run only when the window fills up.
				must(event, !open.turn, !open.run || event.reason === "threshold");
				must(event, session.state.isCompacting);
				open.compaction = true;
				break;
			case "auto_compaction_end":
				must(
					event,
					open.compaction,
					(event.result === null) === (event.aborted || event.errorMessage !== undefined),
					!event.aborted || !event.willRetry,
				);
				open.compaction = false;
				break;
			case "auto_retry_start":
				open.retry = true;
				break;
			case "auto_retry_end":
				must(event, open.retry);
				open.retry = false;
		}
	});
	return { problems, isAtRest: () => textOf(open) === textOf(rest) };
}

/** No request has a result without its call, nor a call without its result. */
function torn({ messages }: ModelRequest): string[] {
	const problems: string[] = [];
	let waiting = new Set<string>();
	for (const message of messages) {
		if (message.role === "toolResult") {
			if (!waiting.delete(message.toolCallId)) problems.push(`result ${message.toolCallId} without its call`);
			continue;
		}
		if (waiting.size) problems.push(`calls ${[...waiting]} without results`);
		waiting = new Set(message.role === "assistant" ? message.content.flatMap((block) => (block.type === "toolCall" ? [block.id] : [])) : []);
	}
	return waiting.size ? [...problems, "calls at the end"] : problems;
}

const act: fc.Arbitrary<Act> = fc.oneof(
	{ weight: 4, arbitrary: fc.record({ do: fc.constant("prompt" as const) }) },
	{ weight: 3, arbitrary: fc.record({ do: fc.constantFrom("steer" as const, "followUp" as const, "compact" as const) }) },
	{ weight: 1, arbitrary: fc.record({ do: fc.constantFrom("abort" as const, "switch" as const) }) },
	{ weight: 8, arbitrary: fc.record({ do: fc.constant("tick" as const), count: fc.integer({ min: 1, max: 25 }) }) },
);

const plan: fc.Arbitrary<Plan> = fc.record({
	ticks: fc.integer({ min: 0, max: 3 }),
	calls: fc.integer({ min: 0, max: 2 }),
	used: fc.constantFrom(10, 100, 700, 900),
	ending: fc.constantFrom("stop", "stop", "stop", "stop", "overflow", "transient", "error", "speechless"),
	summary: fc.constantFrom("good", "good", "good", "empty", "error", "transient", "length"),
});

test("whatever is compacted whenever: balanced events, whole requests, nothing lost, and an end", async () => {
	await fc.assert(
		fc.asyncProperty(
			fc.array(act, { maxLength: 25 }),
			fc.array(plan, { minLength: 1, maxLength: 6 }),
			fc.integer({ min: 0, max: 60 }),
			async (acts, plans, keep) => {
				const requests: string[] = [];
				const { session, compaction } = makeSession(plans, keep, (request) => requests.push(...torn(request)));
				const said = new Set<string>();
				const { problems, isAtRest } = watch(session, said);
				const owed = new Set<string>();
				const answers: Promise<unknown>[] = [];
				const odd: unknown[] = [];
				const original = console.error;
				console.error = (...words: unknown[]) => odd.push(words);
				try {
					for (const [index, step] of acts.entries()) {
						const text = `«${step.do} ${index}»`;
						if (step.do === "tick") await ticks(step.count);
						else if (step.do === "abort") answers.push(session.abort());
						else if (step.do === "switch") session.controls.autoCompaction = !session.controls.autoCompaction;
						else if (step.do === "compact") {
							const made = compactWhenReady(session, (signal) => compaction.compactNow(undefined, signal));
							answers.push(made.catch((error: Error) => expect(error.name).toBe("CommandError")));
						} else if (step.do === "prompt") {
							owed.add(text);
							answers.push(
								session
									.prompt({ text, images: [] })
									.acknowledge()
									.then((refusal) => refusal && owed.delete(text)),
							);
						} else {
							owed.add(text);
							session.queue(step.do === "steer" ? "steering" : "followUp", text, []);
						}
					}
					for (let patience = 0; session.isBusy && patience < 5000; patience++) await tick();
					await Promise.all(answers);
				} finally {
					console.error = original;
				}

				expect({ odd, problems, requests, isBusy: session.isBusy, isAtRest: isAtRest() }).toEqual({
					odd: [],
					problems: [],
					requests: [],
					isBusy: false,
					isAtRest: true,
				});
				expect(session.state).toMatchObject({ isCompacting: false, isStreaming: false });
				const { steering, followUp } = session.inbox.texts;
				const delivered = [...said].filter((mark) => /^«(prompt|steer|followUp) /.test(mark));
				expect([...delivered, ...steering, ...followUp].sort()).toEqual([...owed].sort());
				// The context contains every message, word for word or in the summary.
				const context = textOf(session.messages);
				expect([...said].filter((mark) => !context.includes(mark))).toEqual([]);
			},
		),
		{ numRuns: 400 },
	);
}, 90_000);
