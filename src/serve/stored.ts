/** What is read from a session's files without its agent: entries, the page for download, artifacts. */

import { randomBytes } from "node:crypto";
import { createReadStream, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { pipeline } from "node:stream";
import { openTranscript } from "../transcript/open.ts";
import { commonHeaders } from "./http.ts";
import { Refusal } from "./refusal.ts";
import type { Session } from "./session.ts";

export interface EntriesQuery {
	since?: string;
	tail?: number;
	before?: string;
	limit: number;
}

interface Entries {
	entries: readonly object[];
	leafId: string | null;
	total: number;
	before: boolean;
	after: boolean;
}

const sourceOptions = { mode: "read", cwd: "", now: Date.now, redact: (text: string) => text, newId: () => randomBytes(4).toString("hex") } as const;
const attempts = 5;

/** The entries, and a number after which a reader misses nothing and gets nothing twice. */
export async function entriesOf(session: Session, query: EntriesQuery): Promise<Entries & { asOf: number }> {
	if (!session.isAwake || session.state === "starting" || session.state === "stopping") {
		// Another process may write: the number is not beyond the entries.
		session.watch();
		return { asOf: session.feed.ring.lastSeq, ...readEntries(session.record.file, query) };
	}
	// The agent writes meanwhile. A page is consistent when nothing durable was said while it was read.
	let before = await asOf(session);
	for (let attempt = 1; ; attempt++) {
		const entries = readEntries(session.record.file, query);
		const after = await asOf(session);
		if (attempt === attempts || !session.feed.ring.hasDurableBetween(before, after))
			return { ...entries, asOf: attempt === attempts ? before : after };
		before = after;
	}
}

async function asOf(session: Session): Promise<number> {
	try {
		const answer = (await session.ask({ type: "ping" })) as { asOf?: number };
		return answer.asOf ?? session.feed.ring.lastSeq;
	} catch {
		return session.feed.ring.lastSeq; // The agent ended.
	}
}

export function readEntries(file: string | undefined, { since, tail, before, limit }: EntriesQuery): Entries {
	const transcript = file === undefined ? undefined : openTranscript(file, sourceOptions);
	if (!transcript) return { entries: [], leafId: null, total: 0, before: false, after: false };
	const all = transcript.entries as readonly { id: string }[];
	const placeOf = (id: string) => {
		const at = all.findIndex((entry) => entry.id === id);
		if (at < 0) throw new Refusal("bad_field", `There is no entry ${JSON.stringify(id.slice(0, 80))} in this session.`);
		return at;
	};
	const count = Math.min(tail ?? limit, limit);
	let from = 0;
	let to = Math.min(all.length, limit);
	if (before !== undefined) {
		to = placeOf(before);
		from = Math.max(0, to - count);
	} else if (since !== undefined) {
		from = placeOf(since) + 1;
		to = Math.min(all.length, from + limit);
	} else if (tail !== undefined) {
		to = all.length;
		from = Math.max(0, to - count);
	}
	return { entries: all.slice(from, to), leafId: transcript.leafId, total: all.length, before: from > 0, after: to < all.length };
}

const download = (name: string, type: string) => ({
	...commonHeaders,
	"Content-Type": type,
	"Content-Disposition": `attachment; filename*=UTF-8''${encodeURIComponent(name)}`,
	"Content-Security-Policy": "sandbox",
});

function sendFile(response: ServerResponse, path: string, headers: Record<string, string>, then: () => void = () => undefined): void {
	const { size } = statSync(path);
	response.writeHead(200, { ...headers, "Content-Length": String(size) });
	// A client that disconnects in the middle is not worth a report.
	pipeline(createReadStream(path, { end: Math.max(0, size - 1) }), response, then);
}

export async function sendExport(response: ServerResponse, session: Session): Promise<void> {
	const { file } = session.record;
	if (file === undefined || !statSync(file, { throwIfNoEntry: false }))
		throw new Refusal("bad_field", "There is nothing to export yet: the session has no message.", { status: 409 });
	const { exportSession, pageFileName } = await import("../transcript/export/index.ts");
	const directory = mkdtempSync(join(tmpdir(), "bowline-export-"));
	const clean = () => rmSync(directory, { recursive: true, force: true });
	try {
		const path = await exportSession(file, { outputPath: join(directory, "page.html") });
		sendFile(response, path, download(pageFileName(file), "text/html; charset=utf-8"), clean);
	} catch (error) {
		clean();
		throw error;
	}
}

function artifactsDirectory({ record }: Session): string | undefined {
	const { file } = record;
	if (file === undefined) return undefined;
	const bare = file.replace(/\.jsonl$/, "");
	return bare === file ? `${file}.artifacts` : bare;
}

export function artifactsOf(session: Session): { name: string; size: number; modified: number }[] {
	const directory = artifactsDirectory(session);
	if (directory === undefined || !statSync(directory, { throwIfNoEntry: false })?.isDirectory()) return [];
	return readdirSync(directory, { withFileTypes: true })
		.filter((entry) => entry.isFile())
		.flatMap(({ name }) => {
			const stats = statSync(join(directory, name), { throwIfNoEntry: false });
			return stats ? [{ name, size: stats.size, modified: Math.floor(stats.mtimeMs) }] : [];
		});
}

/** By its name in the list, never by a path. */
export function sendArtifact(response: ServerResponse, session: Session, name: string): void {
	const directory = artifactsDirectory(session);
	const found = artifactsOf(session).find((each) => each.name === name);
	if (!found || directory === undefined) throw new Refusal("no_artifact", "This session has no artifact of that name. GET …/artifacts lists them.");
	sendFile(response, join(directory, basename(found.name)), download(found.name, "application/octet-stream"));
}
