/** Values that a schema allows, with every optional member there: together they show every branch of it. */

interface Schema {
	type?: string;
	const?: unknown;
	enum?: unknown[];
	anyOf?: Schema[];
	items?: Schema;
	properties?: Record<string, Schema>;
	patternProperties?: unknown;
}

export function samples(given: unknown): unknown[] {
	const schema = given as Schema;
	if (schema.const !== undefined) return [schema.const];
	if (schema.enum) return [...schema.enum];
	if (schema.anyOf) return schema.anyOf.flatMap(samples);
	switch (schema.type) {
		case "string":
			return ["text"];
		case "integer":
		case "number":
			return [1];
		case "boolean":
			return [true, false];
		case "void":
			return [undefined];
		case "null":
			return [null];
		case "array":
			return [samples(schema.items ?? {})];
		case "object":
			return schema.properties ? objects(schema.properties) : [{ anything: { at: "all" } }];
		default:
			return [{ anything: { at: "all" } }];
	}
}

/** As many objects as the member with the most branches has, each with all members. */
function objects(properties: Record<string, Schema>): unknown[] {
	const members = Object.entries(properties).map(([name, schema]) => [name, samples(schema)] as const);
	const count = Math.max(1, ...members.map(([, values]) => values.length));
	return Array.from({ length: count }, (_, turn) => Object.fromEntries(members.map(([name, values]) => [name, values[turn % values.length]])));
}
