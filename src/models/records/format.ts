/** What a record of models and tools is made of: one JSON object per line. */
import type { ProviderFailure } from "../../agent/stream.ts";
import type { AssistantMessage, ToolResultMessage } from "../../protocol/messages.ts";
import type { Model } from "../../protocol/model.ts";
import type { AssistantMessageEvent } from "../../protocol/stream.ts";
import type { RequestParts } from "./request.ts";

export const recordVersion = 1;

export interface RecordHeader {
	type: "record";
	version: number;
	/** The version of Bowline that wrote it. */
	bowline: string;
	created: string;
}

/** A model is asked. */
export interface RecordedRequest {
	type: "request";
	/** Counts the requests of this agent, from 1. */
	request: number;
	/** `main`, or the id of a subagent. */
	agent: string;
	model: Pick<Model, "provider" | "id" | "name" | "api" | "reasoning" | "input" | "contextWindow" | "maxTokens" | "cost">;
	thinkingLevel: string;
	/** Digests of what was asked, by part. */
	asked: Record<string, string>;
	/** The parts that no earlier request of this agent had, by digest. */
	added: Record<string, string>;
}

export type RecordedEvent =
	| { type: "start" }
	| AssistantMessageEvent
	| { type: "done"; message: AssistantMessage }
	| { type: "error"; error: AssistantMessage; failure: ProviderFailure };

/** A step of the reply to a request. */
export interface RecordedStep {
	type: "event";
	request: number;
	agent: string;
	/** Milliseconds since the request. */
	after: number;
	event: RecordedEvent;
}

/** The result of a tool call, as the model read it. */
export interface RecordedTool {
	type: "tool";
	agent: string;
	toolCallId: string;
	toolName: string;
	args: unknown;
	result: Pick<ToolResultMessage, "content" | "details" | "isError">;
}

export type RecordLine = RecordHeader | RecordedRequest | RecordedStep | RecordedTool;

export interface ModelRecord {
	header: RecordHeader;
	/** In the order of the file. */
	lines: Exclude<RecordLine, RecordHeader>[];
}

/** Whether a text is a record rather than a script. */
export const isRecord = (text: string) => /^\s*\{"type":"record"/.test(text);

export function parseRecord(text: string, source: string): ModelRecord | { problem: string } {
	const [first, ...rest] = text.split("\n");
	const header = lineOf(first) as RecordHeader | undefined;
	if (header?.type !== "record") return { problem: `${source} is not a record: its first line does not say so.` };
	if (header.version !== recordVersion)
		return { problem: `${source} is a record of version ${header.version}; this program reads version ${recordVersion}. Record it again.` };
	const lines: ModelRecord["lines"] = [];
	for (const [number, line] of rest.entries()) {
		if (line.trim() === "") continue;
		const parsed = lineOf(line);
		// The last line of a process that was killed may be cut.
		if (!parsed && number >= rest.length - 2) continue;
		if (!parsed || !["request", "event", "tool"].includes(parsed.type))
			return { problem: `${source}:${number + 2}: this line is not part of a record.` };
		lines.push(parsed as ModelRecord["lines"][number]);
	}
	return { header, lines };
}

function lineOf(text: string | undefined): RecordLine | undefined {
	try {
		const value = JSON.parse(text ?? "") as unknown;
		return typeof value === "object" && value !== null ? (value as RecordLine) : undefined;
	} catch {
		return undefined;
	}
}

export const toText = ({ header, lines }: ModelRecord) => `${[header, ...lines].map((line) => JSON.stringify(line)).join("\n")}\n`;

export type { RequestParts };
