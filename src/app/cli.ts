/** The command. Prints help and version directly; everything else is a mode or a subcommand. */

import { withoutError } from "../lib/as-sentence.ts";
import { exitCodes } from "../lib/exit-codes.ts";
import { printable, printableLine } from "../lib/printable.ts";
import { isUsageError } from "../lib/usage-error.ts";
import { parseArguments, refuseUnknown, unexpectedText } from "../live/arguments.ts";
import { checkFlags, loadExtensions, openSession } from "../live/open-session.ts";
import { openWorkspace } from "../live/workspace.ts";
import { isCommandError } from "../protocol/command-error.ts";
import { claimStdout } from "../rpc/stdio.ts";
import { runRpc } from "./process-host.ts";

const argv = process.argv.slice(2);
/** Looked for without parsing, because what cannot be parsed must end with the right code too. */
const isRpc =
	argv[0] !== "acp" && argv.some((word, index) => /^--mode=rpc(-ui)?$/.test(word) || (/^rpc(-ui)?$/.test(word) && argv[index - 1] === "--mode"));
/** In RPC mode every start that fails has the same code. */
const usageCode = isRpc ? exitCodes.failed : exitCodes.usage;

const warn = (text: string) => say(`Warning: ${printableLine(text)}\n`);

// Without a listener this signal opens the debugger, through which any process of the user can run code in this one.
process.on("SIGUSR1", () => undefined);

function refuse(problem: string): void {
	say(`Error: ${problem}\n`);
	process.exitCode = usageCode;
}

/** A host may have closed its end of stderr. The process lives on all the same. */
function say(text: string): void {
	if (process.stderr.listenerCount("error") === 0) process.stderr.on("error", () => undefined);
	process.stderr.write(printable(text));
}

/** Handles errors of stdout: the reader has closed the pipe, as with `| head -1`, or the disk is full. */
function handleClosedStdout(): void {
	process.stdout.on("error", ({ code, message }: NodeJS.ErrnoException) => {
		if (code === "EPIPE") process.exit(exitCodes.brokenPipe);
		say(`Error: stdout could not be written: ${code ?? message}\n`);
		process.exitCode = exitCodes.failed;
	});
}

/** Goes to the directory that --cwd names. Returns the reason when that is not possible. */
function enter(directory: string): string | undefined {
	try {
		process.chdir(directory);
		return undefined;
	} catch (error) {
		return `--cwd ${directory}: ${(error as NodeJS.ErrnoException).code === "ENOTDIR" ? "it is not a directory" : "there is no such directory"}.`;
	}
}

async function main(): Promise<void> {
	const parsed = parseArguments(argv);
	if ("problem" in parsed) return refuse(parsed.problem);
	const { options, words, unknown } = parsed;
	const [name, ...rest] = words;
	if (name === "acp" && !options.help && !options.version) {
		const { runAcp } = await import("../acp/index.ts");
		return runAcp({ options, words: rest, unknown }, claimStdout(), { openWorkspace, loadExtensions, checkFlags, openSession });
	}
	// Loaded for people: a host's start has no words.
	const subcommand = name === undefined ? undefined : (await import("./subcommands.ts")).subcommandOf(name);
	if (options.help || options.version) {
		const { helpText, versionText } = await import("./help.ts");
		handleClosedStdout();
		return void process.stdout.write(
			options.help ? helpText(subcommand ? name : options.mode === "rpc" ? "rpc" : undefined) : `${versionText(process.env)}\n`,
		);
	}
	if (options.log !== undefined) return refuse("--log belongs to bowline acp.");
	if (options.acp && name !== "doctor") return refuse("--acp belongs to bowline doctor. For an editor, start bowline acp.");
	if (options.cwd !== undefined) {
		const problem = enter(options.cwd);
		if (problem !== undefined) return refuse(problem);
		// Everything else is relative to it, also what subagents are given.
		delete options.cwd;
	}
	const { "list-models": search } = options;
	if (search !== undefined) {
		refuseUnknown(unknown, warn);
		handleClosedStdout();
		return (await import("./subcommands.ts")).subcommandOf("models")?.(search === true ? words : [search, ...words], options, []);
	}
	if (options.json && !subcommand) return refuse((await import("./subcommands.ts")).jsonText);
	// `bowline config --mode rpc` shows what a host gets.
	if (options.mode === "rpc" && !subcommand) {
		if (options["output-schema"] !== undefined) return refuse("--output-schema is for -p. In RPC mode, send outputSchema with the prompt.");
		if (options.print) return refuse("--print answers once, --mode rpc waits for commands: pass only one of them.");
		if (words.some((word) => word.startsWith("@"))) return refuse("@file arguments are not supported in RPC mode");
		if (words.length) return refuse(unexpectedText(words[0] as string));
		return runRpc(options, unknown, claimStdout(), warn);
	}
	if (options.print || (options.mode !== undefined && options.mode !== "rpc")) {
		if (options.seq || options.gate) return refuse("--seq and --gate are for --mode rpc: they add frames for a host.");
		const stdout = claimStdout();
		return (await import("../one-shot/index.ts")).runOneShot(parsed, stdout, warn);
	}
	if (subcommand) {
		handleClosedStdout();
		return subcommand(rest, options, unknown);
	}
	refuseUnknown(unknown, warn);
	if (words.length) return refuse((await import("./subcommands.ts")).unknownCommandText(words[0] as string));
	refuse('Nothing to do. Try bowline chat. Pass -p "prompt" for one answer, --mode rpc to be driven by a program, or see bowline --help.');
}

main().catch(async (error: unknown) => {
	say(`Error: ${withoutError(error instanceof Error ? error.message : String(error))}\n`);
	const { exitCodeOf } = await import("../protocol/errors.ts");
	process.exit(isUsageError(error) ? usageCode : isCommandError(error) && !isRpc ? exitCodeOf(error.code) : exitCodes.failed);
});
