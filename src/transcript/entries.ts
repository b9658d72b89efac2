/** What a session file is made of: a header line, then entries that form a tree. */
import type { AgentMessage } from "../protocol/messages.ts";

export interface Header {
	type: "session";
	version: 3;
	id: string;
	timestamp: string;
	cwd: string;
	parentSession?: string;
}

export type EntryBody =
	| { type: "message"; message: AgentMessage }
	| { type: "model_change"; provider: string; modelId: string }
	| { type: "thinking_level_change"; thinkingLevel: string };

export type Entry = EntryBody & { id: string; parentId: string | null; timestamp: string };
