/** From a line to an entry that has what its type promises. Other programs, older versions and people write these files, too. */
import { isNestedDeeperThan, maxNesting } from "../protocol/nesting.ts";
import { type Entry, kindOf } from "./entries.ts";

type Loose = Record<string, unknown>;

/** Nothing when the line is not a JSON object, or is nested so deep that it could be read and never be written again. */
export function entryOf(line: string): Entry | undefined {
	const value = parsed(line);
	return isObject(value) ? normal(value) : undefined;
}

export interface EntryHead {
	id: string;
	parentId: string | undefined;
	/** As `kindOf`. */
	kind: string;
}

/** Returns where the entry of a line belongs and what it is, without repairing the rest of it. undefined if the line is not an entry. */
export function entryHeadOf(line: string): EntryHead | undefined {
	const entry = parsed(line);
	if (!isObject(entry) || typeof entry.id !== "string" || typeof entry.type !== "string" || entry.type === "session") return undefined;
	const { id, parentId, type, message } = entry;
	const isRead = type !== "message" || (isObject(message) && typeof message.role === "string");
	return { id, parentId: typeof parentId === "string" ? parentId : undefined, kind: isRead ? kindOf(entry as unknown as Entry) : "unreadable" };
}

const deepest = 4 * maxNesting;

function parsed(json: string): unknown {
	// A level takes two characters at least: most lines are too short to be too deep.
	if (json.length > 2 * deepest && isNestedDeeperThan(deepest, json)) return undefined;
	try {
		return JSON.parse(json);
	} catch {
		return undefined;
	}
}

const lineSeparators = /[\u2028\u2029]/;

/** Whether this is the JSON of a message that is sent as it is: valid, with nothing to repair, and nothing in it that readers take for a line end. */
export function isPlainMessage(json: string): boolean {
	const message = parsed(json);
	return isObject(message) && isNormalMessage(message) && json.search(lineSeparators) < 0;
}

/** The messages that `normalMessage` leaves alone, which are nearly all. Says no in doubt. */
function isNormalMessage(message: Loose): boolean {
	const { role, content, timestamp } = message;
	if (!isNumber(timestamp)) return false;
	switch (role) {
		case "user":
			return isText(content) || areNormalBlocks(content);
		case "assistant": {
			const { api, provider, model, stopReason, errorMessage = "" } = message;
			const hasTexts = isText(api) && isText(provider) && isText(model) && isText(stopReason) && isText(errorMessage);
			return hasTexts && areNormalBlocks(content) && isNormalUsage(message.usage);
		}
		case "toolResult":
			return isText(message.toolCallId) && isText(message.toolName) && typeof message.isError === "boolean" && areNormalBlocks(content);
		default:
			return false;
	}
}

function areNormalBlocks(content: unknown): boolean {
	return Array.isArray(content) && content.every(isNormalBlock);
}

function isNormalBlock(block: unknown): boolean {
	if (!isObject(block)) return false;
	switch (block.type) {
		case "text":
			return isText(block.text);
		case "thinking":
			return isText(block.thinking);
		case "image":
			return isText(block.data) && isText(block.mimeType);
		case "toolCall":
			return isText(block.id) && isText(block.name) && isObject(block.arguments);
		default:
			return false;
	}
}

function isNormalUsage(usage: unknown): boolean {
	if (!isObject(usage) || !isObject(usage.cost)) return false;
	return isNumber(usage.totalTokens) && isNumber(usage.cost.total) && areCounted(usage) && areCounted(usage.cost);
}

function areCounted({ input, output, cacheRead, cacheWrite }: Loose): boolean {
	return isNumber(input) && isNumber(output) && isNumber(cacheRead) && isNumber(cacheWrite);
}

