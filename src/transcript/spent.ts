/** Adds up what a session has spent, from its file and those of its subagents. Budgets start from these counts. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { BudgetReason } from "../protocol/budget.ts";
import { lostResultText } from "../protocol/texts.ts";
import type { Entry } from "./entries.ts";
import { entryOf } from "./parse.ts";
import { amount, subagentUsages, type UsageCounts, usagesOf } from "./stats.ts";

export type Spent = Record<BudgetReason, number>;

/** A longer pause between two messages is no work: the process ended meanwhile, or waited for a person. */
const longestStepMs = 60 * 60 * 1000;

/** `file`: of the session, next to which those of its subagents are; absent where nothing is stored. */
export function spentBy(entries: readonly Entry[], file: string | undefined): Spent {
	const own = sumOf(entries.flatMap(usagesOf));
	const names = file === undefined ? [] : childrenOf(file);
	const children = names.map(readEntries);
	// A subagent that was killed with its sender has no result, and the result of one whose file was removed is all that is left of it.
	const byResult = sumOf(entries.flatMap(subagentUsages));
	const byFile = sumOf(children.flat().flatMap(usagesOf));
	const results = entries.flatMap(taskDetails);
	return {
		wall_time: busyTime(entries),
		input_tokens: own.input + Math.max(byResult.input, byFile.input),
		output_tokens: own.output + Math.max(byResult.output, byFile.output),
		total_tokens: own.total + Math.max(byResult.total, byFile.total),
		cost: own.cost + Math.max(byResult.cost, byFile.cost),
		tool_calls:
			countOf(entries) +
			Math.max(
				results.reduce((sum, { toolCalls = 0 }) => sum + toolCalls, 0),
				children.reduce((sum, each) => sum + countOf(each), 0),
			),
		subagents: Math.max(
			results.reduce((sum, details) => sum + (details.results?.length ?? 0), 0),
			names.filter((name) => !name.endsWith("-repair.jsonl")).length,
		),
	};
}

/** Subagents of subagents have their files in the same directory, and a repair has one beside that of its task. */
function childrenOf(file: string): string[] {
	const path = file.replace(/\.jsonl$/, "");
	const directory = path === file ? `${file}.artifacts` : path;
	return namesIn(directory).flatMap((name) => (name.endsWith(".jsonl") ? [join(directory, name)] : []));
}

function namesIn(directory: string): string[] {
	try {
		return readdirSync(directory);
	} catch {
		// Most sessions have no subagents.
		return [];
	}
}

/** Returns no entries for an unreadable file. The result of the call counts instead. */
function readEntries(path: string): Entry[] {
	try {
		return readFileSync(path, "utf8")
			.split("\n")
			.flatMap((line) => (line === "" ? [] : (entryOf(line) ?? [])));
	} catch {
		return [];
	}
}

interface Sum {
	input: number;
	output: number;
	total: number;
	cost: number;
}

function sumOf(usages: readonly UsageCounts[]): Sum {
	const sum: Sum = { input: 0, output: 0, total: 0, cost: 0 };
	for (const { input, output, cacheRead, cacheWrite, totalTokens, cost } of usages) {
		sum.input += amount(input);
		sum.output += amount(output);
		sum.total += amount(totalTokens) || amount(input) + amount(output) + amount(cacheRead) + amount(cacheWrite);
		sum.cost += amount(cost?.total);
	}
	return sum;
}

function taskDetails(entry: Entry): { toolCalls?: number; results?: unknown[] }[] {
	if (entry.type !== "message" || entry.message?.role !== "toolResult" || entry.message.toolName !== "task") return [];
	const { details } = entry.message;
	return typeof details === "object" && details !== null ? [details] : [];
}

/** Each call that has begun has a result. */
const countOf = (entries: readonly Entry[]) => entries.filter((entry) => entry.type === "message" && entry.message?.role === "toolResult").length;

/** Sums the time from each prompt to the end of its run, as far as messages show it. */
function busyTime(entries: readonly Entry[]): number {
	let sum = 0;
	let last: number | undefined;
	for (const entry of entries) {
		if (entry.type !== "message") continue;
		const { message } = entry;
		const time = Date.parse(entry.timestamp ?? "");
		if (message === undefined || Number.isNaN(time)) continue;
		const isStep = message.role === "assistant" || (message.role === "toolResult" && !isLost(message.content));
		if (isStep && last !== undefined && time > last && time - last <= longestStepMs) sum += time - last;
		if (isStep || message.role === "user") last = time;
	}
	return sum;
}

/** The result of a call that a killed process had begun was added when the session was opened again. */
const isLost = ([first]: readonly { type: string; text?: string }[]) => first?.text === lostResultText;
