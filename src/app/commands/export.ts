/** `bowline export <session> [output]`: the page of a session, by its file or the beginning of its id. */
import { existsSync } from "node:fs";
import { UsageError } from "../../lib/usage-error.ts";
import { openStore } from "../../live/start-session.ts";
import { openWorkspace } from "../../live/workspace.ts";
import type { Options } from "../../protocol/flags.ts";

export async function exportCommand(words: readonly string[], options: Options): Promise<void> {
	const [word, outputPath, tooMuch] = words;
	if (word === undefined) throw new UsageError("Which session? bowline export <session file or id> [output]");
	if (tooMuch !== undefined) throw new UsageError(`Unexpected argument: ${tooMuch}. bowline export <session file or id> [output]`);
	const file = await sessionFile(word, options);
	if (!existsSync(file)) throw new Error(`No such session file: ${file}`);
	const { exportSession } = await import("../../transcript/export/index.ts");
	process.stdout.write(`${await exportSession(file, { outputPath })}\n`);
}

async function sessionFile(word: string, options: Options): Promise<string> {
	const workspace = await openWorkspace({ options, isRpc: false });
	return openStore(workspace, { redact: (text) => text, now: Date.now }).named(word).file;
}
