/** Reads entries of MCP servers in the spellings of the programs that people paste them from. Expands nothing. */
import type { McpServer } from "../protocol/mcp.ts";

export type Source = McpServer["source"];

/** The revisions that we speak, the newest first. */
export const modernVersion = "2026-07-28";
export const legacyVersions = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const;
export const allVersions: readonly string[] = [modernVersion, ...legacyVersions];

/** One entry, with members under one name each and in one type. Texts are not expanded yet. */
export interface ServerConfig {
	name: string;
	source: Source;
	transport: McpServer["transport"];
	/** What a relative `cwd` is relative to. */
	directory: string;
	command?: string;
	args: string[];
	env: Record<string, string>;
	cwd?: string;
	url?: string;
	headers: Record<string, string>;
	isDisabled: boolean;
	/** The server's own names of its tools, with `*`; all when absent. */
	tools?: string[];
	excludeTools: string[];
	/** How long a call may be silent. */
	timeoutMs?: number;
	startTimeoutMs?: number;
	/** `auto`, or the one revision that is tried. */
	protocol: string;
	/** Whether `readOnlyHint` of its tools is believed where the user plans only. */
	trustAnnotations: boolean;
}

/** An entry that cannot be used, with the reason. */
export interface WrongEntry {
	name: string;
	source: Source;
	transport: McpServer["transport"];
	problem: string;
}

export type Entry = ServerConfig | WrongEntry;

export const isWrong = (entry: Entry): entry is WrongEntry => "problem" in entry;

export interface Origin {
	source: Source;
	/** Of the file the entries come from. */
	directory: string;
}

export interface Entries {
	/** In the order of the file. */
	entries: Entry[];
	/** What is wrong with the whole. */
	problems: string[];
	/** Members that people expect to work and that do nothing here. */
	warnings: string[];
}

type Json = Record<string, unknown>;

const longestName = 64;
const wrappers = ["mcpServers", "servers", "context_servers"];
const stdioTypes = ["stdio", "local"];
const httpTypes = ["http", "streamable-http", "streamableHttp", "streamable_http", "remote"];

/** The entries of a file or a command: wrapped in one of the usual members, a map by name, or a list. */
export function readEntries(value: unknown, origin: Origin): Entries {
	const found: Entries = { entries: [], problems: [], warnings: [] };
	const servers = unwrapped(value);
	const pairs = Array.isArray(servers)
		? servers.map((entry: unknown): [unknown, unknown] => [isObject(entry) ? entry.name : undefined, entry])
		: isObject(servers)
			? Object.entries(servers)
			: undefined;
	if (!pairs) {
		found.problems.push("MCP servers must be an object of entries by name, or a list of entries with names");
		return found;
	}
	const names = new Set<string>();
	for (const [given, entry] of pairs) {
		const name = typeof given === "string" ? given.trim() : "";
		if (name === "") found.problems.push("MCP server name must not be empty");
		else if (names.has(name)) found.problems.push("MCP server names must be unique");
		else found.entries.push(readEntry(name, entry, origin, found.warnings));
		names.add(name);
	}
	return found;
}

function unwrapped(value: unknown): unknown {
	if (!isObject(value)) return value;
	const wrapper = wrappers.find((name) => Object.hasOwn(value, name) && (isObject(value[name]) || Array.isArray(value[name])));
	// A server may have the name of a wrapper.
	if (wrapper === undefined || isEntry(value[wrapper])) return value;
	return value[wrapper];
}

const isEntry = (value: unknown) => isObject(value) && ["command", "url", "serverUrl", "httpUrl"].some((name) => typeof value[name] === "string");

function readEntry(name: string, value: unknown, { source, directory }: Origin, warnings: string[]): Entry {
	const wrong = (text: string, transport: McpServer["transport"] = "stdio"): WrongEntry => ({ name, source, transport, problem: text });
	const called = `MCP server ${JSON.stringify(name)}`;
	if (name.length > longestName) return wrong(`${called.slice(0, 90)}: the name must have at most ${longestName} characters`);
	if (!isObject(value)) return wrong(`${called}: the entry must be an object`);
	const read = new Members(value, called);
	const program = read.program();
	const url = read.text("url", "serverUrl", "httpUrl");
	const type = read.text("type", "transport", "transportType");
	const config: ServerConfig = {
		name,
		source,
		transport: type === "sse" ? "sse" : url !== undefined && program.command === undefined ? "http" : "stdio",
		directory,
		...(program.command === undefined ? {} : { command: program.command }),
		args: program.args,
		env: read.pairs("env", "environment"),
		...optional("cwd", read.text("cwd")),
		...optional("url", url),
		headers: read.pairs("headers"),
		isDisabled: read.flag("disabled") === true || read.flag("enabled") === false,
		...optional("tools", read.texts("tools", "includeTools", "enabledTools", "enabled_tools")),
		excludeTools: read.texts("excludeTools", "disabledTools", "disabled_tools") ?? [],
		...optional("timeoutMs", read.time("timeout", "tool_timeout_sec")),
		...optional("startTimeoutMs", read.time("startTimeout", "startup_timeout_sec", "startupTimeoutMs")),
		protocol: read.text("protocol") ?? "auto",
		trustAnnotations: read.flag("trustAnnotations") ?? false,
	};
	const problem = read.problem ?? contradiction(config, type, called);
	if (problem !== undefined) return wrong(problem, config.transport);
	const idle = ["oauth", "envFile"].filter((member) => value[member] !== undefined && value[member] !== false);
	if (idle.length > 0) warnings.push(`${called}: ${idle.join(" and ")} ${idle.length > 1 ? "have" : "has"} no effect.`);
	return config;
}

