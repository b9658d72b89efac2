/** Completes the sections of the clouds with what lists of models seldom say about the models of other vendors there. */
import type { SourceModel } from "../src/models/catalogue-format.ts";
import { kinOf } from "../src/models/clouds/ids.ts";
import { routes } from "../src/models/routes.ts";

type Providers = Record<string, SourceModel[]>;

/** Returns the providers with models of clouds at the address of their row, with the vendor's levels, and with Claude at Vertex. */
export function withClouds(providers: Providers): Providers {
	const clouds = [...routes].filter(([name, { cloud }]) => cloud !== undefined && providers[name] !== undefined);
	const completed = clouds.map(([name, route]) => {
		const own = (providers[name] ?? []).map((model) => ({ ...model, api: kinOf(name, model.id).api ?? model.api, baseUrl: route.baseUrl }));
		const all = name === "google-vertex" ? [...own, ...claudeOnVertex(providers.anthropic ?? [], route.baseUrl)] : own;
		return [name, all.map((model) => withVendorFacts(name, model, providers))];
	});
	return { ...providers, ...Object.fromEntries(completed) };
}

/** A cloud passes the vendor's words for thinking on, and has its price steps where it has its price. Lists of clouds leave both out. */
function withVendorFacts(cloud: string, model: SourceModel, providers: Providers): SourceModel {
	const { same } = kinOf(cloud, model.id);
	const vendors = same.filter(({ provider }) => provider !== cloud);
	const known = vendors.flatMap(({ provider, id }) => providers[provider]?.find((other) => other.id === id) ?? [])[0];
	if (!known) return model;
	const { tiers } = known.cost;
	const isSamePrice = known.cost.input === model.cost.input && known.cost.output === model.cost.output;
	return { ...model, thinkingLevelMap: known.thinkingLevelMap, cost: isSamePrice && tiers ? { tiers, ...model.cost } : model.cost };
}

/** Vertex serves each Claude model under the vendor's id, with `@` before its date. An alias of a dated id does not exist there. */
function claudeOnVertex(claude: readonly SourceModel[], baseUrl: string): SourceModel[] {
	const isAlias = ({ id }: SourceModel) => claude.some((other) => other.id.startsWith(`${id}-20`));
	return claude
		.filter((model) => !isAlias(model))
		.map((model) => {
			const id = model.id.replace(/-(20\d{6})$/, "@$1");
			// How long prompts are cached is known of the vendor's own address alone.
			const { promptCache: _, ...known } = model;
			return { ...known, id, api: kinOf("google-vertex", id).api ?? model.api, baseUrl };
		});
}
