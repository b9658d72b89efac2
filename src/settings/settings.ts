/** Settings from their places, lowest to highest: default, user file, project file, --config, environment, flags. */
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import type { ParseError } from "jsonc-parser";
import { readRegularSync } from "../lib/bounded-file-sync.ts";
import { parseErrorInWords } from "../lib/jsonc-words.ts";
import { didYouMean } from "../lib/nearest.ts";
import { UnsuitableFile } from "../lib/unsuitable-file.ts";
import { UsageError } from "../lib/usage-error.ts";
import { isNestedDeeperThan, maxNesting } from "../protocol/nesting.ts";
import { addressOf, flatten, isObject } from "../protocol/setting-names.ts";
import { type RuleLine, type SettingName, type SettingRow, type SettingValue, type Stricter, settings } from "../protocol/settings.ts";
import { type Contained, contain } from "./contained.ts";
import { problemOfRules } from "./rules.ts";
import { asKind, kindName, type Values, withMember } from "./values.ts";

export interface SettingsView {
	get<Name extends SettingName>(name: Name): SettingValue<Name>;
	/** Where a value came from, in words. */
	origin(name: SettingName): string;
	/** Who set it: the user, the project, or the caller that started this process. */
	scope(name: SettingName): "user" | "project" | "temporary";
	/** What each place adds to a setting whose members come from all of them, the lowest first. */
	layers(name: SettingName): readonly Layer[];
	/** What an untrusted project would add to it. */
	refused(name: SettingName): readonly Layer[];
	warnings: string[];
	/** Settings in a file that have no effect, with the reason. */
	unused: string[];
	/** Those of them that do not exist, in short: they are reported at every start. */
	misspelt: string[];
	/** Whether this project's own code and settings are trusted. */
	isTrusted: boolean;
	/** Why no prompt may run: a file or a value that may be a ceiling cannot be used. */
	refusal?: string;
	/** Set where `safety` is `contained`. */
	contained?: Contained;
	/** `.bowline` of the project; absent where that is the user's own. */
	projectDirectory: string | undefined;
}

/** One place's part of a setting. */
export interface Layer {
	name: SettingName;
	scope: "user" | "project" | "temporary";
	/** In words. */
	source: string;
	/** What paths in it are relative to. */
	directory: string;
	value: Values;
}

export interface SettingsPlaces {
	userDirectory: string;
	/** What `~` means. */
	home: string | undefined;
	cwd: string;
	/** Read neither the user's nor the project's file. */
	isHermetic: boolean;
	/** The project is trusted (true), not trusted (false), or the user's file decides. */
	approve: boolean | undefined;
	config: string | undefined;
	/** `key=value` words. */
	assignments: readonly string[];
	environment: string | undefined;
	/** A host is on the other side: it gets the same behaviour on every machine. */
	isRpc: boolean;
	/** `--permission-mode`. */
	permissionMode?: string;
	/** `--contained`. */
	isContained?: boolean;
}

/** Returns a value as a settings file may hold it, for another process that loads it again: without what the loader has added. */
export function asWritten(view: Pick<SettingsView, "get">, name: SettingName): unknown {
	const value: unknown = view.get(name);
	if ((settings[name] as SettingRow).kind !== "rules") return value;
	return (value as readonly RuleLine[]).map(({ source: _, ...rule }) => rule);
}

const userSource = "user settings";
const projectSource = "project settings";
const maxFileBytes = 1024 * 1024;
/** Lines about settings without effect. */
const maxUnused = 50;
const longestShownKey = 100;
/** Lines about settings that do not exist, at each start. */
const maxMisspelt = 10;

export class SettingsProblem extends UsageError {}

/** Why a value of a source has no effect. */
type Refusal = (row: SettingRow, value: unknown, current: unknown) => string | undefined;

