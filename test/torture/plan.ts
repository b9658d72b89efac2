/** The actions on the program in one round: a plain value, so that it can be printed, shortened and played again. */
import type { ApiKind } from "../models/wire.ts";

export interface Plan {
	seed: number;
	/** The source of answers: the scripted provider inside the process, or a server that speaks one of the real formats. */
	model: "scripted" | ApiKind;
	/** How the program is started. */
	flags: string[];
	/** The replies of the model, request by request. After them it says a word and stops. */
	replies: ReplyPlan[];
	steps: Step[];
	/** The program asks before it runs a call, and the host answers like this, question by question, over and over. */
	approvals?: Approval[];
}

/** How the host answers a question about a call. */
export type Approval =
	| "allow"
	| "allow for the session"
	| "deny"
	/** After 60 ms: the call may have been aborted. */
	| "late"
	/** After the deadline. */
	| "too late"
	| "allow, then deny"
	| "deny, then allow"
	/** A decision that does not exist, and then a good answer. */
	| "malformed"
	| "forged digest"
	| "no digest"
	/** With the digest of the question before it. */
	| "mixed up"
	/** About a question that was never asked. */
	| "unknown id"
	| "never";

export interface ReplyPlan {
	words: number;
	calls: CallPlan[];
	ending: Ending;
	/** The reported size of the request: a large one leads to a compaction. */
	inputTokens?: number;
	/** Milliseconds before the first byte and between the words. */
	delayMs?: number;
}

export interface CallPlan {
	tool: string;
	arguments: Record<string, unknown>;
}

export type Ending =
	| { kind: "end" | "length" }
	/** An answer that is none. */
	| { kind: "refuse"; status: number; body: string }
	/** Silence: before anything, or when this share of the reply has been said. */
	| { kind: "stall"; after: number }
	| { kind: "cut"; after: number }
	/** The arguments of the last call are not JSON. */
	| { kind: "broken-json" }
	/** Bytes that are not a reply. */
	| { kind: "garbage"; sort: "html" | "bytes" | "json" | "nul" | "empty" };

export type Step =
	/** A line from the host. */
	| { do: "send"; frame: { type: string; id?: string; [member: string]: unknown } }
	| { do: "raw"; text: string }
	/** The same line many times over. */
	| { do: "flood"; frame: { type: string }; count: number }
	/** Until an event of this type, or the end of what is going on. `quiet` is silence. */
	| { do: "wait"; for: string }
	/** Until an event of this type, however long the program is silent before it. */
	| { do: "until"; type: string }
	/** Goes to another session: the player resolves these words only when it plays the step. */
	| { do: "switch"; id: string; to: "first" | "same" | "fresh" | "no session" | "no directory" }
	| { do: "fork"; id: string; nth: number; command: "fork" | "branch" }
	/** The host stops reading, or goes on. */
	| { do: "reader"; reads: boolean }
	/** The fate of writes of session files from the nth on; `none` is a working disk. */
	| { do: "disk"; fault: "none" | "ENOSPC" | "EIO" | "EROFS" | "half" | "stuck"; after: number }
	| { do: "clock"; byMs: number }
	/** Another process wants the same session. */
	| { do: "intruder" }
	/** This process ends, and another goes on with the session. */
	| { do: "end"; how: "eof" | "SIGTERM" | "SIGKILL" };
