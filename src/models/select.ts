/** Chooses models: by patterns, for the start of a session, for `cycle_model`. Pure. */
import { type ThinkingLevel, thinkingLevels } from "../protocol/levels.ts";
import type { Model } from "../protocol/model.ts";
import { providerName, routes } from "./routes.ts";

export { clampLevel, supportedLevels } from "./thinking.ts";

export interface Choice {
	model: Model;
	level?: ThinkingLevel;
}

/** The best first models of a provider; the first one that the catalogue has wins. */
const favourites: Record<string, readonly string[]> = {
	anthropic: ["claude-opus-5-5", "claude-sonnet-5-5", "claude-opus-4-6"],
	openai: ["gpt-6.1-sol", "gpt-6-sol", "gpt-5.5"],
	google: ["gemini-3.8-flash", "gemini-3.1-pro-preview", "gemini-2.5-pro"],
	"google-vertex": ["gemini-3.8-flash", "gemini-3.1-pro-preview", "gemini-2.5-pro"],
	"amazon-bedrock": ["global.anthropic.claude-opus-5-5", "global.anthropic.claude-sonnet-5-5"],
	azure: ["gpt-6.1-sol", "gpt-6-sol", "gpt-5.5"],
	openrouter: ["anthropic/claude-opus-5.5", "anthropic/claude-sonnet-5.5", "openai/gpt-5.5"],
	xai: ["grok-4.7"],
	groq: ["openai/gpt-oss-120b"],
	cerebras: ["gpt-oss-120b"],
	mistral: ["mistral-large-4", "mistral-medium-latest"],
	deepseek: ["deepseek-v4-pro"],
	zai: ["glm-5.3"],
	moonshotai: ["kimi-k3.1-pro"],
	"kimi-coding": ["k3.1-pro"],
	minimax: ["MiniMax-M3"],
	"vercel-ai-gateway": ["anthropic/claude-opus-5.5", "anthropic/claude-sonnet-5.5"],
	opencode: ["claude-opus-5-5"],
};

/** `claude-haiku-4-5-20251001`, `gpt-4o-2024-08-06`: the date at the end of an id, as digits. */
function dateOf(id: string): string | undefined {
	const found = /[-@_](20\d{2})-?(\d{2})-?(\d{2})(?:\b|$)/.exec(id);
	return found ? `${found[1]}${found[2]}${found[3]}` : undefined;
}

/** Ids with numbers compared as numbers: 4.10 is newer than 4.9. */
function compareIds(a: string, b: string): number {
	const parts = (id: string) => id.toLowerCase().split(/(\d+)/);
	const [left, right] = [parts(a), parts(b)];
	for (let index = 0; index < Math.min(left.length, right.length); index += 1) {
		const [x, y] = [left[index] as string, right[index] as string];
		if (x === y) continue;
		return index % 2 === 1 ? Number(x) - Number(y) : x < y ? -1 : 1;
	}
	return left.length - right.length;
}

/** Bedrock offers one model for several parts of the world; the one for all of them works everywhere. */
const withoutArea = (id: string) => id.replace(/^(?:global|us-gov|us|eu|apac|jp|au|ca|in)\.(?=[a-z0-9]+\.)/, "");
const areaRank = (id: string) => (id.startsWith("global.") ? 0 : 1);

/** The best of several that match: an alias without a date, of the newest version; else the newest date. */
function best(models: readonly Model[]): Model | undefined {
	const aliases = models.filter((model) => dateOf(model.id) === undefined);
	if (aliases.length > 0) return [...aliases].sort((a, b) => compareIds(withoutArea(b.id), withoutArea(a.id)) || areaRank(a.id) - areaRank(b.id))[0];
	return [...models].sort((a, b) => (dateOf(b.id) ?? "").localeCompare(dateOf(a.id) ?? "") || areaRank(a.id) - areaRank(b.id))[0];
}

/** The provider in front of the first slash, when it is one that the list (or the table) knows. */
function splitProvider(pattern: string, models: readonly Model[]): { provider: string; id: string } | undefined {
	const slash = pattern.indexOf("/");
	if (slash < 1) return undefined;
	const provider = providerName(pattern.slice(0, slash).toLowerCase());
	const isKnown = routes.has(provider) || models.some((model) => model.provider.toLowerCase() === provider);
	return isKnown ? { provider, id: pattern.slice(slash + 1) } : undefined;
}

function matchWhole(pattern: string, models: readonly Model[]): Model | undefined {
	const wanted = pattern.toLowerCase();
	const named = splitProvider(pattern, models);
	if (named) {
		const own = models.filter((model) => model.provider.toLowerCase() === named.provider);
		const exact = own.find((model) => model.id === named.id) ?? own.find((model) => model.id.toLowerCase() === named.id.toLowerCase());
		if (exact) return exact;
	}
	const byId = models.filter((model) => model.id.toLowerCase() === wanted);
	return byId.length === 1 ? byId[0] : preferred(byId);
}

function matchPart(pattern: string, models: readonly Model[]): Model | undefined {
	const named = splitProvider(pattern, models);
	const within = named ? models.filter((model) => model.provider.toLowerCase() === named.provider) : models;
	const wanted = (named?.id ?? pattern).toLowerCase();
	if (wanted === "") return undefined;
	const hits = within.filter((model) => model.id.toLowerCase().includes(wanted) || model.name.toLowerCase().includes(wanted));
	const providers = [...new Set(hits.map((model) => model.provider))];
	const first = providers.sort((a, b) => rank(a) - rank(b))[0];
	return best(hits.filter((model) => model.provider === first));
}

