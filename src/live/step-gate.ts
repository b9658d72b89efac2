/**
 * Asks the host before each model request, tool execution and subagent, and waits for its word. Loaded with `--gate host`. A subagent asks the
 * agent that sent it, which passes the question up.
 */
import type { Policy } from "../agent/policy.ts";
import type { StreamFunction } from "../agent/stream.ts";
import type { GateHandler } from "../client/index.ts";
import { onAbort } from "../lib/abort.ts";
import { uuid } from "../lib/ids.ts";
import { sleep } from "../lib/sleep.ts";
import { emptyReply } from "../protocol/empty-reply.ts";
import type { GateRequest, GateResponse } from "../protocol/gate.ts";
import type { AssistantMessage } from "../protocol/messages.ts";
import type { PermissionOrigin } from "../protocol/permissions.ts";
import { pricesOf } from "../protocol/prices.ts";
import type { ChildGate } from "../subagents/contracts.ts";
import type { Assembly } from "./assemble.ts";
import type { Sequence } from "./sequence.ts";

/** What is about to be done. */
export type Step = Pick<GateRequest, "kind" | "estimate" | "toolCallId" | "toolName" | "agentPath">;

/** Nothing when the step may be done. `ends`: the run is over. */
export interface Denial {
	reason: string;
	ends: boolean;
}

export interface StepGateParts {
	assembly: Pick<Assembly, "session" | "models">;
	/** Absent in a subagent: the agent that sent it knows the numbers. */
	sequence: Sequence | undefined;
	send: (frame: GateRequest) => void;
	/** Absent in a subagent: the agent that sent it waits. */
	timeoutMs: number | undefined;
	now: () => number;
}

type Answer = Omit<GateResponse, "type" | "id">;

/** Characters in a token, nearly. */
const charactersPerToken = 4;
const taskToolName = "task";

export class StepGate {
	#parts: StepGateParts;
	#waiting = new Map<string, (answer: Answer | undefined) => void>();
	#isClosed = false;

	constructor(parts: StepGateParts) {
		this.#parts = parts;
		const { models, session } = parts.assembly;
		models.wrap((stream) => this.#gated(stream));
		session.doors.put(this.#policy);
	}

	/** How subagents ask. */
	get forChildren(): ChildGate {
		return childGate(this);
	}

	receive({ type: _, id, ...response }: GateResponse): void {
		this.#waiting.get(id)?.(response);
	}

	/** The host is gone: what waits ends, as after an abort. */
	close(): void {
		this.#isClosed = true;
		for (const settle of [...this.#waiting.values()]) settle(undefined);
	}

	/** Asks until there is a decision. An abort wins: it denies. */
	async ask(step: Step, signal: AbortSignal): Promise<Denial | undefined> {
		for (;;) {
			if (signal.aborted) return { reason: "Operation aborted", ends: false };
			const response = await this.#askOnce(step, signal);
			if (!response) return { reason: "Operation aborted", ends: false };
			const { allow, reason = "The host does not allow this step.", end = false, retryAfterMs } = response;
			if (allow) return undefined;
			if (end || retryAfterMs === undefined) {
				if (end) this.#end(reason);
				return { reason, ends: end };
			}
			await sleep(Math.max(0, retryAfterMs), signal);
		}
	}

	/** The answer of the host; nothing after an abort. */
	#askOnce(step: Step, signal: AbortSignal): Promise<Answer | undefined> {
		const { sequence, send, timeoutMs, now } = this.#parts;
		if (this.#isClosed) return Promise.resolve(undefined);
		try {
			sequence?.store();
		} catch (error) {
			return Promise.resolve({ allow: false, reason: (error as Error).message, end: true });
		}
		return new Promise((resolve) => {
			const id = uuid(now());
			let release: () => void = () => undefined;
			const settle = (answer: Answer | undefined) => {
				if (!this.#waiting.delete(id)) return;
				clearTimeout(timer);
				release();
				resolve(answer);
			};
			const tooLate = () =>
				settle({ allow: false, reason: `The host did not answer gate_request within ${timeoutMs} ms (gate.timeoutMs).`, end: true });
			const timer = timeoutMs === undefined ? undefined : setTimeout(tooLate, timeoutMs);
			this.#waiting.set(id, settle);
			send({ type: "gate_request", id, asOf: sequence?.asOf ?? 0, ...step });
			release = onAbort(signal, () => settle(undefined));
		});
	}

	/** The run is over, and its result says why. */
	#end(reason: string): void {
		const { sequence, assembly } = this.#parts;
		sequence?.runs.interrupt(reason);
		// After the step that was denied has its end.
		setImmediate(() => void assembly.session.abort());
	}

	#gated(stream: StreamFunction): StreamFunction {
		return async (request, options) => {
			const { model, maxTokens, systemPrompt, messages, tools } = request;
			const characters =
				systemPrompt.length +
				JSON.stringify(messages).length +
				JSON.stringify(tools.map(({ name, description, parameters }) => ({ name, description, parameters }))).length;
			const inputTokens = Math.ceil(characters / charactersPerToken);
			const maxOutputTokens = maxTokens ?? model.maxTokens ?? 0;
			const price = pricesOf(model, { input: inputTokens });
			const usd = Math.round(inputTokens * price.input + maxOutputTokens * price.output) / 1e6;
			const estimate = { inputTokens, maxOutputTokens, usd, ...(model.cost.unknown ? { priceUnknown: true } : {}) };
			const denial = await this.ask({ kind: "model", estimate }, options.signal);
			if (!denial) return stream(request, options);
			const isAborted = denial.ends || options.signal.aborted;
			const stopReason = isAborted ? "aborted" : "error";
			const error: AssistantMessage = { ...emptyReply(model, this.#parts.now()), stopReason, errorMessage: denial.reason };
			options.onEvent({ type: "error", reason: stopReason, error, failure: { kind: "permanent" } });
		};
	}

	#policy: Policy = {
		name: "gate",
		isLast: true,
		beforeTool: async ({ toolName, toolCallId }, signal) => {
			const denial = await this.ask({ kind: "tool", toolCallId, toolName }, signal);
			return denial && { denied: denial.reason };
		},
	};
}

/** How subagents ask: with their place in the path. */
function childGate(gate: StepGate): ChildGate {
	return {
		start: async (origin, signal) =>
			(await gate.ask({ kind: "subagent", toolCallId: origin.toolCallId, toolName: taskToolName, agentPath: [origin] }, signal))?.reason,
		answers: (origin) => passUp(gate, origin),
	};
}

function passUp(gate: StepGate, origin: PermissionOrigin): GateHandler {
	return async ({ kind, estimate, toolCallId, toolName, agentPath = [] }, signal) => {
		const step: Step = {
			kind,
			...(estimate && { estimate }),
			...(toolCallId !== undefined && { toolCallId }),
			...(toolName !== undefined && { toolName }),
			agentPath: [origin, ...agentPath],
		};
		const denial = await gate.ask(step, signal);
		return denial ? { allow: false, reason: denial.reason, ...(denial.ends && { end: true }) } : { allow: true };
	};
}
