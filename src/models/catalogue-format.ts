/**
 * The catalogue as text, one model per line, so that a refresh reads well in a diff:
 *   `# provider`, then `@ api baseUrl`, then models: id, name, flags (r reasoning, i images), window, output, four prices, levels,
 *   parted by tabs. An empty name is the id; an empty level list is the default. Levels are `off=none`, or `off` alone when not offered.
 *   The last part, where it is known, is how many seconds a prompt is cached: usually, and when more is asked for.
 *   Each price step follows the prices after a `;`: the tokens of input that it begins above, and its four prices.
 */
import type { Model } from "../protocol/model.ts";
import type { ApiName } from "./routes.ts";
import type { ThinkingLevelMap } from "./thinking.ts";

export type SourceModel = Omit<Model, "provider" | "api" | "compat" | "thinking" | "headers"> & { api: ApiName; thinkingLevelMap?: ThinkingLevelMap };

export function catalogueText(providers: Record<string, SourceModel[]>): string {
	const lines: string[] = [];
	for (const name of Object.keys(providers).sort()) {
		lines.push(`# ${name}`);
		let place = "";
		const sorted = [...(providers[name] ?? [])].sort((a, b) => placeOf(a).localeCompare(placeOf(b)));
		for (const model of sorted) {
			if (placeOf(model) !== place) lines.push(`@ ${placeOf(model)}`);
			place = placeOf(model);
			lines.push(modelLine(model));
		}
	}
	const text = `${lines.join("\n")}\n`;
	if (/[`\\]|\$\{/.test(text)) throw new Error("A name holds a character that a template string cannot");
	return text;
}

function placeOf(model: SourceModel): string {
	return `${model.api} ${model.baseUrl}`;
}

function modelLine(model: SourceModel): string {
	const flags = (model.reasoning ? "r" : "") + (model.input.includes("image") ? "i" : "");
	const steps = [model.cost, ...(model.cost.tiers ?? [])].map((step) => {
		const prices = [step.input, step.output, step.cacheRead, step.cacheWrite];
		return ("inputTokensAbove" in step ? [step.inputTokensAbove, ...prices] : prices).join(" ");
	});
	const levels = Object.entries(model.thinkingLevelMap ?? {}).map(([level, word]) => (word === null ? level : `${level}=${word}`));
	const name = model.name === model.id ? "" : model.name;
	const lifetimes = model.promptCache ? `${model.promptCache.short} ${model.promptCache.long}` : "";
	return [model.id, name, flags, model.contextWindow, model.maxTokens, steps.join(";"), levels.join(" "), lifetimes].join("\t").trimEnd();
}

/** The models of one section, whose lines do not include its head. */
export function readSection(provider: string, lines: readonly string[]): Model[] {
	const models: Model[] = [];
	let [api, baseUrl] = ["", ""];
	for (const line of lines) {
		if (line.startsWith("@ ")) [api = "", baseUrl = ""] = line.slice(2).split(" ");
		else if (line !== "") models.push(readModel(provider, api, baseUrl, line));
	}
	return models;
}

function readModel(provider: string, api: string, baseUrl: string, line: string): Model {
	const [id = "", name = "", flags = "", window = "", output = "", prices = "", levels = "", lifetimes = ""] = line.split("\t");
	const [plain = "", ...steps] = prices.split(";");
	const tiers = steps.map((step) => {
		const [above = "", ...rest] = step.split(" ");
		return { inputTokensAbove: Number(above), ...readPrices(rest) };
	});
	const [short = 0, long = 0] = lifetimes.split(" ").map(Number);
	const thinkingLevelMap = levels === "" ? undefined : Object.fromEntries(levels.split(" ").map(readLevel));
	return {
		id,
		name: name || id,
		api,
		provider,
		baseUrl,
		reasoning: flags.includes("r"),
		input: flags.includes("i") ? ["text", "image"] : ["text"],
		contextWindow: Number(window),
		maxTokens: Number(output),
		cost: { ...readPrices(plain.split(" ")), ...(tiers.length > 0 ? { tiers } : {}) },
		...(lifetimes === "" ? {} : { promptCache: { short, long } }),
		...(thinkingLevelMap ? { compat: { thinkingLevelMap } } : {}),
	};
}

function readPrices(prices: readonly string[]): Pick<Model["cost"], "input" | "output" | "cacheRead" | "cacheWrite"> {
	const [input = 0, output = 0, cacheRead = 0, cacheWrite = 0] = prices.map(Number);
	return { input, output, cacheRead, cacheWrite };
}

function readLevel(entry: string): [string, string | null] {
	const [level = "", word] = entry.split("=");
	return [level, word ?? null];
}