/** Throws SettingsProblem for what was named explicitly and cannot be used. A bad user or project file is only reported. */
export async function loadSettings(places: SettingsPlaces): Promise<SettingsView> {
	const warnings: string[] = [];
	const values: Values = {};
	const origins: Record<string, string> = {};
	const unused: string[] = [];
	const misspelt: string[] = [];
	const layers: Layer[] = [];
	const refused: Layer[] = [];
	/** A file may have held rules that cannot be read. */
	let mayLackRules = false;
	/** A file may have asked for a sandbox, or for a stricter one. */
	let mayLackWalls = false;
	/** A file may have asked to be contained. */
	let mayLackSafety = false;
	/** Describes the file or value that may have held a ceiling. */
	let lostCeiling: string | undefined;
	const lay = (layer: Values, source: string, refusal: Refusal = () => undefined, directory = places.cwd) => {
		let more = 0;
		for (const [key, value] of Object.entries(flatten(layer))) {
			if (value === null || key === "$schema") continue;
			const address = addressOf(key);
			const current = address && (Object.hasOwn(values, address.name) ? values[address.name] : address.row.default);
			const reason = address ? refusal(address.row, value, current) : "there is no such setting";
			if (!address && misspelt.length < maxMisspelt) misspelt.push(`${source}: ${unknownSetting(key)}`);
			if (reason && unused.length < maxUnused)
				unused.push(`${source}: ${shortened(key)} has no effect: ${reason}.${address ? "" : didYouMean(key, Object.keys(settings))}`);
			else if (reason) more += 1;
			if (address?.row.byMember && reason && isObject(value)) refused.push({ name: address.name, scope: "project", source, directory, value });
			if (!address || reason) continue;
			const { name, row, members } = address;
			if (row.byMember) {
				const own = members.length > 0 ? withMember(undefined, members, value) : asKind(row, value);
				if (own === undefined) warnings.push(`${source}: ${name} must be ${kindName(row)}; the value is ignored.`);
				else {
					values[name] = { ...(values[name] as Values | undefined), ...(own as Values) };
					origins[name] = source;
					layers.push({ name, scope: scopeOf(source), source, directory, value: own as Values });
				}
				continue;
			}
			if (row.kind === "rules") {
				const { kept, dropped } = usableRules(value as RuleLine[], sourceOf(source), source === projectSource && !trusted);
				if (dropped > 0)
					unused.push(
						`${source}: ${dropped === 1 ? "an allow rule has" : `${dropped} allow rules have`} no effect: the project is not trusted (see --approve).`,
					);
				values[name] = [...((values[name] as RuleLine[] | undefined) ?? []), ...kept];
				origins[name] = origins[name] === undefined ? source : `${origins[name]}, ${source}`;
				continue;
			}
			const typed = members.length > 0 ? withMember(values[name], members, value) : asKind(row, value);
			if (typed === undefined && name.startsWith("sandbox.")) mayLackWalls = true;
			if (typed === undefined && name === "safety") mayLackSafety = true;
			if (typed === undefined) {
				warnings.push(`${source}: ${name} must be ${kindName(row)}; the value is ignored.`);
				if (name.startsWith("task.budget.max")) lostCeiling ??= `${source}: ${name} must be ${kindName(row)}.`;
			} else {
				const value = row.isPath ? placed(typed, directory, places.home) : typed;
				values[name] = source === projectSource && isGrowing(row) ? [...(current as unknown[]), ...(value as unknown[])] : value;
				origins[name] = source;
			}
		}
		if (more > 0) unused.push(`${source}: ${more} more settings have no effect.`);
	};
	const fromFile = async (directory: string): Promise<Values> => {
		const path = join(directory, "settings.jsonc");
		let text: string | undefined;
		try {
			const content = readRegularSync(path, maxFileBytes).toString("utf8");
			text = content.replace(/^\uFEFF/, "");
			const layer = await readJsoncText(text, path);
			refuseBrokenPermissions(layer, path);
			return layer;
		} catch (error) {
			const { code, message } = error as NodeJS.ErrnoException;
			if (code === "ENOENT" || code === "ENOTDIR") {
				const near = join(directory, "settings.json");
				if (existsSync(near)) warnings.push(`${near} is not read: rename it to settings.jsonc.`);
				return {};
			}
			const problem = error instanceof UnsuitableFile ? `${path}: ${message}.` : code === undefined ? message : `${path} cannot be read: ${code}.`;
			warnings.push(`${problem} The file is ignored and left as it is.`);
			// A file with a broken rule must not be read as a file without it, and one that cannot be read at all may hold anything.
			const mayHold = (name: string) => text === undefined || text.includes(name);
			if (mayHold("permissions")) mayLackRules = true;
			if (mayHold("sandbox")) mayLackWalls = true;
			if (mayHold("safety") && (directory === userDirectory || trusted)) mayLackSafety = true;
			if (mayHold("budget") && (directory === userDirectory || trusted)) lostCeiling ??= problem;
			return {};
		}
	};

	let trusted = places.approve ?? false;
	const { userDirectory } = places;
	const projectDirectory = projectDirectoryOf(places);
	const isReset = (row: SettingRow) => (places.isRpc && row.resetInRpc ? "hosts get the default" : undefined);
	if (!places.isHermetic) {
		const user = await fromFile(userDirectory);
		trusted = places.approve ?? isTrusted(flatten(user)["trust.projects"], places);
		lay(user, userSource, isReset, userDirectory);
		const project = projectDirectory === undefined ? {} : await fromFile(projectDirectory);
		const refusal: Refusal = (row, value, current) => {
			if (row === settings["trust.projects"]) return "only the user's own file decides that";
			if (row.project === "stricter") return isWeaker(row, value, current) ? "a project may only make it stricter" : undefined;
			if (row.project === "never") return "no project may set it";
			if (isStricterOnly(row)) return isStricter(row, value, current) ? undefined : "a project may only make it stricter";
			return (trusted ? undefined : refusalForUntrusted(row, value)) ?? isReset(row);
		};
		lay(project, projectSource, refusal, projectDirectory);
	}
	const layExplicit = (layer: Values, source: string, refusal?: Refusal, directory?: string) => {
		refuseBrokenPermissions(layer, source);
		lay(layer, source, refusal, directory);
	};
	if (places.config !== undefined) {
		const file = resolve(places.cwd, places.config);
		layExplicit(await readExplicit(file, places.config), `--config ${places.config}`, undefined, dirname(file));
	}
	if (places.environment) layExplicit(await readJsoncText(places.environment, "BOWLINE_SETTINGS"), "BOWLINE_SETTINGS");
	if (places.isContained) lay({ safety: "contained" }, "--contained");
	for (const assignment of places.assignments) lay(parseAssignment(assignment), `--set ${assignment}`);
	if (places.permissionMode !== undefined) lay({ "permissions.mode": places.permissionMode }, `--permission-mode ${places.permissionMode}`);
	const mode = settings["permissions.mode"];
	if (mayLackRules && isWeaker(mode, values["permissions.mode"] ?? mode.default, "ask")) {
		values["permissions.mode"] = "ask";
		origins["permissions.mode"] = "a settings file that cannot be used";
		warnings.push('That file may contain rules about tool calls, so permissions.mode is "ask" until it is repaired.');
	}

	// Flags are checked when they are read, so this comes from a file or a variable.
	if (mayLackWalls && values["sandbox.mode"] !== "read-only" && !(origins["sandbox.mode"] ?? "").startsWith("--set ")) {
		values["sandbox.mode"] = "read-only";
		origins["sandbox.mode"] = "a settings file that cannot be used";
		warnings.push('A setting of the sandbox cannot be used, so sandbox.mode is "read-only" until it is repaired.');
	}

	if (mayLackSafety && values.safety !== "contained" && !(origins.safety ?? "").startsWith("--set ")) {
		values.safety = "contained";
		origins.safety = "a settings file that cannot be used";
		warnings.push('That file may ask for safety, so safety is "contained" until it is repaired.');
	}
	const contained =
		values.safety === "contained"
			? contain({
					values,
					origins,
					rankOf,
					isProject: (origin) => origin === projectSource,
					unused: (origin, name, reason) => void unused.push(`${origin}: ${name} has no effect: ${reason}.`),
				})
			: undefined;

	/** A ceiling given on the command line counts instead of the lost one. */
	const hasOwnCeiling = Object.entries(origins).some(([name, origin]) => name.startsWith("task.budget.max") && origin.startsWith("--set "));
	return {
		get: (name) => (Object.hasOwn(values, name) ? values[name] : settings[name].default) as never,
		origin: (name) => origins[name] ?? "default",
		scope: (name) => scopeOf(origins[name]),
		layers: (name) => layers.filter((layer) => layer.name === name),
		refused: (name) => refused.filter((layer) => layer.name === name),
		warnings,
		unused,
		misspelt,
		isTrusted: trusted,
		...(lostCeiling !== undefined &&
			!hasOwnCeiling && {
				refusal: `A ceiling may be lost, so no prompt is run. ${lostCeiling} Mend it, leave the setting out, or set a ceiling with --set.`,
			}),
		...(contained && { contained }),
		projectDirectory,
	};
}

