/** `bowline cost <session>`: what a session cost, prompt by prompt, and where the provider's cache was lost. */
import { randomBytes } from "node:crypto";
import { printableLine } from "../../lib/printable.ts";
import { UsageError } from "../../lib/usage-error.ts";
import { Models } from "../../live/models.ts";
import { openStore } from "../../live/start-session.ts";
import { openWorkspace, type Workspace } from "../../live/workspace.ts";
import type { CacheUse } from "../../protocol/commands/session.ts";
import type { Options } from "../../protocol/flags.ts";
import { cacheUseOf } from "../../transcript/cache-use.ts";
import type { Entry } from "../../transcript/entries.ts";
import { openTranscript } from "../../transcript/open.ts";
import { type Spending, spendingOf } from "../../transcript/spending.ts";
import { spentBy } from "../../transcript/spent.ts";
import { type Totals, totalsOf } from "../../transcript/stats.ts";
import { printJson } from "../json.ts";

const usage = "bowline cost <session file or id>";

/** The output of `--json`. */
export interface SessionCost {
	sessionId: string;
	file: string;
	name?: string;
	/** The figures include the entries copied from it. */
	parentSession?: string;
	rows: Spending[];
	totals: Totals;
	/** USD of subagents that ended without a result, which is in no row. */
	unreportedCostUsd?: number;
	cache?: CacheUse;
}

export async function costCommand(words: readonly string[], options: Options): Promise<void> {
	const [word, tooMuch] = words;
	if (word === undefined) throw new UsageError(`Which session? ${usage}. bowline sessions lists them.`);
	if (tooMuch !== undefined) throw new UsageError(`Unexpected argument: ${tooMuch}. ${usage}`);
	const workspace = await openWorkspace({ options: { ...options, "no-session": false }, isRpc: false });
	const { file } = openStore(workspace, { redact: (text) => text, now: Date.now }).named(word);
	const cost = await costOf(file, workspace);
	if (options.json) return printJson(cost);
	for (const line of linesOf(cost, process.stdout.columns ?? 120)) console.log(line);
}

async function costOf(file: string, workspace: Workspace): Promise<SessionCost> {
	const transcript = openTranscript(file, {
		mode: "read",
		cwd: "",
		now: Date.now,
		redact: (text) => text,
		newId: () => randomBytes(4).toString("hex"),
	});
	if (!transcript) throw new Error(`No such session file, or an empty one: ${file}`);
	const { entries, header, name } = transcript;
	const totals = totalsOf(entries);
	// A child that was killed with its sender has a file, and no result.
	const unreported = spentBy(entries, file).cost - totals.cost;
	const cache = await cacheUse(entries, workspace);
	return {
		sessionId: header.id,
		file,
		...(name === undefined ? {} : { name }),
		...(header.parentSession === undefined ? {} : { parentSession: header.parentSession }),
		rows: spendingOf(entries),
		totals,
		...(unreported > 1e-6 ? { unreportedCostUsd: unreported } : {}),
		...(cache ? { cache } : {}),
	};
}

/** The list of prices is read only when the replies do not show them. */
async function cacheUse(entries: readonly Entry[], workspace: Workspace): Promise<CacheUse | undefined> {
	const use = cacheUseOf(entries);
	if (!use?.breaks.some(({ costUsd }) => costUsd === undefined)) return use;
	const registry = await new Models(workspace, {}, () => undefined).registry();
	const models = await registry.all();
	await registry.close();
	return cacheUseOf(entries, models);
}

const kinds: Record<Spending["kind"], string> = {
	prompt: "",
	subagent: "subagent",
	compaction: "compaction",
	branch_summary: "summary of a branch",
	other: "outside of the conversation",
};

/** The column that gives way on a narrow terminal, and what it needs at least. */
const narrowest = 12;
const widest = 60;

