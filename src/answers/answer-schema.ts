/** The shape of an answer: JSON Schema as it is, JSON Type Definition (RFC 8927) translated into it. */

export type JsonSchema = Record<string, unknown>;

/** What a definition calls a type, and what JSON Schema calls it. */
const types: Record<string, JsonSchema> = {
	boolean: { type: "boolean" },
	string: { type: "string" },
	timestamp: { type: "string", format: "date-time" },
	float32: { type: "number" },
	float64: { type: "number" },
	...Object.fromEntries(["int8", "uint8", "int16", "uint16", "int32", "uint32"].map((name) => [name, { type: "integer" }])),
};

/** The schema to hold answers to; nothing when any answer will do or the given one says nothing. */
export function answerSchema(given: unknown): JsonSchema | undefined {
	if (!isObject(given) || Object.keys(given).length === 0) return undefined;
	return isDefinition(given) ? fromDefinition(given, isObject(given.definitions) ? given.definitions : {}) : given;
}

/** Words that only a type definition uses, or uses in this way. */
function isDefinition(schema: JsonSchema): boolean {
	if ("optionalProperties" in schema || "elements" in schema || "values" in schema || "discriminator" in schema || "nullable" in schema) return true;
	if (typeof schema.type === "string") return /^(u?int(8|16|32)|float(32|64)|timestamp)$/.test(schema.type);
	const inner = isObject(schema.properties) ? Object.values(schema.properties) : [];
	return schema.type === undefined && inner.some((each) => isObject(each) && isDefinition(each));
}

function fromDefinition(form: JsonSchema, definitions: JsonSchema, depth = 0): JsonSchema {
	// A definition may refer to itself; an answer is never that deep.
	if (depth > 12) return {};
	const inner = (value: unknown) => (isObject(value) ? fromDefinition(value, definitions, depth + 1) : {});
	const each = (value: unknown) => (isObject(value) ? Object.fromEntries(Object.entries(value).map(([name, member]) => [name, inner(member)])) : {});
	const described = (schema: JsonSchema): JsonSchema => {
		const { description } = isObject(form.metadata) ? form.metadata : {};
		const told = typeof description === "string" ? { ...schema, description } : schema;
		return form.nullable === true ? { anyOf: [told, { type: "null" }] } : told;
	};
	if (typeof form.ref === "string") return described(inner(definitions[form.ref]));
	if (Array.isArray(form.enum)) return described({ enum: form.enum });
	if (form.elements !== undefined) return described({ type: "array", items: inner(form.elements) });
	if (form.values !== undefined) return described({ type: "object", additionalProperties: inner(form.values) });
	if (typeof form.discriminator === "string" && isObject(form.mapping)) {
		const tag = form.discriminator;
		const variants = Object.entries(form.mapping).map(([name, variant]) => tagged(inner(variant), tag, name));
		return described({ anyOf: variants });
	}
	if (form.properties !== undefined || form.optionalProperties !== undefined) {
		const properties = { ...each(form.properties), ...each(form.optionalProperties) };
		return described({ type: "object", properties, required: Object.keys(isObject(form.properties) ? form.properties : {}) });
	}
	return described(typeof form.type === "string" ? (types[form.type] ?? {}) : {});
}

function tagged(schema: JsonSchema, tag: string, name: string): JsonSchema {
	const properties = isObject(schema.properties) ? schema.properties : {};
	const required = Array.isArray(schema.required) ? schema.required : [];
	return { ...schema, type: "object", properties: { [tag]: { const: name }, ...properties }, required: [tag, ...required] };
}

function isObject(value: unknown): value is JsonSchema {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}
