/** Finds ripgrep and runs it. */
import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { delimiter, join } from "node:path";
import type { Shell } from "../lib/shell/index.ts";

/** The path of ripgrep, or nothing. Looks once. */
export type RipgrepFinder = () => Promise<string | undefined>;

/** `isTrusted`: whether a program at this path may be used. */
export function ripgrepFinder(
	options: { environment: () => Record<string, string | undefined> },
	isTrusted: (path: string) => boolean = () => true,
): RipgrepFinder {
	let found: Promise<string | undefined> | undefined;
	return () => {
		found ??= findRipgrep(options.environment(), isTrusted);
		return found;
	};
}

async function findRipgrep(environment: Record<string, string | undefined>, isTrusted: (path: string) => boolean): Promise<string | undefined> {
	if (environment.BOWLINE_RG === "off") return undefined;
	const name = process.platform === "win32" ? "rg.exe" : "rg";
	const onPath = (environment.PATH ?? "").split(delimiter).filter((directory) => directory !== "");
	for (const candidate of [environment.BOWLINE_RG, ...onPath.map((directory) => join(directory, name))]) {
		if (candidate && isTrusted(candidate) && (await isProgram(candidate))) return candidate;
	}
	// Not a literal: the package is optional, so no bundler may take it in.
	const packageName = "@vscode/ripgrep";
	const [loaded] = await Promise.allSettled([import(packageName) as Promise<{ rgPath: string }>]);
	return loaded.status === "fulfilled" && isTrusted(loaded.value.rgPath) && (await isProgram(loaded.value.rgPath)) ? loaded.value.rgPath : undefined;
}

async function isProgram(path: string): Promise<boolean> {
	const [check] = await Promise.allSettled([access(path, constants.X_OK)]);
	return check.status === "fulfilled";
}

/** What every search has in common: no configuration of the user, hidden files too, ignore files also outside of git, never git's own files. */
export const searchArguments = ["--no-config", "--no-messages", "--hidden", "--no-require-git", "--no-ignore-global", "--glob=!.git"];

export interface RipgrepRun {
	program: string;
	args: readonly string[];
	cwd: string;
	/** Between two records of the output. */
	separator: number;
	signal: AbortSignal;
	/** Gets each record; false ends the run, and so does what it throws. */
	onRecord: (record: Buffer) => boolean;
}

/** Longer than a search of any repository takes. Ripgrep may wait forever for an ignore file that is a pipe. */
const defaultLimitMs = 120_000;
/** It reads ignore files to their end, and one that is a link to /dev/zero has none. Files that are searched do not count. */
const limited = 'ulimit -d 1048576 2>/dev/null; exec "$0" "$@"';

/** Runs to the end or until a record says stop. Throws when ripgrep refuses, for example a broken pattern, and when it does not come to an end. */
export async function runRipgrep(
	shell: Shell,
	{ program, args, cwd, separator, signal, onRecord }: RipgrepRun,
	limitMs = defaultLimitMs,
): Promise<void> {
	const [file, ...rest] = process.platform === "win32" ? [program, ...args] : ["/bin/sh", "-c", limited, program, ...args];
	const { child, kill } = await shell.start(file as string, rest, cwd);
	let isStopped = false;
	let isLate = false;
	const stop = () => {
		isStopped = true;
		kill();
	};
	signal.addEventListener("abort", stop, { once: true });
	if (signal.aborted) stop();
	const timer = setTimeout(() => {
		isLate = true;
		stop();
	}, limitMs);
	try {
		let problem = "";
		child.stderr?.on("data", (chunk: Buffer) => {
			if (problem.length < 4096) problem += chunk;
		});
		let thrown: unknown;
		const split = recordSplitter(separator, (record) => {
			try {
				if (!isStopped && !onRecord(record)) stop();
			} catch (error) {
				thrown = error;
				stop();
			}
		});
		child.stdout?.on("data", split.push);
		const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
		if (!isStopped) split.end();
		if (signal.aborted) throw new Error("Operation aborted");
		if (thrown) throw thrown;
		if (isLate) throw new Error(`The search took longer than ${limitMs / 1000} s and was ended. Search in fewer places.`);
		// 2 also means that some file could not be read. The other results are good.
		if (!isStopped && code === null) throw new Error(`The search was killed. ${problem.trim()}`.trim());
		if (!isStopped && code !== 0 && code !== 1 && problem !== "") throw new Error(problem.trim());
	} finally {
		clearTimeout(timer);
		signal.removeEventListener("abort", stop);
	}
}

/** A line of a file can be as long as the file. A record longer than this is skipped. */
const maxRecordBytes = 4 * 1024 * 1024;

export function recordSplitter(separator: number, onRecord: (record: Buffer) => void) {
	let parts: Buffer[] = [];
	let length = 0;
	const add = (part: Buffer) => {
		length += part.length;
		if (length <= maxRecordBytes) parts.push(part);
		else parts = [];
	};
	const finish = () => {
		if (length <= maxRecordBytes) onRecord(parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts));
		parts = [];
		length = 0;
	};
	return {
		push(chunk: Buffer) {
			let start = 0;
			for (let end = chunk.indexOf(separator); end >= 0; end = chunk.indexOf(separator, start)) {
				add(chunk.subarray(start, end));
				finish();
				start = end + 1;
			}
			if (start < chunk.length) add(chunk.subarray(start));
		},
		end() {
			if (length > 0) finish();
		},
	};
}
