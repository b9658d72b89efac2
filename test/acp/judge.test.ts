import { expect, test } from "vitest";
import { Judge } from "./judge.ts";

const update = (sessionId: string, update: object) => JSON.stringify({ jsonrpc: "2.0", method: "session/update", params: { sessionId, update } });

test("the judge finds what is wrong with a line", () => {
	const judge = new Judge();
	judge.sent({ jsonrpc: "2.0", id: 1, method: "session/new", params: {} });
	judge.received(update("s", { sessionUpdate: "usage_update", used: 1, size: 2 }));
	judge.received('{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s","configOptions":[]}}');
	judge.received(update("s", { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "hi" } }));
	judge.received(update("s", { sessionUpdate: "usage_update", used: "many", size: 2 }));
	judge.received(update("s", { sessionUpdate: "usage_update", used: 1, size: 2, ours: true }));
	judge.received('{"jsonrpc":"2.0","id":1,"result":{}}');
	judge.received('{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Internal error"}}');
	const found = judge.problems.map((problem) => problem.split(":", 1)[0]);
	expect(found.filter((problem) => !problem?.startsWith("SessionNotification"))).toEqual([
		"an update before the session's answer",
		"a turn's update outside a turn",
		"members that the protocol does not have",
		"an answer to no request, or a second one",
		"an error without words",
		"details that differ from the message",
	]);
	expect(found).toContain("SessionNotification/update");
});
