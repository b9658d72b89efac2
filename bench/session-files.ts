/** Session files to measure with. */
import { writeFileSync } from "node:fs";

export const idOf = (index: number) => (0x10000000 + index * 7919).toString(16);

const timestamp = "2026-01-01T00:00:00.000Z";
const words = "the session file grows by one line for each message and is never written again while the agent works on it".split(" ");
const text = (index: number, length: number) => Array.from({ length }, (_, at) => words[(index * 5 + at * 3) % words.length]).join(" ");
const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
const usage = { input: 100, output: 20, cacheRead: 0, cacheWrite: 0, totalTokens: 120, cost };

interface Model {
	api: string;
	provider: string;
	model: string;
}

const echo: Model = { api: "scripted", provider: "scripted", model: "echo" };

/** The contents of a session besides prompts, replies, calls and results in turn. */
export interface SessionShape {
	model?: Model;
	/** So many times a summary replaces what was said before the last ten entries. */
	compactions?: number;
	/** So many times the conversation goes on from an entry a little earlier. */
	branches?: number;
	/** So many prompts have a picture of 8 KB. */
	images?: number;
	/** Writes `type, message, id, parentId, timestamp`, as some programs do. */
	isMessageFirst?: boolean;
}

/** A session of so many entries of about 650 bytes. */
export function writeSession(path: string, count: number, shape: SessionShape = {}): void {
	const { model = echo, compactions = 0, branches = 0, images = 0, isMessageFirst = false } = shape;
	const lines: object[] = [{ type: "session", version: 3, id: "bench", timestamp, cwd: "/" }];
	const picture = { type: "image", data: "iVBORw0KGgoAAAAN".repeat(512), mimeType: "image/png" };
	const isDue = (times: number, index: number) => times > 0 && index > 20 && index % Math.floor(count / times) === 0;
	for (let index = 0; index < count; index++) {
		const parent = isDue(branches, index) ? index - 4 : index - 1;
		const place = { id: idOf(index), parentId: index ? idOf(parent) : null, timestamp };
		if (isDue(compactions, index)) {
			lines.push({ type: "compaction", ...place, summary: text(index, 200), firstKeptEntryId: idOf(index - 10), tokensBefore: 1000 });
			continue;
		}
		const message = messageOf(index, model);
		if (message.role === "user" && index < images * 4) message.content.push(picture);
		lines.push(isMessageFirst ? { type: "message", message, ...place } : { type: "message", ...place, message });
	}
	writeFileSync(path, `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`);
}

function messageOf(index: number, model: Model): { role: string; content: object[] } {
	const said = (length: number) => ({ type: "text", text: text(index, length) });
	const reply = (content: object[], stopReason: string) => ({ role: "assistant", content, ...model, usage, stopReason, timestamp: index });
	switch (index % 4) {
		case 0:
			return Object.assign({ role: "user", content: [said(60)] }, { attachments: [], timestamp: index });
		case 1:
			return reply([said(30), { type: "toolCall", id: `call_${index}`, name: "read", arguments: { path: text(index, 6) } }], "toolUse");
		case 2: {
			const result = { toolCallId: `call_${index - 1}`, toolName: "read", details: {}, isError: false, timestamp: index };
			return Object.assign({ role: "toolResult", content: [said(120)] }, result);
		}
		default:
			return reply([said(40)], "stop");
	}
}
