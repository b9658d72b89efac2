/** Schemas of tools as far as a provider takes them. A stranger's schema may hold anything, and one that a provider refuses costs every request. */

type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value);
const alternatives = ["anyOf", "oneOf", "allOf"] as const;

/** Without alternatives at the root: their properties are joined, and those stay required that every alternative requires. */
export function withoutRootAlternatives(schema: Json): Json {
	if (!alternatives.some((name) => Array.isArray(schema[name]))) return schema;
	let properties: Json = isObject(schema.properties) ? { ...schema.properties } : {};
	const required = new Set<unknown>(Array.isArray(schema.required) ? schema.required : []);
	for (const name of alternatives) {
		const parts = Array.isArray(schema[name]) ? (schema[name] as unknown[]).map((part) => resolved(part, schema)).filter(isObject) : [];
		for (const part of parts) if (isObject(part.properties)) properties = { ...part.properties, ...properties };
		const lists = parts.map((part) => (Array.isArray(part.required) ? part.required : []));
		const all = lists.flat();
		for (const each of all) if (name === "allOf" || lists.every((list) => list.includes(each))) required.add(each);
	}
	const { anyOf: _, oneOf: __, allOf: ___, ...rest } = schema;
	return { ...rest, type: "object", properties, ...(required.size > 0 ? { required: [...required] } : {}) };
}

/** What a local reference names; anything else stays as it is. */
function resolved(value: unknown, root: Json): unknown {
	if (!isObject(value) || typeof value.$ref !== "string") return value;
	return target(value.$ref, root) ?? value;
}

function target(reference: string, root: Json): unknown {
	if (reference === "#") return root;
	if (!reference.startsWith("#/")) return undefined;
	let found: unknown = root;
	for (const part of reference.slice(2).split("/")) {
		const name = decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
		found = typeof found === "object" && found !== null ? (found as Json)[name] : undefined;
	}
	return found;
}

const dropped = [
	"$schema",
	"$id",
	"$defs",
	"definitions",
	"$ref",
	"$comment",
	"$anchor",
	"additionalProperties",
	"patternProperties",
	"unevaluatedProperties",
	"propertyNames",
];
/** More than any honest schema has once its references are put in. */
const mostNodes = 5000;

/** In the words of Google: no references, no lists of types, no `const`, values of an `enum` only as texts. */
export function googleSchema(schema: Json): Json {
	let nodes = 0;
	const convert = (value: unknown, path: readonly string[]): unknown => {
		nodes += 1;
		if (!isObject(value) || nodes > mostNodes) return {};
		if (typeof value.$ref === "string") {
			if (path.includes(value.$ref)) return {};
			const { $ref, ...rest } = value;
			const found = target($ref, schema);
			return convert({ ...(isObject(found) ? found : {}), ...rest }, [...path, $ref]);
		}
		return converted(value, (child) => convert(child, path));
	};
	return convert(schema, []) as Json;
}

function converted(schema: Json, convert: (child: unknown) => unknown): Json {
	const made: Json = {};
	for (const [name, value] of Object.entries(schema)) if (!dropped.includes(name)) made[name] = value;
	if (typeof made.exclusiveMinimum === "number") made.minimum ??= made.exclusiveMinimum;
	if (typeof made.exclusiveMaximum === "number") made.maximum ??= made.exclusiveMaximum;
	delete made.exclusiveMinimum;
	delete made.exclusiveMaximum;
	if ("const" in made) {
		made.enum = [made.const];
		delete made.const;
	}
	if (Array.isArray(made.type)) typesOf(made, made.type);
	for (const name of alternatives) if (Array.isArray(made[name])) made[name] = (made[name] as unknown[]).map(convert);
	if (Array.isArray(made.enum)) {
		const texts = made.enum.filter((value) => typeof value === "string");
		if (texts.length === made.enum.length && texts.length > 0 && (made.type === undefined || made.type === "string")) made.type = "string";
		else delete made.enum;
	}
	const isPlainObject = made.type === undefined || made.type === "object";
	if (isObject(made.properties) && isPlainObject) {
		made.type = "object";
		made.properties = Object.fromEntries(Object.entries(made.properties).map(([name, child]) => [name, convert(child)]));
	} else delete made.properties;
	const names = isObject(made.properties) ? Object.keys(made.properties) : [];
	const required = Array.isArray(made.required) ? made.required.filter((name) => names.includes(name as string)) : [];
	delete made.required;
	if (required.length > 0) made.required = required;
	if (made.type === "array")
		made.items = made.items === undefined ? { type: "string" } : convert(Array.isArray(made.items) ? made.items[0] : made.items);
	else delete made.items;
	return made;
}

/** `null` among the types becomes `nullable`; several others become alternatives. */
function typesOf(made: Json, types: unknown[]): void {
	const others = types.filter((type) => type !== "null");
	if (others.length < types.length) made.nullable = true;
	delete made.type;
	if (others.length === 1) made.type = others[0];
	else if (others.length > 1 && !Array.isArray(made.anyOf)) made.anyOf = others.map((type) => ({ type }));
}