/** From the weakest place to the strongest. */
const fromWeakest = [userSource, projectSource, "--config ", "BOWLINE_SETTINGS", "--"];

function rankOf(origin: string | undefined): number | undefined {
	const rank = fromWeakest.findIndex((beginning) => origin?.startsWith(beginning));
	// What stands for a file that cannot be used comes from the weakest.
	return origin === undefined ? undefined : Math.max(rank, 0);
}

/** Whether a value comes after the other in a list that begins with the strictest. */
function isWeaker({ values = [] }: SettingRow, value: unknown, than: unknown): boolean {
	return values.indexOf(String(value)) > values.indexOf(String(than));
}

const sourceOf = (source: string): RuleLine["source"] =>
	source === userSource ? "user" : source === projectSource ? "project" : source.startsWith("--set ") ? "flags" : "config";

function usableRules(rules: readonly RuleLine[], source: RuleLine["source"], onlyStrict: boolean): { kept: RuleLine[]; dropped: number } {
	const kept = rules.filter(({ action }) => !onlyStrict || action !== "allow").map((rule) => ({ ...rule, source }));
	return { kept, dropped: rules.length - kept.length };
}

/** Throws for a mode or rules that cannot be used: what was meant to restrict the agent must not be ignored. */
function refuseBrokenPermissions(layer: Values, source: string): void {
	const { "permissions.mode": mode, "permissions.rules": rules } = flatten(layer);
	const row = settings["permissions.mode"];
	const problem =
		mode != null && asKind(row, mode) === undefined ? `permissions.mode must be ${kindName(row)}` : rules == null ? undefined : problemOfRules(rules);
	if (problem) throw new SettingsProblem(`${source}: ${problem}.`);
}

