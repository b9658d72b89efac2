/** Collects the entries of MCP servers from all places and makes the registry of a session. A lazy chunk, with the client in it. */
import { statSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Doors } from "../agent/doors.ts";
import { readRegular } from "../lib/bounded-file.ts";
import { HttpClient } from "../lib/http/client.ts";
import { didYouMean } from "../lib/nearest.ts";
import { removeOldLogs } from "../lib/shell/temp-log.ts";
import { UsageError } from "../lib/usage-error.ts";
import { version } from "../lib/version.ts";
import {
	answerElicitation,
	type Entry,
	isWrong,
	mayName,
	type Origin,
	Registry,
	type RegistryParts,
	readEntries,
	type ServerConfig,
} from "../mcp/index.ts";
import type { AgentEvent } from "../protocol/events.ts";
import type { Front } from "./front.ts";
import type { Secrets } from "./secrets.ts";
import type { Shells } from "./shells.ts";
import { toolNames } from "./tool-names.ts";
import type { Workspace } from "./workspace.ts";

export interface McpParts {
	workspace: Workspace;
	front: Pick<Front, "hasUI" | "elicit"> & Partial<Pick<Front, "ui">>;
	shells: Shells;
	secrets: Secrets;
	doors: Pick<Doors, "put">;
	emit: (event: AgentEvent) => void;
	warn: (text: string) => void;
	/** Reads JSON with comments. Throws when it is not an object. */
	readJsonc: (text: string, source: string) => Promise<Record<string, unknown>>;
	/** Names of tools that are not of MCP. */
	taken: () => Iterable<string>;
}

const largestFile = 1024 * 1024;
const projectFile = ".mcp.json";

/** `only`: the one server that is used. Throws UsageError when there is none of this name. */
export async function makeRegistry(parts: McpParts, { waitMs, only }: { waitMs?: number; only?: string } = {}): Promise<Registry> {
	const { workspace, shells, secrets, doors, emit, warn, taken } = parts;
	const { options, settings, cwd, env, userDirectory } = workspace;
	const found = await collect(parts);
	const isWanted = ({ name }: { name: string }) => only === undefined || name === only;
	const [entries, untrusted] = [found.entries.filter(isWanted), found.untrusted.filter(isWanted)];
	if (only !== undefined && entries.length + untrusted.length === 0) {
		const names = [...found.entries, ...found.untrusted].map(({ name }) => name);
		throw new UsageError(`There is no MCP server ${JSON.stringify(only)} here.${didYouMean(only, names)} bowline mcp lists them.`);
	}
	const logDirectory = options["no-session"] ? undefined : join(userDirectory, "logs");
	if (logDirectory !== undefined) void removeOldLogs(logDirectory, Date.now(), /^mcp-.*\.log$/);
	const elicit = elicitOf(parts);
	let http: HttpClient | undefined;
	const registry = new Registry({
		entries,
		untrusted,
		version,
		env,
		cwd,
		home: env.HOME,
		allowedVariables: settings.get("mcp.env.allow"),
		startProgram: async (file, args, place, environment) =>
			(await shells.serverShell()).start(file, args, place, { environment, stdin: "pipe", isPlain: true }),
		http() {
			http ??= new HttpClient({ env });
			return http;
		},
		logDirectory,
		redactor: secrets.redactor,
		addSecrets: (values) => secrets.add(values),
		...(elicit && { elicit }),
		roots: () => [cwd, ...(workspace.roots ?? [])].map((path) => ({ uri: pathToFileURL(path).href, name: basename(path) })),
		emit,
		warn,
		waitMs: waitMs ?? settings.get("mcp.waitMs"),
		taken,
		offered: offeredTools(workspace),
		hasInstructions: settings.get("mcp.instructions"),
		tempDir: tmpdir(),
		redact: secrets.redact,
		async closePrograms() {
			await Promise.all([shells.closeServers(), http?.close()]);
		},
	});
	doors.put(registry.refusals.policy);
	return registry;
}

/** Patterns of MCP tools, of each of those who may restrict them. */
function offeredTools({ options, subagent }: Workspace): string[][] {
	const patterns = (names: readonly string[] | undefined) => names?.filter((name) => name.startsWith("mcp__")) ?? [];
	if (!subagent) return [patterns(toolNames(options))].filter((list) => list.length > 0);
	const { tools, allowedTools } = subagent.inheritance;
	return [patterns(tools), ...[patterns(allowedTools)].filter((list) => list.length > 0)];
}

/** How a person is asked; nothing where nobody can answer. */
function elicitOf({ workspace, front, warn }: McpParts): RegistryParts["elicit"] {
	const { ui, hasUI, elicit } = front;
	if (workspace.subagent || elicit === null || !ui || (!elicit && !hasUI)) return undefined;
	return (asked) => answerElicitation(asked, { ui, warn, ...(elicit && { elicit }) });
}

interface Collected {
	entries: Entry[];
	untrusted: { name: string; transport: Entry["transport"] }[];
}

