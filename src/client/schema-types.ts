/** The type of a value from the JSON Schema that describes it, as far as types can say. */

export type JsonSchema = Readonly<Record<string, unknown>>;

/** `unknown` where the schema says more than types do. */
export type FromSchema<S> = S extends { const: infer Value }
	? Value
	: S extends { enum: readonly (infer Value)[] }
		? Value
		: S extends { anyOf: readonly (infer Each)[] } | { oneOf: readonly (infer Each)[] }
			? FromSchema<Each>
			: S extends { type: readonly (infer Name)[] }
				? FromType<Name, S>
				: S extends { type: infer Name }
					? FromType<Name, S>
					: unknown;

type FromType<Name, S> = Name extends "string"
	? string
	: Name extends "number" | "integer"
		? number
		: Name extends "boolean"
			? boolean
			: Name extends "null"
				? null
				: Name extends "array"
					? FromArray<S>
					: Name extends "object"
						? FromObject<S>
						: unknown;

type FromArray<S> = S extends { items: infer Item } ? FromSchema<Item>[] : unknown[];

type FromObject<S> = S extends { properties: infer Properties }
	? {
			-readonly [Name in keyof Properties as Name extends Required<S> ? Name : never]: FromSchema<Properties[Name]>;
		} & { -readonly [Name in keyof Properties as Name extends Required<S> ? never : Name]?: FromSchema<Properties[Name]> }
	: Record<string, unknown>;

type Required<S> = S extends { required: readonly (infer Name)[] } ? Name : never;
