/** A temporary directory with the real tools in it. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll } from "vitest";
import type { Tool } from "../../src/agent/contracts.ts";
import { redactor } from "../../src/lib/redact.ts";
import { Shell } from "../../src/lib/shell/index.ts";
import type { ToolResult } from "../../src/protocol/messages.ts";
import { builtInTools, type ToolOptions } from "../../src/tools/index.ts";

export interface Workbench {
	cwd: string;
	options: ToolOptions;
	/** Writes a file and gives its path. */
	file(path: string, content: string | Buffer): string;
	tool(name: string): Tool;
	run(name: string, args: Record<string, unknown>, call?: { signal?: AbortSignal; onUpdate?: (partial: ToolResult) => void }): Promise<ToolResult>;
	/** The text the model gets. */
	text(name: string, args: Record<string, unknown>): Promise<string>;
}

export function workbench(changes: Partial<ToolOptions> = {}): Workbench {
	const cwd = realpathSync(mkdtempSync(join(tmpdir(), "bowline tools-")));
	const shell = new Shell({ cwd, environment: () => process.env, redact: redactor(() => []), tempDir: cwd });
	const options: ToolOptions = {
		cwd,
		shell,
		settings: { autoResizeImages: () => true },
		environment: () => process.env,
		acceptsImages: () => true,
		...changes,
	};
	const tools = builtInTools(options);
	afterAll(async () => {
		await shell.close();
		rmSync(cwd, { recursive: true, force: true });
	});
	const bench: Workbench = {
		cwd,
		options,
		file(path, content) {
			const absolute = join(cwd, path);
			mkdirSync(dirname(absolute), { recursive: true });
			writeFileSync(absolute, content);
			return absolute;
		},
		tool: (name) => tools.find((tool) => tool.name === name) as Tool,
		run(name, args, { signal = new AbortController().signal, onUpdate = () => undefined } = {}) {
			const tool = bench.tool(name);
			return tool.execute({ toolCallId: "t1", args: tool.adapt?.(args) ?? args, signal, onUpdate });
		},
		text: async (name, args) => textOf(await bench.run(name, args)),
	};
	return bench;
}

export function textOf(result: ToolResult): string {
	return result.content.map((block) => (block.type === "text" ? block.text : `<${block.mimeType}>`)).join("\n");
}
