/** Which session a process begins with, by its flags. */
import { resolve } from "node:path";
import type { ModelWithLevel } from "../agent/contracts.ts";
import { randomBytes, uuid } from "../lib/ids.ts";
import { noteChoice, restoreChoice } from "../session/restore.ts";
import type { Session } from "../session/session.ts";
import type { SettingsView } from "../settings/settings.ts";
import { type SessionDirectories, sessionDirectories } from "../transcript/directories.ts";
import { FileSessionStore } from "../transcript/file-store.ts";
import type { SessionStore } from "../transcript/store.ts";
import type { Transcript, TranscriptParts } from "../transcript/transcript.ts";
import type { Options } from "./arguments.ts";

export interface SessionPlaces {
	options: Options;
	settings: SettingsView;
	cwd: string;
	userDirectory: string;
}

/** Where the session files of this working directory are. */
export function directoryOf(places: SessionPlaces): string {
	return directoriesOf(places).directory;
}

/** A directory that the user names may hold the sessions of several working directories, so it has no former ones. */
function directoriesOf({
	options,
	settings,
	cwd,
	userDirectory,
}: SessionPlaces): Pick<SessionDirectories, "directory"> & Partial<SessionDirectories> {
	const given = options["session-dir"] ?? settings.get("sessionDir");
	return given === undefined ? sessionDirectories(userDirectory, cwd) : { directory: resolve(cwd, given) };
}

export function transcriptsOf(places: SessionPlaces, parts: Pick<TranscriptParts, "redact" | "now" | "onEntry">): SessionStore {
	const { options, cwd } = places;
	let chosenId = options["session-id"];
	if (chosenId !== undefined && !/^[\w.-]+$/.test(chosenId)) throw new Error("--session-id may have letters, digits, dots, dashes and underscores.");
	return new FileSessionStore({
		cwd,
		...(options["no-session"] ? { directory: undefined } : directoriesOf(places)),
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
export function namedTranscript({ session, continue: goOn }: Options, transcripts: SessionStore): Transcript | undefined {
	if (session !== undefined) return transcripts.open(transcripts.named(session));
	const latest = goOn ? transcripts.latest() : undefined;
	return latest === undefined ? undefined : transcripts.open(latest);
}

/** Goes back to the model and level of an opened session, except where flags say otherwise. `start` gives the model a new session would have. */
export async function resumeChoice(
	session: Session,
	options: Options,
	start: () => Promise<ModelWithLevel | undefined>,
	warn: (text: string) => void,
): Promise<void> {
	const isModelGiven = options.model !== undefined || options.provider !== undefined;
	if (isModelGiven && !session.choice.model) session.choice.use(await start());
	const problem = await restoreChoice(session, { model: !isModelGiven, level: options.thinking === undefined });
	if (problem && !session.choice.model) session.choice.use(await start());
	if (problem) warn(`${problem}. The session goes on with ${session.choice.model?.id ?? "no model"}.`);
	noteChoice(session);
}
