/** For tests of hosts: the flags that play a record instead of asking a model. */

export interface ReplayOptions {
	/** Run tools for real instead of answering them from the record. */
	realTools?: boolean;
	/** Report a request that differs from the record on stderr, and go on. Default: the run fails with the difference. */
	isLoose?: boolean;
	/** With the pauses of the original. */
	isPaced?: boolean;
}

/** The flags that record what a real model says, with nothing of this machine but the key. */
export const recordArgs = (record: string): string[] => ["--hermetic", "--no-session", "--record", record];

/** `startClient({ args: replayArgs("test/records/review.jsonl") })`: offline, without keys, settings or session files of this machine. */
export function replayArgs(record: string, { realTools, isLoose, isPaced }: ReplayOptions = {}): string[] {
	return [
		"--hermetic",
		"--no-session",
		"--provider",
		"scripted",
		"--model",
		record,
		"--replay",
		isLoose ? "loose" : "strict",
		...(realTools ? [] : ["--replay-tools"]),
		...(isPaced ? ["--replay-speed", "recorded"] : []),
	];
}
