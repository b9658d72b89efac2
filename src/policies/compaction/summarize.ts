/** Summarises the older part of a conversation, with the model that holds the conversation. */
import type { Flow, ModelRequest, ProviderFailure, Sleep, StreamEvent, StreamFunction, SummaryRetry } from "../../agent/contracts.ts";
import { linkedController, settleWithin } from "../../lib/abort.ts";
import type { Model, Usage } from "../../protocol/model.ts";
import { isSpoken, kindOf } from "../../transcript/entries.ts";
import type { RetrySettings } from "../retry.ts";
import type { Cut } from "./cut.ts";
import { tokensIn } from "./estimate.ts";
import { branchSystemPrompt, pausePrompt, splitHeading, summaryPrompt, summarySystemPrompt } from "./prompts.ts";
import { cutText, endsInHalf, type FileLists, fileBlocks, fileLists, serialize, withoutFileBlocks } from "./serialize.ts";

export { userWords } from "./user-words.ts";

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
	/** The conversation as its next request would hold it, where the provider still has the beginning of that, and how many tokens it has. */
	continued?: { request: ModelRequest; tokens: number } | undefined;
	/** The messages of the user are stored next to the summary. */
	keepsWords?: boolean;
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
/** Room for what the estimate of a request misses, and the shortest reply that is worth asking for. */
const margin = 4096;
const smallestOutput = 2048;
const firstKeptLimit = 400;
/** No text has more characters per token: a summary beyond this ignores its limit, and each further round would grow with it. */
const mostCharactersPerToken = 8;

/** Asks for the summary of a cut. An empty or truncated summary is a failure: it would replace everything before it. */
export async function summarize(parts: Summarizer, input: SummaryInput): Promise<Summary | Problem> {
	const { cut, continued } = input;
	const usage = new UsageSum();
	const text = (continued && (await askInPlace({ ...parts, ...input, usage }, continued))) ?? (await askApart(parts, input, usage));
	if (typeof text !== "string") return text;
	const details = fileLists([...cut.history, ...cut.prefix], cut.previous?.fromHook ? undefined : cut.previous?.details);
	return { text: text + fileBlocks(details), details, usage: usage.total };
}

/** Says whether a run has only its summary as history. That is brought up to date, or each compaction would add a section. */
const isLongRun = ({ previous, history }: Cut) => previous !== undefined && history.length === 0;

/**
 * Asks at the end of the conversation itself: what a provider has in its cache costs a tenth. Returns undefined when the other way may do better.
 * Thinking and tools stay as they are, because the provider would forget the conversation with others.
 */
async function askInPlace(
	work: Work & SummaryInput,
	{ request, tokens }: { request: ModelRequest; tokens: number },
): Promise<string | Problem | undefined> {
	const { cut, model, maxTokens, instructions, keepsWords, signal, now } = work;
	const left = model.contextWindow - tokens - orderTokens - tokensIn(instructions?.length ?? 0) - margin;
	if (left < smallestOutput) return undefined;
	const isSplit = cut.prefix.length > 0 && !isLongRun(cut);
	const isTurn = isSplit && cut.history.length === 0;
	const prompt = pausePrompt({
		isUpdate: cut.previous !== undefined,
		parts: isTurn ? "turn" : isSplit ? "both" : "whole",
		kept: { count: cut.kept.filter((entry) => isSpoken(kindOf(entry))).length, first: cutText(serialize(cut.kept)[0] ?? "", firstKeptLimit) },
		focus: instructions,
		words: wordsIn(Math.min(maxTokens, left)),
		keepsWords,
	});
	const messages: ModelRequest["messages"] = [...request.messages, { role: "user", content: [{ type: "text", text: prompt }], timestamp: now() }];
	const made = await askPatiently(work, { ...request, messages, maxTokens, keep: "earlier" });
	if (typeof made === "string") return isTurn ? `${splitHeading}\n\n${made}` : made;
	return !signal.aborted && mayDoBetterApart(made) ? undefined : made;
}

/** Says whether a request with other messages, without tools and without thinking has a chance where this one failed. */
function mayDoBetterApart({ failure }: Problem): boolean {
	return !failure || failure.kind === "overflow" || failure.status === 400 || failure.status === 413;
}

