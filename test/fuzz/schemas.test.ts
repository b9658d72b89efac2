/** Schemas of hosts and extensions: whatever they are, a call is checked or fails in words, in time. */
import { expect, onTestFinished, test } from "vitest";
import { validateArguments } from "../../src/agent/validate.ts";
import type { Random } from "../torture/random.ts";
import { Agent } from "../wire/support/agent.ts";
import { forSeeds } from "./seeds.ts";

const words = [
	"type",
	"properties",
	"required",
	"items",
	"anyOf",
	"allOf",
	"oneOf",
	"not",
	"enum",
	"const",
	"pattern",
	"$ref",
	"$defs",
	"format",
	"minimum",
	"additionalProperties",
	"patternProperties",
	"prefixItems",
	"if",
	"then",
	"default",
];

function schemaOf(random: Random, depth: number): unknown {
	if (depth === 0 || random.chance(0.3))
		return random.pick(["object", "string", "integer", 7, null, true, [], {}, "#", "#/$defs/a", "(a+)+$", "(", "email", -1]);
	if (random.chance(0.2)) return Array.from({ length: random.int(0, 3) }, () => schemaOf(random, depth - 1));
	return Object.fromEntries(
		Array.from({ length: random.int(0, 4) }, () => [random.chance(0.8) ? random.pick(words) : "a", schemaOf(random, depth - 1)]),
	);
}

const given: Record<string, unknown>[] = [{}, { a: 1 }, { a: "5", b: [1, "x", null] }, { a: { a: { a: [] } } }, { __proto__: 7, constructor: "x" }];

test("schemas of all kinds", () =>
	forSeeds(200, async (random) => {
		const parameters = { ...(schemaOf(random, 4) as object) } as Record<string, unknown>;
		for (const args of given) {
			try {
				const outcome = await validateArguments({ name: "t", description: "", parameters }, args);
				expect("args" in outcome || outcome.problems.length > 0).toBe(true);
			} catch (error) {
				// The schema is not valid: the call fails with this message.
				expect((error as Error).message).not.toBe("");
			}
		}
	}));

test("a pattern that explodes is given up, and the program goes on", async () => {
	const parameters = { type: "object", properties: { name: { type: "string", pattern: "^(a+)+$" } } };
	const script = { replies: [{ blocks: [{ tool: "host", arguments: { name: `${"a".repeat(60)}!` } }] }, { text: "on we go" }] };
	const agent = new Agent({ flags: ["--no-session"], script });
	onTestFinished(() => agent.dispose());
	agent.send({ id: "1", type: "set_host_tools", tools: [{ name: "host", description: "d", parameters }] });
	agent.send({ id: "2", type: "prompt", message: "go" });
	const end = await agent.event("tool_execution_end");
	expect(end).toMatchObject({
		isError: true,
		result: { content: [{ text: expect.stringContaining("a pattern of the schema of host took longer than") }] },
	});
	await agent.event("agent_settled");
});

test.each([
	["refers to itself", { $ref: "#" }],
	["refers to nothing", { $ref: "#/$defs/none" }],
	["is no schema", { type: 7, properties: "x", required: { a: 1 } }],
	["has a pattern that is none", { type: "object", properties: { name: { pattern: "(" } } }],
])("a host tool whose schema %s", async (_, parameters) => {
	const agent = new Agent({
		flags: ["--no-session"],
		script: { replies: [{ blocks: [{ tool: "host", arguments: { name: "x" } }] }, { text: "on we go" }] },
	});
	onTestFinished(() => agent.dispose());
	agent.send({ id: "1", type: "set_host_tools", tools: [{ name: "host", description: "d", parameters }] });
	agent.send({ id: "2", type: "prompt", message: "go" });
	const frame = await agent.until(({ type }) => type === "host_tool_call" || type === "tool_execution_end");
	if (frame.type === "host_tool_call") agent.send({ type: "host_tool_result", id: frame.id, result: { content: [] } });
	expect(await agent.event("agent_end")).toMatchObject({ messages: [{}, {}, { role: "toolResult" }, { content: [{ text: "on we go" }] }] });
});
