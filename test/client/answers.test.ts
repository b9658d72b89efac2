/** `promptAndWait` with a schema: the value is there, has its type, and its absence has a reason. */
import { expect, expectTypeOf, test } from "vitest";
import { createSession } from "../../src/index.ts";
import { environment, folder, kept } from "./support.ts";

async function agent(...replies: unknown[]) {
	const cwd = folder({ "script.jsonc": JSON.stringify({ replies }) });
	return kept(createSession({ cwd, env: environment(cwd), noSession: true, provider: "scripted", model: "script.jsonc" }));
}

const submit = (data: unknown) => ({ blocks: [{ tool: "submit_result", arguments: { result: { data } } }] });

test("the value of a schema that is written in place has its type", async () => {
	const client = await agent(submit({ verdict: "approve" }));
	const { output, outputError } = await client.promptAndWait("Review the last commit", {
		schema: {
			type: "object",
			properties: { verdict: { enum: ["approve", "reject"] }, findings: { type: "array", items: { type: "string" } } },
			required: ["verdict"],
		},
	});
	expect(output).toEqual({ verdict: "approve" });
	expect(outputError).toBeUndefined();
	expectTypeOf(output?.verdict).toEqualTypeOf<"approve" | "reject" | undefined>();
	expectTypeOf(output?.findings).toEqualTypeOf<string[] | undefined>();
});

test("the caller can name the type", async () => {
	const client = await agent(submit([1, 2]));
	const schema: Record<string, unknown> = { type: "array" };
	const { output } = await client.promptAndWait<number[]>("list", { schema });
	expect(output).toEqual([1, 2]);
	expectTypeOf(output).toEqualTypeOf<number[] | undefined>();
});

test("null is a value", async () => {
	const client = await agent(submit(null));
	const outcome = await client.promptAndWait("nothing", { schema: { type: "null" } });
	expect(outcome.output).toBeNull();
	expect(outcome.outputError).toBeUndefined();
});

test("without a value there is a reason, and the next prompt is an ordinary one", async () => {
	const client = await agent({ text: "4" }, { text: "4" }, { text: "4" }, { text: "plain" });
	const first = await client.promptAndWait("n", { schema: { type: "integer" } });
	expect(first).toMatchObject({ text: "4", stopReason: "stop", outputError: "The model stopped without calling submit_result, after 2 reminders." });
	expect("output" in first).toBe(false);
	const second = await client.promptAndWait("n");
	expect(second).toMatchObject({ text: "plain" });
	expect("outputError" in second).toBe(false);
});

test("a schema that cannot be used rejects the promise in words", async () => {
	const client = await agent(submit(1));
	await expect(client.promptAndWait("n", { schema: { type: "string", pattern: "(" } })).rejects.toThrow("outputSchema: the schema cannot be used");
	await expect(client.promptAndWait("n", { schema: { description: "x".repeat(70_000) } })).rejects.toThrow("at most 65536 are allowed");
});