/** Asks in requests of their own, for a record of the conversation. */
async function askApart(parts: Summarizer, input: SummaryInput, usage: UsageSum): Promise<string | Problem> {
	const { cut, instructions, keepsWords } = input;
	const previous = cut.previous && withoutFileBlocks(cut.previous.summary);
	const { controller, release } = linkedController(input.signal);
	const work = async (task: Omit<Task, "instructions" | "keepsWords">) => {
		const made = await summarizePieces({ ...parts, ...input, signal: controller.signal, usage }, { ...task, instructions, keepsWords });
		// The other half is useless without this one.
		if (typeof made !== "string") controller.abort();
		return made;
	};
	const [whole, beginning] = isLongRun(cut) ? [cut.prefix, []] : [cut.history, cut.prefix];
	const [history, prefix] = await Promise.all([
		whole.length ? work({ pieces: serialize(whole, [...beginning, ...cut.kept]), previous, isPrefix: false }) : "",
		beginning.length ? work({ pieces: serialize(beginning, cut.kept), previous: undefined, isPrefix: true }) : "",
	]);
	release();
	const problem =
		[history, prefix].find((made): made is Problem => typeof made !== "string" && made.problem !== stopped) ?? [history, prefix].find(isProblem);
	if (problem) return problem;
	return [history, prefix && `${splitHeading}\n\n${prefix}`].filter(Boolean).join("\n\n---\n\n");
}

const stopped = "The summary was stopped";

const isProblem = (made: string | Problem): made is Problem => typeof made !== "string";

interface Task {
	pieces: string[];
	previous: string | undefined;
	isPrefix: boolean;
	instructions: string | undefined;
	keepsWords?: boolean | undefined;
}

const wordsIn = (maxTokens: number) => Math.max(150, Math.min(1500, Math.floor(maxTokens * 0.4)));

type Work = Summarizer & Omit<SummaryInput, "cut" | "instructions"> & { usage: UsageSum; isBranch?: boolean };

/** Summarises in as many rounds as the window requires; each round updates the summary of the previous one. */
export async function summarizePieces(work: Work, { pieces, previous, isPrefix, instructions, keepsWords }: Task): Promise<string | Problem> {
	const { model, maxTokens, isBranch } = work;
	const window = model.contextWindow || unknownWindow;
	const words = wordsIn(maxTokens);
	let room = Math.max(smallestRound, (window - maxTokens - orderTokens) * charactersPerToken - (instructions?.length ?? 0));
	let rest = withoutOldest(pieces, room * maxRounds);
	let summary = previous;
	// Messages without text (a picture's caption, an empty reply) leave the previous summary unchanged.
	while (rest.length > 0) {
		const round = takeRound(rest, Math.max(smallestRound, room - (summary?.length ?? 0)));
		const prompt = summaryPrompt({ record: round.record, previous: summary, isPrefix, isBranch, focus: instructions, words, keepsWords });
		const answer = await askPatiently(work, requestFor(work, prompt));
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
async function askPatiently(work: Work, request: ModelRequest): Promise<string | Problem> {
	const { onRetry } = work;
	for (let attempt = 0; ; attempt++) {
		if (attempt > 0) onRetry?.({ stage: "started", attempt });
		const answer = await ask(work, request);
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

/** Makes a request of its own, which nothing follows. */
function requestFor({ newSessionId, now, model, maxTokens, isBranch }: Work, prompt: string): ModelRequest {
	return {
		model,
		thinkingLevel: "off",
		systemPrompt: isBranch ? branchSystemPrompt : summarySystemPrompt,
		messages: [{ role: "user", content: [{ type: "text", text: prompt }], timestamp: now() }],
		tools: [],
		maxTokens,
		sessionId: newSessionId(),
		keep: "nothing",
	};
}

async function ask({ stream, flow, maxTokens, signal, usage }: Work, request: ModelRequest): Promise<string | Problem> {
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
	const { content } = last.message;
	const text = content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
	// Calls are not run. A model that makes some may have said no more than what it is about to look at.
	if (content.some(({ type }) => type === "toolCall") && !/^#/m.test(text))
		return { problem: "The model called tools instead of writing the summary." };
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
