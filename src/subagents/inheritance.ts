/** What the process of a subagent receives when it starts: one JSON object, over a separate descriptor. Types only. */
import type { BudgetLimits } from "../agent/contracts.ts";
import type { ThinkingLevel } from "../protocol/levels.ts";

/** What every subagent of this process receives. */
export interface InheritedDefaults {
	credentials: {
		/** Variables that commands do not see. */
		variables: Record<string, string>;
		/** `--api-key`. */
		apiKey?: { provider: string; key: string };
	};
	/** Every setting as it is in effect. */
	settings: Record<string, unknown>;
	/** Whether the project's own code is trusted. */
	trusted: boolean;
	/** Flags of the sender that hold for its subagents. */
	flags: Record<string, unknown>;
	/** The only built-in tools that a subagent may have; all when absent. */
	allowedTools?: readonly string[];
	/** Entries of the MCP servers that a subagent may start, where its definition names tools of them. */
	mcpServers?: readonly object[];
	/** Where names of scripted models begin. */
	scriptDirectory: string;
}

export interface Inheritance extends InheritedDefaults {
	agent: string;
	/** How deep it is nested; the session itself is 0. */
	depth: number;
	model: { provider: string; id: string };
	thinkingLevel: ThinkingLevel;
	/** What is left of the sender's ceilings. */
	budget?: BudgetLimits;
	/** Only these; the usual ones when absent. */
	tools?: readonly string[];
	/** The agents it may send. */
	spawns: "*" | readonly string[];
	/** Its instructions. */
	systemPrompt: string;
	/** The shape of its answer, as it was given. */
	schema?: unknown;
	/** The directory that it and its subagents write to, and its own id there. */
	artifacts: { directory: string; id: string };
}

/** Names the descriptor. */
export const inheritVariable = "BOWLINE_INHERIT_FD";
