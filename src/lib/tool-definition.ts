/** Checks the definition of a tool before any model gets it: a provider answers a bad one with an error on every later prompt. */

/** Google allows the most characters: dots and colons as well. */
const goodName = /^[A-Za-z0-9_.:-]+$/;
const maxName = 128;
const types = ["object", "array", "string", "number", "integer", "boolean", "null"];
const maxDepth = 64;

type Json = Record<string, unknown>;

/** Why no provider accepts a tool with this name and these parameters, phrased to follow the tool's name; nothing when one does. */
export function toolProblem(name: string, parameters: Json): string | undefined {
	if (name.length > maxName) return `has a name of ${name.length} characters; models accept at most ${maxName}`;
	if (!goodName.test(name)) return "has a name that no model accepts; use letters, digits, underscores and hyphens";
	if (parameters.type !== undefined && parameters.type !== "object") {
		return `must have parameters of type "object", not ${JSON.stringify(parameters.type)}`;
	}
	const problem = schemaProblem(parameters, "parameters");
	return problem && `has parameters that are not a valid JSON Schema: ${problem}`;
}

/** What is not JSON Schema in a value that should be, with its place; nothing when all is. */
export function schemaProblem(schema: unknown, path: string, depth = 0): string | undefined {
	if (typeof schema === "boolean") return undefined;
	const facts = object(schema);
	if (!facts) return `${path} must be an object or a boolean`;
	if (depth > maxDepth) return `${path} is nested deeper than ${maxDepth} levels`;
	return typeProblem(facts.type, path) ?? listProblem(facts, path) ?? childProblem(facts, path, depth);
}

function typeProblem(type: unknown, path: string): string | undefined {
	if (type === undefined) return undefined;
	const named = Array.isArray(type) ? type : [type];
	const wrong = named.find((one) => !types.includes(one as string));
	if (named.length === 0) return `${path}.type is empty`;
	return wrong === undefined ? undefined : `${path}.type ${JSON.stringify(wrong)} is not one of ${types.join(", ")}`;
}

function listProblem({ required, enum: values }: Json, path: string): string | undefined {
	if (required !== undefined && !(Array.isArray(required) && required.every((name) => typeof name === "string"))) {
		return `${path}.required must be a list of names`;
	}
	if (values !== undefined && !(Array.isArray(values) && values.length > 0)) return `${path}.enum must be a list with a value in it`;
	return undefined;
}

/** Members that hold schemas by name, in a list, or one. */
const maps = ["properties", "$defs", "definitions", "patternProperties"];
const lists = ["anyOf", "oneOf", "allOf", "prefixItems"];
const single = ["items", "additionalProperties", "not"];

function childProblem(facts: Json, path: string, depth: number): string | undefined {
	for (const name of maps) {
		if (facts[name] === undefined) continue;
		const children = object(facts[name]);
		if (!children) return `${path}.${name} must be an object`;
		for (const [key, child] of Object.entries(children)) {
			const problem = schemaProblem(child, `${path}.${name}.${key}`, depth + 1);
			if (problem) return problem;
		}
	}
	for (const name of lists) {
		if (facts[name] === undefined) continue;
		if (!Array.isArray(facts[name])) return `${path}.${name} must be a list`;
		for (const [index, child] of (facts[name] as unknown[]).entries()) {
			const problem = schemaProblem(child, `${path}.${name}[${index}]`, depth + 1);
			if (problem) return problem;
		}
	}
	for (const name of single) {
		// Older drafts allow a list of schemas here.
		const children = Array.isArray(facts[name]) ? (facts[name] as unknown[]) : facts[name] === undefined ? [] : [facts[name]];
		for (const child of children) {
			const problem = schemaProblem(child, `${path}.${name}`, depth + 1);
			if (problem) return problem;
		}
	}
	return undefined;
}

function object(value: unknown): Json | undefined {
	return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : undefined;
}
