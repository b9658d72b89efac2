/** Measures the price of compacting a conversation that nearly fills its window. */
import { join } from "node:path";
import { ask, Place, prompt } from "./place.ts";
import { dollars, Recorder } from "./recorder.ts";
import { writeStoredSession } from "./stored-session.ts";
import { TokenCounter } from "./tokens.ts";

const storedTokens = 180_000;

export interface Compaction {
	/** Tokens of the request before it. */
	tokens: number;
	/** Of the requests for the summary, right after that request. */
	usd: number;
	requests: number;
}

/** Opens a stored session, asks once, so that the provider has all of it in its cache, and has it condensed. */
export async function playCompaction(folder: string, program?: string): Promise<Compaction> {
	const recorder = await Recorder.start(new TokenCounter());
	recorder.summary = { text: ["## Goal\nThe parser reads the whole file."] };
	const place = new Place({ folder, program, recorder, files: {} });
	const stored = join(folder, "stored.jsonl");
	writeStoredSession(stored, storedTokens);
	try {
		const agent = place.agent("--session", stored, "--set", "compaction.enabled=false");
		recorder.begin({ step: "prompt", replies: [{ text: ["Ready."] }] });
		await prompt(agent, "Go on.");
		recorder.begin({ step: "compaction", replies: [], isSummary: true });
		await ask(agent, { type: "compact" });
	} finally {
		await place.close();
		await recorder.stop();
	}
	if (recorder.problems.length > 0) throw new Error(recorder.problems.join("; "));
	const summaries = recorder.of("compaction", "summary");
	return { tokens: recorder.of("prompt")[0]?.marked ?? 0, usd: dollars(summaries), requests: summaries.length };
}
