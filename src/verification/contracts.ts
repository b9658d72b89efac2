/** How work is verified: what to check, on whose behalf, with which events. Types only. */
import type { Emit } from "../agent/contracts.ts";
import type { OnFailure, VerificationAttempt, VerificationCommand } from "../protocol/subagents.ts";

/** What to check, with every question answered. */
export interface VerificationPlan {
	profile?: string;
	commands: readonly VerificationCommand[];
	onFailure: OnFailure;
	maxRetries: number;
}

/** One attempt is being made on behalf of this task. */
export interface VerificationSubject {
	/** The prefixed id of the events. */
	id: string;
	taskId: string;
	/** The isolated workspace. */
	cwd: string;
	/** Where a log of this name goes. */
	artifact: (name: string) => string;
	emit: Emit;
	signal: AbortSignal;
}

/** Asked before a command runs for the model, wherever the command comes from: a reason refuses it, another command takes its place. */
export type BeforeCommand = (command: string, signal: AbortSignal) => Promise<{ reason: string } | { command: string } | undefined>;

/** Runs all checks once, with their events. */
export type Verify = (plan: VerificationPlan, attempt: number, subject: VerificationSubject) => Promise<VerificationAttempt>;
