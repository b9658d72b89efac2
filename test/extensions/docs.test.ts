import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventKinds } from "../../src/extensions/events.ts";
import { load, text } from "./harness.ts";

const page = readFileSync(join(import.meta.dirname, "../../docs/extensions.md"), "utf8");
const blocks = [...page.matchAll(/^```ts\n(.*?)^```/gms)].map((found) => found[1] as string);

test("every example of the page loads and does what it says", async () => {
	const { host, calls, errors } = await load(Object.fromEntries(blocks.map((block, index) => [`${index}.ts`, block])));
	expect(errors).toEqual([]);
	await host.sessionStart();
	await host.runCommand("hello", "Ada");
	expect(calls).toEqual([
		["notify", "Hello from an extension.", undefined],
		["notify", "Hello, Ada!", undefined],
	]);
	expect(await host.toolCall({ toolName: "read", toolCallId: "c", input: { path: "a/.env" } })).toEqual({
		block: true,
		reason: "Secrets stay secret.",
	});
	expect(await host.beforeAgentStart({ prompt: "", images: [], systemPrompt: "base" })).toMatchObject({
		systemPrompt: "base\n\nNever print credentials.",
	});
	const [tool] = host.tools();
	const rolled = await tool?.execute({ toolCallId: "c", args: { sides: 1 }, signal: new AbortController().signal, onUpdate: () => undefined });
	expect(rolled).toEqual({ content: [text("1")], details: { number: 1 } });
	expect(host.flags().map(({ name }) => name)).toEqual(["standup-days"]);
	calls.length = 0;
	await host.runCommand("standup", "");
	expect(calls.map(([name]) => name)).toEqual(["exec", "waitForIdle", "sendUserMessage"]);
});

test("every example of the page is well typed", { timeout: 240_000 }, async () => {
	const { execFileSync } = await import("node:child_process");
	const root = join(import.meta.dirname, "../..");
	const { directory } = await load({});
	for (const [index, block] of blocks.entries()) writeFileSync(join(directory, `${index}.ts`), block);
	const { compilerOptions } = JSON.parse(readFileSync(join(root, "examples/extensions/tsconfig.json"), "utf8"));
	const paths = { bowline: [join(root, "src/extensions/published.ts")], typebox: [join(root, "node_modules/typebox/build/index.d.mts")] };
	const options = { ...compilerOptions, paths, typeRoots: [join(root, "node_modules/@types")] };
	writeFileSync(join(directory, "tsconfig.json"), JSON.stringify({ compilerOptions: options, include: ["*.ts"] }));
	const check = () =>
		execFileSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", directory], { encoding: "utf8", stdio: "pipe" });
	expect(check).not.toThrow();
});

test("every question is on the page", () => {
	const missing = Object.entries(eventKinds).filter(([name, kind]) => kind === "question" && !page.includes(`\`${name}\``));
	expect(missing).toEqual([]);
});