const isRange = (project: SettingRow["project"]): project is readonly [number, number] => Array.isArray(project);

type StricterRow = SettingRow & { project: Stricter };
const isStricterOnly = (row: SettingRow): row is StricterRow => typeof row.project === "object" && !isRange(row.project);
const isGrowing = (row: SettingRow) => isStricterOnly(row) && row.project.stricter === "longer";

/** A value of the wrong type is no danger: it is reported and ignored later. */
function isStricter(row: StricterRow, value: unknown, current: unknown): boolean {
	const { stricter } = row.project;
	const typed = asKind(row, value);
	if (typed === undefined || stricter === "longer") return true;
	const unlimited = (limit: unknown) => (limit === 0 ? Number.POSITIVE_INFINITY : Number(limit));
	if (stricter === "lower") return Number(typed) >= 0 && unlimited(typed) <= unlimited(current);
	const asked = stricter.indexOf(typed as string);
	return asked >= 0 && asked >= stricter.indexOf(current as string) && (stricter.includes(current as string) || typed === current);
}

/** A stranger's settings must not make the agent ask a provider forever, or without a pause. */
function refusalForUntrusted(row: SettingRow, value: unknown): string | undefined {
	if (!row.project) return "the project is not trusted (see --approve)";
	const number = asKind(row, value);
	if (!isRange(row.project) || typeof number !== "number" || number === row.default) return undefined;
	const [least, most] = row.project;
	return number >= least && number <= most ? undefined : `a project that is not trusted may set ${least} to ${most} (see --approve)`;
}

const scopeOf = (source: string | undefined) => (source === userSource ? "user" : source === projectSource ? "project" : "temporary");

const shortened = (key: string) => (key.length > longestShownKey ? `${key.slice(0, longestShownKey)}…` : key);

