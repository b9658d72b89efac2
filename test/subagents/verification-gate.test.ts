/** A gate that refuses a command refuses it wherever the model has it run: as `bash`, and as a check of isolated work. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Agent } from "../wire/support/agent.ts";

const gate = `export default (api) => {
	api.on("tool_call", ({ toolName, input }) => (toolName === "bash" && /\\brm\\b/.test(input.command) ? { block: true, reason: "No rm here." } : undefined));
};`;

test("a gate that refuses rm refuses it as bash and as a check", async () => {
	const task = {
		agent: "task",
		isolated: true,
		tasks: [{ id: "Work", description: "d", assignment: "change" }],
		verify: { commands: [{ name: "clean", command: "rm ../../../precious.txt" }] },
	};
	const replies = [
		{ when: { depth: 0, text: "go" }, blocks: [{ tool: "bash", id: "B", arguments: { command: "rm precious.txt" } }] },
		{ when: { depth: 0, text: "No rm" }, blocks: [{ tool: "task", id: "T", arguments: task }] },
		{ when: { depth: 1 }, blocks: [{ tool: "submit_result", arguments: { result: { data: "done" } } }] },
		{ when: { depth: 0 }, text: "ok", times: "always" },
	];
	const agent = new Agent({
		script: { replies },
		files: { "a.txt": "one\n", "precious.txt": "mine\n", "gate.js": gate },
		isRepository: true,
		flags: ["--set", "task.isolation.mode=worktree", "-e", "gate.js"],
	});
	onTestFinished(() => agent.dispose());
	agent.send({ id: "1", type: "prompt", message: "go" });
	await agent.event("agent_settled");
	const end = (id: string) => agent.frames.find((frame) => frame.type === "tool_execution_end" && frame.toolCallId === id);
	expect(end("B")).toMatchObject({ isError: true, result: { content: [{ text: "No rm here." }] } });
	const check = { name: "clean", exitCode: 126, outputPreview: "No rm here." };
	expect(end("T"), JSON.stringify(end("T"))).toMatchObject({
		result: { details: { results: [{ exitCode: 1, verification: { status: "failed", attempts: [{ commandResults: [check] }] } }] } },
	});
	expect(existsSync(join(agent.cwd, "precious.txt"))).toBe(true);
});
