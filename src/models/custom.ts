/** `models.jsonc`: providers and models that the user adds. A broken entry is reported and ignored; the others still work. */
import { readRegular } from "../lib/bounded-file.ts";
import { parseErrorInWords } from "../lib/jsonc-words.ts";
import { didYouMean } from "../lib/nearest.ts";
import type { Model } from "../protocol/model.ts";
import { unknownModel } from "./catalogue.ts";
import { type Json, object } from "./json.ts";
import type { FileProblem } from "./problems.ts";
import { type ApiName, apiName, apis, providerName, routes } from "./routes.ts";

export interface CustomProvider {
	name: string;
	baseUrl?: string;
	api?: ApiName;
	/** A value in the syntax of `values.ts`, as all headers are. */
	apiKey?: string;
	headers: Record<string, string>;
	/** The key is sent as `Authorization: Bearer`, whatever header the API uses otherwise. */
	authHeader: boolean;
	compat?: Json;
	models: CustomModel[];
	/** Single fields of built-in models, by id. */
	modelOverrides: Record<string, CustomModel>;
}

/** A model as far as the file describes it. */
export interface CustomModel {
	fields: Partial<Omit<Model, "provider" | "headers" | "compat">>;
	headers: Record<string, string>;
	compat?: Json;
}

export interface ModelsFile {
	providers: Map<string, CustomProvider>;
	/** All providers that it names, also those that cannot be used. */
	names: string[];
	problems: FileProblem[];
}

export const largestModelsFile = 32 * 1024 * 1024;

/** Empty without a path, and when the file does not exist. */
export async function loadModelsFile(path: string | undefined): Promise<ModelsFile> {
	if (path === undefined) return { providers: new Map(), names: [], problems: [] };
	let content: string;
	try {
		content = (await readRegular(path, largestModelsFile)).toString("utf8");
	} catch (error) {
		const isMissing = (error as NodeJS.ErrnoException).code === "ENOENT";
		return { providers: new Map(), names: [], problems: isMissing ? [] : [{ text: `${path}: ${(error as Error).message}` }] };
	}
	return parseModelsFile(content, path);
}

export async function parseModelsFile(content: string, path: string): Promise<ModelsFile> {
	const { parse, printParseErrorCode } = await import("jsonc-parser");
	const errors: { error: number; offset: number; length: number }[] = [];
	let root: unknown;
	try {
		root = parse(content, errors, { allowTrailingComma: true });
	} catch (error) {
		if (!(error instanceof RangeError)) throw error;
		return { providers: new Map(), names: [], problems: [{ text: `${path}: nested too deep` }] };
	}
	const first = errors[0];
	if (first) {
		const line = content.slice(0, first.offset).split("\n").length;
		return { providers: new Map(), names: [], problems: [{ text: `${path}:${line}: ${parseErrorInWords(printParseErrorCode(first.error))}` }] };
	}
	const reader = new Reader(path);
	const providers = new Map<string, CustomProvider>();
	const named = object(object(root)?.providers) ?? {};
	if (object(root) === undefined && content.trim() !== "") reader.problem("the file", "must be an object");
	reader.unknownMembers("the file", object(root) ?? {}, ["providers", "$schema"]);
	for (const [name, entry] of Object.entries(named)) {
		const provider = reader.provider(name, entry);
		if (provider) providers.set(provider.name, provider);
	}
	return { providers, names: Object.keys(named).map(providerName), problems: reader.problems };
}

const providerMembers = ["baseUrl", "api", "apiKey", "headers", "authHeader", "compat", "models", "modelOverrides", "name"];
const modelMembers = [
	...["id", "name", "api", "baseUrl", "contextWindow", "maxTokens", "reasoning", "input", "cost"],
	...["thinkingLevelMap", "compat", "headers"],
];

class Reader {
	problems: FileProblem[] = [];
	#path: string;
	/** The provider that is being read. */
	#provider: string | undefined;

	constructor(path: string) {
		this.#path = path;
	}

	problem(where: string, what: string, code?: FileProblem["code"]): undefined {
		const provider = this.#provider === undefined ? {} : { provider: this.#provider };
		this.problems.push({ text: `${this.#path}: ${where} ${what}`, ...provider, ...(code ? { code } : {}) });
		return undefined;
	}

	/** Names members that have no meaning. They change nothing, so the rest is used. */
	unknownMembers(where: string, entry: Json, known: readonly string[]): void {
		for (const member of Object.keys(entry)) {
			if (!known.includes(member))
				this.problem(where, `has no member ${member.slice(0, 100)}.${didYouMean(member, known)}`.replace(/\.$/, ""), "unknown_member");
		}
	}

