/**
 * A host with a tool of its own, in TypeScript, without the client. The model asks the host for the weather, the host answers, and the model
 * passes the answer on.
 *
 * Run it in a clone after `npm install`: npx tsx examples/hosts/with-tools.ts (Node 22.18 and newer: node …)
 * The variable BOWLINE names another program than dist/bowline.js.
 */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

interface Frame {
	type: string;
	id?: string;
	toolName?: string;
	arguments?: Record<string, unknown>;
	assistantMessageEvent?: { type: string; delta?: string };
}

// A script takes the place of the model, so the example needs no key. For a real model, remove --provider and --model.
const flags = ["--mode", "rpc", "--no-session", "--updates", "delta", "--provider", "scripted", "--model", "examples/scripts/weather.jsonc"];
const agent = spawn(process.execPath, [process.env.BOWLINE ?? "dist/bowline.js", ...flags], { stdio: ["pipe", "pipe", "inherit"] });
const send = (frame: object) => agent.stdin.write(`${JSON.stringify(frame)}\n`);

const weather = {
	name: "weather",
	description: "The weather in a city, now.",
	parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};

for await (const line of createInterface({ input: agent.stdout })) {
	const frame = JSON.parse(line) as Frame;
	switch (frame.type) {
		case "ready":
			send({ id: "tools", type: "set_host_tools", tools: [weather] });
			send({ id: "ask", type: "prompt", message: "Do I need an umbrella in Bergen?" });
			break;
		case "host_tool_call":
			send({ type: "host_tool_update", id: frame.id, partialResult: { content: [{ type: "text", text: "looking out of the window" }] } });
			send({ type: "host_tool_result", id: frame.id, result: { content: [{ type: "text", text: `It rains in ${frame.arguments?.city}.` }] } });
			break;
		case "message_update":
			if (frame.assistantMessageEvent?.type === "text_delta") process.stdout.write(frame.assistantMessageEvent.delta ?? "");
			break;
		case "agent_settled":
			process.stdout.write("\n");
			agent.stdin.end();
			break;
	}
}
