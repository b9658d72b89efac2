/** The subagents of a `task` call, one row each: while they work, and when they have ended. */
import type { SingleResult } from "../protocol/subagents.ts";
import { type Line, plainLines, type Style, shortened, span } from "./text.ts";

/** A member of `details.progress`, as far as it is shown. */
interface Progress {
	id: string;
	agent: string;
	status: string;
	currentTool?: string;
	currentToolArgs?: string;
	toolCount: number;
}

const signs: Record<string, [string, Style]> = {
	pending: ["·", "dim"],
	running: ["▸", "yellow"],
	completed: ["✓", "green"],
	failed: ["✗", "red"],
	aborted: ["✗", "red"],
};

export function taskRows(details: unknown, width: number): Line[] {
	const { results, progress } = (details ?? {}) as { results?: unknown; progress?: unknown };
	if (Array.isArray(results) && results.length)
		return (results as SingleResult[]).map((result) => row(result.exitCode === 0 ? "completed" : "failed", result.id, resultText(result), width));
	return (Array.isArray(progress) ? (progress as Progress[]) : []).map((task) => row(task.status, task.id, progressText(task), width));
}

function row(status: string, id: string, text: string, width: number): Line {
	const [sign, style] = signs[status] ?? ["·", "dim"];
	const [name = ""] = plainLines(id);
	const rest = plainLines(text).join(" ");
	return [span(`${sign} `, style), span(shortened(name, width - 3)), span(` ${shortened(rest, Math.max(0, width - name.length - 3))}`, "dim")];
}

function resultText({ agent, toolCalls = 0, durationMs, verification, error, exitCode }: SingleResult): string {
	const checks = verification && verification.status !== "not_requested" ? `checks ${verification.status}` : "";
	const repair = verification?.retriesUsed ? "after a repair" : "";
	const parts = [agent, counted(toolCalls), `${(durationMs / 1000).toFixed(1)} s`, [checks, repair].filter(Boolean).join(" ")];
	return [...parts, exitCode === 0 ? "" : (error ?? "failed")].filter(Boolean).join(" · ");
}

function progressText({ agent, currentTool, currentToolArgs, toolCount }: Progress): string {
	return [agent, counted(toolCount), currentTool ? `${currentTool} ${currentToolArgs ?? ""}`.trim() : ""].filter(Boolean).join(" · ");
}

const counted = (calls: number) => (calls === 0 ? "" : calls === 1 ? "1 call" : `${calls} calls`);
