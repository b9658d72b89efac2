/** What `bowline <word>` does: one table, from which the command line and its help follow. Each one is loaded when it is called. */

import { resolve } from "node:path";
import { didYouMean } from "../lib/nearest.ts";
import { printableLine } from "../lib/printable.ts";
import { UsageError } from "../lib/usage-error.ts";
import { refuseUnknown, type UnknownFlag } from "../live/arguments.ts";
import { type Flag, type FlagName, flags, type Options } from "../protocol/flags.ts";
import { userDirectory } from "../settings/directories.ts";
import { attachFlags } from "./attach-flags.ts";
import { fleetFlags } from "./fleet-flags.ts";
import { serveFlags } from "./serve-flags.ts";

export interface Subcommand {
	/** The text after the name, for the help. */
	usage: string;
	doc: string;
	/** The flags that mean something here, for the help. */
	flags: readonly FlagName[];
	/** Flags that no other command has. Without them unknown flags are refused. */
	ownFlags?: Readonly<Record<string, Flag>>;
	run: (words: readonly string[], options: Options, unknown: readonly UnknownFlag[]) => Promise<void>;
}

/** Where to work, and with which settings. */
const surroundings: readonly FlagName[] = ["cwd", "hermetic", "approve", "no-approve", "contained", "config", "set"];
/** They say how to talk to a host, or concern another command. */
const notForChat: readonly FlagName[] = [
	"print",
	"mode",
	"updates",
	"dialect",
	"seq",
	"seq-after",
	"gate",
	"no-ready",
	"list-models",
	"output-schema",
	"json",
	"acp",
	"version",
	"help",
];
/** The editor says where to work and which session to open. */
const notForAcp: readonly FlagName[] = [...notForChat, "cwd", "session", "continue", "resume", "fork", "session-id", "name"];
const forPeople = (left: readonly FlagName[]) =>
	(Object.keys(flags) as FlagName[]).filter((name) => !left.includes(name) && !("hidden" in flags[name]));
const acpFlags = forPeople(notForAcp);
/** Requests say which session, and where. */
const serveSessionFlags = forPeople([...notForAcp.filter((name) => name !== "name" && name !== "cwd" && name !== "json"), "no-session", "log"]);
const chatFlags = forPeople([...notForChat, "log"]);

