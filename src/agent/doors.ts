/**
 * Asks the policies. Each door is a member here: absent where no policy takes part, so that asking costs nothing then. The lists are made
 * once, when the policies change. The order of policies is the order in which they are asked.
 */
import type { AgentEvent } from "../protocol/events.ts";
import type {
	Admission,
	Again,
	Halt,
	IncomingPrompt,
	Outcome,
	PendingCall,
	Policy,
	Preface,
	SessionFact,
	ToolDecision,
	ToolOutcome,
} from "./policy.ts";
import type { StreamEvent } from "./stream.ts";

type Asked<Name extends keyof Policy> = NonNullable<Policy[Name]>;

/** Checks arguments that a policy changed; throws when they do not fit the tool. */
export type CheckArguments = (input: Record<string, unknown>) => Promise<Record<string, unknown>>;

export class Doors {
	#policies: readonly Policy[] = [];
	#observers: Asked<"observe">[] = [];
	/** Those of them that receive the steps of a reply. */
	#updated: Asked<"observe">[] = [];
	#noticing: Asked<"notice">[] = [];
	admit: Asked<"admit"> | undefined;
	preface: ((...given: Parameters<Asked<"preface">>) => Promise<Required<Pick<Preface, "messages">> & Preface>) | undefined;
	prepare: Asked<"prepare"> | undefined;
	context: Asked<"context"> | undefined;
	payload: Asked<"payload"> | undefined;
	headers: Asked<"headers"> | undefined;
	answered: Asked<"answered"> | undefined;
	raw: Asked<"raw"> | undefined;
	watch: Asked<"watch"> | undefined;
	beforeTool: ((call: PendingCall, signal: AbortSignal, check: CheckArguments) => Promise<ToolDecision>) | undefined;
	afterTool: Asked<"afterTool"> | undefined;
	compact: Asked<"compact"> | undefined;
	leave: Asked<"leave"> | undefined;
	shell: Asked<"shell"> | undefined;

	constructor(policies: readonly Policy[] = []) {
		this.set(policies);
	}

	get policies(): readonly Policy[] {
		return this.#policies;
	}

