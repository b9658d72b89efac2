/** Which shell runs commands. */
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

/** The configured shell, else bash, else sh. */
export function findShell(configured: string | undefined, path: string | undefined): string {
	if (configured !== undefined) {
		if (existsSync(configured)) return configured;
		throw new Error(`The shell of the setting shellPath does not exist: ${configured}`);
	}
	for (const candidate of process.platform === "win32" ? windowsShells(path) : unixShells(path)) {
		if (existsSync(candidate)) return candidate;
	}
	throw new Error("No shell found. Install bash or name one with the setting shellPath.");
}

const onPath = (path: string | undefined, name: string) =>
	(path ?? "").split(delimiter).flatMap((directory) => (directory ? [join(directory, name)] : []));

const unixShells = (path: string | undefined) => ["/bin/bash", ...onPath(path, "bash"), "/bin/sh", ...onPath(path, "sh")];

const windowsShells = (path: string | undefined) => [
	join(process.env.ProgramFiles ?? "C:\\Program Files", "Git\\bin\\bash.exe"),
	join(process.env["ProgramFiles(x86)"] ?? "C:\\Program Files (x86)", "Git\\bin\\bash.exe"),
	...onPath(path, "bash.exe"),
];
