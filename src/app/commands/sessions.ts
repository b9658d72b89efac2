/** `bowline sessions`: the sessions of this directory, from which a user picks one to continue. */

import { printableLine } from "../../lib/printable.ts";
import { openStore } from "../../live/start-session.ts";
import { openWorkspace } from "../../live/workspace.ts";
import type { Options } from "../../protocol/flags.ts";
import type { SessionSummary } from "../../transcript/store.ts";
import { printJson } from "../json.ts";

/** More than a person looks through; each costs a pass over its file. */
const most = 50;

export async function listSessions(options: Options): Promise<void> {
	const workspace = await openWorkspace({ options: { ...options, "no-session": false }, isRpc: false });
	const store = openStore(workspace, { redact: (text) => text, now: Date.now });
	const { directory } = store;
	const { sessions, omitted } = await store.list(most);
	if (options.json) return printJson({ directory, sessions, omitted });
	if (sessions.length === 0) return console.log(`No sessions in ${printableLine(directory ?? "")} yet.`);
	const width = process.stdout.columns ?? 120;
	for (const line of table(sessions, Date.now(), width)) console.log(line);
	if (omitted > 0) console.log(`... and ${omitted} older files.`);
	console.log(
		`\nGo on with one: bowline chat --session <id>, or --continue for the first; so do bowline -p and --mode rpc. Files: ${printableLine(directory ?? "")}`,
	);
}

export function table(sessions: readonly SessionSummary[], now: number, width: number): string[] {
	const ids = shortIds(sessions.map(({ id }) => id));
	const rows = sessions.map((session, index) => [
		ids[index] as string,
		age(now - session.modified),
		String(session.messages),
		session.cost ? `$${session.cost.toFixed(session.cost < 1 ? 3 : 2)}` : "-",
		title(session),
	]);
	rows.unshift(["id", "age", "messages", "cost", "name or first prompt"]);
	const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => (row[column] as string).length))) ?? [];
	return rows.map((row) =>
		printableLine(
			row
				.map((cell, column) => (column === 4 ? cell : column === 0 ? cell.padEnd(widths[column] as number) : cell.padStart(widths[column] as number)))
				.join("  "),
		).slice(0, width),
	);
}

/** The name, and what it began with. */
function title({ name, firstPrompt }: SessionSummary): string {
	// Terminal sequences in a prompt must not act here.
	const clean = (text: string) => text.replace(/[\p{Cc}\p{Cf}\s]+/gu, " ").trim();
	const prompt = firstPrompt === undefined ? "(no prompt)" : clean(firstPrompt);
	return name === undefined ? prompt : `${clean(name)}: ${prompt}`;
}

/** The shortest prefix of each id that distinguishes it from the others, at least eight characters. */
export function shortIds(ids: readonly string[]): string[] {
	for (let length = 8; ; length++) {
		const short = ids.map((id) => id.slice(0, length));
		if (new Set(short).size === new Set(ids).size || ids.every((id) => id.length <= length)) return short;
	}
}

export function age(milliseconds: number): string {
	const minutes = Math.max(0, Math.floor(milliseconds / 60_000));
	if (minutes < 1) return "now";
	if (minutes < 60) return `${minutes} min`;
	const hours = Math.floor(minutes / 60);
	if (hours < 48) return `${hours} h`;
	const days = Math.floor(hours / 24);
	return days < 60 ? `${days} days` : `${Math.floor(days / 30)} months`;
}
