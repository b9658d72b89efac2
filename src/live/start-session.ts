/** Which session a process begins with, by its flags. */

import { resolve } from "node:path";
import type { ModelWithLevel } from "../agent/models.ts";
import { asSentence } from "../lib/as-sentence.ts";
import { shortId, uuid } from "../lib/ids.ts";
import { CommandError } from "../protocol/command-error.ts";
import type { Options } from "../protocol/flags.ts";
import { type Chosen, noteChoice, restoreChoice, unknownEntries } from "../session/restore.ts";
import { type SessionDirectories, sessionDirectories } from "../transcript/directories.ts";
import { FileSessionStore } from "../transcript/file-store.ts";
import { forkOf } from "../transcript/fork.ts";
import type { SessionStore } from "../transcript/store.ts";
import type { Transcript, TranscriptParts } from "../transcript/transcript.ts";
import type { Workspace } from "./workspace.ts";

/** Where the session files of this working directory are. */
export function directoryOf(workspace: Workspace): string {
	return directoriesOf(workspace).directory;
}

/** A directory that the user names may hold the sessions of several working directories, so it has no others, unless it is one of ours. */
function directoriesOf({ options, settings, cwd, userDirectory }: Workspace): Pick<SessionDirectories, "directory"> & Partial<SessionDirectories> {
	const given = options["session-dir"] ?? settings.get("sessionDir");
	const { directory, others } = sessionDirectories(userDirectory, cwd);
	if (given === undefined) return { directory, others };
	const named = resolve(cwd, given);
	const ours = [directory, ...others];
	return ours.includes(named) ? { directory: named, others: ours.filter((each) => each !== named) } : { directory: named };
}

export function openStore(workspace: Workspace, parts: Pick<TranscriptParts, "redact" | "now" | "onEntry">): SessionStore {
	const { options, cwd } = workspace;
	let chosenId = options["session-id"];
	if (chosenId !== undefined && !/^[\w.-]+$/.test(chosenId)) throw new Error("--session-id may have letters, digits, dots, dashes and underscores.");
	const store: FileSessionStore = new FileSessionStore({
		cwd,
		...(options["no-session"] ? { directory: undefined } : directoriesOf(workspace)),
		...parts,
		owner: shortId(),
		newId: shortId,
		newSessionId: () => {
			// The chosen one is given once. It is already taken when the process continues the session that has it.
			const id = chosenId !== undefined && !store.withId(chosenId) ? chosenId : uuid(parts.now());
			chosenId = undefined;
			return id;
		},
	});
	return store;
}

export interface Beginning {
	transcript: Transcript;
	/** It begins now: with the model and the level of the settings, not with those of a file. */
	isNew: boolean;
}

/** The session that the flags name, or a new one. */
export function beginning({ session, fork, continue: goOn, "session-id": id }: Options, store: SessionStore): Beginning {
	if (fork !== undefined && (session !== undefined || goOn))
		throw new CommandError("bad_field", "--fork begins a new session, --session and --continue go on with one: pass only one of them.");
	if (fork !== undefined) return { transcript: copyOf(store, fork), isNew: false };
	const named = session !== undefined ? store.named(session) : goOn ? store.latest() : id === undefined ? undefined : store.withId(id);
	if (!named) return { transcript: store.create(), isNew: true };
	// A path may name a session that is to begin there.
	return { transcript: store.open(named), isNew: named.id === undefined };
}

/** A new session with everything that the branch of another contains. */
function copyOf(store: SessionStore, word: string): Transcript {
	const source = store.named(word);
	const from = store.read(source);
	if (!from) throw new CommandError("no_session", `No session found: ${word}. See bowline sessions.`);
	return forkOf(store, from, from.leafId, source.file);
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
	// The model no longer exists, or the file names none.
	if (!choice.model) choice.use(await start());
	if (problem) warn(`${asSentence(problem)} The session goes on with ${choice.model?.id ?? "no model"}.`);
	const unknown = unknownEntries(chosen);
	if (unknown) warn(unknown);
	noteChoice(chosen);
}
