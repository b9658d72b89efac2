/** Starts every MCP server that a session here would have, looks at what it offers, and ends it. For people who set servers up. */
import type { McpServer } from "../protocol/mcp.ts";
import { readJsoncText } from "../settings/settings.ts";
import { makeRegistry } from "./mcp-servers.ts";
import { Models } from "./models.ts";
import { Secrets } from "./secrets.ts";
import { Shells } from "./shells.ts";
import type { Workspace } from "./workspace.ts";

export interface TriedServers {
	servers: McpServer[];
	/** What is wrong with entries and tools. */
	problems: string[];
}

/** As long as the slowest server may take to start. */
const patienceMs = 2 ** 31 - 1;

export async function tryServers(workspace: Workspace, only?: string): Promise<TriedServers> {
	const problems: string[] = [];
	const models = new Models(workspace, {}, () => undefined);
	const secrets = new Secrets(() => models.registry(), models.knownSecrets);
	const shells = new Shells(workspace, secrets, () => ({}));
	const registry = await makeRegistry(
		{
			workspace,
			front: { hasUI: false },
			shells,
			secrets,
			doors: { put: () => undefined },
			emit: () => undefined,
			warn: (text) => void problems.push(text),
			readJsonc: readJsoncText,
			taken: () => [],
		},
		{ waitMs: patienceMs, ...(only !== undefined && { only }) },
	);
	try {
		await registry.prepare(new AbortController().signal);
		const servers = registry.describe();
		const failed = servers.flatMap(({ error }) => error ?? []);
		return { servers, problems: problems.filter((text) => !failed.some((error) => text.includes(error))) };
	} finally {
		await registry.close();
		await models.close();
	}
}
