/** How runs are shown to people: tables, a progress line, a conversation. */
import type { RunRow, RunState, Status } from "../../fleet/queue.ts";

export function table(head: readonly string[], rows: readonly (readonly string[])[], empty = ""): string {
	if (rows.length === 0 && empty !== "") return empty;
	const all = [head, ...rows];
	const widths = head.map((_, column) => Math.max(...all.map((row) => (row[column] ?? "").length)));
	return all
		.map((row) =>
			row
				.map((cell, column) => cell.padEnd(widths[column] ?? 0))
				.join("  ")
				.trimEnd(),
		)
		.join("\n");
}

export function tookText(ms: number): string {
	const seconds = Math.max(0, Math.round(ms / 1000));
	if (seconds < 60) return `${seconds} s`;
	if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
	return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}

const order = ["queued", "running", "completed", "verification_failed", "failed", "budget", "timeout", "cancelled", "stalled", "lost"] as const;

function countsText(counts: Partial<Record<RunState | Status, number>>): string {
	return order.flatMap((name) => (counts[name] ? [`${counts[name]} ${name.replace("_", " ")}`] : [])).join(", ") || "no runs";
}

/** `height`: what a terminal can show. */
export function runTable(runs: readonly RunRow[], counts: Partial<Record<RunState | Status, number>>, height?: number): string {
	const head = ["run", "state", "lane", "batch", "epoch", "tries", "worker", "sandbox", "tokens", "$", "age", "prompt"];
	const reasons = outsideText(runs);
	const shown = height === undefined ? runs : runs.slice(0, Math.max(1, height - 5 - reasons.split("\n").length + 1));
	const rows = shown.map((run) => [
		run.runId,
		run.status ?? (run.isCancelled ? "cancelling" : run.state),
		run.lane,
		run.batch ?? "-",
		String(run.epoch),
		String(run.attempts),
		run.state === "running" && run.worker !== null ? run.worker.slice(-8) : "-",
		run.sandbox?.mode ?? "-",
		String(run.tokens),
		run.usd.toFixed(4),
		tookText(run.ageMs),
		run.spec.prompt.replace(/\s+/g, " ").slice(0, 40),
	]);
	const more = runs.length > shown.length ? `\n… and ${runs.length - shown.length} more` : "";
	return `${rows.length === 0 ? "" : `${table(head, rows)}${more}${reasons}\n\n`}${countsText(counts)}`;
}

/** Why runs were outside of a sandbox, each reason once. */
function outsideText(runs: readonly RunRow[]): string {
	const reasons = new Set(runs.flatMap(({ sandbox }) => (sandbox?.mode === "off" && sandbox.reason !== undefined ? [sandbox.reason] : [])));
	return [...reasons].map((reason) => `\nsandbox off: ${reason}`).join("");
}

/** Over what the terminal shows, without a flicker: each line is cut at its width, and what is left of the screen before is cleared. */
export function screenOf(text: string, columns = 80): string {
	const lines = text.split("\n").map((line) => `${line.slice(0, columns - 1)}\u001b[K\n`);
	return `\u001b[H${lines.join("")}\u001b[J`;
}

export function progressLine(rows: readonly RunRow[], elapsedMs: number): string {
	const counts: Partial<Record<RunState | Status, number>> = {};
	for (const { state, status } of rows) counts[status ?? state] = (counts[status ?? state] ?? 0) + 1;
	const usd = rows.reduce((sum, run) => sum + run.usd, 0);
	const tokens = rows.reduce((sum, run) => sum + run.tokens, 0);
	const done = rows.filter(({ state }) => state === "done").length;
	return `${done} of ${rows.length} done (${countsText(counts)}), ${tokens} tokens, $${usd.toFixed(4)}, ${Math.round(elapsedMs / 1000)} s`;
}

type Block = { type?: string; text?: string; name?: string; arguments?: Record<string, unknown> };

/** A line of a session as a person reads it. */
export function conversationLines(body: string): string[] {
	let entry: { type?: string; message?: { role?: string; content?: unknown; toolName?: string; isError?: boolean } };
	try {
		entry = JSON.parse(body);
	} catch {
		return [];
	}
	const { message } = entry;
	if (entry.type !== "message" || !message) return [];
	const blocks: Block[] = Array.isArray(message.content) ? (message.content as Block[]) : [{ type: "text", text: String(message.content ?? "") }];
	const texts = blocks.flatMap(({ type, text }) => (type === "text" && text ? [text] : []));
	if (message.role === "user") return texts.map((text) => `> ${text.split("\n").join("\n> ")}`);
	if (message.role === "toolResult") return message.isError ? [`  ✗ ${message.toolName}: ${texts.join(" ").split("\n")[0] ?? ""}`] : [];
	if (message.role !== "assistant") return [];
	return blocks.flatMap(({ type, text, name, arguments: args = {} }) => {
		if (type === "text" && text) return [text];
		if (type !== "toolCall") return [];
		const what = [args.command, args.path, args.pattern].find((value) => typeof value === "string") ?? "";
		return [`  · ${name} ${String(what).split("\n")[0]}`.trimEnd()];
	});
}