/** The lowest place first: user, project, explicit. */
async function collect({ workspace, warn, readJsonc }: McpParts): Promise<Collected> {
	const { options, settings, cwd, subagent } = workspace;
	// A subagent starts the servers whose tools its definition names, and no others.
	if (subagent) {
		const { mcpServers = [], tools = [] } = subagent.inheritance;
		const isNamed = ({ name }: Entry) => tools.some((pattern) => (pattern.startsWith("mcp__") ? mayName(pattern, name) : pattern === "mcp_resource"));
		return { entries: (mcpServers as ServerConfig[]).filter(isNamed), untrusted: [] };
	}
	const isEnabled = !options["no-mcp"] && settings.get("mcp.enabled");
	const found: Collected = { entries: [], untrusted: [] };
	const take = (value: unknown, origin: Origin, from: string) => {
		const { entries, problems, warnings } = readEntries(value, origin);
		for (const problem of problems) warn(`${from}: ${problem}.`);
		for (const warning of warnings) warn(warning);
		for (const entry of entries) if (isWrong(entry)) warn(`${from}: ${entry.problem}.`);
		found.entries.push(...entries);
	};
	const distrust = (value: unknown, file: string) => {
		const { entries } = readEntries(value, { source: "project", directory: cwd });
		if (entries.length === 0) return;
		found.untrusted.push(...entries.map(({ name, transport }) => ({ name, transport })));
		const names = entries.map(({ name }) => name).join(", ");
		warn(`${file} names MCP servers (${names}). They are not started: this project is not trusted (--approve, or trust.projects).`);
	};
	const layers = settings.layers("mcpServers");
	const ofScope = (scope: string) => layers.filter((layer) => layer.scope === scope);
	if (isEnabled) {
		for (const { value, directory, source } of ofScope("user")) take(value, { source: "user", directory }, source);
		const file = options.hermetic ? undefined : await readProjectFile(cwd, readJsonc, warn);
		if (file !== undefined && settings.isTrusted) take(file, { source: "project", directory: cwd }, projectFile);
		else if (file !== undefined) distrust(file, projectFile);
		for (const { value, directory, source } of ofScope("project")) take(value, { source: "project", directory }, source);
		for (const { value, source } of settings.refused("mcpServers")) distrust(value, source);
		for (const { value, directory, source } of ofScope("temporary")) take(value, { source: "explicit", directory }, source);
	}
	for (const given of options["mcp-config"] ?? []) found.entries.push(...(await readFlag(given, { cwd, readJsonc, warn })));
	return found;
}

/** The project's file as it is, or nothing. A broken one is reported and left out. */
async function readProjectFile(cwd: string, readJsonc: McpParts["readJsonc"], warn: (text: string) => void): Promise<unknown> {
	// A sandbox keeps the name from being taken with an empty directory, and removes it when the session ends.
	if (statSync(join(cwd, projectFile), { throwIfNoEntry: false })?.isDirectory()) return undefined;
	try {
		return await readJsonc(textOf(await readRegular(join(cwd, projectFile), largestFile)), projectFile);
	} catch (error) {
		const { code, message, name } = error as NodeJS.ErrnoException;
		const why = code ?? (name === "UnsuitableFile" ? message : undefined);
		if (code !== "ENOENT" && code !== "ENOTDIR")
			warn(`${why === undefined ? message : `${projectFile} cannot be read: ${why}.`} No MCP server of it is used.`);
		return undefined;
	}
}

type FlagParts = Pick<McpParts, "readJsonc" | "warn"> & { cwd: string };

/** Throws UsageError for the first flag that names an entry that cannot be used. */
export async function checkFlags(given: readonly string[], parts: Omit<FlagParts, "warn">): Promise<void> {
	for (const each of given) await readFlag(each, { ...parts, warn: () => undefined });
}

/** Entries of `--mcp-config`: whoever names them there wants all of them. */
export async function readFlag(given: string, { cwd, readJsonc, warn }: FlagParts): Promise<Entry[]> {
	const isText = given.trimStart().startsWith("{");
	const path = resolve(cwd, given);
	let text = given;
	if (!isText) {
		try {
			text = textOf(await readRegular(path, largestFile));
		} catch (error) {
			throw new UsageError(`--mcp-config ${given} cannot be read: ${(error as NodeJS.ErrnoException).code ?? (error as Error).message}.`);
		}
	}
	const value = await readJsonc(text, isText ? "--mcp-config" : given);
	const { entries, problems, warnings } = readEntries(value, { source: "explicit", directory: isText ? cwd : dirname(path) });
	const problem = problems[0] ?? entries.find(isWrong)?.problem;
	if (problem !== undefined) throw new UsageError(`--mcp-config: ${problem}.`);
	warnings.forEach(warn);
	return entries;
}

const textOf = (bytes: Buffer) => bytes.toString("utf8").replace(/^\uFEFF/, "");
