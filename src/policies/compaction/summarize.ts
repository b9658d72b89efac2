/** Summarises the older part of a conversation, with the model that holds the conversation. */
import type { Flow, ModelRequest, ProviderFailure, Sleep, StreamEvent, StreamFunction, SummaryRetry } from "../../agent/contracts.ts";
import { linkedController, settleWithin } from "../../lib/abort.ts";
import type { Model, Usage } from "../../protocol/model.ts";
import type { RetrySettings } from "../retry.ts";
import type { Cut } from "./cut.ts";
import { branchSystemPrompt, summaryPrompt, summarySystemPrompt } from "./prompts.ts";
import { endsInHalf, type FileLists, fileBlocks, fileLists, serialize, withoutFileBlocks } from "./serialize.ts";

export interface Summarizer {
	stream: StreamFunction;
	flow: Flow;
	sleep: Sleep;
	retry: () => RetrySettings;
	/** Called before each retry. */
	onRetry?: (retry: SummaryRetry) => void;
	/** A separate session id: the provider's cache of the conversation stays untouched. */
	newSessionId: () => string;
	now: () => number;
}

export interface SummaryInput {
	cut: Cut;
	model: Model;
	/** How many tokens the summary may take. */
	maxTokens: number;
	instructions: string | undefined;
	signal: AbortSignal;
}

export interface Summary {
	text: string;
	details: FileLists;
	usage: Usage;
}

export interface Problem {
	problem: string;
	failure?: ProviderFailure;
}

/** Maximum number of calls; beyond it the oldest part is omitted. */
const maxRounds = 8;
/** Deliberately low: code and tool output take more tokens per character than prose. */
export const charactersPerToken = 3;
const orderTokens = 1500;
const smallestRound = 2000;
export const unknownWindow = 128_000;
const abortGraceMs = 1000;
/** No text has more characters per token: a summary beyond this ignores its limit, and each further round would grow with it. */
const mostCharactersPerToken = 8;

/** Asks for the summary of a cut. An empty or truncated summary is a failure: it would replace everything before it. */
export async function summarize(parts: Summarizer, input: SummaryInput): Promise<Summary | Problem> {
	const { cut, instructions } = input;
	const usage = new UsageSum();
	const previous = cut.previous && withoutFileBlocks(cut.previous.summary);
	const { controller, release } = linkedController(input.signal);
	const work = async (task: Omit<Task, "instructions">) => {
		const made = await summarizePieces({ ...parts, ...input, signal: controller.signal, usage }, { ...task, instructions });
		// The other half is useless without this one.
		if (typeof made !== "string") controller.abort();
		return made;
	};
	// A run that is compacted repeatedly has only its summary as history. Update that summary, or each time would add a section.
	const isLongRun = previous !== undefined && cut.history.length === 0;
	const [whole, beginning] = isLongRun ? [cut.prefix, []] : [cut.history, cut.prefix];
	const [history, prefix] = await Promise.all([
		whole.length ? work({ pieces: serialize(whole), previous, isPrefix: false }) : "",
		beginning.length ? work({ pieces: serialize(beginning), previous: undefined, isPrefix: true }) : "",
	]);
	release();
	const problem =
		[history, prefix].find((made): made is Problem => typeof made !== "string" && made.problem !== stopped) ?? [history, prefix].find(isProblem);
	if (problem) return problem;

	const details = fileLists([...cut.history, ...cut.prefix], cut.previous?.fromHook ? undefined : cut.previous?.details);
	const split = prefix && `${splitHeading}\n\n${prefix}`;
	return { text: [history, split].filter(Boolean).join("\n\n---\n\n") + fileBlocks(details), details, usage: usage.total };
}

const splitHeading = "# The turn under way: its first part (the rest follows word for word)";
const stopped = "The summary was stopped";

const isProblem = (made: string | Problem): made is Problem => typeof made !== "string";

interface Task {
	pieces: string[];
	previous: string | undefined;
	isPrefix: boolean;
	instructions: string | undefined;
}

type Work = Summarizer & Omit<SummaryInput, "cut" | "instructions"> & { usage: UsageSum; isBranch?: boolean };

/** Summarises in as many rounds as the window requires; each round updates the summary of the previous one. */
export async function summarizePieces(work: Work, { pieces, previous, isPrefix, instructions }: Task): Promise<string | Problem> {
	const { model, maxTokens, isBranch } = work;
	const window = model.contextWindow || unknownWindow;
	const words = Math.max(150, Math.min(1500, Math.floor(maxTokens * 0.4)));
	let room = Math.max(smallestRound, (window - maxTokens - orderTokens) * charactersPerToken - (instructions?.length ?? 0));
	let rest = withoutOldest(pieces, room * maxRounds);
	let summary = previous;
	// Messages without text (a picture's caption, an empty reply) leave the previous summary unchanged.
	while (rest.length > 0) {
		const round = takeRound(rest, Math.max(smallestRound, room - (summary?.length ?? 0)));
		const answer = await askPatiently(
			work,
			summaryPrompt({ record: round.record, previous: summary, isPrefix, isBranch, focus: instructions, words }),
		);
		if (typeof answer === "string") {
			summary = answer;
			rest = round.rest;
			continue;
		}
		// The estimate was wrong: smaller pieces, and fewer of them.
		if (answer.failure?.kind !== "overflow" || room <= smallestRound) return answer;
		room = Math.max(smallestRound, Math.floor(Math.min(room, round.record.length) / 2));
		rest = withoutOldest(rest, room * maxRounds);
	}
	return summary || "(nothing was said)";
}

