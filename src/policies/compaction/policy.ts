/** Makes room: replaces the older part of a conversation that has grown too long with a summary. The file keeps everything. */

import type { Emit, ModelRequest, Outcome, Policy, Setup } from "../../agent/contracts.ts";
import type { Doors } from "../../agent/doors.ts";
import type { Log } from "../../lib/log.ts";
import { CommandError, isCommandError } from "../../protocol/command-error.ts";
import type { CompactionResult } from "../../protocol/commands/compaction.ts";
import type { AgentMessage, AssistantMessage } from "../../protocol/messages.ts";
import type { Model } from "../../protocol/model.ts";
import type { Branch, CompactionBody, Entry } from "../../transcript/entries.ts";
import { type Cut, type CutProblem, chooseCut } from "./cut.ts";
import { contextTokens, countedTokens, estimateEntry, estimateMessages, estimateSetup, tokensIn } from "./estimate.ts";
import { type CompactionSettings, type Limits, limitsOf } from "./limits.ts";
import type { Problem, Summarizer, Summary } from "./summarize.ts";

/** The part of the conversation that compaction needs. */
export interface Conversation {
	/** The entries that the live context is built from. */
	branch: () => Branch;
	/** The live context. */
	messages: () => readonly AgentMessage[];
	model: () => Model | undefined;
	/** The inputs of the next model call. */
	setup: () => Promise<Setup>;
	/** A request for the conversation as it is, where the provider is known to have the beginning of it in its cache. */
	continued?: (model: Model) => ModelRequest | undefined;
	/** Writes the entry and rebuilds the live context. Throws when the entry cannot be written. */
	store: (body: CompactionBody) => void;
}

export interface CompactionParts extends Summarizer {
	conversation: Conversation;
	settings: () => CompactionSettings;
	doors: Pick<Doors, "compact" | "notice">;
	emit: Emit;
	log: Log;
}

export interface CompactionPolicy extends Policy {
	/** Compacts now, whatever the settings say. Refuses with a CommandError. */
	compactNow(instructions: string | undefined, signal: AbortSignal): Promise<CompactionResult>;
	/** Summarises a branch that is being left; returns nothing when the branch contains no text. Stores nothing. */
	summarizeBranch(input: BranchInput): Promise<Summary | Problem | undefined>;
}

export interface BranchInput {
	/** What is left, oldest first. */
	entries: readonly Entry[];
	model: Model;
	/** Tokens of the window that the record must leave free. */
	reserveTokens: number;
	instructions: string | undefined;
	signal: AbortSignal;
}

type Reason = "threshold" | "overflow";

interface Wish {
	reason: Reason | "manual";
	instructions?: string | undefined;
}

/** Why there is no summary. */
export interface CompactionProblem {
	problem: string;
	/** `cancelled`: an extension decided so. `nothing_to_cut`: the conversation is too short, or compacted already. */
	code?: "cancelled" | "nothing_to_cut";
}

type Made = { result: CompactionResult; isTight: boolean } | CompactionProblem;

/** Reserved for a summary before its size is known; less where there is little room for anything. */
const summaryAllowance = ({ threshold }: Limits) => Math.min(1000, threshold / 16);
/** Of the tokens that are kept word for word, so many more for the words of the user in what is summarised. */
const shareOfWords = 0.5;
/** A compaction that leaves more than this counts as failed if the context is still too full. */
const worthwhile = 0.8;
/** Gives a host time to react between the end of a compaction and the run it made possible. */
const retryDelayMs = 100;
const twiceText = "the conversation is still too long after it was compacted. Start a new session, or choose a model with a larger context window.";

