/** What the model can call. Types only. */

import type { CallView, EffectKind, ToolReach } from "../lib/tool-facts.ts";
import type { ToolResult } from "../protocol/messages.ts";

export interface ToolDefinition {
	name: string;
	description: string;
	/** JSON Schema of the arguments, an object. */
	parameters: Record<string, unknown>;
}

export interface ToolExecution {
	toolCallId: string;
	/** Checked against `parameters`, with types coerced. */
	args: Record<string, unknown>;
	/** Fires on abort and when steering skips the call. A mutation in progress is finished, not interrupted. */
	signal: AbortSignal;
	/** Progress: the whole partial result so far, not what was added. Ignored once the call has ended. */
	onUpdate: (partial: ToolResult) => void;
}

type Args = Record<string, unknown>;

/** The effect of a call outside the conversation. Rules, modes, checkpoints and everything that shows a call use it instead of tool names. */
export type ToolEffect = FileEffect | RunEffect | { kind: Exclude<EffectKind, "read" | "write" | "run"> };

export interface FileEffect {
	kind: "read" | "write";
	/** Returns the paths that a call is about, as the model wrote them. A call without any is judged by the name of its tool alone. */
	paths?: (args: Args) => readonly string[];
	/** The part of a directory that a call touches when it names one. Default `below`, the strictest. */
	reach?: ToolReach;
	/** Whole files are written without a look at them: a missing one is made, and the result tells nothing of what was there. */
	replaces?: true;
	/** Returns a file before and after a call, without making the call. Throws what the call would fail with. */
	plan?: (args: Args) => Promise<PlannedChange>;
}

export interface PlannedChange {
	/** As the model wrote it. */
	path: string;
	/** Empty for a file that is not there yet. */
	before: string;
	after: string;
}

export interface RunEffect {
	kind: "run";
	/** Returns the shell command that a call runs. Rules about commands apply to it. */
	command?: (args: Args) => string;
	/** Each step that a call starts is judged separately. */
	delegates?: true;
	/** A session that only plans may call it. */
	inPlan?: true;
}

/** A tool returns content or throws; the text of what it throws is what the model reads. */
export interface Tool extends ToolDefinition {
	label: string;
	effect: ToolEffect;
	/** `on request`: the model gets it only where a flag, a host or an extension asks for it. */
	offered: "default" | "on request";
	/** The way calls look to people. Default: the label and the first text among the arguments. */
	view?: CallView;
	/** `exclusive` calls wait for all earlier ones; `shared` calls only for the last earlier exclusive one. */
	concurrency: "shared" | "exclusive";
	/** One line for the system prompt. */
	hint?: string;
	/** Turns older argument shapes into the advertised one, before validation. */
	adapt?: (args: Record<string, unknown>) => Record<string, unknown>;
	/** The schema arguments are held to, where the tool checks the rest of `parameters` itself. */
	accepted?: Record<string, unknown>;
	/** Arguments go through unchecked where the schema is not one that can be compiled: what answers the call checks them. */
	checksArguments?: true;
	/** A successful call ends the run: the model is not asked again. */
	endsRun?: true;
	/** How long a call may take to end after its signal fired, where the usual two seconds would lose its result. */
	abortPatienceMs?: number;
	execute: (call: ToolExecution) => Promise<ToolResult>;
}

/** Checks arguments. Returns the coerced arguments, or a list of problems. */
export type ValidateArguments = (
	tool: ToolDefinition,
	args: Record<string, unknown>,
) => Promise<{ args: Record<string, unknown> } | { problems: { path: string; message: string }[] }>;
