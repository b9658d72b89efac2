/** `bowline mcp`: tries the MCP servers of this directory and says what became of each. */
import { exitCodes } from "../../lib/exit-codes.ts";
import { printable, printableLine } from "../../lib/printable.ts";
import { UsageError } from "../../lib/usage-error.ts";
import { checkMcpConfig } from "../../live/open-session.ts";
import { tryServers } from "../../live/try-mcp.ts";
import { openWorkspace } from "../../live/workspace.ts";
import type { Options } from "../../protocol/flags.ts";
import type { McpServer } from "../../protocol/mcp.ts";
import { printJson } from "../json.ts";

export async function mcpCommand([name, ...rest]: readonly string[], options: Options): Promise<void> {
	if (rest.length > 0) throw new UsageError(`Unexpected argument: ${rest[0]}. bowline mcp takes the name of one server. See bowline mcp --help.`);
	const workspace = await openWorkspace({ options: { ...options, "no-session": true }, isRpc: false });
	await checkMcpConfig(workspace);
	const { servers, problems } = await tryServers(workspace, name);
	process.exitCode = servers.some(({ status }) => status === "failed") ? exitCodes.failed : exitCodes.done;
	if (options.json) return printJson({ servers, problems });
	if (servers.length === 0) console.log("No MCP servers. Put some into mcpServers of your settings, or into .mcp.json; see docs/mcp.md.");
	for (const server of servers) for (const line of lines(server)) console.log(printableLine(line));
	for (const problem of problems) console.log(`Warning: ${printableLine(problem)}`);
}

function lines({ name, source, transport, status, protocolVersion, tools, prompts, error }: McpServer): string[] {
	const facts = [transport, source, ...(protocolVersion === undefined ? [] : [`MCP ${protocolVersion}`])].join(", ");
	const found = [`${status.padEnd(9)}  ${printableLine(name)} (${facts})`];
	const indent = " ".repeat(11);
	if (error !== undefined)
		found.push(
			...printable(error)
				.split("\n")
				.map((line) => indent + line),
		);
	if (status === "untrusted") found.push(`${indent}This project is not trusted: pass --approve, or add its path to trust.projects.`);
	for (const [what, names] of [
		["tools", tools],
		["prompts", prompts],
	] as const)
		if (names.length > 0) found.push(`${indent}${what}: ${printableLine(names.join(", "))}`);
	return found;
}
