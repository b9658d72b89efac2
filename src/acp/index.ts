/** `bowline acp`: an agent of the Agent Client Protocol for editors, over stdin and stdout. */
import { openSync, writeSync } from "node:fs";
import { stderrLog } from "../lib/log.ts";
import { attachToProcess } from "../lib/process-input.ts";
import { guardStderr } from "../lib/stderr.ts";
import { UsageError } from "../lib/usage-error.ts";
import { version } from "../lib/version.ts";
import type { Arguments } from "../live/arguments.ts";
import type { Options } from "../protocol/flags.ts";
import type { OutputStream } from "../rpc/stdio.ts";
import type { Opening } from "./open.ts";
import { type AcpPipes, serveAcp } from "./serve.ts";

/** Flags that say how to talk, or that the requests of an editor decide for each session. */
const refused = [
	"mode",
	"print",
	"dialect",
	"updates",
	"no-ready",
	"session",
	"continue",
	"session-id",
	"name",
	"resume",
	"fork",
	"cwd",
	"seq",
	"seq-after",
	"gate",
	"list-models",
];
/** They belong to other commands. */
const foreign: Record<string, string> = { json: "bowline models and its like", acp: "bowline doctor", "output-schema": "bowline -p" };

/** Throws a UsageError for what does not belong here. */
export function checkAcpArguments({ options, words, unknown }: Arguments): void {
	const given = [...Object.keys(options), ...unknown.map(({ name }) => name)].find((name) => refused.includes(name));
	if (given !== undefined) throw new UsageError(`--${given} does not go with bowline acp: the editor decides it for each session.`);
	const misplaced = Object.keys(options).find((name) => Object.hasOwn(foreign, name));
	if (misplaced !== undefined) throw new UsageError(`--${misplaced} does not go with bowline acp: it belongs to ${foreign[misplaced]}.`);
	if (words.length) throw new UsageError(`Unexpected argument: ${words[0]}. bowline acp takes flags only; prompts come from the editor.`);
}

export function runAcp(parsed: Arguments, output: OutputStream, opening: Opening): void {
	checkAcpArguments(parsed);
	const { options, unknown } = parsed;
	const { stdin, env } = process;
	const faults = stderrLog();
	const atEnd = new Set<() => void>();
	process.once("exit", () => {
		for (const then of atEnd) then();
	});
	const pipes: AcpPipes = {
		env,
		version,
		opening,
		output,
		pauseInput: (paused) => void (paused ? stdin.pause() : stdin.resume()),
		exit: process.exit,
		atExit(then) {
			atEnd.add(then);
			return () => void atEnd.delete(then);
		},
		redactStderr: guardStderr(),
		log: logTo(options),
	};
	attachToProcess(serveAcp(pipes, options, unknown), faults);
}

/** Each line with its time and direction, for people who look for a fault of an editor. */
function logTo({ log: path }: Options & { log?: string }): AcpPipes["log"] {
	if (path === undefined) return undefined;
	let file: number;
	try {
		file = openSync(path, "a", 0o600);
	} catch (error) {
		throw new UsageError(`--log ${path}: ${(error as NodeJS.ErrnoException).code ?? (error as Error).message}`);
	}
	return (direction, line) => void writeSync(file, `${new Date().toISOString()} ${direction === "in" ? "->" : "<-"} ${line}\n`);
}
