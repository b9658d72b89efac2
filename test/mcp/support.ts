/** The servers of a session, without the session: real processes, real connections. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Tool } from "../../src/agent/contracts.ts";
import { HttpClient } from "../../src/lib/http/client.ts";
import { redactor } from "../../src/lib/redact.ts";
import { Shell } from "../../src/lib/shell/index.ts";
import { readEntries } from "../../src/mcp/config.ts";
import { Registry, type RegistryParts } from "../../src/mcp/registry.ts";
import type { Text } from "../../src/protocol/content.ts";
import type { EventOf } from "../../src/protocol/events.ts";
import type { ToolResult } from "../../src/protocol/messages.ts";

const script = join(import.meta.dirname, "servers/small.mjs");

/** An entry for the small server with these habits. */
export const small = (...habits: string[]) => ({ command: process.execPath, args: [script, ...habits] });

export class Servers {
	readonly folder = mkdtempSync(join(tmpdir(), "bowline-mcp-test-"));
	readonly registry: Registry;
	readonly shell: Shell;
	readonly events: EventOf<"mcp_server_update">[] = [];
	readonly warnings: string[] = [];
	readonly secrets: string[] = [];

	constructor(servers: object, more: Partial<RegistryParts> = {}) {
		const { folder, secrets } = this;
		const redact = redactor(() => secrets);
		this.shell = new Shell({ cwd: folder, environment: () => process.env, redact, tempDir: folder });
		const http = new HttpClient({ env: {} });
		const env = { PATH: process.env.PATH, HOME: process.env.HOME, SECRET_KEY: "do-not-pass-this-on", ...more.env };
		this.registry = new Registry({
			entries: readEntries(servers, { source: "user", directory: folder }).entries,
			untrusted: [],
			version: "0.0.0",
			cwd: folder,
			home: "/home/someone",
			allowedVariables: [],
			startProgram: (file, args, cwd, environment) => this.shell.start(file, args, cwd, { environment, stdin: "pipe", isPlain: true }),
			http: () => http,
			logDirectory: join(folder, "logs"),
			redactor: redact,
			addSecrets: (values) => void secrets.push(...values),
			roots: () => [{ uri: pathToFileURL(folder).href, name: "folder" }],
			emit: (event) => void this.events.push(event),
			warn: (text) => void this.warnings.push(text),
			waitMs: 10_000,
			taken: () => [],
			offered: [],
			hasInstructions: true,
			tempDir: folder,
			redact: redact.text,
			closePrograms: async () => {
				await Promise.all([this.shell.close(), http.close()]);
			},
			...more,
			env,
		});
	}

	/** Starts them as a prompt does. */
	async prepare(): Promise<this> {
		await this.registry.prepare(new AbortController().signal);
		return this;
	}

	tool(name: string): Tool {
		const found = this.registry.tools().find((tool) => tool.name === name);
		if (!found) throw new Error(`there is no tool ${name}: ${this.registry.tools().map((tool) => tool.name)} ${this.warnings}`);
		return found;
	}

	call(
		name: string,
		args: Record<string, unknown> = {},
		signal = new AbortController().signal,
		onUpdate: (partial: ToolResult) => void = () => undefined,
	) {
		return this.tool(name).execute({ toolCallId: "c", args, signal, onUpdate });
	}

	/** The text of a result. */
	async say(name: string, args: Record<string, unknown> = {}): Promise<string> {
		return textOf(await this.call(name, args));
	}

	/** What a call fails with. */
	async failure(name: string, args: Record<string, unknown> = {}): Promise<string> {
		return this.call(name, args).then(
			(result) => `no failure: ${textOf(result)}`,
			(error) => (error.result ? textOf(error.result) : error.message),
		);
	}

	status(name: string) {
		return this.registry.describe().find((server) => server.name === name);
	}

	/** Everything that a server logged. */
	log(): string {
		const directory = join(this.folder, "logs");
		return readdirSync(directory)
			.map((name) => readFileSync(join(directory, name), "utf8"))
			.join("");
	}

	async close(): Promise<void> {
		await this.registry.close();
		rmSync(this.folder, { recursive: true, force: true });
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await this.close();
	}
}

export const textOf = ({ content }: Pick<ToolResult, "content">) =>
	content
		.filter((block): block is Text => block.type === "text")
		.map(({ text }) => text)
		.join("\n");

/** Whether a process is there and not a zombie. */
export function isRunning(pid: number): boolean {
	try {
		return !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
	} catch {
		return false;
	}
}
