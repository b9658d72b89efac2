/** A folder with a small project, and agents that work in it one after the other. */
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Agent } from "../../test/wire/support/agent.ts";
import type { Recorder } from "./recorder.ts";

/** Its prices are those of the cache model, and its window holds 200,000 tokens. */
export const model = { api: "anthropic-messages", provider: "anthropic", model: "claude-sonnet-4-5" };

export interface PlaceOptions {
	/** Empty. */
	folder: string;
	/** The `bowline.js` that is measured. */
	program?: string;
	recorder: Recorder;
	files: Readonly<Record<string, string | Buffer>>;
	settings?: object;
}

export class Place {
	readonly cwd: string;
	#options: PlaceOptions;
	#agents: Agent[] = [];

	constructor(options: PlaceOptions) {
		this.#options = options;
		this.cwd = join(options.folder, "project");
		mkdirSync(this.cwd);
		for (const [name, content] of Object.entries({ "AGENTS.md": "# Rules\n\nUse tabs.\n", ...options.files }))
			writeFileSync(this.path(name), content);
		const git = (...args: string[]) => execFileSync("git", ["-c", "user.name=x", "-c", "user.email=x@localhost", ...args], { cwd: this.cwd });
		git("init", "--quiet");
		git("add", "--all");
		git("commit", "--quiet", "--message", "Beginning");
	}

	path(name: string): string {
		return join(this.cwd, name);
	}

	/** Starts another agent. Sessions and what belongs to the user are the same for all. */
	agent(...flags: string[]): Agent {
		const { folder, program, recorder, settings = {} } = this.#options;
		const plain = ["--provider", model.provider, "--model", model.model, "--session-dir", join(folder, "sessions")];
		const env = {
			ANTHROPIC_BASE_URL: recorder.url,
			ANTHROPIC_API_KEY: "key-0123456789",
			BOWLINE_DIR: join(folder, "user"),
			BOWLINE_SETTINGS: JSON.stringify(settings),
		};
		const agent = new Agent({ cwd: this.cwd, program, env, flags: [...plain, ...flags] });
		this.#agents.push(agent);
		return agent;
	}

	async close(): Promise<void> {
		await Promise.all(this.#agents.map((agent) => agent.dispose()));
	}
}

/** Sends a command and returns the data of its answer. */
export async function ask(agent: Agent, frame: { type: string; [key: string]: unknown }): Promise<Record<string, unknown>> {
	agent.send({ id: frame.type, ...frame });
	const { success, error, data } = await agent.response(frame.type);
	if (!success) throw new Error(`${frame.type}: ${error}`);
	return (data ?? {}) as Record<string, unknown>;
}

/** Sends a prompt and waits for its end. `meanwhile` happens in between. */
export async function prompt(agent: Agent, message: string, meanwhile: () => Promise<void> = async () => undefined): Promise<void> {
	agent.send({ id: "prompt", type: "prompt", message });
	await meanwhile();
	await agent.event("agent_settled");
	const last = agent.frames.findLast(({ type, message }) => type === "message_end" && (message as { role?: string }).role === "assistant");
	const { stopReason, errorMessage } = (last?.message ?? {}) as { stopReason?: string; errorMessage?: string };
	if (stopReason !== "stop") throw new Error(`${message}: the run ended with ${stopReason}: ${errorMessage}`);
}
