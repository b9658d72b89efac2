// The program under test of the official conformance suite: a session whose model calls the tool of the scenario.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const url = process.argv.at(-1);
const calls = {
	tools_call: { tool: "mcp__c__add_numbers", arguments: { a: 2, b: 3 } },
	"elicitation-sep1034-client-defaults": { tool: "mcp__c__test_client_elicitation_defaults", arguments: {} },
	"sse-retry": { tool: "mcp__c__test_reconnection", arguments: {} },
};
const call = calls[process.env.MCP_CONFORMANCE_SCENARIO];
const folder = mkdtempSync(join(tmpdir(), "bowline-conformance-"));
writeFileSync(join(folder, "script.json"), JSON.stringify({ replies: [...(call ? [{ blocks: [call] }] : []), { text: "done" }] }));
const program = join(import.meta.dirname, "../../dist/bowline.js");
const servers = JSON.stringify({ c: { url } });
const flags = ["--mode", "rpc", "--no-session", "--hermetic", "--provider", "scripted", "--model", "script.json", "--mcp-config", servers];
const agent = spawn(process.execPath, [program, ...flags], { cwd: folder, stdio: ["pipe", "pipe", "inherit"] });
const send = (frame) => agent.stdin.write(`${JSON.stringify(frame)}\n`);
createInterface({ input: agent.stdout }).on("line", (line) => {
	const frame = JSON.parse(line);
	// A person who presses return everywhere.
	if (frame.type === "extension_ui_request") send({ type: "extension_ui_response", id: frame.id, value: frame.options?.[0] ?? "" });
	if (frame.type === "tool_execution_end" && frame.isError) process.exitCode = 1;
	if (frame.type === "agent_settled") agent.stdin.end();
});
agent.on("exit", () => rmSync(folder, { recursive: true, force: true }));
send({ type: "prompt", message: "go" });
