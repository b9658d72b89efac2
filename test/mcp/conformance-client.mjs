// The program under test of the official conformance suite: a session whose model calls the tools of the scenario.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const url = process.argv.at(-1);
const scenario = process.env.MCP_CONFORMANCE_SCENARIO;
const { toolCalls = [] } = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}");
const call = (tool, args = {}) => ({ tool: `mcp__c__${tool}`, arguments: args });
const resource = (args = {}) => ({ tool: "mcp_resource", arguments: { server: "c", ...args } });
const calls = {
	tools_call: [call("add_numbers", { a: 2, b: 3 })],
	"elicitation-sep1034-client-defaults": [call("test_client_elicitation_defaults")],
	"sse-retry": [call("test_reconnection")],
	"sep-2322-client-request-state": ["echo_state", "unrelated", "no_state", "no_result_type"].map((name) => call(`test_mrtr_${name}`)),
	"http-standard-headers": [call("test_headers"), call("my-hyphenated-tool"), resource(), resource({ uri: "file:///path/to/file%20name.txt" })],
	"http-custom-headers": toolCalls.map(({ name, arguments: args }) => call(name, args)),
	"http-invalid-tool-headers": [call("valid_tool", { region: "us", query: "x" })],
};
const messages = scenario === "http-standard-headers" ? ["go", "/mcp__c__test_prompt"] : ["go"];
const folder = mkdtempSync(join(tmpdir(), "bowline-conformance-"));
const script = (name, blocks) =>
	writeFileSync(join(folder, name), JSON.stringify({ replies: [...(blocks.length > 0 ? [{ blocks }] : []), { text: "done" }, { text: "done" }] }));
script("script.json", calls[scenario] ?? []);
const program = join(import.meta.dirname, "../../dist/bowline.js");
const servers = JSON.stringify({ c: { url } });
const start = (model) => {
	const flags = ["--mode", "rpc", "--no-session", "--hermetic", "--provider", "scripted", "--model", model, "--mcp-config", servers];
	return spawn(process.execPath, [program, ...flags], { cwd: folder, stdio: ["pipe", "pipe", "inherit"] });
};

/** Plays the messages in a session; resolves with the tools that the model was offered. */
function play(model, texts) {
	const agent = start(model);
	const waiting = [...texts];
	let tools = [];
	const send = (frame) => agent.stdin.write(`${JSON.stringify(frame)}\n`);
	const next = () => (waiting.length > 0 ? send({ type: "prompt", message: waiting.shift() }) : send({ type: "get_state", full: true }));
	createInterface({ input: agent.stdout }).on("line", (line) => {
		const frame = JSON.parse(line);
		// A person who presses return everywhere.
		if (frame.type === "extension_ui_request") send({ type: "extension_ui_response", id: frame.id, value: frame.options?.[0] ?? "" });
		if (frame.type === "tool_execution_end" && frame.isError) process.exitCode = 1;
		if (frame.type === "response" && frame.success === false) {
			process.exitCode = 1;
			agent.stdin.end();
		}
		if (frame.type === "agent_settled") next();
		if (frame.command === "get_state") {
			tools = frame.data.dumpTools;
			agent.stdin.end();
		}
	});
	next();
	return new Promise((resolve) => agent.on("exit", () => resolve(tools)));
}

const tools = await play("script.json", messages);
if (scenario === "json-schema-2020-12-preservation") {
	const { parameters } = tools.find(({ name }) => name === "mcp__c__json_schema_2020_12_tool");
	script("echo.json", [call("json_schema_echo", { schema: parameters })]);
	await play("echo.json", ["go"]);
}
rmSync(folder, { recursive: true, force: true });
