/** The command. Prints help and version by itself; everything else is a mode or a subcommand. */
import { claimStdout } from "../rpc/stdio.ts";
import { helpText, parseArguments, refuseUnknown } from "./args.ts";
import { runRpc } from "./process-host.ts";
import { subcommands } from "./subcommands.ts";
import { version } from "./version.ts";

const warn = (text: string) => say(`Warning: ${text}\n`);

function refuse(problem: string): void {
	say(`Error: ${problem}\n`);
	process.exitCode = 1;
}

/** A host may have closed its end of stderr; that is no reason to end. */
function say(text: string): void {
	if (process.stderr.listenerCount("error") === 0) process.stderr.on("error", () => undefined);
	process.stderr.write(text);
}

async function main(argv: readonly string[]): Promise<void> {
	const parsed = parseArguments(argv);
	if ("problem" in parsed) return refuse(parsed.problem);
	const { options, words, unknown } = parsed;
	if (options.help) return void process.stdout.write(helpText());
	if (options.version) return void process.stdout.write(`bowline ${version} (node ${process.versions.node}, ${process.platform} ${process.arch})\n`);
	if (options.mode === "rpc") {
		if (words.some((word) => word.startsWith("@"))) return refuse("@file arguments are not supported in RPC mode");
		if (words.length) return refuse(`Unexpected argument: ${words[0]}. In RPC mode prompts are sent over stdin.`);
		return runRpc(options, unknown, claimStdout(), warn);
	}
	refuseUnknown(unknown, warn);
	const [name, ...rest] = words;
	if (name !== undefined && Object.hasOwn(subcommands, name)) return subcommands[name]?.run(rest, options);
	if (words.length) return refuse(`Unknown command: ${words[0]}. See bowline --help.`);
	refuse("Nothing to do. Pass --mode rpc to be driven by a program, or see bowline --help.");
}

main(process.argv.slice(2)).catch((error: unknown) => {
	refuse(error instanceof Error ? error.message : String(error));
	process.exit(1);
});
