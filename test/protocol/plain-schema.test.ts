/** Schemas of tools and scripts are built without typebox; they must be the ones that typebox would build. */
import Typebox from "typebox";
import { Compile } from "typebox/compile";
import { expect, test } from "vitest";
import Plain from "../../src/protocol/plain-schema.ts";

const schemas = (Type: typeof Plain) => ({
	array: Type.Array(Type.String(), { maxItems: 3 }),
	boolean: Type.Boolean({ description: "yes or no" }),
	enumeration: Type.Enum(["a", "b"], { description: "one of them" }),
	integer: Type.Integer({ minimum: 1 }),
	text: Type.Literal("x"),
	number: Type.Literal(3),
	truth: Type.Literal(true, { title: "truth" }),
	object: Type.Object({ a: Type.String(), b: Type.Optional(Type.Integer({ minimum: 2 })) }, { additionalProperties: false }),
	allOptional: Type.Object({ b: Type.Optional(Type.Number()) }),
	empty: Type.Object({}),
	record: Type.Record(Type.String(), Type.Unknown(), { description: "anything" }),
	union: Type.Union([Type.String(), Type.Boolean()], { title: "union" }),
	unknown: Type.Unknown({ title: "unknown" }),
});

test("a schema is byte for byte the one of typebox", () => {
	expect(JSON.stringify(schemas(Plain))).toBe(JSON.stringify(schemas(Typebox as typeof Plain)));
});

test("typebox checks values against it", () => {
	const { object } = schemas(Plain);
	const check = Compile(object);
	expect(check.Check({ a: "x", b: 2 })).toBe(true);
	expect(check.Check({ a: "x" })).toBe(true);
	expect(check.Check({ b: 2 })).toBe(false);
	expect(check.Check({ a: "x", b: 1 })).toBe(false);
	expect(check.Check({ a: "x", c: 1 })).toBe(false);
});

test("an optional member does not change the schema it was made of", () => {
	const text = Plain.String();
	Plain.Optional(text);
	expect(Plain.Object({ text })).toMatchObject({ required: ["text"] });
});
