/** The conversation at the beginning of the protocol page is what the program says. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { conversation, conversationText, more, script } from "../../scripts/generate/conversation.ts";
import { Agent } from "../wire/support/agent.ts";

/** Values that differ each time. */
const changing = new Set(["timestamp", "durationMs", "cwd", "version", "capabilities"]);

/** The part of a frame that the page shows; the rest must be as shown. */
function shown(actual: unknown, expected: unknown): unknown {
	if (Array.isArray(expected) && Array.isArray(actual)) return actual.map((item, index) => shown(item, expected[index]));
	if (typeof expected !== "object" || expected === null || typeof actual !== "object" || actual === null) return actual;
	const members = Object.keys(expected).filter((name) => name !== more);
	return Object.fromEntries(
		members.map((name) => [name, shown((actual as Record<string, unknown>)[name], (expected as Record<string, unknown>)[name])]),
	);
}

test("the page's conversation is what the program says, frame by frame", async () => {
	const page = readFileSync(join(import.meta.dirname, "../../docs/protocol.md"), "utf8");
	expect(page).toContain(conversationText());
	expect(page).toContain(script);
	const agent = new Agent({ flags: ["--no-session", "--updates", "delta"], script: JSON.parse(script) });
	let callId = "";
	try {
		for (const step of conversation) {
			if ("host" in step) {
				agent.send(Object.hasOwn(step.host, "partialResult") || Object.hasOwn(step.host, "result") ? { ...step.host, id: callId } : step.host);
				continue;
			}
			const frame = await agent.next();
			if (frame?.type === "host_tool_call") callId = String(frame.id);
			const { id: _, ...expected } = step.agent as Record<string, unknown>;
			const wanted = frame?.type === "host_tool_call" ? expected : step.agent;
			expect(steady(shown(frame, wanted))).toEqual(steady(shown(wanted, wanted)));
		}
	} finally {
		await agent.dispose();
	}
});

function steady(value: unknown): unknown {
	return JSON.parse(JSON.stringify(value, (name, member) => (changing.has(name) ? "changes" : member)));
}
