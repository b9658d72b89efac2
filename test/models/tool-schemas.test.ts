/** Schemas of tools as each provider takes them, with the worst that servers were seen to send. */
import { describe, expect, test } from "vitest";
import { googleSchema, withoutRootAlternatives } from "../../src/models/tool-schemas.ts";

describe("alternatives at the root", () => {
	const a = { type: "object", properties: { kind: { const: "a" }, x: { type: "string" } }, required: ["kind", "x"] };
	const b = { type: "object", properties: { kind: { const: "b" }, y: { type: "number" } }, required: ["kind", "y"] };

	test.each(["anyOf", "oneOf"])("%s: properties are joined, and what all require is required", (name) => {
		expect(withoutRootAlternatives({ [name]: [a, b], description: "d" })).toEqual({
			type: "object",
			description: "d",
			properties: { kind: { const: "a" }, x: { type: "string" }, y: { type: "number" } },
			required: ["kind"],
		});
	});

	test("allOf requires what any part requires, also behind a reference", () => {
		expect(withoutRootAlternatives({ allOf: [a, { $ref: "#/$defs/b" }], $defs: { b } })).toMatchObject({ required: ["kind", "x", "y"] });
	});

	test("a schema without them is the same object", () => {
		expect(withoutRootAlternatives(a)).toBe(a);
	});
});

describe("Google", () => {
	test("references are put in, and a cycle ends", () => {
		const node = { type: "object", properties: { next: { $ref: "#/$defs/node" }, name: { $ref: "#/$defs/name" } } };
		expect(
			googleSchema({
				type: "object",
				properties: { a: { $ref: "#/$defs/node" } },
				$defs: { node, name: { type: "string" } },
				$schema: "s",
				$id: "i",
			}),
		).toEqual({
			type: "object",
			properties: { a: { type: "object", properties: { next: {}, name: { type: "string" } } } },
		});
	});

	test.each([
		[
			{ type: "object", properties: {}, additionalProperties: false, patternProperties: { x: {} } },
			{ type: "object", properties: {} },
		],
		[
			{ type: "integer", exclusiveMinimum: 0, exclusiveMaximum: 9 },
			{ type: "integer", minimum: 0, maximum: 9 },
		],
		[{ const: "a" }, { type: "string", enum: ["a"] }],
		[{ const: 3 }, {}],
		[{ type: ["string", "null"] }, { type: "string", nullable: true }],
		[{ type: ["string", "number"] }, { anyOf: [{ type: "string" }, { type: "number" }] }],
		[{ type: "array" }, { type: "array", items: { type: "string" } }],
		[
			{ type: "array", items: [{ type: "number" }] },
			{ type: "array", items: { type: "number" } },
		],
		[{ type: "integer", enum: [1, 2] }, { type: "integer" }],
		[{ type: "string", properties: { a: {} }, required: ["a"] }, { type: "string" }],
		[
			{ type: "object", properties: { a: { type: "string" } }, required: ["a", "b"] },
			{ type: "object", properties: { a: { type: "string" } }, required: ["a"] },
		],
		[
			{ anyOf: [{ const: "x" }, { type: ["null", "boolean"] }] },
			{
				anyOf: [
					{ type: "string", enum: ["x"] },
					{ type: "boolean", nullable: true },
				],
			},
		],
	])("%j", (given, expected) => {
		expect(googleSchema(given)).toEqual(expected);
	});

	test("references that multiply are cut off", () => {
		const level = (number: number) => ({
			type: "object",
			properties: Object.fromEntries("abcdefgh".split("").map((name) => [name, { $ref: `#/$defs/l${number + 1}` }])),
		});
		const $defs = Object.fromEntries(Array.from({ length: 12 }, (_, number) => [`l${number}`, level(number)]));
		expect(JSON.stringify(googleSchema({ $ref: "#/$defs/l0", $defs })).length).toBeLessThan(500_000);
	});
});
