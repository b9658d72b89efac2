/** Decides from the text of a transcript whether it needs its own process. */
import type { Case } from "./parse.ts";

/** How a process ends, and what it prints. */
const processSteps = ["eof", "signal", "exit", "stderr"];
const isSource = (path: string) => /\.[cm]?[jt]s$/.test(path);
/** Names through which an extension reaches the process: its globals, and modules that know its directory. */
const processNames = /\b(process|console|globalThis)\b|\bnode:/;

export function needsProcess({ steps, env, flags, files }: Case): boolean {
	return (
		steps.some(({ kind }) => processSteps.includes(kind)) ||
		Object.keys(env).length > 0 ||
		// The program changes its directory.
		flags.includes("--cwd") ||
		Object.entries(files).some(([path, text]) => isSource(path) && processNames.test(text))
	);
}