	provider(name: string, value: unknown): CustomProvider | undefined {
		this.#provider = name;
		const entry = object(value);
		const where = `providers.${name}`;
		if (!entry) return this.problem(where, "must be an object");
		this.unknownMembers(where, entry, providerMembers);
		if (entry.models !== undefined && !Array.isArray(entry.models)) return this.problem(`${where}.models`, "must be a list");
		const api = this.#api(`${where}.api`, entry.api);
		if (entry.api !== undefined && !api) return undefined;
		const models = ((entry.models ?? []) as unknown[]).flatMap((model, index) => this.#model(`${where}.models[${index}]`, model, true) ?? []);
		const overrides = Object.entries(object(entry.modelOverrides) ?? {}).flatMap(([id, model]) => {
			const read = this.#model(`${where}.modelOverrides.${id}`, model, false);
			return read ? [[id, read] as const] : [];
		});
		if (!routes.has(providerName(name))) this.#complete(where, entry, models);
		const string = (key: string) => (typeof entry[key] === "string" ? { [key]: entry[key] as string } : {});
		return {
			name: providerName(name),
			...string("baseUrl"),
			...(api ? { api } : {}),
			...string("apiKey"),
			headers: strings(entry.headers),
			authHeader: entry.authHeader === true,
			...(object(entry.compat) ? { compat: object(entry.compat) } : {}),
			models,
			modelOverrides: Object.fromEntries(overrides),
		};
	}

	/** Reports what a provider of the user lacks. Each of its models may have an address and an API as well. */
	#complete(where: string, entry: Json, models: readonly CustomModel[]): void {
		const isAtModels = (key: "baseUrl" | "api") => models.length > 0 && models.every((model) => model.fields[key]);
		const lacks = (["baseUrl", "api"] as const).filter((key) => !(typeof entry[key] === "string" && entry[key]) && !isAtModels(key)) as string[];
		const isOnlyKey = lacks.length === 0;
		if (!(typeof entry.apiKey === "string" && entry.apiKey)) lacks.push("apiKey");
		if (lacks.length > 0) this.problem(where, `lacks ${lacks.join(" and ")}`, isOnlyKey ? "no_key" : undefined);
	}

	#api(where: string, value: unknown): ApiName | undefined {
		if (value === undefined) return undefined;
		return apiName(value) ?? this.problem(where, `must be one of ${Object.keys(apis).join(", ")}`);
	}

	#model(where: string, value: unknown, needsId: boolean): CustomModel | undefined {
		const entry = object(value);
		if (!entry) return this.problem(where, "must be an object");
		this.unknownMembers(where, entry, modelMembers);
		if (needsId && (typeof entry.id !== "string" || entry.id === "")) return this.problem(where, "needs an id");
		const api = this.#api(`${where}.api`, entry.api);
		if (entry.api !== undefined && !api) return undefined;
		const fields: CustomModel["fields"] = { ...(api ? { api } : {}) };
		for (const key of ["id", "name", "baseUrl"] as const) if (typeof entry[key] === "string") fields[key] = entry[key];
		for (const key of ["contextWindow", "maxTokens"] as const) {
			if (entry[key] === undefined) continue;
			if (Number(entry[key]) > 0) fields[key] = Math.round(Number(entry[key]));
			else this.problem(`${where}.${key}`, "must be a positive number");
		}
		if (typeof entry.reasoning === "boolean") fields.reasoning = entry.reasoning;
		if (Array.isArray(entry.input)) fields.input = entry.input.includes("image") ? ["text", "image"] : ["text"];
		const cost = object(entry.cost);
		if (cost) fields.cost = { ...prices(cost), ...this.#tiers(`${where}.cost.tiers`, cost.tiers) };
		const map = object(entry.thinkingLevelMap);
		const compat = map ? { ...object(entry.compat), thinkingLevelMap: map } : object(entry.compat);
		return { fields, headers: strings(entry.headers), ...(compat ? { compat } : {}) };
	}

	/** Reads the prices of long requests. A step that does not say where it begins is left out. */
	#tiers(where: string, value: unknown): Pick<Model["cost"], "tiers"> {
		if (value === undefined) return {};
		const tiers = (Array.isArray(value) ? value : [undefined]).flatMap((one) => {
			const step = object(one);
			if (step && Number(step.inputTokensAbove) > 0) return { inputTokensAbove: Math.round(Number(step.inputTokensAbove)), ...prices(step) };
			return this.problem(where, "must be a list of objects with inputTokensAbove and prices") ?? [];
		});
		return tiers.length > 0 ? { tiers } : {};
	}
}

function prices({ input, output, cacheRead, cacheWrite }: Json): Omit<Model["cost"], "tiers" | "unknown"> {
	const price = (value: unknown) => (Number(value) >= 0 ? Number(value) : 0);
	return { input: price(input), output: price(output), cacheRead: price(cacheRead), cacheWrite: price(cacheWrite) };
}

function strings(value: unknown): Record<string, string> {
	return Object.fromEntries(Object.entries(object(value) ?? {}).filter((pair): pair is [string, string] => typeof pair[1] === "string"));
}

/** A model that only the file describes. */
export function customModel(provider: string, entry: CustomModel, api: string, baseUrl: string): Model {
	const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
	const id = entry.fields.id ?? "";
	return overridden({ name: id, input: ["text"], cost, ...unknownModel, id, provider, api, baseUrl }, entry);
}

/** A model with single fields replaced. */
export function overridden(model: Model, entry: CustomModel): Model {
	const compat = entry.compat || model.compat ? { compat: { ...model.compat, ...entry.compat } } : {};
	return { ...model, ...entry.fields, ...compat };
}
