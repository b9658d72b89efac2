/** `bowline mcp`, for people who set servers up. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { program } from "../wire/support/agent.ts";
import { small } from "./support.ts";

test("it tries each server, says what became of it, and leaves nothing", () => {
	const folder = mkdtempSync(join(tmpdir(), "bowline-mcp-command-"));
	const { NODE_EXTRA_CA_CERTS: _, ...inherited } = process.env;
	const env = { ...inherited, BOWLINE_DIR: join(folder, "user") };
	const bowline = (...flags: string[]) => spawnSync(process.execPath, [program, "mcp", ...flags], { cwd: folder, env, encoding: "utf8" });
	try {
		writeFileSync(
			join(folder, ".mcp.json"),
			JSON.stringify({ mcpServers: { good: { ...small("badTools"), tools: ["echo", "far"] }, gone: { command: "no-such" }, bad: {} } }),
		);
		const all = bowline("--approve");
		expect([all.status, all.stderr, all.stdout]).toEqual([
			1,
			"",
			`ready      good (stdio, project, MCP 2025-11-25)
           tools: mcp__good__echo
           prompts: mcp__good__greet
failed     gone (stdio, project)
           MCP server "gone" could not be started: no-such was not found.
failed     bad (stdio, project)
           MCP server "bad" needs command or url
Warning: MCP server "good": the tool far is left out: its inputSchema refers to http://localhost:9/schema, which is not fetched.
`,
		]);
		const untrusted = JSON.parse(bowline("good", "--json").stdout);
		expect(untrusted.servers).toMatchObject([{ name: "good", status: "untrusted" }]);
		expect(bowline("goood").stderr).toContain('There is no MCP server "goood" here. Did you mean good? bowline mcp lists them.');
		expect(bowline("nobody")).toMatchObject({ status: 2, stderr: expect.stringContaining('There is no MCP server "nobody" here.') });
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
});
