/** What the rest of the program knows about stored sessions. A session is known by its id; where its bytes are is the store's own business. */
import type { Origin } from "./entries.ts";
import type { Transcript } from "./transcript.ts";

/** A session that a store has found. Only the store that made a reference draws conclusions from `file`. */
export interface SessionReference {
	/** Absent when there is no session yet at the place that was named. */
	readonly id?: string;
	readonly file: string;
	/** The user named it by its path. */
	readonly isByPath?: true;
}

/** A session in a line, for lists. */
export interface SessionSummary {
	id: string;
	path: string;
	/** When it was written to last, in Unix milliseconds. */
	modified: number;
	name: string | undefined;
	firstPrompt: string | undefined;
	messages: number;
	/** USD */
	cost: number;
}

export interface SessionList {
	/** The one that was written to last comes first. */
	sessions: SessionSummary[];
	/** How many older files were not looked at. */
	omitted: number;
}

/** The right to be the only writer of a session. Closing a transcript of the session that the same store has opened releases it as well. */
export interface Lease {
	release(): void;
}

export interface SessionStore {
	/** The directory of sessions. Undefined: sessions are kept in memory only. */
	directory: string | undefined;
	/** Where the files of new sessions go, when that is another directory: that of the session which was opened by its path. */
	beside: string | undefined;
	/** A new session. Nothing is stored before its first message. `origin` is given for a fork. */
	create(parentSession?: string, more?: { origin?: Origin }): Transcript;
	/** Opens a session, or begins one at a place where there is none. A text is a path. Throws a CommandError for what must not be opened. */
	open(session: SessionReference | string): Transcript;
	/** Whether a transcript is this session, under whatever name. */
	isOpenAs(transcript: Transcript, session: SessionReference | string): boolean;
	/** The session of a directory that was written to last; without a directory: of this working directory. */
	latest(directory?: string): SessionReference | undefined;
	/** The session with this id, or whose id begins so, or at this path. Throws a CommandError when that is not exactly one. */
	named(word: string): SessionReference;
	/** The session of this working directory with exactly this id. */
	withId(id: string): SessionReference | undefined;
	/** The contents of a session, without a lock on its file; nothing when there is none. */
	read(session: SessionReference): Transcript | undefined;
	/** The sessions of this working directory. Each costs a pass over its file, so at most `limit` are looked at. */
	list(limit?: number): Promise<SessionList>;
	/** Makes the caller the only writer, without opening the session. Throws a CommandError when another process writes it. */
	lease(session: SessionReference): Lease;
	/** Moves a session with its artifacts and its event log to a trash, where they stay for 30 days. Gives the place. Throws a CommandError while the session is in use. */
	remove(session: SessionReference): Promise<string>;
}
