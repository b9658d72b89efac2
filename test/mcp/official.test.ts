/** The official servers from npm. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Servers, textOf } from "./support.ts";

const modules = join(import.meta.dirname, "../../node_modules/@modelcontextprotocol");
const server = (name: string, ...args: string[]) => ({ command: process.execPath, args: [join(modules, name, "dist/index.js"), ...args] });

test("files within the root, and everything that the demonstration server does", { timeout: 30_000 }, async () => {
	const asked: unknown[] = [];
	await using servers = new Servers(
		// The filesystem server takes the roots that we offer.
		{ files: server("server-filesystem", "/nowhere-at-all", "."), every: server("server-everything") },
		{
			elicit: async ({ params }) => {
				asked.push(params.message);
				return { action: "decline" };
			},
		},
	);
	writeFileSync(join(servers.folder, "note.txt"), "remember");
	await servers.prepare();
	expect(servers.status("files"), servers.warnings.join()).toMatchObject({ status: "ready", protocolVersion: "2025-11-25" });
	expect(servers.status("every"), servers.warnings.join()).toMatchObject({ status: "ready", protocolVersion: "2025-11-25" });
	expect(await servers.say("mcp__files__read_text_file", { path: join(servers.folder, "note.txt") })).toBe("remember");
	expect(await servers.failure("mcp__files__read_text_file", { path: "/etc/passwd" })).toContain("Access denied");
	expect(await servers.say("mcp__every__echo", { message: "hi" })).toContain("hi");
	const updates: string[] = [];
	const operation = servers.registry.tools().find(({ name }) => /long.?running/i.test(name))?.name ?? "";
	const long = await servers.call(operation, { duration: 0.5, steps: 2 }, undefined, (partial) => updates.push(textOf(partial)));
	expect(textOf(long)).toMatch(/complete/i);
	expect(updates.length).toBeGreaterThan(0);
	const image = servers.registry.tools().find(({ name }) => /tiny.?image/i.test(name))?.name ?? "";
	expect((await servers.call(image)).content.some(({ type }) => type === "image")).toBe(true);
	expect(await servers.say("mcp_resource", { server: "every" })).toContain("://");
	const elicitation = servers.registry.tools().find(({ name }) => /elicitation/i.test(name) && !/async|url/i.test(name))?.name ?? "";
	await servers.call(elicitation);
	expect(asked).toHaveLength(1);
	expect(servers.registry.commands().length).toBeGreaterThan(0);
	expect(servers.registry.instructions()).toContain("## every");
});
