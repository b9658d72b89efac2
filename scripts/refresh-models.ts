/**
 * Makes the compact catalogue from a JSON file of models: node scripts/run.mjs refresh-models <file> [as-of date]
 * The file is either `{ providers: { name: Model[] } }` or in the style of models.dev, `{ name: { api, models: { id: ... } } }`.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { catalogueText, type SourceModel } from "../src/models/catalogue-format.ts";
import { apiName, routes } from "../src/models/routes.ts";
import { withClouds } from "./cloud-models.ts";

interface DevModel {
	id: string;
	name?: string;
	reasoning?: boolean;
	tool_call?: boolean;
	modalities?: { input?: string[] };
	limit?: { context?: number; output?: number };
	cost?: { input?: number; output?: number; cache_read?: number; cache_write?: number };
}

/** models.dev names the npm package that speaks to a provider; the package determines the API. */
const apiOfPackage: Record<string, SourceModel["api"]> = {
	"@ai-sdk/anthropic": "anthropic-messages",
	"@ai-sdk/openai": "openai-responses",
	"@ai-sdk/google": "google-generative-ai",
};

function fromDev(provider: string, entry: { api?: string; npm?: string; models: Record<string, DevModel> }): SourceModel[] {
	const route = routes.get(provider);
	if (!route) return [];
	const usable = Object.values(entry.models).filter((model) => model.tool_call !== false);
	return usable.map((model) => ({
		id: model.id,
		name: model.name ?? model.id,
		api: apiOfPackage[entry.npm ?? ""] ?? route.api,
		baseUrl: route.baseUrl,
		reasoning: model.reasoning ?? false,
		input: model.modalities?.input?.includes("image") ? ["text", "image"] : ["text"],
		contextWindow: model.limit?.context || 128000,
		maxTokens: model.limit?.output || 16384,
		cost: {
			input: model.cost?.input ?? 0,
			output: model.cost?.output ?? 0,
			cacheRead: model.cost?.cache_read ?? 0,
			cacheWrite: model.cost?.cache_write ?? 0,
		},
	}));
}

const [file, date] = process.argv.slice(2);
if (!file) throw new Error("Name the JSON file: node scripts/run.mjs refresh-models <file>");
const source = JSON.parse(readFileSync(file, "utf8"));
const providers: Record<string, SourceModel[]> = {};
if (source.providers) Object.assign(providers, source.providers);
else for (const [name, entry] of Object.entries(source)) providers[name] = fromDev(name, entry as Parameters<typeof fromDev>[1]);
for (const [name, models] of Object.entries(providers)) {
	const route = routes.get(name);
	// Lists have names of their own for the APIs of clouds; each cloud has one.
	if (route) providers[name] = models.map((model) => ({ ...model, api: apiName(model.api) ?? route.api }));
}
const known = Object.fromEntries(Object.entries(withClouds(providers)).filter(([name, models]) => routes.has(name) && models.length > 0));
const unknown = Object.keys(providers).filter((name) => !routes.has(name));
if (unknown.length > 0) process.stderr.write(`Left out, because no row of src/models/routes.ts has the name: ${unknown.join(", ")}\n`);
const body = catalogueText(known);
const head = `/** Made by scripts/refresh-models.ts: facts of ${date ?? source.asOf ?? "an unknown day"}. catalogue-format.ts describes the format. */\n`;
writeFileSync(join(import.meta.dirname, "../src/models/catalogue-data.ts"), `${head}export const data = \`${body}\`;\n`);
process.stderr.write(`${Object.keys(known).length} providers, ${Object.values(known).flat().length} models, ${body.length} characters\n`);