/** Leaves out the oldest characters above a limit, and says so. */
export function withoutOldest(pieces: readonly string[], limit: number): string[] {
	let left = limit;
	for (let index = pieces.length - 1; index >= 0; index--) {
		const piece = pieces[index] as string;
		left -= piece.length;
		if (left >= 0) continue;
		const start = endsInHalf(piece, -left) ? -left + 1 : -left;
		return ["[The oldest part is left out: it was too long to be summarised.]", piece.slice(start), ...pieces.slice(index + 1)];
	}
	return [...pieces];
}

/** The oldest pieces that fit; a piece that does not fit on its own is split. */
function takeRound(pieces: readonly string[], room: number): { record: string; rest: string[] } {
	let length = 0;
	let count = 0;
	while (count < pieces.length && length + (pieces[count] as string).length <= room) length += (pieces[count++] as string).length + 2;
	if (count > 0) return { record: pieces.slice(0, count).join("\n\n"), rest: pieces.slice(count) };
	const [first = "", ...others] = pieces;
	const end = endsInHalf(first, room) ? room - 1 : room;
	return { record: first.slice(0, end), rest: [`[continued] ${first.slice(end)}`, ...others] };
}

/** Retries after a transient failure, as the session does for its own replies. */
async function askPatiently(work: Work, prompt: string): Promise<string | Problem> {
	const { onRetry } = work;
	for (let attempt = 0; ; attempt++) {
		if (attempt > 0) onRetry?.({ stage: "started", attempt });
		const answer = await ask(work, prompt);
		const problem = typeof answer === "string" ? undefined : answer.problem;
		const finish = (after: number) => {
			if (after > 0) onRetry?.({ stage: "finished", attempt: after, success: problem === undefined, ...(problem ? { finalError: problem } : {}) });
			return answer;
		};
		if (typeof answer === "string" || answer.failure?.kind !== "transient" || work.signal.aborted) return finish(attempt);
		const { enabled, maxRetries, baseDelayMs, maxDelayMs } = work.retry();
		const { retryAfterMs = 0 } = answer.failure;
		if (!enabled || attempt >= maxRetries || retryAfterMs > maxDelayMs) return finish(attempt);
		const delayMs = Math.max(baseDelayMs * 2 ** attempt, retryAfterMs);
		onRetry?.({ stage: "scheduled", attempt: attempt + 1, maxAttempts: maxRetries, delayMs, errorMessage: answer.problem });
		if ((await work.sleep(delayMs, work.signal)) === "aborted") return finish(attempt + 1);
	}
}

async function ask({ stream, flow, newSessionId, now, model, maxTokens, signal, usage, isBranch }: Work, prompt: string): Promise<string | Problem> {
	const request: ModelRequest = {
		model,
		thinkingLevel: "off",
		systemPrompt: isBranch ? branchSystemPrompt : summarySystemPrompt,
		messages: [{ role: "user", content: [{ type: "text", text: prompt }], timestamp: now() }],
		tools: [],
		maxTokens,
		sessionId: newSessionId(),
	};
	let last: Extract<StreamEvent, { type: "done" | "error" }> | undefined;
	const onEvent = (event: StreamEvent) => {
		if (event.type === "done" || event.type === "error") last ??= event;
	};
	if (signal.aborted) return { problem: stopped };
	try {
		await settleWithin(stream(request, { signal, flow, onEvent }), signal, abortGraceMs, () => undefined);
	} catch (error) {
		return { problem: error instanceof Error ? error.message : String(error) };
	}
	if (signal.aborted) return { problem: stopped };
	if (!last) return { problem: "The stream ended without its last event.", failure: { kind: "transient" } };
	if (last.type === "error") {
		usage.add(last.error.usage);
		return { problem: last.error.errorMessage ?? "unknown error", failure: last.failure };
	}
	usage.add(last.message.usage);
	if (last.reason === "length") return { problem: "The summary reached its output limit before it was complete." };
	const text = last.message.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
	if (text.length > maxTokens * mostCharactersPerToken) return { problem: `The summary is longer than the ${maxTokens} tokens it may take.` };
	return text.trim() || { problem: "The model gave no summary." };
}

/** The total cost of all calls. */
export class UsageSum {
	total: Usage = {
		input: 0,
		output: 0,
		cacheRead: 0,
		cacheWrite: 0,
		totalTokens: 0,
		cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
	};

	add({ cost, ...tokens }: Usage): void {
		const sum = <T extends Record<string, number>>(a: T, b: T) =>
			Object.fromEntries(Object.keys(a).map((key) => [key, (a[key] ?? 0) + (b[key] ?? 0)])) as T;
		const { cost: costBefore, ...tokensBefore } = this.total;
		this.total = { ...sum(tokensBefore, tokens), cost: sum(costBefore, cost) };
	}
}
