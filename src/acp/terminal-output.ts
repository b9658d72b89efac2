/** The output of a command for clients that show it in a terminal of their own: only what was added, and at the end how it ended. */
import type { ToolCallContent } from "@agentclientprotocol/sdk";
import type { ToolResult } from "../protocol/messages.ts";
import { pieces } from "./chunks.ts";

type Meta = Record<string, unknown>;

export class TerminalOutput {
	#id: string;
	/** How many bytes of the whole output have been sent. */
	#sent = 0;

	constructor(id: string) {
		this.#id = id;
	}

	get content(): ToolCallContent[] {
		return [{ type: "terminal", terminalId: this.#id }];
	}

	/** What was added since the last call. A result holds the end of the output, and says how much there was in all. */
	output({ content, details }: ToolResult, hasFailed = false): Meta[] {
		const shown = Buffer.from(content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join(""));
		const truncation = (details as { truncation?: { totalBytes?: number; outputBytes?: number } | null } | undefined)?.truncation;
		const cut = Math.max(0, (truncation?.totalBytes ?? 0) - (truncation?.outputBytes ?? 0));
		const total = cut + shown.length;
		if (total <= this.#sent && !hasFailed) return [];
		const added = shown.toString("utf8", Math.max(0, this.#sent - cut));
		this.#sent = total;
		return [...pieces(added)].map((data) => ({ terminal_output: { terminal_id: this.#id, data } }));
	}

	exit({ content }: ToolResult, hasFailed: boolean): Meta {
		const text = content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("");
		const code = /Command exited with code (\d+)\s*$/.exec(text)?.[1];
		return { terminal_exit: { terminal_id: this.#id, exit_code: hasFailed ? (code === undefined ? null : Number(code)) : 0, signal: null } };
	}
}
