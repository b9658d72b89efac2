/** The page of a session file, on disk: whole or not at all, readable only by the user. */

import { randomBytes } from "node:crypto";
import { open, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { removeLeftOvers } from "../../lib/left-overs.ts";
import { CommandError } from "../../protocol/command-error.ts";
import { editedEntries } from "../context-edits.ts";
import { type OpenOptions, openTranscript } from "../open.ts";
import { totalsOf } from "../stats.ts";
import type { PageInput } from "./data.ts";
import { pageChunks } from "./page.ts";
import { type Conversation, subagentsOf } from "./subagents.ts";

export interface ExportOptions {
	/** A file, or a directory that it goes into. Without it the working directory gets one. */
	outputPath?: string;
	/** The current entry, if it is not the last one. */
	leafId?: string | null;
	/** The system prompt and tools. Called when everything else is in order. */
	briefing?: () => Promise<Pick<PageInput, "systemPrompt" | "tools">>;
	/** Takes credentials out of a text. */
	redact?: (text: string) => string;
}

/** The name of a page when none is given. */
export const pageFileName = (sessionFile: string) => `bowline-session-${basename(sessionFile, ".jsonl")}.html`;

/** Writes the page and gives its absolute path. Credentials are taken out: a file of another program, a context file or a description of a tool may hold some. */
export async function exportSession(sessionFile: string | undefined, { outputPath, leafId, briefing, redact }: ExportOptions = {}): Promise<string> {
	if (sessionFile === undefined) throw new CommandError("unsupported", "Cannot export in-memory session to HTML");
	const source = { mode: "read", cwd: "", now: Date.now, redact: (text: string) => text, newId: () => randomBytes(4).toString("hex") } as const;
	const transcript = openTranscript(sessionFile, source);
	const stored = transcript?.entries ?? [];
	if (!transcript || stored.length === 0) throw new CommandError("nothing_to_do", "Nothing to export yet - start a conversation first");
	if (leafId) transcript.moveTo(leafId);
	const entries = editedEntries(transcript);
	const path = await targetOf(outputPath, sessionFile);
	const given = await briefing?.();
	const subagents = subagentsOf(sessionFile, entries, (file) => conversationIn(file, source));
	const stats = totalsOf(stored);
	const page = { header: transcript.header, entries, leafId: leafId ?? transcript.leafId, stats, subagents, ...given, redact };
	try {
		await write(path, pageChunks(page));
	} catch (error) {
		throw new CommandError("io", `Page could not be written: ${(error as NodeJS.ErrnoException).code ?? (error as Error).message} ${path}`);
	}
	return path;
}

/** A file that cannot be read costs its conversation, not the page. */
function conversationIn(file: string, options: OpenOptions): Conversation | undefined {
	try {
		return openTranscript(file, options);
	} catch {
		return undefined;
	}
}

async function targetOf(outputPath: string | undefined, sessionFile: string): Promise<string> {
	const given = resolve(outputPath || ".");
	const found = await statOf(given);
	if (found?.isDirectory()) return join(given, pageFileName(sessionFile));
	const session = await statOf(sessionFile);
	if (found && session && found.ino === session.ino && found.dev === session.dev) {
		throw new CommandError("bad_field", `Page would replace the session itself: ${given}. Pass another outputPath.`);
	}
	return given;
}

async function statOf(path: string) {
	try {
		return await stat(path);
	} catch {
		// It does not exist or cannot be read: writing will give the reason.
		return undefined;
	}
}

async function write(path: string, chunks: Iterable<string>): Promise<void> {
	const beginning = `.${basename(path).slice(0, 100)}.`;
	const temporary = join(dirname(path), `${beginning}${randomBytes(6).toString("hex")}.tmp`);
	const file = await open(temporary, "wx", 0o600);
	try {
		try {
			for (const chunk of chunks) await file.writeFile(chunk);
		} finally {
			await file.close();
		}
		await rename(temporary, path);
		void removeLeftOvers(dirname(path), (name) => name.startsWith(beginning) && /\.[0-9a-f]{12}\.tmp$/.test(name), Date.now());
	} catch (error) {
		await rm(temporary, { force: true });
		throw error;
	}
}
