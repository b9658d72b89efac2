/** What a person can choose in the editor: the model, how much it thinks, and what it may do without asking. */
import type { SessionConfigOption, SessionConfigSelectGroup, SessionConfigSelectOption, SessionModeState } from "@agentclientprotocol/sdk";
import type { LiveSession } from "../live/live-session.ts";
import type { Model } from "../protocol/model.ts";
import { type PermissionModeName, permissionModes } from "../protocol/permission-modes.ts";
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

const modeTexts: Record<PermissionModeName, { name: string; description: string }> = {
	plan: { name: "Plan", description: "Reads and searches; changes nothing" },
	ask: { name: "Ask", description: "Asks before it changes files or runs commands" },
	edit: { name: "Edit", description: "Changes files of the project; asks before commands" },
	full: { name: "Full", description: "Does everything without asking" },
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
		options.push({
			id: "mode",
			name: "Permissions",
			category: "mode",
			type: "select",
			currentValue: this.#live.assembly.permissions.mode,
			options: permissionModes.map((mode) => ({ value: mode, ...modeTexts[mode] })),
		});
		return options;
	}

	/** The same as modes, for clients that show those. */
	modes(): SessionModeState {
		const availableModes = permissionModes.map((id) => ({ id, ...modeTexts[id] }));
		return { currentModeId: this.#live.assembly.permissions.mode, availableModes };
	}

	async setMode(mode: unknown): Promise<void> {
		const known = permissionModes.find((each) => each === mode);
		if (known === undefined) throw invalid(`Unknown mode: ${String(mode)}`);
		await this.#live.commands.perform("set_permission_mode", { mode: known });
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
		if (id === "mode") return this.setMode(value);
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
	const steps = (cost.tiers ?? []).map((step) => `, above ${step.inputTokensAbove / 1000}K in $${step.input} and $${step.output}`);
	const known = cost.input || cost.output ? `, $${cost.input} in and $${cost.output} out per million tokens${steps.join("")}` : "";
	const price = cost.unknown ? ", price not known" : known;
	return `${size} context${price}`;
}
