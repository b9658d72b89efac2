/** Which model is asked, and how much it thinks. Choices last as long as the session; nothing is written to settings. */
import type { ModelCatalogue, ModelProblem, ModelWithLevel } from "../agent/contracts.ts";
import { CommandError } from "../protocol/command-error.ts";
import { type ThinkingLevel, thinkingLevels } from "../protocol/levels.ts";
import type { Model } from "../protocol/model.ts";
import type { EntryBody } from "../transcript/entries.ts";

export interface ModelChoiceParts {
	catalogue: ModelCatalogue;
	/** The levels a model has, weakest first. */
	levels: (model: Model) => readonly ThinkingLevel[];
	/** The nearest level that a model has. */
	clamp: (model: Model, level: ThinkingLevel) => ThinkingLevel;
	/** The models that cycling goes through, when the user named some. */
	scope: () => Promise<readonly ModelWithLevel[] | undefined>;
	level: ThinkingLevel;
	/** What a host means by `max`; default `xhigh`. */
	max?: ThinkingLevel;
	/** Keeps a change in the session's file. */
	record: (entry: EntryBody) => void;
}

function refused({ provider, id }: Model, { problem, code }: ModelProblem): CommandError {
	return code === "price_unknown" ? new CommandError(code, problem) : new CommandError(code ?? "failed", `No API key for ${provider}/${id}`, problem);
}

export class ModelChoice {
	#parts: ModelChoiceParts;
	#model: Model | undefined;
	#level: ThinkingLevel;
	/** The level that was asked for. A model may have a lower one, or none; the next model gets what was asked for again. */
	#wanted: ThinkingLevel;

	constructor(parts: ModelChoiceParts) {
		this.#parts = parts;
		this.#level = parts.level;
		this.#wanted = parts.level;
	}

	get model(): Model | undefined {
		return this.#model;
	}

	get level(): ThinkingLevel {
		return this.#level;
	}

	/** The entries with which a session file begins. */
	entries(): EntryBody[] {
		const level: EntryBody = { type: "thinking_level_change", thinkingLevel: this.#level };
		return this.#model ? [{ type: "model_change", provider: this.#model.provider, modelId: this.#model.id }, level] : [level];
	}

	/** Sets the same model with better facts. Returns whether the level had to change. */
	refine(model: Model): boolean {
		const before = this.#level;
		this.#model = model;
		this.#changeLevel(this.#parts.clamp(model, this.#wanted));
		return this.#level !== before;
	}

	async set(provider: string, id: string): Promise<Model> {
		const { catalogue } = this.#parts;
		const model = await catalogue.findListed(provider, id);
		if (!model) throw new CommandError("unknown_model", `Model not found: ${provider}/${id}`, (await catalogue.guess(provider, id)) || undefined);
		const problem = await catalogue.problem(model);
		if (problem) throw refused(model, problem);
		this.take({ model });
		return model;
	}

	/** The next model of the scope, or of all that can be asked; nothing when there is no other. */
	async cycle(): Promise<{ model: Model; isScoped: boolean } | undefined> {
		const scope = await this.#parts.scope();
		const round = scope ?? (await this.#parts.catalogue.available()).map((model): ModelWithLevel => ({ model }));
		if (round.length < 2) return undefined;
		const at = round.findIndex(({ model }) => model.provider === this.#model?.provider && model.id === this.#model.id);
		const next = round[(at + 1) % round.length] as ModelWithLevel;
		const problem = await this.#parts.catalogue.problem(next.model);
		if (problem) throw refused(next.model, problem);
		this.take(next);
		return { model: next.model, isScoped: scope !== undefined };
	}

	/** Uses a model without recording it. */
	use(chosen: ModelWithLevel | undefined): void {
		if (!chosen) return;
		this.#model = chosen.model;
		this.#wanted = chosen.level ?? this.#wanted;
		this.#level = this.#parts.clamp(chosen.model, this.#wanted);
	}

	/** Restores what a session was using, without recording it. If the model is a different one, returns the reason. */
	async restore(wanted: { provider: string; id: string } | undefined, word: string | undefined): Promise<string | undefined> {
		let problem: string | undefined;
		if (wanted && (wanted.provider !== this.#model?.provider || wanted.id !== this.#model.id)) {
			const model = await this.#parts.catalogue.findStored(wanted.provider, wanted.id);
			const name = `${wanted.provider}/${wanted.id}`;
			if (!model) problem = `Model not found: ${name} (the session file names it, and it is not configured here)`;
			else {
				const refusal = await this.#parts.catalogue.problem(model);
				if (refusal) problem = refused(model, refusal).message;
				else this.#model = model;
			}
		}
		this.#wanted = this.#named(word) ?? this.#wanted;
		this.#level = this.#model ? this.#parts.clamp(this.#model, this.#wanted) : this.#wanted;
		return problem;
	}

	/** Takes the level, or the nearest one that the model has. `max` is the highest. */
	setLevel(word: string): void {
		const wanted = this.#named(word);
		if (!wanted)
			throw new CommandError("bad_field", `set_thinking_level: level must be ${thinkingLevels.map((level) => JSON.stringify(level)).join(" or ")}`);
		this.#wanted = wanted;
		this.#changeLevel(this.#model ? this.#parts.clamp(this.#model, wanted) : wanted);
	}

	/** The next level that the model has; nothing when it has no choice. */
	cycleLevel(): ThinkingLevel | undefined {
		const levels = this.levels();
		if (!this.#model?.reasoning || levels.length < 2) return undefined;
		this.#wanted = levels[(levels.indexOf(this.#level) + 1) % levels.length] as ThinkingLevel;
		this.#changeLevel(this.#wanted);
		return this.#level;
	}

	levels(): readonly ThinkingLevel[] {
		return this.#model ? this.#parts.levels(this.#model) : ["off"];
	}

	/** Uses a model from the next call on, with the nearest level it has. */
	take({ model, level }: ModelWithLevel): void {
		this.#parts.record({ type: "model_change", provider: model.provider, modelId: model.id });
		this.#model = model;
		this.#wanted = level ?? this.#wanted;
		this.#changeLevel(this.#parts.clamp(model, this.#wanted));
	}

	#named(word: string | undefined): ThinkingLevel | undefined {
		return word === "max" ? (this.#parts.max ?? "xhigh") : thinkingLevels.find((level) => level === word);
	}

	#changeLevel(level: ThinkingLevel): void {
		if (level === this.#level) return;
		this.#parts.record({ type: "thinking_level_change", thinkingLevel: level });
		this.#level = level;
	}
}
