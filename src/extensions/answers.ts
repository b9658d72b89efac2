/** Reads the answers of handlers. Handlers may be written without types, so every field is checked; invalid answers throw. */
import type { CompactionResult } from "../protocol/commands/compaction.ts";
import type { UserContent } from "../protocol/content.ts";
import { isNestedDeeperThan, maxNesting } from "../protocol/nesting.ts";
import type { OwnMessage } from "./actions.ts";

export type Answer = Record<string, unknown>;

/** An answer as an object; nothing when the handler answered nothing. */
export function objectOf(answer: unknown): Answer | undefined {
	if (answer === undefined || answer === null) return undefined;
	if (typeof answer !== "object" || Array.isArray(answer)) throw new TypeError(`answered ${describe(answer)} instead of an object`);
	return answer as Answer;
}

export function textIn(answer: Answer, key: string): string | undefined {
	return checked(answer, key, "a string", (value): value is string => typeof value === "string");
}

export function objectIn(answer: Answer, key: string): Answer | undefined {
	return checked(answer, key, "an object", (value): value is Answer => typeof value === "object" && value !== null && !Array.isArray(value));
}

export function textsIn(answer: Answer, key: string): string[] {
	const isTexts = (value: unknown): value is string[] => Array.isArray(value) && value.every((each) => typeof each === "string");
	return checked(answer, key, "a list of strings", isTexts) ?? [];
}

export function listIn<T>(answer: Answer, key: string, what: string, isItem: (item: Answer) => boolean): T[] | undefined {
	const isList = (value: unknown): value is T[] =>
		Array.isArray(value) && value.every((each) => typeof each === "object" && each !== null && isItem(each));
	return checked(answer, key, what, isList);
}

export const isMessage = (item: Answer) => typeof item.role === "string";
export const isImage = (item: Answer) => item.type === "image" && typeof item.data === "string" && typeof item.mimeType === "string";
export const isContent = (item: Answer) => isImage(item) || (item.type === "text" && typeof item.text === "string");

/** Our own copies of the blocks: later changes by the extension have no effect. */
export function contentIn(answer: Answer, key: string): UserContent | undefined {
	const blocks = listIn<UserContent[number]>(answer, key, "a list of text and image blocks", isContent);
	return blocks?.map((block) =>
		block.type === "text" ? { type: "text", text: block.text } : { type: "image", data: block.data, mimeType: block.mimeType },
	);
}

/** A text or blocks. */
export function contentOf(content: unknown, what: string): string | UserContent {
	if (typeof content === "string") return content;
	const blocks = contentIn({ [what]: content }, what);
	if (blocks === undefined) throw new TypeError(`${what} must be a string or a list of text and image blocks`);
	return blocks;
}

export function ownMessage(message: Record<string, unknown>, prefix = "message."): OwnMessage {
	const content = contentOf(message.content, `${prefix}content`);
	const customType = textIn(message, "customType");
	if (customType === undefined) throw new TypeError(`${prefix}customType must be a string`);
	return { customType, content, display: message.display !== false, ...jsonIn(message, "details", `${prefix}details`) };
}

/** A member that goes into files and frames, as a copy; nothing when it is absent. */
export function jsonIn<Key extends string>(answer: Answer, key: Key, what: string = key): { [K in Key]?: unknown } {
	const value = answer[key];
	if (value === undefined) return {};
	try {
		const json = JSON.stringify(value);
		if (json !== undefined && isNestedDeeperThan(maxNesting, json)) throw new TypeError(`nested deeper than ${maxNesting}`);
		return (json === undefined ? {} : { [key]: JSON.parse(json) }) as { [K in Key]?: unknown };
	} catch (error) {
		// The engine's message draws circular references over several lines.
		throw new TypeError(`${what} must be JSON: ${(error as Error).message.split("\n", 1)[0]}`);
	}
}

export function compactionOf(given: Record<string, unknown>): CompactionResult {
	const summary = textIn(given, "summary");
	const firstKeptEntryId = textIn(given, "firstKeptEntryId");
	if (!summary || !firstKeptEntryId) throw new TypeError("compaction must have a summary and a firstKeptEntryId");
	const details = objectIn(jsonIn(given, "details"), "details") ?? {};
	return { summary, firstKeptEntryId, tokensBefore: Number(given.tokensBefore) || 0, details };
}

/** A deep copy: changes to it do not affect the original. Messages and requests are JSON by nature. */
export function copyOf<T>(value: T): T {
	return value === undefined ? value : JSON.parse(JSON.stringify(value));
}

function checked<T>(answer: Answer, key: string, what: string, is: (value: unknown) => value is T): T | undefined {
	const value = answer[key];
	if (value === undefined || value === null) return undefined;
	if (!is(value)) throw new TypeError(`${key} must be ${what}, not ${describe(value)}`);
	return value;
}

function describe(value: unknown): string {
	if (Array.isArray(value)) return "a list like that";
	if (typeof value === "object") return "an object like that";
	return typeof value === "string" ? JSON.stringify(value.slice(0, 40)) : String(value);
}
