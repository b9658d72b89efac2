/** Compacts the conversation as soon as the model can be asked for a summary. */
import { CommandError } from "../protocol/command-error.ts";
import type { Refusal } from "./refusal.ts";
import type { Session } from "./session.ts";

/** Compacts while nothing else runs. */
export function compactWhenReady<T>(session: Session, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
	return session.runExclusively(async (signal) => {
		const problem = await summaryProblem(session, signal);
		if (signal.aborted && session.choice.model) throw new CommandError("aborted", "Compaction cancelled");
		if (problem) throw new CommandError(problem.code, problem.text);
		return work(signal);
	}, true);
}

/** Why no summary can be requested now; nothing when it can. */
export async function summaryProblem(session: Session, signal: AbortSignal): Promise<Refusal | undefined> {
	const { model } = session.choice;
	if (!model) return { text: "No model selected", code: "no_model" };
	const refusal = await session.ensureReady(signal);
	return refusal && { text: textFor(refusal, model.provider), code: refusal.code };
}

function textFor({ text, code }: Refusal, provider: string): string {
	return code === "no_key" || code === "unknown_provider" ? `No API key for ${provider}` : text;
}
