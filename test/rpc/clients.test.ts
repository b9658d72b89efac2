/** Small clients that follow the rules of those that were shipped with pi, omp, xcsh and pisces, each driving a whole session. */
import { describe, expect, test } from "vitest";
import type { Client } from "./clients/client.ts";
import { FamilyClient, Omp18Client } from "./clients/family.ts";
import { EmacsClient, Pi15Client, PiClient } from "./clients/pi.ts";
import type { Program } from "./clients/process.ts";
import { PythonClient } from "./clients/python.ts";
import { program, wholeSession } from "./clients/session.ts";

async function withClient<C extends Client>(Kind: new (program: Program) => C, flags: string[], use: (client: C) => Promise<void>): Promise<void> {
	const client = new Kind(program(flags));
	try {
		await use(client);
	} finally {
		await client.agent.dispose();
	}
}

const timeout = 120_000;
const drives = (name: string, Kind: new (program: Program) => Client, ...flags: string[]) =>
	test(`${name} drives a whole session with ${flags.join(" ") || "no flag"}`, { timeout }, () => withClient(Kind, flags, wholeSession));

describe("pi", () => {
	drives("the client of 0.47", PiClient);
	drives("the client of 0.47", PiClient, "--dialect", "strict");
	drives("the client of 0.47", PiClient, "--dialect", "pi");
	drives("the client of 1.5", Pi15Client);
	drives("the client of 1.5", Pi15Client, "--dialect", "pi");
	drives("Emacs", EmacsClient);

	test("Emacs sees everything with --dialect pi --updates full", { timeout }, () =>
		withClient(EmacsClient, ["--dialect", "pi", "--updates", "full"], async (client) => {
			await wholeSession(client);
			expect(client.compactions).toEqual(["compaction_start", "compaction_end", "compaction_start", "compaction_end"]);
		}),
	);

	test("the client of 1.5 hears a refusal as the answer", { timeout }, () =>
		withClient(Pi15Client, ["--dialect", "pi"], async (client) => {
			const streaming = client.next("a delta", ({ type }) => type === "message_update");
			await client.request("prompt", { message: "work long" });
			await streaming;
			await expect(client.request("prompt", { message: "no way to queue" })).rejects.toThrow("Agent is already processing.");
			expect(await client.request("prompt", { message: "later", streamingBehavior: "followUp" })).toEqual({ disposition: "queued" });
			await expect(client.request("fly")).rejects.toThrow("Unknown command: fly");
		}),
	);
});

describe("omp, xcsh, pisces", () => {
	drives("the TypeScript client", FamilyClient);
	drives("the TypeScript client", FamilyClient, "--interrupt-mode", "wait");
	drives("the TypeScript client", FamilyClient, "--dialect", "omp");
	drives("the client of omp 18", Omp18Client);
	drives("the client of omp 18", Omp18Client, "--dialect", "omp");
	drives("the Python client", PythonClient);
	drives("the Python client", PythonClient, "--dialect", "omp");

	test("the client of omp 18 gets long frames in parts, and the reason of a failure", { timeout }, () =>
		withClient(Omp18Client, ["--dialect", "omp"], async (client) => {
			await client.start();
			expect(client.protocolVersion).toBe(2);
			await client.promptAndWait(`keep walking ${"ß".repeat(700_000)}`);
			expect(client.chunkedFrames).toBeGreaterThan(0);
			expect(client.faults).toEqual([]);
			await client.request("set_auto_retry", { enabled: false });
			await expect(client.promptAndWait("try hard")).rejects.toThrow("529");
		}),
	);

	test("the Python client finds the failures that have no id, and those of a busy agent", { timeout }, () =>
		withClient(PythonClient, [], async (client) => {
			await client.start();
			await expect(client.request("fly")).rejects.toThrow("Unknown command: fly");
			const streaming = client.next("a delta", ({ type }) => type === "message_update");
			await client.request("prompt", { message: "work long" });
			await streaming;
			await expect(client.request("prompt", { message: "no way to queue" })).rejects.toThrow("Agent is already processing.");
			expect(client.lateFailures).toEqual([]);
			expect(client.faults).toEqual([]);
		}),
	);
});
