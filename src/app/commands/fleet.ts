/** `bowline fleet`: submits runs, works on them, and shows what became of them. */
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { openQueue, type QueuePlace, refusePassword, type SharedQueue } from "../../fleet/open.ts";
import type { RunRow, Status, Submission } from "../../fleet/queue.ts";
import { readSubmission, SpecError, type SubmissionInput, toSubmission } from "../../fleet/spec.ts";
import { isCut } from "../../fleet/takeovers.ts";
import { didYouMean } from "../../lib/nearest.ts";
import { printable, printableLine } from "../../lib/printable.ts";
import { UsageError } from "../../lib/usage-error.ts";
import type { UnknownFlag } from "../../live/arguments.ts";
import { openWorkspace, type Workspace } from "../../live/workspace.ts";
import type { Options } from "../../protocol/flags.ts";
import { type FleetOptions, fleetFlags } from "../fleet-flags.ts";
import { escapedJson, printJson } from "../json.ts";
import { queuePlaceOf } from "../queue-place.ts";
import { parseOwnFlags } from "../serve-flags.ts";
import { conversationLines, progressLine, runTable, screenOf, table, tookText } from "./fleet-view.ts";

interface Call {
	words: readonly string[];
	flags: FleetOptions;
	options: Options;
	workspace: Workspace;
	place: QueuePlace;
}

/** The exit codes of `--wait`, besides 0 for completed. */
const waitCodes: Record<Status, number> = {
	completed: 0,
	verification_failed: 10,
	failed: 11,
	stalled: 11,
	lost: 11,
	cancelled: 12,
	budget: 13,
	timeout: 13,
};
const interruptedCode = 14;
const pollMs = 500;

const commands: Record<string, { usage: string; run: (call: Call) => Promise<void> }> = {
	init: { usage: "init [--roles]", run: init },
	submit: { usage: "submit --repo <url|path> --prompt <text> …, or submit --from <file>", run: submit },
	work: { usage: "work [--slots n] [--label x]… [--lane l]… [--once]", run: work },
	status: { usage: "status [run…] [--batch b] [--lane l] [--watch] [--json]", run: status },
	logs: { usage: "logs <run> [-f | --follow] [--after n] [--json]", run: logs },
	result: { usage: "result <run> [--patch | --receipt | --apply [dir]]", run: result },
	cancel: { usage: "cancel <run>…, or cancel --batch <name>", run: cancel },
	retry: { usage: "retry <run>", run: retry },
	workers: { usage: "workers [--json]", run: workers },
	lanes: { usage: "lanes, or lanes set <name> [--max n] [--pause time]", run: lanes },
	budgets: { usage: "budgets, or budgets set <name> [--usd n] [--tokens n]", run: budgets },
	rates: { usage: "rates, or rates set <provider> [--rpm n] [--tpm n] [--pause time]", run: rates },
	drain: { usage: "drain <worker>", run: drain },
	prune: { usage: "prune [--days n]", run: prune },
};

export async function fleetCommand(given: readonly string[], options: Options, unknown: readonly UnknownFlag[]): Promise<void> {
	const { own, words } = parseOwnFlags(fleetFlags, unknown, given, "fleet");
	const [name, ...rest] = words;
	if (name === undefined)
		throw new UsageError(
			`What is to be done? ${Object.values(commands)
				.map(({ usage }) => `\n  bowline fleet ${usage}`)
				.join("")}`,
		);
	if (name === "answer")
		throw new UsageError(
			"Runs do not wait for answers: a question that no policy answers is denied at its deadline. Settle it before with permissions.rules.",
		);
	if (!Object.hasOwn(commands, name))
		throw new UsageError(`Unknown: bowline fleet ${name}.${didYouMean(name, Object.keys(commands), (each) => `bowline fleet ${each}`)}`);
	await refusePassword(options.set ?? []);
	const workspace = await openWorkspace({ options, isRpc: false });
	const place = queuePlaceOf(workspace);
	try {
		await (commands[name] as (typeof commands)[string]).run({ words: rest, flags: own as FleetOptions, options, workspace, place });
	} catch (error) {
		if (error instanceof SpecError) throw new UsageError(error.message);
		throw error;
	}
}

const wrongUse = (name: string, what: string) => new UsageError(`${what} bowline fleet ${(commands[name] as (typeof commands)[string]).usage}`);

