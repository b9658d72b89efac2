/** The sessions other than the current one. Their files are the agent's own, as docs/sessions.md describes them. */
import { closeSync, existsSync, openSync, readdirSync, readSync, statSync } from "node:fs";
import { dirname, join } from "node:path";

export interface SavedSession {
	path: string;
	/** How long ago it was written to, and what it is about. */
	title: string;
}

/** The shortest beginning of a session's id, at least eight characters, that no other session next to it has. */
export function shortId({ file, id }: { file: string; id: string }): string {
	const others = readdirSync(dirname(file)).flatMap((name) =>
		name.endsWith(".jsonl") && !name.endsWith(`${id}.jsonl`) ? [name.slice(name.indexOf("_") + 1)] : [],
	);
	for (let length = 8; length < id.length; length++) {
		const short = id.slice(0, length);
		if (!others.some((other) => other.startsWith(short))) return short;
	}
	return id;
}

/** What to type to continue a session. A session that was named by its path, or is in a directory of its own, is found by its path. */
export function howToGoOn(session: { file: string; id: string }, flags: readonly string[]): string {
	const isElsewhere = flags.some((flag) => /^--session-dir=|^--session=.*([/\\]|\.jsonl$)/.test(flag));
	const quoted = (text: string) => (/^[\w./:=@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
	const place = flags.filter((flag) => flag.startsWith("--cwd=")).map(quoted);
	const name = isElsewhere ? quoted(session.file) : shortId(session);
	return `Saved as ${shortId(session)}. Go on with: ${["bowline chat", ...place, "--session", name].join(" ")}`;
}

/** More than a person looks through. */
const most = 100;
/** Name and first prompt are near the beginning. */
const readBytes = 64 * 1024;

/** Newest first, without the one that is open. */
export function savedSessions(current: string, now: number): SavedSession[] {
	const directory = dirname(current);
	if (!existsSync(directory)) return [];
	return readdirSync(directory)
		.map((name) => join(directory, name))
		.filter((path) => path.endsWith(".jsonl") && path !== current)
		.flatMap((path) => {
			const stats = statSync(path, { throwIfNoEntry: false });
			// A pipe would make us wait for its other end.
			return stats?.isFile() ? [{ path, time: stats.mtimeMs }] : [];
		})
		.sort((a, b) => b.time - a.time)
		.slice(0, most)
		.flatMap(({ path, time }) => {
			const about = aboutOf(path);
			return about === undefined ? [] : [{ path, title: `${age(now - time).padStart(4)}  ${about}` }];
		});
}

/** The name, else the first prompt; nothing when the file is not a session. */
function aboutOf(path: string): string | undefined {
	const entries = beginning(path)
		.split("\n")
		.flatMap((line) => parsed(line) ?? []);
	if (entries[0]?.type !== "session") return undefined;
	const name = entries.findLast(({ type }) => type === "session_info")?.name;
	if (typeof name === "string" && name) return name;
	const content = entries.find(({ message }) => message?.role === "user")?.message?.content;
	const text = Array.isArray(content) ? content.map((block) => block?.text ?? "").join(" ") : content;
	return typeof text === "string" && text.trim() ? text.trim() : "(nothing said yet)";
}

interface Entry {
	type?: unknown;
	name?: unknown;
	message?: { role?: unknown; content?: unknown };
}

function parsed(line: string): Entry | undefined {
	try {
		const entry: unknown = JSON.parse(line);
		return typeof entry === "object" && entry !== null ? entry : undefined;
	} catch {
		return undefined; // Not JSON, or cut where we stopped to read.
	}
}

function beginning(path: string): string {
	const descriptor = openSync(path, "r");
	try {
		const buffer = Buffer.alloc(readBytes);
		return buffer.toString("utf8", 0, readSync(descriptor, buffer));
	} finally {
		closeSync(descriptor);
	}
}

function age(ms: number): string {
	const minutes = Math.floor(ms / 60_000);
	if (minutes < 60) return `${minutes}m`;
	return minutes < 24 * 60 ? `${Math.floor(minutes / 60)}h` : `${Math.floor(minutes / 60 / 24)}d`;
}
