/** What the next model call is made with: model, level, tools and system prompt. Makes sure that the model can be asked. */
import type { SessionModels } from "../agent/models.ts";
import type { Emit } from "../agent/policy.ts";
import type { Setup } from "../agent/stream.ts";
import type { Tool } from "../agent/tool.ts";
import { problemWith } from "./conversation.ts";
import type { ModelChoice } from "./model-choice.ts";
import type { Refusal } from "./refusal.ts";
import type { RequiredAnswer } from "./required-answer.ts";

export interface BriefingParts {
	models: SessionModels;
	choice: ModelChoice;
	/**
	 * The active tools, in their stable order. Loaded before the first run. With a signal a run is about to start: what brings tools is started
	 * then, and waited for until the signal fires.
	 */
	tools: (starting?: AbortSignal) => Promise<readonly Tool[]>;
	systemPrompt: (tools: readonly Tool[]) => Promise<string>;
	/** What there is of the tool that hands in values while none is asked for, in a session that has asked for one or is going to. */
	idleAnswer: () => Promise<Tool | undefined>;
	emit: Emit;
}

export class Briefing {
	readonly choice: ModelChoice;
	readonly models: SessionModels;
	/** The system prompt that the model got last, or would get. */
	systemPrompt = "";
	/** Another system prompt, for the current run. */
	override: string | undefined;
	/** The value that the current prompt asks for, if any. */
	answer: RequiredAnswer | undefined;
	#parts: BriefingParts;
	#tools: readonly Tool[] = [];

	constructor(parts: BriefingParts) {
		this.#parts = parts;
		this.choice = parts.choice;
		this.models = parts.models;
	}

	/** Whether the model was last offered this tool. */
	isToolActive(name: string): boolean {
		return this.#tools.some((tool) => tool.name === name);
	}

	/** The system prompt and the tools that the model would get now. */
	async preview(): Promise<Pick<Setup, "systemPrompt" | "tools">> {
		const tools = await this.#offered();
		return { tools, systemPrompt: await this.#instructions(tools) };
	}

	async #offered(starting?: AbortSignal): Promise<readonly Tool[]> {
		const tools = await this.#parts.tools(starting);
		const others = (tool: Tool) => tools.filter(({ name }) => name !== tool.name);
		if (this.answer) return [...others(this.answer.tool), this.answer.tool];
		const idle = await this.#parts.idleAnswer();
		// A host's own tool of that name is back once no value is asked for.
		return idle && others(idle).length === tools.length ? [...tools, idle] : tools;
	}

	async #instructions(tools: readonly Tool[]): Promise<string> {
		return this.override ?? (await this.#parts.systemPrompt(tools));
	}

	async setup(): Promise<Setup> {
		this.#tools = await this.#offered();
		const { model, level } = this.choice;
		if (!model) throw new Error("No model selected.");
		this.systemPrompt = await this.#instructions(this.#tools);
		return { model, thinkingLevel: level, tools: this.#tools, systemPrompt: this.systemPrompt };
	}

	/** Looks up the model's facts and credentials, and loads the tools. Returns the reason when the model cannot be asked. */
	async ensureModelReady(signal: AbortSignal): Promise<Refusal | undefined> {
		const { models, choice, emit } = this.#parts;
		if (!choice.model) return { text: models.noModelText, code: "no_model" };
		const prepared = await models.prepare(choice.model);
		if ("problem" in prepared) return { text: prepared.problem, code: prepared.code ?? "failed" };
		const unstored = problemWith(() => {
			if (choice.refine(prepared.model)) emit({ type: "thinking_level_changed", level: choice.level });
		});
		if (unstored !== undefined) return { text: unstored, code: "not_stored" };
		this.#tools = await this.#offered(signal);
		return undefined;
	}
}
