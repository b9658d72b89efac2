/**
 * Builds the JSON Schemas of tools and scripts with the types of typebox, but without its code. The first prompt of a process needs these schemas
 * and, before the first tool call, nothing else of that library, which takes longer to load than the rest of the prompt.
 */
import type Typebox from "typebox";

type Schema = Record<string, unknown>;
type Builder = Pick<
	typeof Typebox,
	"Array" | "Boolean" | "Enum" | "Integer" | "Literal" | "Number" | "Object" | "Optional" | "Record" | "String" | "Union" | "Unknown"
>;

/** Marks members that may be absent. It is not enumerable, so it is in no JSON. */
const optional = Symbol("optional");

const build = {
	Array: (items: Schema, options?: Schema) => ({ type: "array", items, ...options }),
	Boolean: (options?: Schema) => ({ type: "boolean", ...options }),
	Enum: (values: readonly unknown[], options?: Schema) => ({ enum: [...values], ...options }),
	Integer: (options?: Schema) => ({ type: "integer", ...options }),
	Literal: (value: unknown, options?: Schema) => ({ type: typeof value, const: value, ...options }),
	Number: (options?: Schema) => ({ type: "number", ...options }),
	Object: (properties: Record<string, Schema>, options?: Schema) => {
		const required = Object.keys(properties).filter((name) => !Object.hasOwn(properties[name] ?? {}, optional));
		return { type: "object", ...(required.length === 0 ? {} : { required }), properties, ...options };
	},
	Optional: (schema: Schema) => Object.defineProperty({ ...schema }, optional, { value: true }),
	Record: (_key: Schema, value: Schema, options?: Schema) => ({ type: "object", patternProperties: { "^.*$": value }, ...options }),
	String: (options?: Schema) => ({ type: "string", ...options }),
	Union: (anyOf: readonly Schema[], options?: Schema) => ({ anyOf: [...anyOf], ...options }),
	Unknown: (options?: Schema) => ({ ...options }),
};

const Type = build as unknown as Builder;
export default Type;
