/** Moves the conversation to another entry of the same session file. Loaded when an extension asks for it. */
import { CommandError } from "../protocol/command-error.ts";
import type { UserMessage } from "../protocol/messages.ts";
import type { Usage } from "../protocol/model.ts";
import { summaryProblem } from "../session/compact-when-ready.ts";
import { textOf } from "../session/inbox.ts";
import { noteChoice } from "../session/restore.ts";
import type { Entry } from "../transcript/entries.ts";
import type { Transcript } from "../transcript/transcript.ts";
import type { ActionParts } from "./extension-actions.ts";

export interface NavigateParts {
	assembly: Pick<ActionParts["assembly"], "session" | "compaction">;
	workspace: Pick<ActionParts["workspace"], "settings">;
	front: Pick<ActionParts["front"], "ui">;
}

export interface NavigateOptions {
	/** Summarize the branch that is left, for the model. */
	summarize?: boolean;
	customInstructions?: string;
	/** For the summary, or for the target where there is none. */
	label?: string;
}

interface BranchSummary {
	summary: string;
	details?: unknown;
	fromHook?: boolean;
	usage?: Usage;
}

/** Either everything happens or nothing. A run is aborted first, whatever the outcome; a prompt that arrives meanwhile waits. */
export async function navigateTree(parts: NavigateParts, targetId: string, options: NavigateOptions): Promise<{ cancelled: boolean }> {
	const { session } = parts.assembly;
	// An impossible request must not abort the run.
	entryOf(session.transcript, targetId);
	return session.runExclusively(async (signal) => {
		const { transcript } = session;
		const target = entryOf(transcript, targetId);
		const left = entriesLeft(transcript, target);
		const departure = { to: "entry" as const, entryId: targetId, entriesToSummarize: left, signal };
		const { cancel, summary: supplied, ...wishes } = (await session.doors.leave?.(departure)) ?? {};
		if (cancel || signal.aborted) return { cancelled: true };
		const instructions = (wishes.customInstructions ?? options.customInstructions)?.trim() || undefined;
		const wanted = options.summarize && left.length > 0;
		const summary = supplied ? { ...supplied, fromHook: true } : wanted ? await summaryOf(parts, left, instructions, signal) : undefined;
		if (signal.aborted) return { cancelled: true };

		const oldLeafId = transcript.leafId;
		const isPrompt = target.type === "message" && target.message.role === "user";
		// An entry whose parent is missing is a root.
		if (!session.moveTo(isPrompt ? target.parentId : target.id)) session.moveTo(null);
		let noted: Entry | undefined;
		try {
			noteChoice(session);
			noted = summary && session.conversation.append({ type: "branch_summary", fromId: oldLeafId ?? "root", ...summary });
			const label = (wishes.label ?? options.label)?.trim();
			if (label) session.conversation.append({ type: "label", targetId: noted?.id ?? targetId, label });
		} catch (error) {
			// The session continues from a summary that is in the file, with or without its label.
			session.moveTo(noted?.id ?? oldLeafId);
			throw error;
		}
		session.conversation.reproject();
		const text = isPrompt ? textOf(target.message as UserMessage) : "";
		if (text !== "") parts.front.ui.setEditorText(text);
		session.doors.notice({ type: "session_tree", newLeafId: transcript.leafId, oldLeafId });
		return { cancelled: false };
	});
}

function entryOf(transcript: Transcript, id: string): Entry {
	const entry = transcript.find(id);
	if (!entry) throw new CommandError("not_found", `Entry not found: ${id}`);
	return entry;
}

/** The entries between the current one and the nearest that it has in common with the target, oldest first. */
function entriesLeft(transcript: Transcript, target: Entry): readonly Entry[] {
	const { branch } = transcript;
	const path = Array.from({ length: branch.length }, (_, place) => branch.entry(place));
	const places = new Map(path.map(({ id }, place) => [id, place]));
	// A damaged file may lead in a circle.
	const seen = new Set<string>();
	for (let entry: Entry | undefined = target; entry && !seen.has(entry.id); entry = transcript.find(entry.parentId ?? "")) {
		const place = places.get(entry.id);
		if (place !== undefined) return path.slice(place + 1);
		seen.add(entry.id);
	}
	return path;
}

async function summaryOf(
	{ assembly: { session, compaction }, workspace: { settings } }: NavigateParts,
	entries: readonly Entry[],
	instructions: string | undefined,
	signal: AbortSignal,
): Promise<BranchSummary | undefined> {
	const problem = await summaryProblem(session, signal);
	const { model } = session.choice;
	if (signal.aborted) return undefined;
	if (problem || !model) throw new CommandError(problem?.code ?? "no_model", problem?.text ?? "No model selected");
	const reserveTokens = settings.get("branchSummary.reserveTokens");
	const made = await compaction.summarizeBranch({ entries, model, reserveTokens, instructions, signal });
	if (!made || signal.aborted) return undefined;
	if ("problem" in made) throw new CommandError("model_failed", `The branch could not be summarised: ${made.problem}`);
	const { text, details, usage } = made;
	return { summary: text, details, usage };
}
