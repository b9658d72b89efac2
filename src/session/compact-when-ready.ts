/** What has to be there before a summary can be asked for. */
import { CommandError } from "../lib/command-error.ts";
import type { BusyPeriod } from "./phase.ts";
import type { Session } from "./session.ts";

/** Condenses as soon as the model can be asked. */
export async function condensing<T>(session: Session, signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
	const problem = await modelProblem(session, signal);
	if (signal.aborted && session.choice.model) throw new CommandError("Compaction cancelled");
	if (problem) throw new CommandError(problem);
	return work(signal);
}

/** Why no summary can be asked for now; nothing when it can. */
export async function modelProblem(session: Session, signal: AbortSignal): Promise<string | undefined> {
	const { model } = session.choice;
	const problem = model ? await session.unready(signal) : "No model selected";
	return problem?.startsWith("No API key") ? `No API key for ${model?.provider}` : problem;
}

/** Why nothing else can be done alone now. */
export function takenText({ isCompacting }: BusyPeriod): string {
	return `${isCompacting ? "A compaction is already running" : "The session is about to go on from another entry"}. Wait for it, or send abort`;
}
