/** What `bowline <word>` does: one table, from which the command line and its help follow. Each one is loaded when it is called. */

import { UsageError } from "../lib/usage-error.ts";
import type { Options } from "../protocol/flags.ts";

export interface Subcommand {
	/** The text after the name, for the help. */
	usage: string;
	doc: string;
	run: (words: readonly string[], options: Options) => Promise<void>;
}

export const subcommands: Record<string, Subcommand> = {
	demo: {
		usage: "",
		doc: "Watch it repair a small repository: no key, no network",
		run: async () => (await import("./commands/demo.ts")).demo(),
	},
	config: {
		usage: "[search]",
		doc: "Every setting, its value, and where it came from",
		run: async (words, options) => (await import("./commands/config.ts")).showConfig(words.join(" "), options),
	},
	models: {
		usage: "[search]",
		doc: "The models that can be used, with their prices",
		run: async (words, options) => (await import("./commands/models.ts")).listModels(words.join(" "), options),
	},
	sessions: {
		usage: "",
		doc: "The sessions of this directory",
		run: async (_, options) => (await import("./commands/sessions.ts")).listSessions(options),
	},
	chat: {
		usage: "[flags]",
		doc: "Talk to an agent in this terminal",
		async run(words, options) {
			if (words.length) throw new UsageError(`Unexpected argument: ${words[0]}. Type it when the chat has begun, or ask once with bowline -p.`);
			const isTerminal = process.stdin.isTTY && process.stdout.isTTY && process.env.TERM !== "dumb";
			if (!isTerminal) throw new UsageError('bowline chat needs a terminal. Without one: bowline -p "prompt".');
			const { chat } = await import("../chat/index.ts");
			process.exit(await chat([process.execPath, process.argv[1] as string], flagsOf(options)));
		},
	},
	acp: {
		usage: "[flags]",
		doc: "Be driven by an editor: the Agent Client Protocol over stdin and stdout",
		// The command line starts it before subcommands: it owns stdout.
		run: async () => undefined,
	},
	doctor: {
		usage: "",
		doc: "Look at what an agent needs here, try one, and say what to do",
		run: async (_, options) => (await import("./commands/doctor.ts")).doctor(options),
	},
	export: {
		usage: "<session> [output]",
		doc: "A session as one HTML page, by its file or id",
		run: async (words, options) => (await import("./commands/export.ts")).exportCommand(words, options),
	},
};

/** Runs the subcommand of this name; nothing when there is none. */
export function subcommandOf(name: string): Subcommand["run"] | undefined {
	if (!Object.hasOwn(subcommands, name)) return undefined;
	const { usage, run } = subcommands[name] as Subcommand;
	return async (words, options) => {
		if (usage === "" && words.length) throw new UsageError(`Unexpected argument: ${words[0]}. bowline ${name} takes none. See bowline --help.`);
		await run(words, options);
	};
}

/** Options as they were on the command line. Those that say how to talk are not the user's to choose. */
function flagsOf({ mode, print, updates, dialect, "no-ready": noReady, ...options }: Options): string[] {
	return Object.entries(options).flatMap(([name, value]) => [value].flat().map((each) => (each === true ? `--${name}` : `--${name}=${each}`)));
}
