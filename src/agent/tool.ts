/** What the model can call. Types only. */
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

/** A tool returns content or throws; the text of what it throws is what the model reads. */
export interface Tool extends ToolDefinition {
	label: string;
	/** `exclusive` calls wait for all earlier ones; `shared` calls only for the last earlier exclusive one. */
	concurrency: "shared" | "exclusive";
	/** One line for the system prompt. */
	hint?: string;
	/** Not offered to the model unless an extension or a flag asks for it. */
	isHidden?: boolean;
	/** Turns older argument shapes into the advertised one, before validation. */
	adapt?: (args: Record<string, unknown>) => Record<string, unknown>;
	/** The schema arguments are held to, where the tool checks the rest of `parameters` itself. */
	accepted?: Record<string, unknown>;
	/** Arguments go through unchecked where the schema is not one that can be compiled: what answers the call checks them. */
	checksArguments?: true;
	/** It changes nothing: a session that only plans may call it. */
	readOnly?: true;
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
