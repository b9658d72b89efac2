/** The values of `models.jsonc`: `!command`, `$NAME`, `${NAME}`, the name of a variable that is set, or the text itself. */
import type { Environment } from "./routes.ts";

const commandLimitMs = 10_000;
const reference = /\$(?:([$!])|\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))/g;
const bareName = /^[A-Z][A-Z0-9_]*$/;

/** The variables a value takes its content from. */
export function variablesIn(value: string, env: Environment): string[] {
	if (value.startsWith("!")) return [];
	if (bareName.test(value)) return env[value] ? [value] : [];
	return [...value.matchAll(reference)].flatMap((match) => match[2] ?? match[3] ?? []);
}

/** Whether the value would be something, as far as one can tell without running a command. */
export function hasValue(value: string | undefined, env: Environment): boolean {
	if (value === undefined || value === "") return false;
	return variablesIn(value, env).every((name) => env[name]);
}

/** The value without commands; nothing when it names a variable that is not set. */
export function plainValue(value: string, env: Environment): string | undefined {
	if (!hasValue(value, env)) return undefined;
	if (bareName.test(value) && env[value]) return env[value];
	return value.replace(reference, (_, escaped?: string, braced?: string, bare?: string) => escaped ?? env[braced ?? bare ?? ""] ?? "");
}

/** The value; a command is run anew each time, so that a key may be rotated. Throws when the command fails. */
export async function resolveValue(value: string, env: Environment): Promise<string | undefined> {
	if (!value.startsWith("!")) return plainValue(value, env);
	const { exec } = await import("node:child_process");
	const options = { timeout: commandLimitMs, env: env as NodeJS.ProcessEnv, maxBuffer: 1024 * 1024, windowsHide: true };
	return new Promise((resolve, reject) => {
		exec(value.slice(1), options, (error, stdout) => {
			const said = stdout.trim();
			// What the command printed may be a key; it is never told.
			if (!error) resolve(said || undefined);
			else reject(new Error(error.killed ? `the command took longer than ${commandLimitMs / 1000} s` : `the command failed with ${error.code}`));
		});
	});
}