export function compactionPolicy(parts: CompactionParts): CompactionPolicy {
	const { conversation, settings, emit, sleep } = parts;
	/** An overflow was answered with a compaction, and no good reply has come since. */
	let hasRecovered = false;
	/** The last attempt freed no room: do not try again until the user has sent a message. */
	let isResting = false;

	const limits = (model: Model) => limitsOf(model, settings());
	const cutFor = (model: Model) => chooseCut(conversation.branch(), limits(model).keep);
	const failed = (reason: Reason | "manual", error: string, aborted: boolean) =>
		parts.doors.notice({ type: "session_compact_failed", reason, error, aborted });
	const canCut = (model: Model) => !("problem" in cutFor(model));

	/** Whether the conversation is too full and something can be done about it. */
	const isDue = async (pending: readonly AgentMessage[]): Promise<boolean> => {
		const branch = conversation.branch();
		const model = conversation.model();
		if (!settings().enabled || isResting || !model || !hasNewReply(branch)) return false;
		const messages = conversation.messages();
		// Called at every turn: usually the provider's count is known, and no system prompt has to be built for an estimate.
		const tokens = countedTokens(messages, branch) ?? contextTokens({ messages, branch, setup: await conversation.setup() });
		return tokens + estimateMessages(pending) > limits(model).threshold && canCut(model);
	};

	const automatic = async (reason: Reason, signal: AbortSignal, gap = signal, work: () => Promise<Made> = () => make(parts, { reason }, signal)) => {
		emit({ type: "auto_compaction_start", reason });
		const made = await safely(work, parts.log);
		const isDone = "result" in made;
		const aborted = !isDone && (signal.aborted || made.code === "cancelled");
		isResting = isDone ? made.isTight : !signal.aborted;
		const title = reason === "overflow" ? "Context overflow recovery failed" : "Auto-compaction failed";
		emit({
			type: "auto_compaction_end",
			result: isDone ? made.result : null,
			aborted,
			willRetry: isDone && reason === "overflow" && !gap.aborted,
			...(isDone || aborted ? {} : { errorMessage: `${title}: ${made.problem}` }),
		});
		if (!isDone) failed(reason, made.problem, aborted);
		return isDone;
	};

	/** A reply that failed because the conversation did not fit, from the model that will be asked again. */
	const overflowed = ({ last, failure }: Outcome): Model | undefined => {
		const model = conversation.model();
		if (!settings().enabled || !last || !model || last.provider !== model.provider || last.model !== model.id) return undefined;
		const isRefused = last.stopReason === "error" && failure?.kind === "overflow";
		return isRefused || isSpeechless(last, model) ? model : undefined;
	};

	return {
		name: "compaction",
		observe(event) {
			if (event.type !== "message_end") return;
			const { message } = event;
			if (message.role === "user") hasRecovered = isResting = false;
			else if (message.role === "assistant" && isGood(message)) hasRecovered = false;
		},
		foresee(outcome) {
			const model = overflowed(outcome);
			return model !== undefined && !hasRecovered && canCut(model);
		},
		async prepare(pending, signal) {
			if (!signal.aborted && (await isDue(pending)) && !signal.aborted) await automatic("threshold", signal);
		},
		async settle(outcome, gap, signal = gap) {
			if (!outcome.last || outcome.last.stopReason === "aborted" || signal.aborted) return undefined;
			const model = overflowed(outcome);
			if (!model) {
				if ((await isDue([])) && !signal.aborted) await automatic("threshold", signal);
				return undefined;
			}
			if (hasRecovered) {
				await automatic("overflow", signal, gap, async () => ({ problem: twiceText }));
				return undefined;
			}
			if (!canCut(model)) return undefined;
			hasRecovered = true;
			if (!(await automatic("overflow", signal, gap))) return undefined;
			return { dropFailedReply: true, due: sleep(retryDelayMs, gap).then((ending) => ending === "elapsed") };
		},
		async compactNow(instructions, signal) {
			const made = await make(parts, { reason: "manual", instructions }, signal);
			if ("result" in made) return made.result;
			const aborted = signal.aborted || made.code === "cancelled";
			failed("manual", made.problem, aborted);
			if (aborted) throw new CommandError("aborted", "Compaction cancelled");
			if (made.code === "nothing_to_cut") throw new CommandError("nothing_to_do", made.problem);
			throw new CommandError("model_failed", `Compaction failed: ${made.problem}`);
		},
		summarizeBranch: async (input) => (await import("./branch.ts")).summarizeBranch(parts, input),
	};
}

