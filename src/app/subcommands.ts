/** What `bowline <word>` does: one table, from which the command line and its help follow. Each one is loaded when it is called. */
import type { Options } from "./args.ts";

export interface Subcommand {
	/** What stands behind the name, for the help. */
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
