/** A provider on this machine and a directory for a registry of models, of one test. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ModelRegistry, type RegistryOptions } from "../../src/models/registry.ts";
import { Loopback } from "./loopback.ts";
import { defaultSetting } from "./support.ts";

export class RegistryBench {
	readonly directory = mkdtempSync(join(tmpdir(), "bowline-models-"));
	readonly server: Loopback;
	#registries: ModelRegistry[] = [];

	private constructor(server: Loopback) {
		this.server = server;
	}

	static async start(): Promise<RegistryBench> {
		return new RegistryBench(await Loopback.start());
	}

	/** A registry whose user directory is the one of this bench. */
	registry(options: Partial<RegistryOptions>): ModelRegistry {
		const registry = new ModelRegistry({ env: {}, userDir: this.directory, setting: defaultSetting, now: () => 1000, ...options });
		this.#registries.push(registry);
		return registry;
	}

	async close(): Promise<void> {
		for (const registry of this.#registries) await registry.close();
		await this.server.stop();
		rmSync(this.directory, { recursive: true });
	}
}