/** Cuts, summarises and stores. Stores nothing when the signal fires, nor when an automatic compaction would free no room. */
async function make(parts: CompactionParts, { reason, instructions }: Wish, signal: AbortSignal): Promise<Made> {
	const { conversation, settings } = parts;
	const mustHelp = reason !== "manual";
	const setup = await conversation.setup();
	const { model } = setup;
	const limits = limitsOf(model, settings());
	const branch = conversation.branch();
	const cut = roomyCut(branch, limits, estimateSetup(setup));
	if ("problem" in cut) return { ...cut, code: "nothing_to_cut" };
	const messages = conversation.messages();
	const tokensBefore = contextTokens({ messages, branch, setup });
	const before = estimateSetup(setup) + estimateMessages(messages);
	const kept = estimateSetup(setup) + keptTokens(cut);
	if (parts.doors.compact) {
		const { askExtensions } = await import("./extension-override.ts");
		const override = await askExtensions(parts, { cut, branch, tokensBefore, instructions, overhead: estimateSetup(setup), signal });
		if (override) return "problem" in override ? override : { result: override.result, isTight: override.after > limits.threshold };
	}
	const { summarize, userWords } = await import("./summarize.ts");
	const said = userWords(branch, placeOf(branch, cut.firstKeptEntryId), limits.keep * shareOfWords);
	const isInVain = (after: number) => mustHelp && after > limits.threshold && after > before * worthwhile;
	if (isInVain(kept + tokensIn(said.length) + summaryAllowance(limits))) return { problem: inVainText(kept) };

	const wish = instructions === undefined ? {} : { customInstructions: instructions };
	parts.doors.notice({ type: "session.compacting", tokensBefore, ...wish });
	// A conversation that did not fit does not fit with one more message either.
	const request = reason === "overflow" ? undefined : conversation.continued?.(model);
	const continued = request && { request, tokens: tokensBefore };
	const summary = await summarize(parts, { cut, model, maxTokens: limits.summary, instructions, signal, continued, keepsWords: said !== "" });
	if (signal.aborted) return { problem: "aborted" };
	if ("problem" in summary) return summary;
	const { details, usage } = summary;
	const text = summary.text + said;
	const after = kept + tokensIn(text.length);
	if (isInVain(after)) return { problem: inVainText(after) };
	const { firstKeptEntryId } = cut;
	conversation.store({ type: "compaction", summary: text, firstKeptEntryId, tokensBefore, details, usage });
	const result = { summary: text, firstKeptEntryId, tokensBefore, details: { ...details }, estimatedTokensAfter: after, usage };
	parts.doors.notice({ type: "session_compact", compaction: result, fromExtension: false });
	return { result, isTight: after > limits.threshold };
}

function placeOf(branch: Branch, id: string): number {
	let place = branch.length - 1;
	while (place > 0 && branch.id(place) !== id) place--;
	return place;
}

/** The usual cut; one with half the tail when the context would still be too full. */
function roomyCut(branch: Branch, limits: Limits, overhead: number): Cut | { problem: CutProblem } {
	const cut = chooseCut(branch, limits.keep);
	if ("problem" in cut || overhead + keptTokens(cut) + summaryAllowance(limits) <= limits.threshold) return cut;
	const smaller = chooseCut(branch, Math.floor(limits.keep / 2));
	return "problem" in smaller ? cut : smaller;
}

const keptTokens = ({ kept }: Cut) => kept.reduce((sum, entry) => sum + estimateEntry(entry), 0);

const inVainText = (tokens: number) =>
	`the newest messages alone take about ${tokens} tokens. Start a new session, or choose a model with a larger context window.`;

/** A reply's token count describes the context of its time: without a reply since the last compaction there is no new count. */
function hasNewReply(branch: Branch): boolean {
	for (let place = branch.length - 1; place >= 0; place--) {
		const kind = branch.kind(place);
		if (kind === "message:assistant") return true;
		if (kind === "compaction") return false;
	}
	return false;
}

/** The window was so full that no reply text fitted, and the provider did not report an error. */
function isSpeechless({ stopReason, usage }: AssistantMessage, { contextWindow }: Model): boolean {
	return stopReason === "length" && usage.output === 0 && contextWindow > 0 && usage.input + usage.cacheRead >= 0.99 * contextWindow;
}

function isGood({ stopReason, content }: AssistantMessage): boolean {
	return stopReason !== "error" && stopReason !== "aborted" && content.length > 0;
}

/** Announces the end even when the work fails. */
async function safely(work: () => Promise<Made>, log: Log): Promise<Made> {
	try {
		return await work();
	} catch (error) {
		// A file that could not be written is not a bug.
		if (!isCommandError(error)) log.error("compaction failed unexpectedly", error);
		return { problem: error instanceof Error ? error.message : String(error) };
	}
}
