/** `--mode rpc`: this process serves a session over its stdin and stdout. */

import { stderrLog } from "../lib/log.ts";
import { attachToProcess } from "../lib/process-input.ts";
import { guardStderr } from "../lib/stderr.ts";
import type { Options, UnknownFlag } from "../live/arguments.ts";
import { serve } from "../rpc/serve.ts";
import type { OutputStream } from "../rpc/stdio.ts";

export async function runRpc(options: Options, unknown: UnknownFlag[], output: OutputStream, warn: (text: string) => void): Promise<void> {
	const { stdin, env } = process;
	const log = stderrLog();
	const redactStderr = guardStderr();
	const cwd = process.cwd();
	const subagent = env.BOWLINE_INHERIT_FD === undefined ? undefined : await (await import("../live/as-subagent.ts")).inherited(options, cwd, env);
	const pauseInput = (paused: boolean) => void (paused ? stdin.pause() : stdin.resume());
	const atExit = (then: () => void) => void process.once("exit", then);
	const host = { cwd, env, output, warn, pauseInput, exit: process.exit, atExit, subagent, redactStderr };
	attachToProcess(await serve(host, subagent?.options ?? options, subagent?.unknown ?? unknown), log);
}
