/** Makes the gate of a session: where calls run, which paths the model was given, what a change would look like. Loaded with the gate. */
import { realpathSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { gitNamedFiles } from "../lib/git-named-files.ts";
import { uuid } from "../lib/ids.ts";
import { findShell } from "../lib/shell/find-shell.ts";
import { Gate, type GateParts, grantsFileName, type ReadingPlaces, type Surroundings } from "../permissions/index.ts";
import type { SourcedRule } from "../protocol/permissions.ts";
import { hiddenInHome } from "../sandbox/lists.ts";
import { artifactsOf } from "../subagents/artifacts.ts";
import { resolveExisting, resolvePath } from "../tools/paths.ts";
import { changePreview } from "../tools/preview.ts";
import type { Mcp } from "./mcp.ts";
import { docsDirectory, type Prompting } from "./prompting.ts";
import type { Shells } from "./shells.ts";
import type { ToolSources } from "./tool-sources.ts";
import type { Workspace } from "./workspace.ts";

export interface GateInput {
	workspace: Workspace;
	shells: Shells;
	sources: ToolSources;
	prompting: Prompting;
	/** The MCP server that a call leads to. */
	serverOf: Mcp["serverOf"];
	/** The session's own file, as it is now; none when nothing is stored. */
	sessionFile: () => string | undefined;
	warn: (text: string) => void;
	parts: Pick<
		GateParts,
		| "mode"
		| "route"
		| "dialog"
		| "onSilence"
		| "hasOuterDeadline"
		| "halts"
		| "skipsOnSteering"
		| "record"
		| "onUnasked"
		| "emit"
		| "abortRun"
		| "now"
	>;
}

/** Shells that read the small language of accepted scripts as bash does. */
const knownShells = ["bash", "sh", "dash", "ksh", "ash"];

export async function makeGate({ workspace, shells, sources, prompting, serverOf, sessionFile, warn, parts }: GateInput): Promise<Gate> {
	const { settings, options, env, userDirectory, sandbox, subagent } = workspace;
	const cwd = realPath(workspace.cwd);
	const hosts = sandbox && settings.get("sandbox.network") === "hosts" ? settings.get("sandbox.hosts") : [];
	const isHermetic = options.hermetic ?? false;
	// Subagents keep no grants: they ask the agent that sent them, which has them.
	const grantsFile = isHermetic || subagent ? undefined : join(userDirectory, grantsFileName);
	const namedByGit = gitNamedFiles({
		cwd,
		environment: async () => (await shells.commandEnvironment())(),
		...(sandbox && { git: sandbox.programOf("git") }),
	});
	const reading = readingPlaces(workspace);
	// A resumed session was told about files of its subagents by earlier processes.
	const artifacts = () => {
		const file = sessionFile();
		return [...(subagent ? [subagent.inheritance.artifacts.directory] : []), ...(file === undefined ? [] : [artifactsOf(file)])];
	};
	const place: Surroundings = {
		cwd,
		roots: () => sandbox?.roots ?? [cwd, ...(workspace.roots ?? []).map(realPath)],
		given: async () => [...(await givenPaths(prompting)), ...artifacts()].map(realPath).concat(sandbox?.ownDirectories ?? []),
		reading: () => reading,
		temporary: () => sandbox?.temporaryDirectories ?? [],
		// Without an answer of git any file may be one that it runs.
		protectedFiles: async () => (await namedByGit())?.map(({ path }) => path) ?? ["/"],
		sandbox: () => (sandbox?.state.active ? { mode: sandbox.currentMode, isVerified: sandbox.state.verified } : { mode: "off", isVerified: false }),
		// Without a confinement every command runs outside anyway.
		hasEscalation: sandbox?.confinement !== undefined && settings.get("sandbox.escalation") === "ask",
		toolOf: (name, args) => {
			const { source = "built-in" } = sources.find(name) ?? {};
			const server = source === "mcp" ? serverOf(name, args) : undefined;
			return { source, effect: sources.effectOf(name), ...(server && { server }) };
		},
		pathOf: async (path, replaces) => {
			const files = sandbox?.files;
			if (replaces) return files ? files.target(resolvePath(workspace.cwd, path)) : resolvePath(workspace.cwd, path);
			return resolveExisting(workspace.cwd, path, files).catch(() => resolvePath(workspace.cwd, path));
		},
		looksAtChanges: settings.get("permissions.rules").some(({ runsLater }) => runsLater),
		writtenPaths: (path) => [resolvePath(workspace.cwd, path), resolvePath(cwd, path)],
		ignoresCase: ignoresCase(cwd),
		searchPath: async () => (await shells.commandEnvironment())().PATH,
		isKnownShell: knownShells.includes(shellName(settings.get("shellPath"), env.PATH)),
		grantsFile: realPath(join(userDirectory, grantsFileName)),
	};
	return new Gate({
		...parts,
		place,
		rules: [...settings.get("permissions.rules"), ...hosts.map((host): SourcedRule => ({ action: "allow", host, source: "config" }))],
		grants: { file: grantsFile, project: cwd },
		home: env.HOME === undefined ? undefined : realPath(env.HOME),
		settings: {
			timeoutMs: settings.get("permissions.timeoutMs"),
			onTimeout: settings.get("permissions.onTimeout"),
			grantsLapse: settings.get("permissions.grantsLapse"),
		},
		ownFiles: () => {
			const file = sessionFile();
			return [realPath(userDirectory), ...(file === undefined ? [] : [realPath(file).replace(/\.jsonl$/, "")])];
		},
		isHermetic,
		async preview(tool, args) {
			const effect = sources.effectOf(tool);
			return effect.kind === "write" && effect.plan ? changePreview(await effect.plan(args)) : undefined;
		},
		warn,
		newId: () => uuid(parts.now()),
	});
}

/** Skills, and our own documentation: the system prompt tells the model to read them. */
async function givenPaths(prompting: Prompting): Promise<string[]> {
	const { skills } = await prompting.resources();
	const docs = docsDirectory();
	return [...skills.map(({ path }) => dirname(path)), ...(docs === undefined ? [] : [docs])];
}

/** Read once: a command that replaces a link must not open what it leads to. */
function readingPlaces({ env: { HOME: home }, userDirectory, settings }: Workspace): ReadingPlaces {
	const inHome = home === undefined ? [] : hiddenInHome.map((name) => join(home, name));
	const secrets = [...inHome, userDirectory];
	// Packages that are installed for this node, wherever it is.
	const node = dirname(dirname(realPath(process.execPath)));
	return {
		home: home === undefined ? undefined : realPath(home),
		secrets: [...new Set([...secrets, ...secrets.map(realPath)])],
		temporary: ["/tmp", "/var/tmp", tmpdir()].map(realPath),
		open: [join(node, "lib/node_modules"), join(node, "include/node"), ...settings.get("sandbox.readable")].map(realPath),
	};
}

function shellName(configured: string | undefined, path: string | undefined): string {
	try {
		return basename(realPath(findShell(configured, path)));
	} catch {
		return "";
	}
}

/** Whether the file system of a directory takes a name in other case for the same. */
function ignoresCase(directory: string): boolean {
	const [lower, upper] = [directory.toLowerCase(), directory.toUpperCase()];
	const other = directory === lower ? upper : lower;
	if (other === directory) return process.platform === "darwin" || process.platform === "win32";
	const [own, same] = [directory, other].map((path) => statSync(path, { throwIfNoEntry: false }));
	return own !== undefined && own.ino === same?.ino && own.dev === same.dev;
}

function realPath(path: string): string {
	try {
		return realpathSync(path);
	} catch {
		return path;
	}
}