	/** Replaces all policies. Requests in progress continue with the old ones. */
	set(policies: readonly Policy[]): void {
		this.#policies = policies;
		const at = <Name extends keyof Policy>(name: Name, from = policies) =>
			from.flatMap((policy) => (policy[name] ? [(policy[name] as (...given: unknown[]) => unknown).bind(policy)] : [])) as Asked<Name>[];
		this.#observers = at("observe");
		this.#updated = at(
			"observe",
			policies.filter(({ observesUpdates }) => observesUpdates),
		);
		this.#noticing = at("notice");
		this.admit = someone(at("admit"), admitInTurn);
		this.preface = someone(at("preface"), collectPrefaces);
		this.prepare = someone(at("prepare"), (all) => async (pending, signal) => {
			for (const prepare of all) await prepare(pending, signal);
		});
		this.context = someone(at("context"), eachSeesThePrevious);
		this.payload = someone(at("payload"), eachSeesThePrevious);
		this.headers = someone(at("headers"), eachSeesThePrevious);
		this.answered = someone(at("answered"), (all) => (head) => {
			for (const answered of all) answered(head);
		});
		this.raw = someone(at("raw"), (all) => (event) => {
			for (const raw of all) raw(event);
		});
		this.watch = someone(at("watch"), firstCut);
		this.beforeTool = someone(at("beforeTool"), decideInTurn);
		this.afterTool = someone(at("afterTool"), changeInTurn);
		this.compact = someone(at("compact"), firstAnswer);
		this.leave = someone(at("leave"), firstAnswer);
		this.shell = someone(at("shell"), firstAnswer);
	}

	/** Adds a policy at the end, in front of those that judge last, or puts it in the place of the one with its name. */
	put(policy: Policy): void {
		const has = this.#policies.some(({ name }) => name === policy.name);
		if (has) return this.set(this.#policies.map((each) => (each.name === policy.name ? policy : each)));
		const all = [...this.#policies, policy];
		this.set([...all.filter(({ isLast }) => !isLast), ...all.filter(({ isLast }) => isLast)]);
	}

	observe = (event: AgentEvent): void => {
		if (event.type === "message_update" && this.#updated.length === 0) return;
		for (const observe of event.type === "message_update" ? this.#updated : this.#observers) observe(event);
	};

	notice(fact: SessionFact): void {
		for (const notice of this.#noticing) notice(fact);
	}

	abort(): void {
		for (const policy of this.#policies) policy.abort?.();
	}

	renew(): void {
		for (const policy of this.#policies) policy.renew?.();
	}

	/** The signals that stop everything automatic. */
	get halts(): AbortSignal[] {
		return this.#policies.flatMap(({ halt }) => halt ?? []);
	}

	/** Why nothing new may be started; nothing when it may. */
	get halted(): Halt | undefined {
		for (const { halt } of this.#policies) if (halt?.aborted) return halt.reason as Halt;
		return undefined;
	}

	/** The same in words for the host. */
	get haltReason(): string | undefined {
		return this.halted?.message;
	}

	/** Asks all of them: some only take note of the outcome. */
	foresee(outcome: Outcome): boolean {
		return this.#policies.filter((policy) => policy.foresee?.(outcome)).length > 0;
	}

	/** `signal` is read before each policy is asked: what one of them costs may halt the next. */
	async settle(outcome: Outcome, gap: AbortSignal, signal: () => AbortSignal): Promise<Again | undefined> {
		for (const policy of this.#policies) {
			const again = await policy.settle?.(outcome, gap, signal());
			if (again) return again;
		}
		return undefined;
	}
}

/** The combined question; nothing where no policy takes part. */
function someone<Asked, Combined>(all: Asked[], combine: (all: readonly Asked[]) => Combined): Combined | undefined {
	return all.length ? combine(all) : undefined;
}

function admitInTurn(all: readonly Asked<"admit">[]): Asked<"admit"> {
	return async (prompt, signal) => {
		let current: IncomingPrompt = prompt;
		for (const admit of all) {
			const answer: Admission | undefined = await admit(current, signal);
			if (answer && ("refused" in answer || answer.messages.length === 0)) return answer;
			if (answer) current = { ...current, messages: answer.messages };
		}
		return { messages: current.messages };
	};
}

function collectPrefaces(all: readonly Asked<"preface">[]): NonNullable<Doors["preface"]> {
	return async (prompt, signal) => {
		const collected: Required<Pick<Preface, "messages">> & Preface = { messages: [] };
		for (const preface of all) {
			const given = await preface(prompt, signal);
			if (!given) continue;
			collected.messages.push(...(given.messages ?? []));
			collected.tool ??= given.tool;
			collected.systemPrompt = given.systemPrompt ?? collected.systemPrompt;
		}
		return collected;
	};
}

function eachSeesThePrevious<Value>(all: readonly ((value: Value, signal: AbortSignal) => Promise<Value>)[]) {
	return async (value: Value, signal: AbortSignal): Promise<Value> => {
		let current = value;
		for (const change of all) current = await change(current, signal);
		return current;
	};
}

function firstCut(all: readonly Asked<"watch">[]): Asked<"watch"> {
	const [only] = all;
	// The usual case, without a loop for each step of a reply.
	if (only && all.length === 1) return only;
	return (event: StreamEvent) => {
		for (const watch of all) {
			const cut = watch(event);
			if (cut !== undefined) return cut;
		}
		return undefined;
	};
}

function decideInTurn(all: readonly Asked<"beforeTool">[]): NonNullable<Doors["beforeTool"]> {
	return async (call, signal, check) => {
		let current = call;
		for (const decide of all) {
			const decision = await decide(current, signal);
			if (!decision) continue;
			if ("denied" in decision) return decision;
			// After an abort the call does not run; there is no point in telling the model about its arguments.
			if (signal.aborted) break;
			current = { ...current, input: await check(decision.input) };
		}
		return { input: current.input };
	};
}

function changeInTurn(all: readonly Asked<"afterTool">[]): Asked<"afterTool"> {
	return async (call, outcome, signal) => {
		let current: ToolOutcome = outcome;
		for (const change of all) current = await change(call, current, signal);
		return current;
	};
}

function firstAnswer<Given extends unknown[], Answer>(all: readonly ((...given: Given) => Promise<Answer | undefined>)[]) {
	return async (...given: Given): Promise<Answer | undefined> => {
		for (const ask of all) {
			const answer = await ask(...given);
			if (answer !== undefined) return answer;
		}
		return undefined;
	};
}