function noWords(name: string, { words }: Call): void {
	if (words.length > 0) throw wrongUse(name, `Unexpected argument: ${words[0]}.`);
}

async function withQueue<T>({ place }: Call, use: (queue: SharedQueue) => Promise<T>): Promise<T> {
	const queue = await openQueue(place);
	try {
		return await use(queue);
	} finally {
		await queue.close();
	}
}

const say = (text: string) => void process.stdout.write(`${printable(text)}\n`);

// ─── Beginning ───

async function init(call: Call): Promise<void> {
	noWords("init", call);
	const { url, schema, directory } = call.place;
	if (call.flags.roles) {
		const { roleStatements } = await import("../../fleet/postgres/migrate.ts");
		return void process.stdout.write(roleStatements(schema));
	}
	if (url === undefined) {
		await withQueue(call, (queue) => queue.lanes());
		return say(`The fleet of this machine is in ${directory}. For several machines set fleet.url to a PostgreSQL.`);
	}
	const { initialise } = await import("../../fleet/postgres/queue.ts");
	const done = await initialise({ url, schema });
	say(done.length === 0 ? `Nothing to do: the schema ${schema} is up to date.` : done.join("\n"));
}

async function submit(call: Call): Promise<void> {
	const { flags, options } = call;
	const submissions = flags.from === undefined ? [fromFlags(call)] : fromLines(call, flags.from);
	const maxAttempts = call.workspace.settings.get("fleet.maxAttempts");
	const random = () => randomBytes(8).toString("hex");
	const list: Submission[] = submissions.map((input) => toSubmission(input, { maxAttempts, random }));
	await withQueue(call, async (queue) => {
		const done = await queue.submit(list);
		if (options.json) printJson(done);
		else for (const { runId, fresh } of done) say(fresh ? runId : `${runId} (was there)`);
		if (flags.wait)
			await waitFor(
				queue,
				done.map(({ runId }) => runId),
			);
	});
}

function fromFlags(call: Call): SubmissionInput {
	const { flags, options, words } = call;
	const { repo, ref, subdir, key, priority, needs, batch, verify, deliver, setup, env, usd, tokens, wall, budget, lane = [] } = flags;
	const [fromStdin, ...more] = words;
	if (more.length > 0 || (fromStdin !== undefined && fromStdin !== "-")) throw wrongUse("submit", `Unexpected argument: ${more[0] ?? fromStdin}.`);
	if (repo === undefined) throw wrongUse("submit", "Which repository?");
	if (lane.length > 1) throw wrongUse("submit", "A run is in one lane.");
	const limits = {
		...(usd === undefined ? {} : { usd: numberOf("usd", usd) }),
		...(tokens === undefined ? {} : { tokens: numberOf("tokens", tokens) }),
		...(wall === undefined ? {} : { wallMs: durationOf("wall", wall) }),
	};
	return readSubmission({
		repo: { url: placeOf(repo), ...(ref === undefined ? {} : { ref }), ...(subdir === undefined ? {} : { subdir }) },
		prompt: promptOf(flags, fromStdin === "-"),
		...(options.model === undefined ? {} : { model: modelOf(options.model, options.provider) }),
		...(options.provider === undefined ? {} : { provider: options.provider }),
		...(options.thinking === undefined ? {} : { thinking: options.thinking }),
		...(verify === undefined ? {} : { verify: verifyOf(verify) }),
		...(deliver === undefined ? {} : { deliver }),
		...(Object.keys(limits).length === 0 ? {} : { limits }),
		...(env === undefined ? {} : { env }),
		...(setup === undefined ? {} : { setup }),
		...(key === undefined ? {} : { key }),
		...(lane[0] === undefined ? {} : { lane: lane[0] }),
		...(priority === undefined ? {} : { priority: numberOf("priority", priority) }),
		...(needs === undefined ? {} : { needs }),
		...(batch === undefined ? {} : { batch }),
		...(budget === undefined ? {} : { budget }),
	});
}

