/** Clients of real processes in folders of their own, ended and removed after each test. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Client, type ClientOptions, startClient } from "../../src/client/index.ts";
import { later } from "../later.ts";

export function folder(files: Record<string, string> = {}): string {
	const path = mkdtempSync(join(tmpdir(), "bowline-client-"));
	later(() => rmSync(path, { recursive: true, force: true }));
	for (const [name, content] of Object.entries(files)) {
		mkdirSync(dirname(join(path, name)), { recursive: true });
		writeFileSync(join(path, name), content);
	}
	return path;
}

/** The environment of a program that shall find nothing of ours. */
export function environment(directory: string): NodeJS.ProcessEnv {
	const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;
	return { ...env, BOWLINE_DIR: join(directory, ".user") };
}

export interface Setting extends ClientOptions {
	/** The model's output: replies of a script. */
	replies?: unknown[];
	files?: Record<string, string>;
	/** Sessions are written to disk. */
	isStored?: boolean;
}

/** Our own program with a scripted model. */
export async function start({ replies, files = {}, args = [], isStored, ...options }: Setting = {}): Promise<Client> {
	const cwd = folder(replies ? { ...files, "script.jsonc": JSON.stringify({ replies }) } : files);
	const model = replies ? ["--provider", "scripted", "--model", "script.jsonc"] : [];
	const flags = [...(isStored ? [] : ["--no-session"]), "--set", "retry.baseDelayMs=20", ...model, ...args];
	return kept(startClient({ cwd, env: environment(cwd), ...options, args: flags }));
}

/** Another agent: a few lines of JavaScript that have `say(frame)` and `hear(listener)`. */
export async function foreign(program: string, options: ClientOptions = {}): Promise<Client> {
	const cwd = folder({
		"agent.cjs": `
			const say = (frame) => process.stdout.write(JSON.stringify(frame) + "\\n");
			const hear = (listener) => require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => listener(JSON.parse(line)));
			${program}`,
	});
	return kept(startClient({ command: [process.execPath, join(cwd, "agent.cjs")], cwd, ...options }));
}

export async function kept(starting: Promise<Client>): Promise<Client> {
	const client = await starting;
	later(() => client.close());
	return client;
}
