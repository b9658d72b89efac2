/** What a person can choose in the editor: the model and how much it thinks. */
import type { SessionConfigOption, SessionConfigSelectGroup, SessionConfigSelectOption } from "@agentclientprotocol/sdk";
import type { LiveSession } from "../live/live-session.ts";
import type { Model } from "../protocol/model.ts";
import { invalid } from "./errors.ts";

/** Above this many models they are grouped by provider. */
const mostUngrouped = 20;
/** Lists of local servers come over the network. */
const listPatienceMs = 2000;

export interface LegacyModels {
	currentModelId: string;
	availableModels: { modelId: string; name: string; description?: string }[];
}

const levelNames: Record<string, string> = {
	off: "Off",
	minimal: "Minimal",
	low: "Low",
	medium: "Medium",
	high: "High",
	xhigh: "Extra high",
	max: "Maximum",
};

const nameOf = ({ provider, id }: Model) => `${provider}/${id}`;

export class ConfigOptions {
	#live: LiveSession;
	#models: readonly Model[] = [];

	constructor(live: LiveSession) {
		this.#live = live;
	}

	/** Looks up the models that can be asked. A list that takes too long is used the next time. */
	async refresh(): Promise<void> {
		const { models, log } = this.#live.assembly;
		let timer: NodeJS.Timeout | undefined;
		const looked = models.available().then(
			(found) => {
				this.#models = found;
			},
			(error) => log.error("models could not be listed", error),
		);
		const late = new Promise<void>((resolve) => {
			timer = setTimeout(resolve, listPatienceMs);
		});
		await Promise.race([looked, late]);
		clearTimeout(timer);
	}

	all(): SessionConfigOption[] {
		const { choice } = this.#live.session;
		const { model } = choice;
		const options: SessionConfigOption[] = [];
		const listed = this.#listed();
		if (model && listed.length) {
			options.push({
				id: "model",
				name: "Model",
				category: "model",
				type: "select",
				currentValue: nameOf(model),
				options: listed.length > mostUngrouped ? grouped(listed) : listed.map(({ option }) => option),
			});
		}
		const levels = choice.levels();
		if (model && levels.length > 1) {
			options.push({
				id: "thinking",
				name: "Thinking",
				category: "thought_level",
				type: "select",
				currentValue: choice.level,
				options: levels.map((level) => ({ value: level, name: levelNames[level] ?? level })),
			});
		}
		return options;
	}

	/** The list of models for clients that are older than config options. */
	legacyModels(): LegacyModels | undefined {
		const { model } = this.#live.session.choice;
		if (!model) return undefined;
		const availableModels = this.#listed().map(({ option: { value, name, description } }) => ({
			modelId: value,
			name,
			...(description && { description }),
		}));
		return { currentModelId: nameOf(model), availableModels };
	}

	/** Throws an RpcError for an unknown option or value; then nothing changes. */
	async set(id: unknown, value: unknown): Promise<void> {
		if (typeof id !== "string") throw invalid("configId must be a string");
		const option = this.all().find((each) => each.id === id);
		if (!option) throw invalid(`Unknown config option: ${id}`);
		if (typeof value !== "string") throw invalid(`${id}: the value must be a string`);
		if (id === "model") return this.setModel(value);
		if (!this.#live.session.choice.levels().some((level) => level === value)) throw invalid(`Unknown value of thinking: ${value}`);
		await this.#live.commands.perform("set_thinking_level", { level: value as never });
	}

	async setModel(value: unknown): Promise<void> {
		if (typeof value !== "string") throw invalid("The model must be named by a string");
		await this.refresh();
		const model = this.#models.find((each) => nameOf(each) === value);
		if (!model) throw invalid(`Unknown model: ${value}`);
		await this.#live.commands.perform("set_model", { provider: model.provider, modelId: model.id });
	}

	/** The models that can be asked; the current one is among them even when it cannot. */
	#listed(): { model: Model; option: SessionConfigSelectOption }[] {
		const { model: current } = this.#live.session.choice;
		const options = this.#models.map((model) => ({ model, option: { value: nameOf(model), name: model.name, description: describe(model) } }));
		if (!current || options.some(({ option }) => option.value === nameOf(current))) return options;
		return [{ model: current, option: { value: nameOf(current), name: current.name, description: "not available" } }, ...options];
	}
}

function grouped(listed: readonly { model: Model; option: SessionConfigSelectOption }[]): SessionConfigSelectGroup[] {
	const groups = new Map<string, SessionConfigSelectOption[]>();
	for (const { model, option } of listed) groups.set(model.provider, [...(groups.get(model.provider) ?? []), option]);
	return [...groups].map(([group, options]) => ({ group, name: group, options }));
}

/** The context window and the price. */
function describe({ contextWindow, cost }: Model): string {
	const size = contextWindow >= 1_000_000 ? `${contextWindow / 1_000_000}M` : `${Math.round(contextWindow / 1000)}K`;
	const price = cost.input || cost.output ? `, $${cost.input} in and $${cost.output} out per million tokens` : "";
	return `${size} context${price}`;
}
