/** Tools that a provider does not take. One of them must not cost the session: it is left out for this model, with words. */
import type { Outcome, Policy, Tool } from "../agent/contracts.ts";
import type { Model } from "../protocol/model.ts";
import { isObject } from "./config.ts";
import { namePrefix } from "./names.ts";

type ModelFacts = Pick<Model, "api" | "provider" | "id">;

const anthropicProperty = /^[A-Za-z0-9_.-]{1,64}$/;
const mostForOpenAi = 128;
/** How many tools are removed one after another before the failure is reported. */
const mostInARow = 20;

const keyOf = ({ provider, id }: ModelFacts) => `${provider}/${id}`;
const isOfServer = ({ name }: Tool) => name.startsWith(namePrefix);

export class Refusals {
	#warn: (text: string) => void;
	/** By model: names of tools that are left out for good. */
	#out = new Map<string, Set<string>>();
	/** What was reported, by model and tool. */
	#reported = new Set<string>();
	/** What the model was offered last. */
	#offered: { model: ModelFacts; tools: readonly Tool[] } | undefined;
	#inARow = 0;

	constructor(warn: (text: string) => void) {
		this.#warn = warn;
	}

	/** The tools without those that this model cannot have. */
	fit(tools: readonly Tool[], model: ModelFacts): readonly Tool[] {
		const refused = this.#out.get(keyOf(model));
		let fitting = tools.filter((tool) => !isOfServer(tool) || (!refused?.has(tool.name) && this.#fits(tool, model)));
		const surplus = model.provider === "openai" ? fitting.length - mostForOpenAi : 0;
		if (surplus > 0) fitting = this.#withoutLast(fitting, surplus, model);
		this.#offered = { model, tools: fitting };
		return fitting.length === tools.length ? tools : fitting;
	}

	/** Asks again without the tool that a refusal names. */
	readonly policy: Policy = {
		name: "mcp-refusals",
		observe: (event) => {
			if (event.type === "message_end" && event.message.role === "assistant" && event.message.stopReason !== "error") this.#inARow = 0;
		},
		foresee: (outcome) => this.#named(outcome) !== undefined,
		settle: async (outcome) => {
			const tool = this.#named(outcome);
			const model = this.#offered?.model;
			if (!tool || !model) return undefined;
			this.#inARow += 1;
			this.#leaveOut(tool, model, `${model.provider} refuses it: ${(outcome.last?.errorMessage ?? "").slice(0, 300)}`);
			return { dropFailedReply: true, due: Promise.resolve(true) };
		},
	};

	/** The tool of a server that a refused request is about. */
	#named({ last, failure }: Outcome): Tool | undefined {
		if (failure?.status !== 400 || last?.stopReason !== "error" || !this.#offered || this.#inARow >= mostInARow) return undefined;
		const text = last.errorMessage ?? "";
		const { tools } = this.#offered;
		const byName = tools.filter(isOfServer).filter(({ name }) => new RegExp(`(^|[^\\w-])${name}([^\\w-]|$)`).test(text));
		if (byName.length === 1) return byName[0];
		const index = /function_declarations\[(\d+)\]/i.exec(text) ?? /\btools?[.[](\d+)/i.exec(text);
		const tool = index ? tools[Number(index[1])] : undefined;
		return tool && isOfServer(tool) ? tool : undefined;
	}

	#fits(tool: Tool, model: ModelFacts): boolean {
		if (!/^(anthropic|bedrock)/.test(model.api)) return true;
		const { properties } = tool.parameters;
		const wrong = isObject(properties) ? Object.keys(properties).find((name) => !anthropicProperty.test(name)) : undefined;
		if (wrong === undefined) return true;
		this.#leaveOut(tool, model, `${model.provider} takes no argument named ${JSON.stringify(wrong.slice(0, 100))}`);
		return false;
	}

	#withoutLast(tools: readonly Tool[], surplus: number, model: ModelFacts): Tool[] {
		const out = new Set(tools.filter(isOfServer).slice(-surplus));
		// How many there are may change, so they may come back.
		for (const tool of out) this.#tell(tool.name, model, `${model.provider} takes at most ${mostForOpenAi} tools`);
		return tools.filter((tool) => !out.has(tool));
	}

	#leaveOut({ name }: Tool, model: ModelFacts, reason: string): void {
		const key = keyOf(model);
		const names = this.#out.get(key) ?? new Set<string>();
		this.#out.set(key, names.add(name));
		this.#tell(name, model, reason);
	}

	#tell(name: string, model: ModelFacts, reason: string): void {
		const key = keyOf(model);
		if (this.#reported.has(`${key} ${name}`)) return;
		this.#reported.add(`${key} ${name}`);
		this.#warn(`The tool ${name} is left out for ${key}: ${reason}.`);
	}
}
