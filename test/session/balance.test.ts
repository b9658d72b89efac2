/** Any interleaving of prompts, steers, follow-ups and aborts: nothing is lost, nothing comes twice, every start has its end. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { StreamFunction, Tool } from "../../src/agent/contracts.ts";
import { ReplyBuilder } from "../../src/models/builder.ts";
import { retryPolicy } from "../../src/policies/retry.ts";
import type { AgentEvent } from "../../src/protocol/events.ts";
import type { Session } from "../../src/session/session.ts";
import { kernel, tick, ticks } from "./kernel.ts";

type Act =
	| { do: "prompt" | "steer" | "followUp"; behavior?: "steer" | "followUp" }
	| { do: "abort" | "renew" | "steeringMode" | "followUpMode" | "interruptMode" }
	| { do: "tick"; count: number };

/** The behaviour of the model at its next call. */
interface ReplyPlan {
	ticks: number;
	calls: number;
	ending: "stop" | "length" | "error" | "transient" | "throw" | "silent";
}

function playedBy(plans: readonly ReplyPlan[]): StreamFunction {
	let next = 0;
	return async (request, { signal, onEvent }) => {
		const plan = plans[next++ % plans.length] as ReplyPlan;
		const builder = new ReplyBuilder(request.model, 0, onEvent);
		// The last planned calls are the last: a model that never stops calling would never end.
		const calls = next > 40 ? 0 : plan.calls;
		await ticks(plan.ticks, signal);
		const text = builder.open({ type: "text", text: "" });
		builder.append(text, `reply ${next}`);
		builder.close(text);
		for (let n = 0; n < calls; n++) {
			const index = builder.open({ type: "toolCall", id: `${next}.${n}`, name: n % 2 ? "alone" : "together", arguments: {} });
			builder.close(index);
			await ticks(1, signal);
		}
		if (signal.aborted) return builder.abort();
		if (plan.ending === "throw") throw new Error("thrown by the provider");
		if (plan.ending === "silent") return;
		if (plan.ending === "error") return builder.fail("400 no", { kind: "permanent" });
		if (plan.ending === "transient") return builder.fail("529 busy", { kind: "transient" });
		builder.done(calls ? (plan.ending === "length" ? "length" : "toolUse") : "stop");
	};
}

function tool(name: string, concurrency: Tool["concurrency"]): Tool {
	return {
		name,
		label: name,
		effect: { kind: "run" },
		offered: "default",
		description: name,
		parameters: {},
		concurrency,
		async execute({ signal }) {
			await ticks(2, signal);
			if (signal.aborted) throw new Error("stopped");
			return { content: [{ type: "text", text: "ok" }] };
		},
	};
}

function makeSession(plans: readonly ReplyPlan[]): Session {
	const sleep = async (_: number, signal?: AbortSignal) => {
		await ticks(3, signal);
		return signal?.aborted ? ("aborted" as const) : ("elapsed" as const);
	};
	const settings = () => ({ enabled: true, maxRetries: 2, baseDelayMs: 1, maxDelayMs: 10 });
	return kernel({
		stream: playedBy(plans),
		tools: [tool("together", "shared"), tool("alone", "exclusive")],
		policies: ({ edges }) => [retryPolicy(settings, edges.bus.emit, sleep)],
	}).session;
}

const act: fc.Arbitrary<Act> = fc.oneof(
	{
		weight: 3,
		arbitrary: fc.record({
			do: fc.constant("prompt" as const),
			behavior: fc.option(fc.constantFrom("steer" as const, "followUp" as const), { nil: undefined }),
		}),
	},
	{ weight: 3, arbitrary: fc.record({ do: fc.constantFrom("steer" as const, "followUp" as const) }) },
	{
		weight: 2,
		arbitrary: fc.record({ do: fc.constantFrom("abort" as const, "steeringMode" as const, "followUpMode" as const, "interruptMode" as const) }),
	},
	{ weight: 1, arbitrary: fc.record({ do: fc.constant("renew" as const) }) },
	{ weight: 6, arbitrary: fc.record({ do: fc.constant("tick" as const), count: fc.integer({ min: 1, max: 12 }) }) },
);

const plan: fc.Arbitrary<ReplyPlan> = fc.record({
	ticks: fc.integer({ min: 0, max: 4 }),
	calls: fc.integer({ min: 0, max: 4 }),
	ending: fc.constantFrom("stop", "stop", "stop", "stop", "length", "error", "transient", "throw", "silent"),
});

