/** The values of `models.jsonc`: `!command`, `$NAME`, `${NAME}`, the name of a variable that is set, or the text itself. */
import type { Environment } from "./routes.ts";

const commandLimitMs = 10_000;
const outputLimit = 1024 * 1024;
/** How long output may continue after the end of its command. */
const graceMs = 250;
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

/** The value; a command runs again each time, so that a key may be rotated. Throws when the command fails or the signal fires. */
export async function resolveValue(value: string, env: Environment, signal?: AbortSignal, limitMs = commandLimitMs): Promise<string | undefined> {
	return value.startsWith("!") ? (await output(value.slice(1), env, limitMs, signal)) || undefined : plainValue(value, env);
}

/** The output of a command. It has its own process group, and no process of the group survives, however it ends. */
async function output(command: string, env: Environment, limitMs: number, signal?: AbortSignal): Promise<string> {
	const { spawn } = await import("node:child_process");
	if (signal?.aborted) throw new Error("the command was stopped");
	return new Promise((resolve, reject) => {
		const child = spawn("/bin/sh", ["-c", command], { env: env as NodeJS.ProcessEnv, detached: true, stdio: ["ignore", "pipe", "ignore"] });
		const chunks: Buffer[] = [];
		let size = 0;
		const kill = () => {
			if (child.pid === undefined) return;
			try {
				process.kill(-child.pid, "SIGKILL");
			} catch {
				// The group has no process left.
			}
		};
		// The output may be a key, so no message contains it.
		const settle = (problem?: string) => {
			clearTimeout(timer);
			clearTimeout(grace);
			process.off("exit", kill);
			signal?.removeEventListener("abort", onAbort);
			kill();
			child.stdout.destroy();
			if (problem === undefined) resolve(Buffer.concat(chunks).toString("utf8").trim());
			else reject(new Error(problem));
		};
		const onAbort = () => settle("the command was stopped");
		const onClose = (code: number | null, killer: string | null) => settle(code === 0 ? undefined : `the command failed with ${code ?? killer}`);
		const timer = setTimeout(() => settle(`the command took longer than ${limitMs / 1000} s`), limitMs);
		let grace: NodeJS.Timeout | undefined;
		process.once("exit", kill);
		signal?.addEventListener("abort", onAbort, { once: true });
		child.stdout.on("data", (chunk: Buffer) => {
			chunks.push(chunk);
			size += chunk.length;
			if (size > outputLimit) settle(`the command printed more than ${outputLimit} bytes`);
		});
		child.on("error", (error) => settle(`the command could not be run: ${error.message}`));
		child.on("exit", (code, killer) => {
			kill();
			// A process that left the group may hold the output open forever.
			grace = setTimeout(() => onClose(code, killer), graceMs);
		});
		child.on("close", onClose);
	});
}
