/** Blocks of kinds that this version does not know: session files of other programs and of newer versions hold them. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ModelMessage } from "../../src/agent/contracts.ts";
import { noUsage } from "../../src/models/builder.ts";
import { mergeCompat } from "../../src/models/compat.ts";
import { handoff } from "../../src/models/handoff.ts";
import { wire } from "../../src/models/json.ts";
import { apis, loadApi } from "../../src/models/routes.ts";
import { Agent } from "../wire/support/agent.ts";
import { Loopback, stream } from "./loopback.ts";
import { call, model } from "./support.ts";
import { type ApiKind, askedBy, spoken } from "./wire.ts";

const strange = { type: "hologram", scene: { depth: 3 } };
const text = (words: string) => ({ type: "text", text: words });
const toolCall = { type: "toolCall", id: "call_1", name: "read", arguments: { path: "a" } };

/** A conversation with such a block in each place, alone and next to others. */
function conversation({ provider = "other", api = "other", id = "m" } = {}): object[] {
	const reply = (content: object[], timestamp: number) => {
		return { role: "assistant", content, provider, api, model: id, usage: noUsage, stopReason: "stop", timestamp };
	};
	const result = (content: object[], timestamp: number) => {
		return { role: "toolResult", toolCallId: "call_1", toolName: "read", isError: false, content, timestamp };
	};
	return [
		{ role: "user", content: [text("look"), strange], timestamp: 1 },
		reply([strange, text("seen"), toolCall], 2),
		result([strange, text("read")], 3),
		reply([strange], 4),
		{ role: "user", content: [strange], timestamp: 5 },
		reply([{ ...toolCall, id: "call_1" }], 6),
		result([strange], 7),
		{ role: "user", content: "and?", timestamp: 8 },
	];
}

describe.each(Object.keys(apis))("a request of %s", (api) => {
	test.each(["its own model", "another model"])("leaves them out of a conversation of %s, and keeps all else", async (whose) => {
		const asked = model({ api, provider: "acme", id: "claude-opus-4-7" });
		const module = await loadApi(api);
		if (!module) throw new Error(api);
		const messages = conversation(whose === "its own model" ? { provider: "acme", api, id: asked.id } : {}) as ModelMessage[];
		const target = { provider: asked.provider, api, model: asked.id, acceptsImages: true, callId: module.callId };
		const { body } = module.api.request(call(asked, handoff(messages, target), { compat: mergeCompat() }));
		const sent = wire(body);
		expect(sent).not.toMatch(/hologram|scene|undefined/);
		for (const words of ["look", "seen", "read", "and?"]) expect(sent).toContain(words);
		// A prompt and a result that were nothing else are not sent as if they were empty.
		expect(sent.match(/content left out/g)).toHaveLength(2);
		expect(messages).toEqual(conversation(whose === "its own model" ? { provider: "acme", api, id: asked.id } : {}));
	});
});

const stored = [
	{ type: "session", version: 3, id: "11111111-1111-4111-8111-111111111111", timestamp: "2026-11-01T10:00:00.000Z", cwd: "/" },
	...conversation().map((message, index) => ({
		type: "message",
		id: `m${index}`,
		parentId: index === 0 ? null : `m${index - 1}`,
		timestamp: "2026-11-01T10:00:00.000Z",
		message,
	})),
].map((entry) => JSON.stringify(entry));

describe.each(["anthropic", "chat", "responses", "google", "scripted"] as const)("a session with them goes on with %s", (api) => {
	let server: Loopback;
	let agent: Agent;
	beforeEach(async () => {
		server = await Loopback.start();
		if (api !== "scripted") server.answer(stream(Buffer.from(spoken(api, { text: ["ok"] }))));
	});
	afterEach(async () => {
		await agent.dispose();
		await server.stop();
	});

	function start(): void {
		const { flags, env } =
			api === "scripted" ? { flags: ["--provider", "scripted", "--model", "echo"], env: {} } : askedBy(api as ApiKind, server.url, "k-1");
		const set = ["--set", "compaction.keepRecentTokens=1"];
		agent = new Agent({ flags: [...flags, ...set, "--session", "kept.jsonl"], env, files: { "kept.jsonl": `${stored.join("\n")}\n` } });
	}

	async function ask(frame: { id: string; type: string } & Record<string, unknown>): Promise<Record<string, unknown>> {
		agent.send(frame);
		const answer = await agent.response(frame.id);
		expect(answer).toMatchObject({ success: true });
		return answer as Record<string, unknown>;
	}

	test("each prompt is answered, one warning says it, and the file, the messages, the page and a fork keep them", async () => {
		start();
		for (const id of ["1", "2"]) {
			agent.send({ id, type: "prompt", message: `go on ${id}` });
			const end = await agent.until((frame) => frame.type === "agent_end");
			expect(end.messages).toMatchObject([{}, { stopReason: "stop" }]);
			await agent.until((frame) => frame.type === "agent_settled");
		}
		expect(agent.stderr.match(/The conversation holds content of a kind that cannot be sent to a model \("hologram"\)/g)).toHaveLength(1);
		const { data } = await ask({ id: "3", type: "get_messages" });
		expect(JSON.stringify(data).match(/"hologram"/g)).toHaveLength(6);
		expect(readFileSync(join(agent.cwd, "kept.jsonl"), "utf8").split("\n").slice(0, stored.length)).toEqual(stored);
		await ask({ id: "4", type: "get_session_stats" });
		await ask({ id: "5", type: "export_html", outputPath: "page.html" });
		expect(readFileSync(join(agent.cwd, "page.html"), "utf8")).toContain("hologram");
		await ask({ id: "6", type: "compact" });
		agent.send({ id: "7", type: "prompt", message: "after it" });
		expect((await agent.until((frame) => frame.type === "agent_end")).messages).toMatchObject([{}, { stopReason: "stop" }]);
		await agent.until((frame) => frame.type === "agent_settled");
		await ask({ id: "8", type: "fork", entryId: "m7" });
		const state = (await ask({ id: "9", type: "get_state" })).data as { sessionFile: string };
		const fork = state.sessionFile;
		expect(fork.endsWith("kept.jsonl")).toBe(false);
		agent.send({ id: "10", type: "prompt", message: "in the fork" });
		expect((await agent.until((frame) => frame.type === "agent_end")).messages).toMatchObject([{}, { stopReason: "stop" }]);
		expect(existsSync(fork) && readFileSync(fork, "utf8").match(/"hologram"/g)).toHaveLength(6);
		expect(server.received.map(({ body }) => body).join("\n")).not.toContain("hologram");
	});
});
