/** Turns values into the types that a JSON Schema asks for, where nothing is lost: models often send "5" for 5, or a list as a JSON text. */

export interface Schema {
	type?: string | string[];
	properties?: Record<string, Schema>;
	required?: string[];
	items?: Schema | Schema[];
}

/** A copy of the value that fits better, or the value itself. Never throws. */
export function coerce(value: unknown, schema: Schema | undefined): unknown {
	if (!schema || typeof schema !== "object") return value;
	const types = schema.type === undefined ? [] : [schema.type].flat();
	if (types.length && !types.some((type) => isOf(type, value))) {
		for (const type of types) {
			const turned = turn(value, type);
			if (turned !== undefined) return coerce(turned, { ...schema, type });
		}
		return value;
	}
	if (Array.isArray(value)) return coerceList(value, schema);
	if (typeof value === "object" && value !== null) return coerceMembers(value as Record<string, unknown>, schema);
	return value;
}

function coerceList(list: unknown[], { items }: Schema): unknown[] {
	return items && !Array.isArray(items) ? list.map((item) => coerce(item, items)) : list;
}

function coerceMembers(object: Record<string, unknown>, { properties, required }: Schema): Record<string, unknown> {
	if (!properties) return object;
	const result: Record<string, unknown> = {};
	for (const [name, value] of Object.entries(object)) {
		const schema = Object.hasOwn(properties, name) ? properties[name] : undefined;
		// A null for a member that need not be there means: not there.
		if (value === null && schema?.type !== undefined && ![schema.type].flat().includes("null") && !required?.includes(name)) continue;
		result[name] = coerce(value, schema);
	}
	return result;
}

function isOf(type: string, value: unknown): boolean {
	switch (type) {
		case "integer":
			return Number.isInteger(value);
		case "array":
			return Array.isArray(value);
		case "null":
			return value === null;
		case "object":
			return typeof value === "object" && value !== null && !Array.isArray(value);
		default:
			return typeof value === type;
	}
}

function turn(value: unknown, type: string): unknown {
	if (type === "string") return typeof value === "number" || typeof value === "boolean" ? String(value) : undefined;
	if (typeof value !== "string") return type === "array" && value !== null && value !== undefined ? [value] : undefined;
	switch (type) {
		case "number":
		case "integer": {
			const number = value.trim() === "" ? Number.NaN : Number(value);
			return Number.isFinite(number) && isOf(type, number) ? number : undefined;
		}
		case "boolean":
			return value === "true" ? true : value === "false" ? false : undefined;
		case "array":
		case "object": {
			const parsed = parse(value);
			if (isOf(type, parsed)) return parsed;
			return type === "array" ? [value] : undefined;
		}
		default:
			return undefined;
	}
}

function parse(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		// Not JSON, hence nothing that could be turned.
		return undefined;
	}
}