export const subcommands: Record<string, Subcommand> = {
	demo: {
		usage: "",
		doc: "Watch it repair a small repository: no key, no network",
		flags: [],
		run: async () => (await import("./commands/demo.ts")).demo(),
	},
	config: {
		usage: "[search]",
		doc: "Every setting, its value, and where it came from; with --mode rpc as a host gets them",
		flags: ["json", "mode", ...surroundings],
		run: async (words, options) => (await import("./commands/config.ts")).showConfig(words.join(" "), options),
	},
	models: {
		usage: "[search]",
		doc: "The models that can be used, with their prices",
		flags: ["json", ...surroundings],
		run: async (words, options) => (await import("./commands/models.ts")).listModels(words.join(" "), options),
	},
	sessions: {
		usage: "",
		doc: "The sessions of this directory",
		flags: ["json", "session-dir", ...surroundings],
		run: async (_, options) => (await import("./commands/sessions.ts")).listSessions(options),
	},
	cost: {
		usage: "<session>",
		doc: "What a session cost, prompt by prompt, and where the cache was lost",
		flags: ["json", "session-dir", ...surroundings],
		run: async (words, options) => (await import("./commands/cost.ts")).costCommand(words, options),
	},
	chat: {
		usage: "[flags]",
		doc: "Talk to an agent in this terminal",
		flags: chatFlags,
		async run(words, options) {
			if (words.length) throw new UsageError(`Unexpected argument: ${words[0]}. Type it when the chat has begun, or ask once with bowline -p.`);
			const isTerminal = process.stdin.isTTY && process.stdout.isTTY && process.env.TERM !== "dumb";
			if (!isTerminal) throw new UsageError('bowline chat needs a terminal. Without one: bowline -p "prompt".');
			const { chat } = await import("../chat/index.ts");
			const program = [process.execPath, process.argv[1] as string];
			const cwd = resolve(options.cwd ?? ".");
			process.exit(await chat({ program, flags: flagsOf(options), cwd, userDirectory: userDirectory(process.env) }));
		},
	},
	acp: {
		usage: "[flags]",
		doc: "Run for an editor: the Agent Client Protocol over stdin and stdout",
		flags: acpFlags,
		// The command line starts it before subcommands: it owns stdout.
		run: async () => undefined,
	},
	serve: {
		usage: "[status|stop|link|token …]",
		doc: "Many sessions over HTTP and WebSocket, with a page for browsers; see docs/serve.md",
		flags: serveSessionFlags,
		ownFlags: serveFlags,
		run: async (words, options, unknown) => (await import("./commands/serve.ts")).serveCommand(words, options, unknown),
	},
	attach: {
		usage: "[session]",
		doc: "Put a session of a server on stdin and stdout, as --mode rpc does with its own; see docs/serve.md",
		flags: [
			"mode",
			"updates",
			"dialect",
			"seq",
			"no-ready",
			"session",
			"provider",
			"model",
			"thinking",
			"tools",
			"no-tools",
			"append-system-prompt",
			"no-session",
			"name",
			"interrupt-mode",
			"cwd",
			"set",
			"approve",
		],
		ownFlags: attachFlags,
		run: async (words, options, unknown) => (await import("./commands/attach.ts")).attachCommand(words, options, unknown),
	},
	fleet: {
		usage: "init|submit|work|status|result|…",
		doc: "Work on many runs, on one machine or many, each with exactly one result; see docs/fleet.md",
		flags: ["provider", "model", "thinking", "json", ...surroundings],
		ownFlags: fleetFlags,
		run: async (words, options, unknown) => (await import("./commands/fleet.ts")).fleetCommand(words, options, unknown),
	},
	mcp: {
		usage: "[server]",
		doc: "Try the MCP servers of this directory and list their tools",
		flags: ["json", "mcp-config", "no-mcp", ...surroundings],
		run: async (words, options) => (await import("./commands/mcp.ts")).mcpCommand(words, options),
	},
	doctor: {
		usage: "",
		doc: "Check this machine, try an agent, and give advice",
		flags: ["json", "acp", "provider", "model", "api-key", ...surroundings],
		run: async (_, options) => (await import("./commands/doctor.ts")).doctor(options),
	},
	export: {
		usage: "<session> [output]",
		doc: "A session as one HTML page, by its file or id",
		flags: ["json", "session-dir", ...surroundings],
		run: async (words, options) => (await import("./commands/export.ts")).exportCommand(words, options),
	},
	record: {
		usage: "show|trim|merge …",
		doc: "Look at records of sessions, and make them fit for tests",
		flags: ["json"],
		run: async (words, options) => (await import("./commands/record.ts")).recordCommand(words, options),
	},
	help: {
		usage: "[command]",
		doc: "This text, or the flags of one command",
		flags: [],
		async run([topic, tooMuch]) {
			if (tooMuch !== undefined) throw new UsageError(`Unexpected argument: ${tooMuch}. bowline help [command]`);
			if (topic !== undefined && topic !== "rpc" && !Object.hasOwn(subcommands, topic)) throw new UsageError(unknownCommandText(topic));
			process.stdout.write((await import("./help.ts")).helpText(topic));
		},
	},
	version: {
		usage: "",
		doc: "The version of Bowline, Node and the platform",
		flags: [],
		run: async () => void process.stdout.write(`${(await import("./help.ts")).versionText(process.env)}\n`),
	},
};

/** The answer to `--json` where nothing prints it. */
export const jsonText = "--json is for bowline models, sessions, cost, config, doctor and export. Events as JSON lines: bowline -p --mode json.";

export function unknownCommandText(word: string): string {
	const meant = didYouMean(word, [...Object.keys(subcommands), "rpc"], (name) => (name === "rpc" ? "bowline --mode rpc" : `bowline ${name}`));
	return `Unknown command: ${word}.${meant} To ask a model: bowline -p "prompt". See bowline --help.`;
}

/** Runs the subcommand of this name; nothing when there is none. */
export function subcommandOf(name: string): Subcommand["run"] | undefined {
	if (!Object.hasOwn(subcommands, name)) return undefined;
	const { usage, run, ownFlags } = subcommands[name] as Subcommand;
	return async (words, options, unknown) => {
		if (!ownFlags) refuseUnknown(unknown, (text) => void process.stderr.write(`Warning: ${printableLine(text)}\n`));
		if (options.json && !(subcommands[name] as Subcommand).flags.includes("json")) throw new UsageError(jsonText);
		if (usage === "" && words.length) throw new UsageError(`Unexpected argument: ${words[0]}. bowline ${name} takes none. See bowline --help.`);
		await run(words, options, unknown);
	};
}

/** Options as they were on the command line. Those that say how to talk are not the user's to choose. */
function flagsOf({ mode, print, updates, dialect, "no-ready": noReady, ...options }: Options): string[] {
	return Object.entries(options).flatMap(([name, value]) => [value].flat().map((each) => (each === true ? `--${name}` : `--${name}=${each}`)));
}