function fromLines(call: Call, path: string): SubmissionInput[] {
	noWords("submit", call);
	let text: string;
	try {
		text = readFileSync(path === "-" ? 0 : path, "utf8");
	} catch (error) {
		throw new UsageError(`--from ${path} cannot be read: ${(error as Error).message}`);
	}
	const { batch } = call.flags;
	const found = text.split("\n").flatMap((line, index) => {
		if (line.trim() === "") return [];
		const where = `line ${index + 1} of ${path}`;
		let value: unknown;
		try {
			value = JSON.parse(line);
		} catch (error) {
			throw new UsageError(`${where} is not JSON: ${(error as Error).message}`);
		}
		const input = readSubmission(value, where);
		return [{ ...(batch === undefined ? {} : { batch }), ...input, repo: { ...input.repo, url: placeOf(input.repo.url) } }];
	});
	if (found.length === 0) throw new UsageError(`--from ${path} holds no runs. One object per line: {"repo":{"url":"…"},"prompt":"…"}`);
	return found;
}

/** A path of this machine, in full: workers have another directory. */
function placeOf(repo: string): string {
	return /^[a-z][a-z0-9+.-]*:\/\//i.test(repo) || (!existsSync(repo) && /^[^/]+:/.test(repo)) ? repo : resolve(repo);
}

/** A script is a file of this machine. */
const modelOf = (model: string, provider: string | undefined) => (provider === "scripted" ? resolve(model) : model);

function promptOf({ prompt, "prompt-file": file }: FleetOptions, fromStdin: boolean): string {
	const given = [prompt !== undefined, file !== undefined, fromStdin].filter(Boolean).length;
	if (given !== 1)
		throw wrongUse(
			"submit",
			given === 0 ? "What is to be done? Pass --prompt, --prompt-file or -." : "Pass only one of --prompt, --prompt-file and -.",
		);
	if (prompt !== undefined && prompt !== "-") return prompt;
	try {
		return readFileSync(file ?? 0, "utf8");
	} catch (error) {
		throw new UsageError(`The prompt cannot be read: ${(error as Error).message}`);
	}
}

/** A word is a profile; anything else is a command. */
const verifyOf = (text: string) => (/^[\w.-]+$/.test(text) ? text : { commands: [{ name: "check", command: text }] });

function numberOf(flag: string, text: string): number {
	const value = Number(text);
	if (text.trim() === "" || !Number.isFinite(value)) throw new UsageError(`--${flag} must be a number, not ${JSON.stringify(text)}.`);
	return value;
}

const units: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

function durationOf(flag: string, text: string): number {
	const [, number, unit = "s"] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)?$/.exec(text) ?? [];
	if (number === undefined) throw new UsageError(`--${flag} must be a time such as 90s, 30m or 2h, not ${JSON.stringify(text)}.`);
	return Math.round(Number(number) * (units[unit] as number));
}

/** Until all have ended. An interrupt ends the waiting, not the runs. */
async function waitFor(queue: SharedQueue, ids: readonly string[]): Promise<void> {
	let isInterrupted = false;
	const interrupt = () => {
		isInterrupted = true;
	};
	process.once("SIGINT", interrupt);
	process.once("SIGTERM", interrupt);
	const isTerminal = process.stderr.isTTY === true;
	const start = Date.now();
	let shown = "";
	for (;;) {
		const rows: RunRow[] = [];
		for (let from = 0; from < ids.length; from += 500) rows.push(...(await queue.list({ ids: ids.slice(from, from + 500), limit: 500 })));
		const line = progressLine(rows, Date.now() - start);
		// A line that the terminal would break is not overwritten by the next.
		if (isTerminal) process.stderr.write(`\r\u001b[K${line.slice(0, (process.stderr.columns || 80) - 1)}`);
		else if (line.replace(/\d+ s$/, "") !== shown) {
			shown = line.replace(/\d+ s$/, "");
			process.stderr.write(`${line}\n`);
		}
		if (rows.every(({ state }) => state === "done")) {
			if (isTerminal) process.stderr.write("\n");
			// The worst of all: the largest code except that a failure is more than a failed verification.
			process.exitCode = Math.max(...rows.map(({ status }) => waitCodes[status ?? "lost"]));
			return;
		}
		if (isInterrupted) {
			process.stderr.write("\nThe runs go on. See: bowline fleet status\n");
			process.exitCode = interruptedCode;
			return;
		}
		await new Promise((resolve) => setTimeout(resolve, pollMs));
	}
}

async function work(call: Call): Promise<void> {
	noWords("work", call);
	const { runWorker } = await import("./fleet-work.ts");
	const { slots, label = [], lane, once = false } = call.flags;
	await runWorker(call.workspace, call.place, {
		...(slots === undefined ? {} : { slots: numberOf("slots", slots) }),
		labels: label,
		...(lane === undefined ? {} : { lanes: lane }),
		once,
	});
}

