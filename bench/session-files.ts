/** Session files to measure with: generated, of messages of about 400 bytes. */
import { writeFileSync } from "node:fs";

export const idOf = (index: number) => (0x10000000 + index * 7919).toString(16);

/** A session of so many messages, prompts and replies in turn. */
export function writeSession(path: string, count: number, model = { api: "scripted", provider: "scripted", model: "echo" }): void {
	const timestamp = "2026-01-01T00:00:00.000Z";
	const words = "the session file grows by one line for each message and is never written again while the agent works on it".split(" ");
	const text = (index: number, length: number) => Array.from({ length }, (_, at) => words[(index * 5 + at * 3) % words.length]).join(" ");
	const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
	const usage = { input: 100, output: 20, cacheRead: 0, cacheWrite: 0, totalTokens: 120, cost };
	const lines: object[] = [{ type: "session", version: 3, id: "bench", timestamp, cwd: "/" }];
	for (let index = 0; index < count; index++) {
		const block = (length: number) => [{ type: "text", text: text(index, length) }];
		const message =
			index % 2 === 0
				? { role: "user", content: block(42), attachments: [], timestamp: index }
				: {
						role: "assistant",
						content: block(12),
						...model,
						usage,
						stopReason: "stop",
						timestamp: index,
					};
		lines.push({ type: "message", id: idOf(index), parentId: index ? idOf(index - 1) : null, timestamp, message });
	}
	writeFileSync(path, `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`);
}
