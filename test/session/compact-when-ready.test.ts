import { expect, test } from "vitest";
import type { ModelProblem } from "../../src/agent/models.ts";
import { compactWhenReady } from "../../src/session/compact-when-ready.ts";
import { kernel } from "./kernel.ts";

test.each<[ModelProblem, string]>([
	[{ problem: "No API key found for scripted. Set its key.", code: "no_key" }, "No API key for scripted"],
	[{ problem: "No API key found for scripted. Describe it.", code: "unknown_provider" }, "No API key for scripted"],
	[{ problem: "No address for scripted: set PLACE.", code: "no_address" }, "No address for scripted: set PLACE."],
	[{ problem: "The script is broken" }, "The script is broken"],
])("a compaction whose model cannot be asked says why: %o", async (problem, text) => {
	const { session } = kernel({ stream: async () => undefined, prepare: async () => problem });
	await expect(compactWhenReady(session, async () => "compacted")).rejects.toMatchObject({ message: text });
});