// ─── Looking ───

async function status(call: Call): Promise<void> {
	const { words, flags, options } = call;
	const limit = flags.limit === undefined ? 50 : numberOf("limit", flags.limit);
	const [lane] = flags.lane ?? [];
	const filter = {
		...(words.length ? { ids: words } : {}),
		...(flags.batch === undefined ? {} : { batch: flags.batch }),
		...(lane === undefined ? {} : { lane }),
		limit,
	};
	await withQueue(call, async (queue) => {
		const look = async () => ({ runs: await queue.list(filter), counts: await queue.count(filter) });
		if (options.json) return printJson(await look());
		if (!flags.watch) {
			const { runs, counts } = await look();
			if (words.length === 1 && runs.length === 0) throw new UsageError(`There is no run ${words[0]}.`);
			return say(runTable(runs, counts));
		}
		let isOver = false;
		process.once("SIGINT", () => {
			isOver = true;
		});
		for (;;) {
			const { runs, counts } = await look();
			const { isTTY, rows, columns } = process.stdout;
			process.stdout.write(isTTY ? screenOf(printable(runTable(runs, counts, rows)), columns) : `${printable(runTable(runs, counts))}\n\n`);
			const isQuiet = (counts.queued ?? 0) + (counts.running ?? 0) === 0;
			if (isOver || (isQuiet && (words.length > 0 || flags.batch !== undefined))) return;
			await new Promise((resolve) => setTimeout(resolve, pollMs * 2));
			if (isOver) return;
		}
	});
}

function oneRun(name: string, { words }: Call): string {
	const [run, tooMuch] = words;
	if (run === undefined) throw wrongUse(name, "Which run?");
	if (tooMuch !== undefined) throw wrongUse(name, `Unexpected argument: ${tooMuch}.`);
	return run;
}

async function logs(call: Call): Promise<void> {
	const run = oneRun("logs", call);
	const { flags, options } = call;
	const after = flags.after === undefined ? 0 : numberOf("after", flags.after);
	await withQueue(call, async (queue) => {
		const print = options.json ? await framePrinter(queue, run, after) : conversationPrinter(queue, run, after);
		for (;;) {
			const [row] = await queue.list({ ids: [run] });
			if (!row) throw new UsageError(`There is no run ${run}.`);
			await print(row.state === "done" || !flags.follow);
			if (!flags.follow || row.state === "done") return;
			await new Promise((resolve) => setTimeout(resolve, pollMs));
		}
	});
}

/** The frames as the agents sent them, after a number. What a takeover undid is there, too: the frame `run_takeover` says from where on it is void. */
async function framePrinter(queue: SharedQueue, run: string, after: number): Promise<(isEnded: boolean) => Promise<void>> {
	const { RunFrames } = await import("../../fleet/frames.ts");
	const frames = new RunFrames(queue, run);
	return async (isEnded) => {
		for (const { seq, line } of await frames.next(isEnded)) if (seq > after) process.stdout.write(`${escapedJson(line)}\n`);
	};
}

/** The conversation, after a line. */
function conversationPrinter(queue: SharedQueue, run: string, from: number): () => Promise<void> {
	let after = from;
	let epoch = 0;
	return async () => {
		const takeovers = await queue.takeovers(run);
		for (let lines = await queue.lines(run, "session", after, 500); lines.length > 0; lines = await queue.lines(run, "session", after, 500)) {
			for (const line of lines) {
				after = line.line;
				const cut = isCut(line.line, takeovers, "session");
				if (line.epoch !== epoch && epoch !== 0) say(`── another worker goes on (epoch ${line.epoch}) ──`);
				epoch = line.epoch;
				for (const text of conversationLines(line.body)) say(cut ? `  (undone) ${text}` : text);
			}
		}
	};
}

