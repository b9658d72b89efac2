/** `bowline models [search]`: lists the models that can be asked. With a search, also those whose key is missing. */

import { didYouMean } from "../../lib/nearest.ts";
import { printable, printableLine } from "../../lib/printable.ts";
import { openWorkspace } from "../../live/workspace.ts";
import { ModelRegistry } from "../../models/registry.ts";
import { supportedLevels } from "../../models/thinking.ts";
import type { Options } from "../../protocol/flags.ts";
import type { Model } from "../../protocol/model.ts";
import { printJson } from "../json.ts";

export async function listModels(search: string, options: Options): Promise<void> {
	const { env } = process;
	const { userDirectory, settings } = await openWorkspace({ options, isRpc: false });
	const warn = (problem: string) => process.stderr.write(`Warning: ${printableLine(problem)}\n`);
	const registry = new ModelRegistry({ env, userDir: userDirectory, setting: (name) => settings.get(name), now: Date.now, warn });
	const words = search.toLowerCase().split(/\s+/).filter(Boolean);
	const fits = (model: Model) => words.every((word) => `${model.provider}/${model.id} ${model.name}`.toLowerCase().includes(word));

	const [available, local] = await Promise.all([registry.available(), registry.local()]);
	const usable = unique([...local, ...available]).filter(fits);
	const others = words.length ? (await registry.all()).filter((model) => fits(model) && !usable.some((other) => isSame(model, other))) : [];
	const unlisted = [...(await registry.unlisted()).values()].filter((text) => words.every((word) => text.toLowerCase().includes(word)));
	await registry.close();
	if (options.json) return printJson({ models: usable, withoutKey: others });

	if (usable.length) print(usable);
	else
		console.log(
			words.length ? `No usable model matches.${others.length ? "" : printableLine(await guess(registry, search))}` : "No model can be used yet.",
		);
	if (others.length) {
		console.log(`\nWithout a key (${others.length}):\n`);
		print(others.slice(0, 40));
		if (others.length > 40) console.log(`... and ${others.length - 40} more; search for less.`);
	}
	for (const text of unlisted) console.log(`\n${printableLine(text)}`);
	if (!usable.length || others.length) {
		console.log("\nSet a provider's key, such as ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, start a local server, or describe your own");
		console.log(`provider in ${printableLine(userDirectory)}/models.jsonc. All of them: docs/providers.md.`);
	}
}

/** For a search that finds nothing. */
async function guess(registry: ModelRegistry, search: string): Promise<string> {
	const models = await registry.all();
	return didYouMean(
		search,
		search.includes("/") ? models.map(({ provider, id }) => `${provider}/${id}`) : models.flatMap(({ provider, id }) => [provider, id]),
	);
}

const isSame = (a: Model, b: Model) => a.provider === b.provider && a.id === b.id;

function unique(models: readonly Model[]): Model[] {
	return models.filter((model, index) => models.findIndex((other) => isSame(model, other)) === index);
}

function print(models: readonly Model[]): void {
	const rows = models.map((model) => [
		`${model.provider}/${model.id}`,
		tokens(model.contextWindow),
		tokens(model.maxTokens),
		model.reasoning ? `up to ${supportedLevels(model).at(-1)}` : "no",
		model.input.includes("image") ? "yes" : "no",
		priceOf(model),
	]);
	const head = ["model", "context", "output", "thinking", "images", "$ per million in / out"];
	const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
	const line = (cells: readonly string[]) =>
		cells
			.map((cell, column) => cell.padEnd(widths[column] ?? 0))
			.join("  ")
			.trimEnd();
	console.log(printable([head, ...rows].map(line).join("\n")));
}

/** The prices, and those of each step: `0.1 / 0.5, above 100K 0.5 / 2.5`. */
function priceOf({ cost }: Model): string {
	if (!cost.input && !cost.output) return "free or unknown";
	const steps = (cost.tiers ?? []).map(({ inputTokensAbove, input, output }) => `, above ${tokens(inputTokensAbove)} ${input} / ${output}`);
	return `${cost.input} / ${cost.output}${steps.join("")}`;
}

const tokens = (count: number) => (count >= 1_000_000 ? `${count / 1_000_000}M` : `${Math.round(count / 1000)}K`);