export function linesOf({ rows, totals, cache, parentSession, unreportedCostUsd }: SessionCost, width: number): string[] {
	let number = 0;
	const cells = rows.map((row) => [row.kind === "prompt" ? String(++number) : "", ...cellsOf(row, labelOf(row))]);
	const requests = rows.reduce((sum, row) => sum + (row.requests ?? 0), 0);
	cells.push(["", ...cellsOf({ ...totals.tokens, costUsd: totals.cost, models: [], requests }, "all")]);
	cells.unshift(["", "prompt", "model", "requests", "tokens in", "out", "cached", "$"]);
	const widths = cells[0]?.map((_, column) => Math.max(...cells.map((row) => (row[column] as string).length))) ?? [];
	const others = widths.reduce((sum, each) => sum + each + 2, -2) - (widths[1] as number);
	widths[1] = Math.max(narrowest, Math.min(widths[1] as number, widest, width - others));
	const line = (row: readonly string[]) =>
		row
			.map((cell, column) =>
				column === 1 || column === 2 ? cut(cell, widths[column] as number).padEnd(widths[column] as number) : cell.padStart(widths[column] as number),
			)
			.join("  ")
			.trimEnd();
	return [
		...cells.map(line),
		...(parentSession === undefined ? [] : ["", printableLine(`Begun from ${parentSession}: what was copied from it is counted here, too.`)]),
		...(unreportedCostUsd === undefined ? [] : ["", `Not in the table: ${dollars(unreportedCostUsd)} of subagents that ended without a result.`]),
		...(cache ? ["", ...cacheLines(cache)] : []),
	];
}

function cellsOf(row: Pick<Spending, "models" | "requests" | "input" | "output" | "cacheRead" | "cacheWrite" | "costUsd">, label: string): string[] {
	const { models, requests, output, cacheRead, costUsd } = row;
	const input = row.input + cacheRead + row.cacheWrite;
	return [
		label,
		printableLine(models.map((model) => model.slice(model.indexOf("/") + 1)).join(", ")),
		requests === undefined ? "" : count(requests),
		count(input),
		count(output),
		input > 0 ? `${Math.round((cacheRead / input) * 100)} %` : "",
		costUsd > 0 ? costUsd.toFixed(4) : "-",
	];
}

function labelOf({ kind, text }: Spending): string {
	// Terminal sequences in a prompt must not act here.
	const clean = printableLine(text.replace(/[\p{Cc}\p{Cf}\s]+/gu, " ").trim());
	if (kind === "prompt") return clean || "(no prompt)";
	return `  ${clean ? `${kinds[kind]} ${clean}` : kinds[kind]}`;
}

function cacheLines({ requests, predictedReadTokens, reportedReadTokens, breaks }: CacheUse): string[] {
	const known = breaks.flatMap(({ costUsd }) => costUsd ?? []);
	const sum = known.reduce((total, each) => total + each, 0);
	const times = breaks.length === 1 ? "once" : `${breaks.length} times`;
	return [
		`Cache: ${count(requests)} requests, ${count(predictedReadTokens)} tokens predicted to be found there, ${count(reportedReadTokens)} found by the provider's count.`,
		...(breaks.length === 0 ? [] : [`Lost ${times}${known.length ? `, which cost ${dollars(sum)} more` : ""}:`]),
		...breaks.map(({ at, segment, cause, costUsd }) =>
			printableLine(`  ${timeOf(at)}  ${segment.padEnd(8)}  ${costUsd === undefined ? "price not known" : dollars(costUsd)}  ${cause}`),
		),
	];
}

/** In the time of this machine. */
function timeOf(at: number): string {
	if (at <= 0) return "-".padEnd(16);
	const date = new Date(at);
	const two = (part: number) => String(part).padStart(2, "0");
	return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}`;
}

const count = (value: number) => value.toLocaleString("en-US");
const dollars = (value: number) => `$${value.toFixed(4)}`;
const cut = (text: string, width: number) => (text.length > width ? `${text.slice(0, width - 1)}…` : text);
