/** Bedrock through the whole program: a real process whose requests are signed, a real tool, and no secret anywhere. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Agent } from "../../wire/support/agent.ts";
import { type Answer, Loopback } from "../loopback.ts";
import { event, rightSignature } from "./amazon.ts";

const secret = "aws-secret-0123456789abcdef";
const session = "aws-session-0123456789abcdef";

let server: Loopback;
let agent: Agent;
beforeEach(async () => {
	server = await Loopback.start();
});
afterEach(async () => {
	await agent.dispose();
	await server.stop();
});

/** Answers when the signature is right. */
const says = (...events: Buffer[]): Answer => {
	return (response, received) => {
		const seen = rightSignature(received, secret);
		const isRight = seen !== undefined && seen.stated === seen.right && received.headers["x-amz-security-token"] === session;
		response.writeHead(isRight ? 200 : 403, { "content-type": isRight ? "application/vnd.amazon.eventstream" : "application/json" });
		response.end(isRight ? Buffer.concat(events) : '{"message":"wrong signature"}');
	};
};

const usage = { usage: { inputTokens: 5, outputTokens: 7, totalTokens: 12 } };

test("a tool call and another reply, with credentials that a process prints", async () => {
	const text = (piece: string) => event("contentBlockDelta", { contentBlockIndex: 0, delta: { text: piece } });
	server.answer(
		says(
			event("messageStart", { role: "assistant" }),
			event("contentBlockStart", { contentBlockIndex: 0, start: { toolUse: { toolUseId: "t1", name: "bash" } } }),
			event("contentBlockDelta", { contentBlockIndex: 0, delta: { toolUse: { input: '{"command":"cat home/.aws/keys.json"}' } } }),
			event("contentBlockStop", { contentBlockIndex: 0 }),
			event("messageStop", { stopReason: "tool_use" }),
			event("metadata", usage),
		),
		says(
			event("messageStart", { role: "assistant" }),
			text("Done, "),
			text("then."),
			event("messageStop", { stopReason: "end_turn" }),
			event("metadata", usage),
		),
	);
	const printed = { Version: 1, AccessKeyId: "AKIDEXAMPLE", SecretAccessKey: secret, SessionToken: session };
	agent = new Agent({
		flags: ["--model", "amazon-bedrock/us.anthropic.claude-opus-4-7", "--session-dir", "sessions"],
		env: {
			AWS_CONFIG_FILE: "home/.aws/config",
			AWS_PROFILE: "work",
			AWS_ENDPOINT_URL_BEDROCK_RUNTIME: server.url,
			AWS_EC2_METADATA_DISABLED: "true",
		},
		files: {
			"home/.aws/config": "[profile work]\nregion = eu-west-1\ncredential_process = cat home/.aws/keys.json\n",
			"home/.aws/keys.json": JSON.stringify(printed),
		},
	});
	agent.send({ id: "1", type: "prompt", message: "look" });
	const end = await agent.event("agent_end");
	expect(end.messages).toMatchObject([
		{ role: "user" },
		{ role: "assistant", stopReason: "toolUse", content: [{ type: "toolCall", id: "t1", name: "bash" }] },
		{ role: "toolResult", content: [{ text: expect.stringContaining("[redacted]") }] },
		{ role: "assistant", stopReason: "stop", content: [{ text: "Done, then." }], usage: { input: 5, output: 7, totalTokens: 12 } },
	]);
	expect(server.received[1]?.body).toContain('"toolResult":{"toolUseId":"t1"');
	const folder = join(agent.cwd, "sessions");
	const files = readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8"));
	const everything = [JSON.stringify(agent.frames), agent.stderr, ...files, ...server.received.map(({ body }) => body)].join("\n");
	expect(everything).not.toContain(secret);
	expect(everything).not.toContain(session);
});