/** Follows the events and complains about the first that must not come. */
function watch(session: Session, delivered: string[]) {
	let run = false;
	let turn = false;
	let message: string | undefined;
	const open = new Set<string>();
	let resultsOwed = 0;
	let settledOwed = false;
	let retryOpen = false;
	session.edges.bus.observe((event: AgentEvent) => {
		switch (event.type) {
			case "agent_start":
				expect(run).toBe(false);
				run = true;
				settledOwed = true;
				break;
			case "agent_end":
				// A prompt that was aborted before its run began has an end without a start.
				if (!run && event.messages.length === 0) {
					settledOwed = true;
					break;
				}
				expect({ run, turn, message, open: open.size, resultsOwed }).toEqual({ run: true, turn: false, message: undefined, open: 0, resultsOwed: 0 });
				run = false;
				break;
			case "agent_settled":
				expect({ run, settledOwed, retryOpen }).toEqual({ run: false, settledOwed: true, retryOpen: false });
				settledOwed = false;
				break;
			case "turn_start":
				expect({ run, turn }).toEqual({ run: true, turn: false });
				turn = true;
				break;
			case "turn_end":
				expect({ turn, open: open.size }).toEqual({ turn: true, open: 0 });
				expect(event.toolResults.map((result) => result.toolCallId)).toEqual(
					event.message.content.flatMap((block) => (block.type === "toolCall" ? [block.id] : [])),
				);
				turn = false;
				break;
			case "message_start":
				expect({ turn, message }).toEqual({ turn: true, message: undefined });
				message = event.message.role;
				break;
			case "message_end":
				expect(message).toBe(event.message.role);
				message = undefined;
				if (event.message.role === "toolResult") resultsOwed -= 1;
				if (event.message.role === "user") delivered.push((event.message.content as { text: string }[])[0]?.text ?? "");
				break;
			case "tool_execution_start":
				expect(open.has(event.toolCallId)).toBe(false);
				open.add(event.toolCallId);
				resultsOwed += 1;
				break;
			case "tool_execution_update":
				expect(open.has(event.toolCallId)).toBe(true);
				break;
			case "tool_execution_end":
				expect(open.delete(event.toolCallId)).toBe(true);
				break;
			case "auto_retry_start":
				expect(run).toBe(false);
				retryOpen = true;
				break;
			case "auto_retry_end":
				expect(retryOpen).toBe(true);
				retryOpen = false;
				break;
		}
	});
	return { isBalanced: () => !run && !turn && !settledOwed && !retryOpen && open.size === 0 };
}

test("whatever a host does in whatever order, each message is delivered once, refused, or still queued", async () => {
	await fc.assert(
		fc.asyncProperty(fc.array(act, { maxLength: 25 }), fc.array(plan, { minLength: 1, maxLength: 6 }), async (acts, plans) => {
			const problems: unknown[] = [];
			const original = console.error;
			console.error = (...words: unknown[]) => problems.push(words);
			try {
				const session = makeSession(plans);
				const delivered: string[] = [];
				const balance = watch(session, delivered);
				const owed = new Set<string>();
				const refusals: Promise<void>[] = [];
				for (const [index, step] of acts.entries()) {
					const text = `${step.do} ${index}`;
					if (step.do === "tick") await ticks(step.count);
					else if (step.do === "abort") void session.abort();
					else if (step.do === "steer" || step.do === "followUp") {
						session.queue(step.do === "steer" ? "steering" : "followUp", text, []);
						owed.add(text);
					} else if (step.do === "prompt") {
						owed.add(text);
						const accepted = session.prompt({ text, images: [], streamingBehavior: step.behavior });
						refusals.push(accepted.acknowledge().then((refusal) => void (refusal && owed.delete(text))));
					} else if (step.do === "renew") {
						const { steering, followUp } = await session.renew(undefined);
						for (const dropped of [...steering, ...followUp]) owed.delete(dropped);
					} else if (step.do === "interruptMode") session.controls.interruptMode = session.controls.interruptMode === "wait" ? "immediate" : "wait";
					else session.inbox[step.do] = session.inbox[step.do] === "all" ? "one-at-a-time" : "all";
				}
				for (let patience = 0; session.state.isStreaming && patience < 5000; patience++) await tick();
				await Promise.all(refusals);

				expect(problems).toEqual([]);
				expect(session.state.isStreaming).toBe(false);
				expect(balance.isBalanced()).toBe(true);
				const { steering, followUp } = session.inbox.texts;
				expect([...delivered, ...steering, ...followUp].sort()).toEqual([...owed].sort());
			} finally {
				console.error = original;
			}
		}),
		{ numRuns: 300 },
	);
}, 60_000);
