/** Writes a long session as agents leave it: short prompts, short replies, and results of tools of every size. */
import { writeFileSync } from "node:fs";
import { idOf } from "../session-files.ts";
import { model } from "./place.ts";

const timestamp = "2026-01-01T00:00:00.000Z";
const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
const usage = { input: 100, output: 20, cacheRead: 0, cacheWrite: 0, totalTokens: 120, cost };
const words = "the parser reads one line after another and keeps what it has not understood until the end of the file is reached".split(" ");

const prose = (seed: number, length: number) => Array.from({ length }, (_, at) => words[(seed * 5 + at * 3) % words.length]).join(" ");
const codeLine = (seed: number, line: number) => `\tconst ${words[(seed + line) % words.length]}${line} = parse(input, ${seed * line}, "${seed}");`;
const code = (seed: number, lines: number) => Array.from({ length: lines }, (_, line) => codeLine(seed, line + 1)).join("\n");

/** Lines of the results that follow one another. */
const resultLines = [1, 20, 3, 150, 8, 2, 60, 12];
/** Of a result of this many lines there are about this many tokens. */
const tokensPerLine = 17;

interface Message {
	role: string;
	content: object[];
}

/** Writes a session of about this many tokens, whose last message is a reply. */
export function writeStoredSession(path: string, tokens: number): void {
	const messages: Message[] = [];
	const said = (text: string) => ({ type: "text", text });
	const reply = (content: object[], stopReason: string) => {
		messages.push(Object.assign({ role: "assistant", content }, { ...model, usage, stopReason, timestamp: messages.length }));
	};
	let written = 0;
	for (let turn = 0; written < tokens; turn++) {
		messages.push(Object.assign({ role: "user", content: [said(prose(turn, 30))] }, { attachments: [], timestamp: messages.length }));
		for (const [at, lines] of resultLines.entries()) {
			const seed = turn * resultLines.length + at;
			const toolCallId = `call_${seed}`;
			reply([said(prose(seed, 15)), { type: "toolCall", id: toolCallId, name: "read", arguments: { path: `src/file${seed}.ts` } }], "toolUse");
			const result = { toolCallId, toolName: "read", details: {}, isError: false, timestamp: messages.length };
			messages.push(Object.assign({ role: "toolResult", content: [said(code(seed, lines))] }, result));
			written += lines * tokensPerLine + 120;
		}
		reply([said(prose(turn, 40))], "stop");
		written += 130;
	}
	const head = { type: "session", version: 3, id: "bench", timestamp, cwd: "/" };
	const entries = messages.map((message, index) => {
		const parentId = index === 0 ? null : idOf(index - 1);
		return { type: "message", id: idOf(index), parentId, timestamp, message };
	});
	writeFileSync(path, `${[head, ...entries].map((line) => JSON.stringify(line)).join("\n")}\n`);
}
