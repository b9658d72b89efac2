import { expect, test } from "vitest";
import { toolProblem } from "../../src/lib/tool-definition.ts";

const fine = { type: "object", properties: { path: { type: "string" } }, required: ["path"] };

test.each([
	["read", fine],
	["mcp__files__read-2", fine],
	["fs.read", fine],
	["ns:read", fine],
	["x".repeat(128), fine],
	["now", {}],
	["now", { type: "object" }],
	["pick", { anyOf: [{ type: "object" }, { type: "object", properties: {} }] }],
	[
		"deep",
		{
			type: "object",
			properties: { a: { type: ["string", "null"], enum: ["x", null] }, b: { type: "array", items: { $ref: "#/$defs/c" } } },
			$defs: { c: true },
		},
	],
	["open", { type: "object", additionalProperties: false }],
	[
		"odd",
		{ type: "object", properties: { type: { type: "string" }, required: { type: "boolean" }, enum: { type: "array", items: [{ type: "string" }] } } },
	],
])("%s with %j is a tool that a provider accepts", (name, parameters) => {
	expect(toolProblem(name, parameters)).toBeUndefined();
});

test.each([
	["my tool", fine, /name that no model accepts/],
	["lire_éàü", fine, /name that no model accepts/],
	["read/file", fine, /name that no model accepts/],
	["x".repeat(129), fine, /name of 129 characters; models accept at most 128/],
	["read", { type: "string" }, /parameters of type "object", not "string"/],
	["read", { type: ["object", "null"] }, /parameters of type "object", not \["object","null"\]/],
	["read", { type: "object", properties: ["path"] }, /parameters\.properties must be an object/],
	["read", { type: "object", properties: { path: "string" } }, /parameters\.properties\.path must be an object or a boolean/],
	["read", { type: "object", properties: { n: { type: "int" } } }, /parameters\.properties\.n\.type "int" is not one of object, array/],
	["read", { type: "object", properties: { n: { type: "array", items: { type: "str" } } } }, /parameters\.properties\.n\.items\.type "str"/],
	["read", { type: "object", required: "path" }, /parameters\.required must be a list of names/],
	["read", { type: "object", properties: { n: { enum: [] } } }, /parameters\.properties\.n\.enum must be a list with a value in it/],
	["read", { type: "object", anyOf: {} }, /parameters\.anyOf must be a list/],
])("%s with %j is refused, in words", (name, parameters, words) => {
	expect(toolProblem(name, parameters as Record<string, unknown>)).toMatch(words);
});

test("a schema without end is refused as well", () => {
	let schema: Record<string, unknown> = { type: "string" };
	for (let depth = 0; depth < 200; depth += 1) schema = { type: "object", properties: { next: schema } };
	expect(toolProblem("deep", schema)).toMatch(/nested deeper than 64 levels/);
});
