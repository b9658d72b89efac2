/** Transcripts for tests: ids that count up, a clock that does not move, a folder that is removed afterwards. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { AgentMessage, AssistantMessage, ToolResultMessage } from "../../src/protocol/messages.ts";
import type { Entry, EntryBody } from "../../src/transcript/entries.ts";
import { FileSessionStore } from "../../src/transcript/file-store.ts";
import type { Write } from "../../src/transcript/session-file.ts";

export const time = "2026-01-01T00:00:00.000Z";

export function folder(): string {
	const path = mkdtempSync(join(tmpdir(), "bowline-transcript-"));
	onTestFinished(() => rmSync(path, { recursive: true, force: true }));
	return path;
}

export function partsOf(cwd: string, write?: Write) {
	let id = 0;
	return { cwd, now: () => Date.parse(time), redact: (text: string) => text, newId: () => (++id).toString(16).padStart(8, "0"), write };
}

export function transcriptsIn(cwd: string, write?: Write, directory: string | undefined = cwd): FileSessionStore {
	let id = 0;
	return new FileSessionStore({ ...partsOf(cwd, write), directory, newSessionId: () => `session-${++id}` });
}

export const user = (text: string): AgentMessage => ({ role: "user", content: [{ type: "text", text }], timestamp: 1 });

export function assistant(text: string, more: Partial<AssistantMessage> = {}): AssistantMessage {
	const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
	const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost };
	const content = [{ type: "text" as const, text }];
	return { role: "assistant", content, api: "a", provider: "p", model: "m", usage, stopReason: "stop", timestamp: 1, ...more };
}

export const call = (...ids: string[]): AssistantMessage =>
	assistant("", { content: ids.map((id) => ({ type: "toolCall", id, name: "read", arguments: {} })), stopReason: "toolUse" });

export const result = (toolCallId: string, more: Partial<ToolResultMessage> = {}): AgentMessage => ({
	role: "toolResult",
	toolCallId,
	toolName: "read",
	content: [],
	isError: false,
	timestamp: 1,
	...more,
});

export const said = (message: AgentMessage): EntryBody => ({ type: "message", message });

/** Entries that follow one another, with ids a, b, c… */
export function chain(...bodies: (EntryBody | { type: string })[]): Entry[] {
	const id = (index: number) => String.fromCharCode(97 + index);
	return bodies.map(
		({ type, ...rest }, index) => ({ type, id: id(index), parentId: index ? id(index - 1) : null, timestamp: time, ...rest }) as Entry,
	);
}

export const header = { type: "session", version: 3, id: "s", timestamp: time, cwd: "/" };

/** The text of a session file. */
export const fileOf = (...lines: (object | string)[]) => lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join("");

/** Every line of a file, parsed. */
export function linesOf(path: string): Record<string, unknown>[] {
	const text = readFileSync(path, "utf8");
	if (!text.endsWith("\n")) throw new Error("the last line has no end");
	return text
		.slice(0, -1)
		.split("\n")
		.map((line) => JSON.parse(line));
}

/** As some programs write: with a space after each colon and comma. */
export function spaced(value: unknown): string {
	if (Array.isArray(value)) return `[${value.map(spaced).join(", ")}]`;
	if (typeof value !== "object" || value === null) return JSON.stringify(value);
	return `{${Object.entries(value)
		.filter(([, member]) => member !== undefined)
		.map(([name, member]) => `${JSON.stringify(name)}: ${spaced(member)}`)
		.join(", ")}}`;
}
