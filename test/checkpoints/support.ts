/** A session with checkpoints, in a folder of its own, driven in this process. */
import { createSession, type SessionOptions } from "../../src/index.ts";
import { environment, folder, kept } from "../client/support.ts";

export interface Setting extends Partial<SessionOptions> {
	files?: Record<string, string>;
	replies: unknown[];
}

export const write = (path: string, content: string) => ({ tool: "write", arguments: { path, content } });
export const bash = (command: string) => ({ tool: "bash", arguments: { command } });

export async function rewindable({ files = {}, replies, settings, ...options }: Setting) {
	const cwd = folder({ ...files, ".gitignore": "script.jsonc\nignored/\nsessions/\n", "script.jsonc": JSON.stringify({ replies }) });
	return { cwd, ...(await open(cwd, { settings, ...options })) };
}

/** Another process would do the same. */
export async function open(cwd: string, { settings, ...options }: Partial<SessionOptions> = {}) {
	const agent = await kept(
		createSession({
			cwd,
			env: environment(cwd),
			sessionDir: "sessions",
			provider: "scripted",
			model: "script.jsonc",
			settings: { "checkpoints.enabled": true, ...settings },
			...options,
		}),
	);
	return { agent };
}