function contradiction({ command, url, protocol }: ServerConfig, type: string | undefined, called: string): string | undefined {
	if (command === undefined && url === undefined) return `${called} needs command or url`;
	if (command !== undefined && url !== undefined) return `${called} has both command and url; it needs one of them`;
	if (type !== undefined && ![...stdioTypes, ...httpTypes, "sse"].includes(type)) return `${called}: type must be stdio, http or sse`;
	if (type !== undefined && stdioTypes.includes(type) !== (command !== undefined))
		return `${called}: type ${type} does not go with ${command === undefined ? "url" : "command"}`;
	if (protocol !== "auto" && !allVersions.includes(protocol)) return `${called}: protocol must be auto or one of ${allVersions.join(", ")}`;
	return undefined;
}

/** Reads members under any of their names and keeps the first problem. */
class Members {
	#entry: Json;
	#called: string;
	problem: string | undefined;

	constructor(entry: Json, called: string) {
		this.#entry = entry;
		this.#called = called;
	}

	text(...names: string[]): string | undefined {
		return this.#take(names, "a text", (value) => (typeof value === "string" && value !== "" ? value : undefined));
	}

	flag(name: string): boolean | undefined {
		return this.#take([name], "true or false", (value) => (typeof value === "boolean" ? value : undefined));
	}

	texts(...names: string[]): string[] | undefined {
		return this.#take(names, "a list of texts", (value) => (isTexts(value) ? value : undefined));
	}

	/** A program with its arguments, or both in one list. */
	program(): { command?: string; args: string[] } {
		const args = this.texts("args") ?? [];
		const { command } = this.#entry;
		if (Array.isArray(command)) {
			const words = this.texts("command") ?? [];
			return words[0] === undefined ? { args } : { command: words[0], args: [...words.slice(1), ...args] };
		}
		const program = this.text("command");
		return program === undefined ? { args } : { command: program, args };
	}

	/** An object of texts, or a list of `{name, value}`. Numbers and booleans are taken as texts. */
	pairs(...names: string[]): Record<string, string> {
		const read = (value: unknown): Record<string, string> | undefined => {
			const pairs = Array.isArray(value)
				? value.map((each: unknown): [unknown, unknown] => (isObject(each) ? [each.name, each.value] : [undefined, undefined]))
				: isObject(value)
					? Object.entries(value)
					: undefined;
			if (!pairs?.every(([name, each]) => typeof name === "string" && name !== "" && isPlain(each))) return undefined;
			return Object.fromEntries(pairs.map(([name, each]) => [name as string, String(each)]));
		};
		return this.#take(names, "an object of texts", read) ?? {};
	}

	/** Milliseconds; below 1000 the number is one of seconds. */
	time(...names: string[]): number | undefined {
		const number = this.#take(names, "a number above 0", (value) => (typeof value === "number" && value > 0 ? value : undefined));
		return number === undefined ? undefined : Math.min(number < 1000 ? number * 1000 : number, 2 ** 31 - 1);
	}

	#take<T>(names: readonly string[], type: string, read: (value: unknown) => T | undefined): T | undefined {
		const name = names.find((each) => this.#entry[each] !== undefined && this.#entry[each] !== null);
		if (name === undefined) return undefined;
		const value = read(this.#entry[name]);
		if (value === undefined) this.problem ??= `${this.#called}: ${name} must be ${type}`;
		return value;
	}
}

const optional = <K extends string, T>(name: K, value: T | undefined) => (value === undefined ? {} : { [name]: value }) as { [key in K]?: T };
const isPlain = (value: unknown) => typeof value === "string" || typeof value === "number" || typeof value === "boolean";
const isTexts = (value: unknown): value is string[] => Array.isArray(value) && value.every((each) => typeof each === "string");
export const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value);