async function result(call: Call): Promise<void> {
	const { flags, options } = call;
	const [run, directory = ".", tooMuch] = call.words;
	if (run === undefined) throw wrongUse("result", "Which run?");
	if (tooMuch !== undefined || (directory !== "." && !flags.apply)) throw wrongUse("result", `Unexpected argument: ${tooMuch ?? directory}.`);
	const found = await withQueue(call, async (queue) => {
		const stored = await queue.result(run);
		if (stored) return stored;
		const [row] = await queue.list({ ids: [run] });
		throw row ? new Error(`The run ${run} has no result yet: it is ${row.state}.`) : new UsageError(`There is no run ${run}.`);
	});
	const patch = found.patch ?? Buffer.alloc(0);
	if (flags.patch) return process.stdout.isTTY ? say(patch.toString()) : void process.stdout.write(patch);
	if (flags.apply) return applyPatch(patch, directory);
	if (flags.receipt || options.json) return printJson(found.receipt);
	const { reason, repo, usd, tokens, branch } = found.receipt as {
		reason?: string;
		repo?: { base?: string };
		usd?: number;
		tokens?: number;
		branch?: string;
	};
	say(`${run}: ${found.status}${reason === undefined ? "" : ` (${reason})`}`);
	say(
		`patch: ${patch.length} bytes${repo?.base ? `, from commit ${repo.base.slice(0, 12)}` : ""}. Apply it with: bowline fleet result ${run} --apply`,
	);
	if (branch !== undefined) say(`branch: ${branch}`);
	if (usd !== undefined) say(`cost: ${usd.toFixed(4)} dollars, ${tokens ?? 0} tokens`);
}

/** To a working tree without changes of its own: what the patch did can then be told apart. */
function applyPatch(patch: Buffer, directory: string): void {
	const git = (args: readonly string[], input?: Buffer) =>
		execFileSync("git", ["-C", directory, ...args], { input, stdio: ["pipe", "pipe", "pipe"] }).toString();
	let dirty: string;
	try {
		dirty = git(["status", "--porcelain"]);
	} catch (error) {
		throw new UsageError(`${directory} is not in a git repository: ${printableLine((error as { stderr?: Buffer }).stderr?.toString() ?? "")}`);
	}
	if (dirty !== "") throw new UsageError(`${directory} has changes that are not committed. Commit or stash them first.`);
	if (patch.length === 0) return say("The run changed nothing.");
	try {
		git(["apply", "--3way", "--whitespace=nowarn"], patch);
	} catch (error) {
		throw new Error(`The patch does not apply cleanly. ${(error as { stderr?: Buffer }).stderr?.toString().trim() ?? ""}`);
	}
	say(git(["diff", "--stat", "HEAD"]).trimEnd());
}

// ─── Changing ───

async function cancel(call: Call): Promise<void> {
	const { words, flags } = call;
	if ((words.length === 0) === (flags.batch === undefined)) throw wrongUse("cancel", "Which runs?");
	const count = await withQueue(call, (queue) => queue.cancel(flags.batch === undefined ? { ids: words } : { batch: flags.batch }));
	say(count === 1 ? "1 run is cancelled, or will be." : `${count} runs are cancelled, or will be.`);
}

async function retry(call: Call): Promise<void> {
	const run = oneRun("retry", call);
	await withQueue(call, async (queue) => {
		const [row] = await queue.list({ ids: [run] });
		if (!row) throw new UsageError(`There is no run ${run}.`);
		if (row.state !== "done") throw new UsageError(`The run ${run} has not ended: it is ${row.state}. Cancel it first.`);
		const { lane, priority, batch, budget, needs, spec } = row;
		const input = {
			...spec,
			parent: run,
			lane,
			priority,
			...(batch === null ? {} : { batch }),
			...(budget === null ? {} : { budget }),
			needs,
			key: `${run}-retry-${randomBytes(4).toString("hex")}`,
		};
		const maxAttempts = call.workspace.settings.get("fleet.maxAttempts");
		const [made] = await queue.submit([toSubmission(input, { maxAttempts, random: () => "" })]);
		if (call.options.json) printJson(made);
		else say(made?.runId ?? "");
		if (call.flags.wait && made) await waitFor(queue, [made.runId]);
	});
}

async function workers(call: Call): Promise<void> {
	noWords("workers", call);
	const rows = await withQueue(call, (queue) => queue.workers());
	if (call.options.json) return printJson(rows);
	const state = ({ gone, draining }: (typeof rows)[number]) => (gone ? "gone" : draining ? "draining" : "alive");
	say(
		table(
			["worker", "host", "state", "runs", "seen", "labels", "version"],
			rows.map((row) => [
				row.id,
				row.host,
				state(row),
				`${row.running}/${row.slots}`,
				`${tookText(row.seenMs)} ago`,
				row.labels.join(" "),
				row.version,
			]),
			"There is no worker. Start one: bowline fleet work",
		),
	);
}