/** Changes only what would break a reader; what is not known here stays as it is. */
function normal(entry: Loose): Entry {
	if (entry.parentId !== null && typeof entry.parentId !== "string") entry.parentId = null;
	if (!isText(entry.timestamp)) entry.timestamp = "";
	switch (entry.type) {
		case "message":
			if (isObject(entry.message) && typeof entry.message.role === "string") normalMessage(entry.message, entry.timestamp as string);
			// It keeps its place in the tree, and says nothing.
			else entry.type = "unreadable";
			break;
		case "compaction":
			texts(entry, "summary", "firstKeptEntryId");
			numbers(entry, "tokensBefore");
			optionalTexts(entry, "shortSummary");
			if ("usage" in entry && !isObject(entry.usage)) delete entry.usage;
			if (entry.usage) entry.usage = normalUsage(entry.usage);
			break;
		case "branch_summary":
			texts(entry, "summary", "fromId");
			break;
		case "custom_message":
			texts(entry, "customType");
			entry.content = typeof entry.content === "string" ? entry.content : blocks(entry.content);
			entry.display = entry.display !== false;
			break;
		case "model_change":
			optionalTexts(entry, "provider", "modelId", "model");
			break;
		case "thinking_level_change":
			optionalTexts(entry, "thinkingLevel");
			break;
		case "session_info":
			optionalTexts(entry, "name");
			break;
		case "context_edit":
			texts(entry, "targetId");
			// What a person wanted to change and cannot be read here is left out.
			entry.replacement = isText(entry.replacement) || Array.isArray(entry.replacement) ? blocks(entry.replacement) : null;
			break;
		case "label":
			texts(entry, "targetId");
			optionalTexts(entry, "label");
			break;
		case "ttsr_injection":
			entry.injectedRules = list(entry.injectedRules).filter((rule) => typeof rule === "string");
	}
	return entry as unknown as Entry;
}

function normalMessage(message: Loose, written: string): void {
	if (isNormalMessage(message)) return;
	if (!isNumber(message.timestamp)) message.timestamp = Date.parse(written) || 0;
	if ("content" in message && typeof message.content !== "string") message.content = blocks(message.content);
	switch (message.role) {
		case "assistant":
			message.content = blocks(message.content);
			message.usage = normalUsage(message.usage);
			texts(message, "api", "provider", "model");
			optionalTexts(message, "errorMessage");
			if (typeof message.stopReason !== "string") message.stopReason = "stop";
			return;
		case "toolResult":
			message.content = blocks(message.content);
			texts(message, "toolCallId", "toolName");
			message.isError = message.isError === true;
			return;
		case "bashExecution":
			texts(message, "command", "output");
			// Earlier versions wrote null.
			if (!isNumber(message.exitCode)) delete message.exitCode;
			if (typeof message.fullOutputPath !== "string") delete message.fullOutputPath;
			message.cancelled = message.cancelled === true;
			message.truncated = message.truncated === true;
			return;
		case "compactionSummary":
		case "branchSummary":
			return texts(message, "summary");
		case "fileMention":
			message.files = list(message.files).filter((file) => isObject(file) && typeof file.path === "string" && typeof file.content === "string");
			return;
		case "user":
		case "developer":
		case "custom":
			message.content ??= [];
	}
}

function blocks(content: unknown): unknown[] {
	if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
	const all = list(content);
	return all.every(isBlock) ? all : all.filter(isBlock);
}

function isBlock(block: unknown): boolean {
	if (!isObject(block) || typeof block.type !== "string") return false;
	switch (block.type) {
		case "text":
			return typeof block.text === "string";
		case "thinking":
			// The signature may be all there is.
			texts(block, "thinking");
			return true;
		case "redactedThinking":
			return typeof block.data === "string";
		case "image":
			flatten(block);
			return typeof block.data === "string" && typeof block.mimeType === "string";
		case "toolCall":
			if (!isObject(block.arguments)) block.arguments = {};
			return typeof block.id === "string" && typeof block.name === "string";
		default:
			return true;
	}
}

/** Another spelling in the family: the picture is in a `source`. */
function flatten(image: Loose): void {
	if (!isObject(image.source) || image.data !== undefined) return;
	const { data, mediaType, media_type } = image.source;
	Object.assign(image, { data, mimeType: mediaType ?? media_type });
	delete image.source;
}

function normalUsage(usage: unknown): Loose {
	const counted = isObject(usage) ? usage : {};
	numbers(counted, "input", "output", "cacheRead", "cacheWrite", "totalTokens");
	if (!isObject(counted.cost)) counted.cost = {};
	numbers(counted.cost as Loose, "input", "output", "cacheRead", "cacheWrite", "total");
	return counted;
}

function texts(holder: Loose, ...names: string[]): void {
	for (const name of names) if (typeof holder[name] !== "string") holder[name] = "";
}

function optionalTexts(holder: Loose, ...names: string[]): void {
	for (const name of names) if (name in holder && typeof holder[name] !== "string") delete holder[name];
}

function numbers(holder: Loose, ...names: string[]): void {
	for (const name of names) if (!isNumber(holder[name])) holder[name] = 0;
}

const isText = (value: unknown) => typeof value === "string";
const isNumber = (value: unknown) => typeof value === "number";
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

function isObject(value: unknown): value is Loose {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}
