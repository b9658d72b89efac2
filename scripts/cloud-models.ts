/**
 * Models of the clouds. Lists of models seldom have them. They are models of other vendors under other names, so this file has their ids
 * and takes their facts from the sections of the vendors.
 */
import type { SourceModel } from "../src/models/catalogue-format.ts";
import { kinOf } from "../src/models/clouds/ids.ts";
import { routes } from "../src/models/routes.ts";

/** Ids that Amazon's and Anthropic's pages document for the Converse API: the newer ones are reached through inference profiles only. */
const claudeOnBedrock = [
	"anthropic.claude-haiku-4-5-20251001-v1:0",
	"anthropic.claude-sonnet-4-5-20250929-v1:0",
	"anthropic.claude-sonnet-4-6",
	"anthropic.claude-sonnet-5",
	"anthropic.claude-opus-4-5-20251101-v1:0",
	"anthropic.claude-opus-4-6-v1",
	"anthropic.claude-opus-4-7",
	"anthropic.claude-opus-4-8",
	"anthropic.claude-opus-5",
];
const areas: Record<string, string> = { global: "", us: " (US)", eu: " (EU)" };

/** Vendors' models with the section that knows them. */
const othersOnBedrock: Record<string, [provider: string, id: string]> = {
	"global.amazon.nova-2-lite-v1:0": ["openrouter", "amazon/nova-2-lite-v1"],
	"us.amazon.nova-premier-v1:0": ["openrouter", "amazon/nova-premier-v1"],
	"us.amazon.nova-pro-v1:0": ["openrouter", "amazon/nova-pro-v1"],
	"us.amazon.nova-lite-v1:0": ["openrouter", "amazon/nova-lite-v1"],
	"us.amazon.nova-micro-v1:0": ["openrouter", "amazon/nova-micro-v1"],
	"openai.gpt-oss-120b-1:0": ["groq", "openai/gpt-oss-120b"],
	"openai.gpt-oss-20b-1:0": ["groq", "openai/gpt-oss-20b"],
};

const claudeOnVertex = [
	"claude-haiku-4-5@20251001",
	"claude-sonnet-4-5@20250929",
	"claude-sonnet-4-6",
	"claude-sonnet-5",
	"claude-opus-4-5@20251101",
	"claude-opus-4-6",
	"claude-opus-4-7",
	"claude-opus-4-8",
	"claude-opus-5",
];

type Providers = Record<string, SourceModel[]>;

/** The sections of the clouds, made of the others. Models that no section knows are left out. */
export function cloudModels(providers: Providers): Providers {
	const bedrock = Object.entries(areas).flatMap(([area, suffix]) =>
		claudeOnBedrock.map((id) => like(providers, "amazon-bedrock", `${area}.${id}`, suffix)),
	);
	const others = Object.entries(othersOnBedrock).map(([id, [provider, model]]) => {
		const known = providers[provider]?.find((candidate) => candidate.id === model);
		const name = known?.name.replace(/^\w+: /, "") ?? id;
		return known && offered({ ...known, name }, "amazon-bedrock", id, 1);
	});
	const vertex = claudeOnVertex.map((id) => like(providers, "google-vertex", id));
	return { "amazon-bedrock": [...bedrock, ...others].filter(isThere), "google-vertex": vertex.filter(isThere) };
}

const isThere = <T>(value: T | undefined): value is T => value !== undefined;

function like(providers: Providers, cloud: string, id: string, suffix = ""): SourceModel | undefined {
	const { same, priceFactor } = kinOf(cloud, id);
	const known = same.map(({ provider, id: name }) => providers[provider]?.find((model) => model.id === name)).find(isThere);
	return known && offered({ ...known, name: known.name.replace(" (latest)", "") + suffix }, cloud, id, priceFactor);
}

function offered(known: SourceModel, cloud: string, id: string, factor: number): SourceModel {
	const route = routes.get(cloud);
	const price = (value: number) => Math.round(value * factor * 1e6) / 1e6;
	const { input, output, cacheRead, cacheWrite } = known.cost;
	return {
		...known,
		id,
		api: kinOf(cloud, id).api ?? route?.api ?? known.api,
		baseUrl: route?.baseUrl ?? "",
		cost: { input: price(input), output: price(output), cacheRead: price(cacheRead), cacheWrite: price(cacheWrite) },
	};
}