async function lanes(call: Call): Promise<void> {
	const name = setName("lanes", call);
	const { max, pause } = call.flags;
	await withQueue(call, async (queue) => {
		if (name !== undefined)
			await queue.setLane(name, {
				...(max === undefined ? {} : { maxRunning: wholeOf("max", max) }),
				...(pause === undefined ? {} : { pauseMs: durationOf("pause", pause) }),
			});
		const rows = await queue.lanes();
		if (call.options.json) return printJson(rows);
		const most = (value: number) => (value >= 1_000_000 ? "-" : String(value));
		const paused = (ms: number) => (ms > 0 ? tookText(ms) : "-");
		say(
			table(
				["lane", "running", "max", "queued", "paused"],
				rows.map((row) => [row.name, String(row.running), most(row.maxRunning), String(row.queued), paused(row.pausedMs)]),
			),
		);
	});
}

async function budgets(call: Call): Promise<void> {
	const name = setName("budgets", call);
	const { usd, tokens } = call.flags;
	await withQueue(call, async (queue) => {
		if (name !== undefined)
			await queue.setBudget(name, {
				...(usd === undefined ? {} : { maxUsd: ceilingOf("usd", usd) }),
				...(tokens === undefined ? {} : { maxTokens: ceilingOf("tokens", tokens) }),
			});
		const rows = await queue.budgets();
		if (call.options.json) return printJson(rows);
		const of = (value: number | null) => (value === null ? "-" : String(value));
		say(
			table(
				["budget", "spent $", "held $", "max $", "spent tokens", "held tokens", "max tokens"],
				rows.map((row) => [
					row.id,
					row.spentUsd.toFixed(4),
					row.heldUsd.toFixed(4),
					of(row.maxUsd),
					of(row.spentTokens),
					of(row.heldTokens),
					of(row.maxTokens),
				]),
				"There is no budget. Make one: bowline fleet budgets set <name> --usd 10",
			),
		);
	});
}

async function rates(call: Call): Promise<void> {
	const name = setName("rates", call);
	const { rpm, tpm, pause } = call.flags;
	await withQueue(call, async (queue) => {
		if (name !== undefined)
			await queue.setRate(name, {
				...(rpm === undefined ? {} : { rpm: ceilingOf("rpm", rpm) }),
				...(tpm === undefined ? {} : { tpm: ceilingOf("tpm", tpm) }),
				...(pause === undefined ? {} : { pauseMs: durationOf("pause", pause) }),
			});
		const rows = await queue.rates();
		if (call.options.json) return printJson(rows);
		const of = (value: number | null) => (value === null ? "-" : String(value));
		say(
			table(
				["provider", "requests/min", "tokens/min", "paused"],
				rows.map((row) => [row.provider, of(row.rpm), of(row.tpm), row.pausedMs > 0 ? tookText(row.pausedMs) : "-"]),
				"No provider has a limit. Set one: bowline fleet rates set <provider> --rpm 50",
			),
		);
	});
}

/** `set <name>`, or nothing. */
function setName(command: string, { words }: Call): string | undefined {
	const [verb, name, tooMuch] = words;
	if (verb === undefined) return undefined;
	if (verb !== "set" || name === undefined || tooMuch !== undefined) throw wrongUse(command, "That is not clear.");
	return name;
}

function wholeOf(flag: string, text: string): number {
	const value = numberOf(flag, text);
	if (!Number.isInteger(value) || value < 0) throw new UsageError(`--${flag} must be a whole number, not ${text}.`);
	return value;
}

const ceilingOf = (flag: string, text: string) => (text === "none" ? null : numberOf(flag, text));

async function drain(call: Call): Promise<void> {
	const worker = oneRun("drain", call);
	const known = await withQueue(call, (queue) => queue.drain(worker));
	if (!known) throw new UsageError(`There is no living worker ${worker}. See: bowline fleet workers`);
	say(`${worker} takes no more runs, and ends when its own have ended.`);
}

async function prune(call: Call): Promise<void> {
	noWords("prune", call);
	const days = call.flags.days === undefined ? call.workspace.settings.get("fleet.keepDays") : numberOf("days", call.flags.days);
	const dropped = await withQueue(call, (queue) => queue.prune(days));
	say(dropped.length === 0 ? `No log is older than ${days} days.` : `Dropped: ${dropped.join(", ")}`);
}