const unknownSetting = (key: string) => `there is no setting ${shortened(key)}.${didYouMean(key, Object.keys(settings))}`;

/** In the home directory the project's directory is the user's own, which is not a project. */
export function projectDirectoryOf({ cwd, userDirectory }: Pick<SettingsPlaces, "cwd" | "userDirectory">): string | undefined {
	const directory = join(cwd, ".bowline");
	return directory === userDirectory || (existsSync(directory) && realPath(directory) === realPath(userDirectory)) ? undefined : directory;
}

function isTrusted(list: unknown, { cwd, home }: SettingsPlaces): boolean {
	if (!Array.isArray(list) || list.length === 0) return false;
	const here = realPath(cwd);
	return list.some((path) => typeof path === "string" && isAbsolute(expanded(path, home)) && realPath(expanded(path, home)) === here);
}

/** Links followed; the path itself where there is nothing. */
function realPath(path: string): string {
	return existsSync(path) ? realpathSync(path) : path;
}

/** Paths as absolute ones: a relative one must mean the same wherever the agent is started. */
function placed(value: unknown, directory: string, home: string | undefined): unknown {
	return Array.isArray(value) ? value.map((each) => placed(each, directory, home)) : resolve(directory, expanded(String(value), home));
}

function expanded(path: string, home: string | undefined): string {
	return home !== undefined && /^~(\/|$)/.test(path) ? join(home, path.slice(1)) : path;
}

/** Reads a file that must be there. `name`: its path as the user wrote it. */
async function readExplicit(path: string, name: string): Promise<Values> {
	if (!existsSync(path)) throw new SettingsProblem(`Settings file not found: ${name}`);
	let text: string;
	try {
		text = readFileSync(path, "utf8").replace(/^\uFEFF/, "");
	} catch (error) {
		throw new SettingsProblem(`Settings file ${name} cannot be read: ${(error as NodeJS.ErrnoException).code}.`);
	}
	return readJsoncText(text, name);
}

/** Throws SettingsProblem when it is not JSON with comments, or not an object. */
export async function readJsoncText(text: string, source: string): Promise<Values> {
	const { parse, printParseErrorCode } = await import("jsonc-parser");
	const problems: ParseError[] = [];
	const value = flat(() => parse(text, problems, { allowTrailingComma: true }), source);
	const [first] = problems;
	if (first) {
		const line = text.slice(0, first.offset).split("\n").length;
		throw new SettingsProblem(`${source}:${line}: ${parseErrorInWords(printParseErrorCode(first.error))}.`);
	}
	if (!isObject(value)) throw new SettingsProblem(`${source} must hold a JSON object.`);
	return value;
}

/** Values that are nested too deep overflow the stack of the parser, or of the code that walks through them later. */
function flat(parse: () => unknown, source: string): unknown {
	try {
		const value = parse();
		if (!isNestedDeeperThan(maxNesting, JSON.stringify(value) ?? "")) return value;
	} catch (error) {
		if (!(error instanceof RangeError)) throw error;
	}
	throw new SettingsProblem(`${source} is nested deeper than ${maxNesting}.`);
}

function parseAssignment(assignment: string): Values {
	const at = assignment.indexOf("=");
	const name = assignment.slice(0, at);
	if (at <= 0) {
		const isKnown = addressOf(assignment) !== undefined;
		throw new SettingsProblem(`--set ${assignment}: write ${isKnown ? assignment : "key"}=value, such as --set retry.maxRetries=5.`);
	}
	const address = addressOf(name);
	if (!address) throw new SettingsProblem(`--set ${assignment}: ${unknownSetting(name)} bowline config lists all settings.`);
	const text = assignment.slice(at + 1);
	let value: unknown = text;
	try {
		value = JSON.parse(text);
	} catch {
		// Not JSON: the text itself is the value.
	}
	const { row, members } = address;
	if (members.length > 0) return { [name]: value };
	if (asKind(row, value) === undefined && asKind(row, text) === undefined) throw new SettingsProblem(`--set ${name} must be ${kindName(row)}.`);
	return { [name]: asKind(row, value) === undefined ? text : value };
}
