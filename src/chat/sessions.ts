/** The sessions of a directory, as `bowline sessions` lists them, and how to continue one. */
import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { dirname } from "node:path";
import { promisify } from "node:util";

export interface SavedSession {
	path: string;
	/** How long ago it was written to, and what it is about. */
	title: string;
}

/** A member of `sessions` in the output of `bowline sessions --json`, as far as it is shown. */
interface Listed {
	path: string;
	modified: number;
	name?: string;
	firstPrompt?: string;
}

const mostOutput = 16 * 1024 * 1024;

/** Newest first, without the one that is open. */
export async function savedSessions(program: readonly string[], current: string, now: number): Promise<SavedSession[]> {
	const [command = "", ...args] = [...program, "sessions", "--json", `--session-dir=${dirname(current)}`];
	const { stdout } = await promisify(execFile)(command, args, { maxBuffer: mostOutput });
	const { sessions } = JSON.parse(stdout) as { sessions: Listed[] };
	return sessions
		.filter(({ path }) => path !== current)
		.map(({ path, modified, name, firstPrompt }) => ({
			path,
			title: `${age(now - modified).padStart(4)}  ${name?.trim() || firstPrompt?.trim() || "(nothing said yet)"}`,
		}));
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

function age(ms: number): string {
	const minutes = Math.max(0, Math.floor(ms / 60_000));
	if (minutes < 60) return `${minutes}m`;
	return minutes < 24 * 60 ? `${Math.floor(minutes / 60)}h` : `${Math.floor(minutes / 60 / 24)}d`;
}