function rank(provider: string): number {
	const at = [...routes.keys()].indexOf(provider);
	return at === -1 ? -1 : at;
}

/** Where several providers have the same id, the provider that comes first wins; custom providers come before all others. */
function preferred(models: readonly Model[]): Model | undefined {
	return [...models].sort((a, b) => rank(a.provider) - rank(b.provider))[0];
}

/** Splits a `:level` off the end. */
export function splitLevel(pattern: string): { pattern: string; level?: ThinkingLevel } {
	const colon = pattern.lastIndexOf(":");
	const level = pattern.slice(colon + 1).toLowerCase();
	if (colon < 1 || !(thinkingLevels as readonly string[]).includes(level)) return { pattern };
	return { pattern: pattern.slice(0, colon), level: level as ThinkingLevel };
}

/**
 * Returns the id without the provider in front of it, unless the provider's ids begin that way: `openrouter/auto` is one. A listed id stays as it is.
 */
export function ownId(provider: string, id: string, listed: readonly string[]): string {
	const slash = id.indexOf("/");
	if (slash < 1 || providerName(id.slice(0, slash).toLowerCase()) !== provider || listed.includes(id)) return id;
	const rest = id.slice(slash + 1);
	const begin = id.slice(0, slash + 1);
	return rest !== "" && (listed.includes(rest) || !listed.some((other) => other.startsWith(begin))) ? rest : id;
}

/** `--provider anthropic --model anthropic/opus` names the provider twice. */
function namedOnce(pattern: string, models: readonly Model[]): string | undefined {
	const named = splitProvider(pattern, models);
	const again = named && splitProvider(named.id, models);
	return again && again.provider === named.provider ? named.id : undefined;
}

/** The model that a pattern means. It tries the whole text as an id first: ids of OpenRouter contain colons. */
export function matchModel(pattern: string, models: readonly Model[]): Choice | undefined {
	const found = matchAsWritten(pattern, models);
	if (found) return found;
	const once = namedOnce(pattern, models);
	return once === undefined ? undefined : matchAsWritten(once, models);
}

function matchAsWritten(pattern: string, models: readonly Model[]): Choice | undefined {
	const whole = matchWhole(pattern, models);
	if (whole) return { model: whole };
	const { pattern: rest, level } = splitLevel(pattern);
	const model = (level && matchWhole(rest, models)) || matchPart(rest, models) || matchPart(pattern, models);
	return model ? { model, ...(level ? { level } : {}) } : undefined;
}

/** A known provider and an id that no list has, from `provider/id`. */
export function unknownId(pattern: string, models: readonly Model[]): { provider: string; id: string; level?: ThinkingLevel } | undefined {
	const { pattern: rest, level } = splitLevel(pattern);
	const named = splitProvider(rest, models);
	return named && named.id !== "" ? { ...named, ...(level ? { level } : {}) } : undefined;
}

/** The models of a scope in the order of its patterns, each once. `*` and `?` are globs over `provider/id` and over the id. */
export function scopeModels(patterns: readonly string[], models: readonly Model[]): Choice[] {
	const chosen = new Map<string, Choice>();
	const add = (choice: Choice) => {
		const key = `${choice.model.provider}/${choice.model.id}`;
		if (!chosen.has(key)) chosen.set(key, choice);
	};
	for (const raw of patterns) {
		const pattern = raw.trim();
		if (pattern === "") continue;
		if (!/[*?]/.test(pattern)) {
			const choice = matchModel(pattern, models);
			if (choice) add(choice);
			continue;
		}
		const { pattern: rest, level } = splitLevel(pattern);
		const glob = globPattern(rest);
		const hasProvider = splitProvider(rest, models) !== undefined;
		for (const model of models) {
			if (glob.test(`${model.provider}/${model.id}`) || (!hasProvider && glob.test(model.id))) add({ model, ...(level ? { level } : {}) });
		}
	}
	return [...chosen.values()];
}

function globPattern(glob: string): RegExp {
	const source = glob
		.replace(/[.+^${}()|[\]\\]/g, "\\$&")
		.replaceAll("*", ".*")
		.replaceAll("?", ".");
	return new RegExp(`^${source}$`, "i");
}

export interface InitialWishes {
	/** `--model`, already resolved. */
	commandLine?: Choice;
	/** `--models`, already resolved. */
	scope?: readonly Choice[];
	/** What a resumed session was using. */
	session?: { provider: string; id: string };
	/** The settings' default. */
	settings?: { provider?: string; id?: string };
}

/** The model a session starts with, among those that can be asked. */
export function initialModel(wishes: InitialWishes, available: readonly Model[]): Choice | undefined {
	if (wishes.commandLine) return wishes.commandLine;
	if (wishes.scope?.[0]) return wishes.scope[0];
	const { session, settings } = wishes;
	const recorded = session && available.find((model) => model.provider === providerName(session.provider) && model.id === session.id);
	if (recorded) return { model: recorded };
	if (settings?.id) {
		const named = matchModel(settings.provider ? `${settings.provider}/${settings.id}` : settings.id, available);
		if (named) return named;
	}
	const own = settings?.provider ? available.filter((model) => model.provider === providerName(settings.provider as string)) : [];
	const model = favourite(own) ?? own[0] ?? favourite(available) ?? available[0];
	return model ? { model } : undefined;
}

function favourite(available: readonly Model[]): Model | undefined {
	for (const provider of routes.keys()) {
		const own = available.filter((model) => model.provider === provider);
		const wished = favourites[provider]?.flatMap((id) => own.find((model) => model.id === id) ?? [])[0];
		if (wished ?? own[0]) return wished ?? own[0];
	}
	return undefined;
}
