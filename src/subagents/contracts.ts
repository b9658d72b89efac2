/** How the parts of the task tool fit together: isolation, approvals, children. Types only. */
import type { GateHandler } from "../client/index.ts";
import type { PermissionMode, PermissionOrigin, PermissionRequest, PermissionResponse } from "../protocol/permissions.ts";

// ── Listening ──────────────────────────────────────────────────────────────────────────────────────────

/** Hears of subagents, where a host wants to see more than the events of the session. */
export interface ChildListener {
	/** One is about to start; its `subagent_start` follows. */
	begins(child: {
		id: string;
		/** Its place in the call. */
		index: number;
		agentSource: "bundled" | "user" | "project";
		description: string;
		assignment: string;
		parentToolCallId: string;
	}): void;
	/** An event of its session. */
	hears(id: string, event: { type: string }): void;
	/** It has ended; its `subagent_end` follows. */
	ends(id: string, isAborted: boolean): void;
	/** Whether one that starts now sends all its events. */
	wantsAll(): boolean;
}

// ── Isolation ──────────────────────────────────────────────────────────────────────────────────────────

/** Copies of a repository for tasks that must not see each other, and the merge of their work. */
export interface Isolation {
	/** Keeps the state that every task of one call starts from. A problem is a sentence for the model, with a remedy. */
	freeze(signal: AbortSignal): Promise<Frozen | { problem: string }>;
}

/** The repository as it was when the call began: staged, unstaged and untracked, nested repositories too. */
export interface Frozen {
	/** A copy of its own for one task. Throws when it cannot be made, and removes what it had made. */
	checkOut(id: string, signal: AbortSignal): Promise<Workspace>;
	/** Brings work back into the live tree, one task after another, each apart from the others. */
	merge(work: readonly CapturedWork[], mode: "patch" | "branch"): Promise<Merged[]>;
	/** Removes what `freeze` made. Worktrees whose work could not be captured stay. */
	release(): Promise<void>;
}

export interface Workspace {
	/** Where the child works: the parent's place inside the repository. */
	cwd: string;
	/** The top of the copy, and of what it is a copy of. */
	tops: { copy: string; original: string };
	/** Writes what was done here since the check-out as patch files. May be asked again after a repair. */
	capture(): Promise<Delta>;
	/** Removes the copy. Only for a workspace whose work was captured or is not wanted. */
	remove(): Promise<void>;
}

export interface Delta {
	/** The patch of the repository itself; absent when nothing changed. */
	patchPath?: string;
	/** Patches of repositories inside it. */
	nested: { repository: string; patchPath: string }[];
	/** All paths of the live tree that it changes, as git lists them: of moved files both. A merge changes no others. */
	paths: string[];
}

export interface CapturedWork {
	id: string;
	/** For a commit message. */
	description: string;
	delta: Delta;
}

/** The result of merging one task's work. */
export interface Merged {
	id: string;
	status: "merged" | "unchanged" | "conflict" | "failed";
	/** One sentence for the model: where the work is, and what to do next if it is not in the tree. */
	text: string;
	/** Only while the branch is still there. */
	branchName?: string;
}

// ── Approvals ──────────────────────────────────────────────────────────────────────────────────────────

/** Subagents ask through the agent that sent them. */
export interface ChildPermissions {
	/** Answers a question of a subagent. The signal fires when the answer is no longer wanted. */
	answer(question: { request: PermissionRequest; origin: PermissionOrigin }, signal: AbortSignal): Promise<ChildAnswer>;
	/** Tells a subagent about changes of the mode, until the returned function is called. */
	follow(follower: { setMode(mode: PermissionMode): void }): () => void;
	/** Judges the paths that isolated work changes as writes, and asks where a rule asks. Returns why it may not be merged. */
	refusalOfMerge(work: { id: string; toolCallId: string; patch: string; paths: string[] }, signal: AbortSignal): Promise<string | undefined>;
}

/** Questions before each step go to the host, through the agent that sent the subagent. */
export interface ChildGate {
	/** Whether a subagent may start; the reason when it may not. */
	start(origin: PermissionOrigin, signal: AbortSignal): Promise<string | undefined>;
	/** Answers the questions of a subagent. */
	answers(origin: PermissionOrigin): GateHandler;
}

export type ChildAnswer = Pick<PermissionResponse, "decision" | "message" | "by">;
