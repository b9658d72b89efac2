/** Which session a process begins with, by its flags. */
import { resolve } from "node:path";
import type { ModelWithLevel } from "../agent/models.ts";
import { randomBytes, uuid } from "../lib/ids.ts";
import type { Options } from "../protocol/flags.ts";
import { type Chosen, noteChoice, restoreChoice } from "../session/restore.ts";
import { type SessionDirectories, sessionDirectories } from "../transcript/directories.ts";
import { FileSessionStore } from "../transcript/file-store.ts";
import type { SessionStore } from "../transcript/store.ts";
import type { Transcript, TranscriptParts } from "../transcript/transcript.ts";
import type { Workspace } from "./workspace.ts";

/** Where the session files of this working directory are. */
export function directoryOf(workspace: Workspace): string {
	return directoriesOf(workspace).directory;
}

/** A directory that the user names may hold the sessions of several working directories, so it has no former ones. */
function directoriesOf({ options, settings, cwd, userDirectory }: Workspace): Pick<SessionDirectories, "directory"> & Partial<SessionDirectories> {
	const given = options["session-dir"] ?? settings.get("sessionDir");
	return given === undefined ? sessionDirectories(userDirectory, cwd) : { directory: resolve(cwd, given) };
}

export function openStore(workspace: Workspace, parts: Pick<TranscriptParts, "redact" | "now" | "onEntry">): SessionStore {
	const { options, cwd } = workspace;
	let chosenId = options["session-id"];
	if (chosenId !== undefined && !/^[\w.-]+$/.test(chosenId)) throw new Error("--session-id may have letters, digits, dots, dashes and underscores.");
	return new FileSessionStore({
		cwd,
		...(options["no-session"] ? { directory: undefined } : directoriesOf(workspace)),
		...parts,
		owner: randomBytes(4).toString("hex"),
		newId: () => randomBytes(4).toString("hex"),
		newSessionId: () => {
			const id = chosenId ?? uuid(parts.now());
			chosenId = undefined;
			return id;
		},
	});
}

/** The session that the flags name; nothing when a new one is to begin. */
export function namedTranscript({ session, continue: goOn }: Options, store: SessionStore): Transcript | undefined {
	if (session !== undefined) return store.open(store.named(session));
	const latest = goOn ? store.latest() : undefined;
	return latest === undefined ? undefined : store.open(latest);
}

/** Goes back to the model and level of an opened session, except where flags say otherwise. `start` gives the model a new session would have. */
export async function resumeChoice(
	chosen: Chosen,
	options: Options,
	start: () => Promise<ModelWithLevel | undefined>,
	warn: (text: string) => void,
): Promise<void> {
	const { choice } = chosen;
	const isModelGiven = options.model !== undefined || options.provider !== undefined;
	if (isModelGiven && !choice.model) choice.use(await start());
	const problem = await restoreChoice(chosen, { model: !isModelGiven, level: options.thinking === undefined });
	if (problem && !choice.model) choice.use(await start());
	if (problem) warn(`${problem}. The session goes on with ${choice.model?.id ?? "no model"}.`);
	noteChoice(chosen);
}
