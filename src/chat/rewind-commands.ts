/** `/changes`, `/undo` and `/rewind`: what the agent did to the files, and how to go back. */
import { runsLaterInWords } from "../lib/runs-later.ts";
import type { Desk } from "./commands.ts";

/** More of a difference than this is for an editor. */
const mostLines = 200;

export async function changes(_: string, { client, say, show }: Desk): Promise<void> {
	const { files, diff } = await client.getChanges();
	if (files.length === 0) return say("info", "No file was changed in this session.");
	const counts = files.map(({ path, status, added = 0, removed = 0 }) => `| ${path.replaceAll("|", "\\|")} | ${status} | +${added} -${removed} |`);
	const lines = diff.trimEnd().split("\n");
	const rest = lines.length > mostLines ? `\n… ${lines.length - mostLines} more lines` : "";
	// A fence that no line of the difference can end.
	const fence = "`".repeat(Math.max(3, ...[...diff.matchAll(/`+/g)].map(([run]) => run.length + 1)));
	show(`| file | | lines |\n|---|---|---|\n${counts.join("\n")}\n\n${fence}diff\n${lines.slice(0, mostLines).join("\n")}${rest}\n${fence}`);
}

/** Says which files that run later were changed since the checkpoints that are `known`. Returns how many there are now. */
export async function tellWhatRunsLater(known: number, { client, say }: Pick<Desk, "client" | "say">): Promise<number> {
	const { checkpoints, enabled } = await client.getCheckpoints();
	const first = checkpoints.slice(known).find(({ phase, cause }) => phase === "before" && cause === "turn");
	if (!enabled || !first) return checkpoints.length;
	const { runsLater = [] } = await client.getChanges({ from: first.entryId });
	const text = runsLaterInWords(runsLater);
	if (text !== undefined) say("warning", `${text}. /changes shows them, /undo puts them back.`);
	return checkpoints.length;
}

/** Takes back the last message that was sent, with all that followed it. */
export async function undo(_: string, desk: Desk): Promise<void> {
	const { messages } = await desk.client.getMessages();
	const { messages: points } = await desk.client.getForkMessages();
	const last = points.at(-1);
	if (!last || messages.length === 0) return desk.say("info", "There is nothing to undo.");
	await goBack(last.entryId, desk);
}

export async function rewind(_: string, desk: Desk): Promise<void> {
	const { messages } = await desk.client.getForkMessages();
	if (messages.length === 0) return desk.say("info", "Nothing was said yet.");
	const titles = messages.map(({ text }) => text);
	const point = messages[(await desk.choose("Back to before which message?", titles, titles.length - 1)) ?? -1];
	if (point) await goBack(point.entryId, desk);
}

async function goBack(entryId: string, { client, say, write, reload, during }: Desk): Promise<void> {
	const { cancelled, restored, skipped, lost, history, text = "" } = await during("rewinding", client.rewind({ entryId }));
	if (cancelled) return say("warning", "An extension refused it.");
	await reload();
	write(text);
	say("info", restored.length === 0 ? "No file had to be changed." : `Put back: ${restored.join(", ")}`);
	if (skipped.length > 0) say("warning", `Left alone, because others changed them: ${skipped.join(", ")}`);
	if (lost) say("warning", `Gone, and too large to be kept: ${lost.join(", ")}`);
	if (!history) return;
	const names = history.restored.map(({ name, repository }) => (repository === undefined ? name : `${name} of ${repository}`));
	if (names.length > 0)
		say("info", `Commits and branches that were lost are back: ${names.join(", ")}${history.more ? ` and ${history.more} more` : ""}`);
	if (history.kept) say("info", `What was made since is in ${history.kept.join(", ")}`);
	if (history.problems) say("warning", `Not put back: ${history.problems.join("; ")}`);
}
