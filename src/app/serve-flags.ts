/** The flags that only `bowline serve` has. Not in the table of all flags, which every start loads. */

import { didYouMean } from "../lib/nearest.ts";
import { UsageError } from "../lib/usage-error.ts";
import type { UnknownFlag } from "../live/arguments.ts";
import type { Flag } from "../protocol/flags.ts";

export const serveFlags = {
	port: { value: "port", doc: "Port to listen on; 0 is any free one (default: serve.port, 7717)" },
	host: { value: "address", doc: "Address to listen on (default: serve.host, 127.0.0.1)" },
	socket: { value: "path", doc: "Listen on a unix socket instead" },
	"no-token": { doc: "With --socket: whoever can open the socket needs no token" },
	"tls-cert": { value: "file", doc: "Certificate for https, with --tls-key" },
	"tls-key": { value: "file", doc: "Its private key" },
	"insecure-http": { doc: "Listen beyond this machine without TLS: a proxy in front must have it" },
	"allow-host": { value: "name", repeats: true, doc: "Answer under this host name, too" },
	url: { value: "address", doc: "Where browsers reach the server, as behind a proxy: links begin with it, and its name is allowed" },
	root: { value: "dir", repeats: true, doc: "Sessions work inside these directories (default: serve.roots, this directory)" },
	idle: { value: "ms", doc: "End the process of a session that is idle for so long; 0 never (default: serve.idleMs)" },
	"max-awake": { value: "n", doc: "Processes at once (default: serve.maxAwake)" },
	drain: { value: "ms", doc: "How long runs may go on when the server is stopped (default: serve.drainMs)" },
	open: { doc: "Open the page in a browser" },
	fleet: { doc: "Show the runs and workers of the fleet, too; see docs/fleet.md" },
	scope: { value: "scope", doc: "Of a new token or link: read, drive or admin (default of links: drive)" },
	days: { value: "n", doc: "How long a new token is valid" },
	now: { doc: "Of stop: do not wait for runs" },
} as const satisfies Record<string, Flag>;

type Value<F> = F extends { repeats: true } ? string[] : F extends { value: string } ? string : true;
export type ServeOptions = { [Name in keyof typeof serveFlags]?: Value<(typeof serveFlags)[Name]> };

/** Flags that the common table does not have, by a table of a subcommand. Words that followed a switch go back to their place. */
export function parseOwnFlags<T extends Record<string, Flag>>(
	table: T,
	unknown: readonly UnknownFlag[],
	words: readonly string[],
	command = "serve",
): { own: Record<string, string | true | string[]>; words: string[] } {
	const own: Record<string, string | true | string[]> = {};
	const all = [...words];
	let moved = 0;
	for (const { name, value, following, at } of unknown) {
		const flag = Object.hasOwn(table, name) ? (table[name] as Flag) : undefined;
		if (!flag)
			throw new UsageError(`Unknown flag: --${name}.${didYouMean(name, Object.keys(table), (each) => `--${each}`)} See bowline help ${command}.`);
		if (!flag.value) {
			if (value !== undefined) throw new UsageError(`--${name} takes no value.`);
			own[name] = true;
			// `at` counts all words, also the name of the subcommand.
			if (following !== undefined) all.splice(at - 1 + moved++, 0, following);
			continue;
		}
		const given = value ?? following;
		if (given === undefined) throw new UsageError(`--${name} needs a value: --${name} <${flag.value}>.`);
		own[name] = flag.repeats ? [...((own[name] as string[] | undefined) ?? []), given] : given;
	}
	return { own, words: all };
}
