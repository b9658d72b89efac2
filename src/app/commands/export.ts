/** `bowline export <session> [output]`: the page of a session, by its file or the beginning of its id. */
import { existsSync } from "node:fs";
import { redactor } from "../../lib/redact.ts";
import { UsageError } from "../../lib/usage-error.ts";
import { Models } from "../../live/models.ts";
import { openStore } from "../../live/start-session.ts";
import { openWorkspace, type Workspace } from "../../live/workspace.ts";
import type { Options } from "../../protocol/flags.ts";
import { printJson, printValue } from "../json.ts";

export async function exportCommand(words: readonly string[], options: Options): Promise<void> {
	const [word, outputPath, tooMuch] = words;
	if (word === undefined) throw new UsageError("Which session? bowline export <session file or id> [output]");
	if (tooMuch !== undefined) throw new UsageError(`Unexpected argument: ${tooMuch}. bowline export <session file or id> [output]`);
	const workspace = await openWorkspace({ options, isRpc: false });
	const { file } = openStore(workspace, { redact: (text) => text, now: Date.now }).named(word);
	if (!existsSync(file)) throw new Error(`No such session file: ${file}`);
	const { exportSession } = await import("../../transcript/export/index.ts");
	const path = await exportSession(file, { outputPath, redact: await redaction(workspace) });
	if (options.json) printJson({ path });
	else printValue(`${path}\n`);
}

/** The file may be of another program, or older than a key in it. */
async function redaction(workspace: Workspace): Promise<(text: string) => string> {
	const registry = await new Models(workspace, {}, () => undefined).registry();
	// Reads the user's own providers.
	await registry.available();
	return redactor(() => registry.secrets()).text;
}
