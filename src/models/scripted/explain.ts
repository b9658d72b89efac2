/** Says what is wrong with a script, and where, in words for the person who wrote it. */
import { findNodeAtLocation, getNodeValue, type Node } from "jsonc-parser";
import { nearest } from "../../lib/nearest.ts";
import { Script } from "./format.ts";

export interface Problem {
	offset: number;
	/** `replies[1].blocks[0]`; empty for the script itself. */
	path: string;
	message: string;
}

/** The words of JSON Schema that `format.ts` uses. */
interface JsonSchema {
	type?: string;
	title?: string;
	properties?: Record<string, JsonSchema>;
	required?: readonly string[];
	items?: JsonSchema;
	anyOf?: readonly JsonSchema[];
	enum?: readonly unknown[];
	const?: unknown;
	minimum?: number;
	maximum?: number;
	minLength?: number;
	additionalProperties?: boolean;
}

/** Every problem, in the order of the file. */
export function explain(root: Node): Problem[] {
	const problems = [...against(Script as JsonSchema, root, "")];
	if (problems.length === 0 && !fits(Script as JsonSchema, getNodeValue(root))) {
		problems.push({ offset: root.offset, path: "", message: "is not a script" });
	}
	if (problems.length === 0) problems.push(...beyondTheSchema(root));
	return problems.sort((a, b) => a.offset - b.offset);
}

function* against(schema: JsonSchema, node: Node, path: string): Generator<Problem> {
	const choices = schema.anyOf?.filter((branch) => branch.properties);
	if (choices?.length && node.type === "object") yield* againstChoice(choices, schema.title ?? "value", node, path);
	else if (schema.properties && node.type === "object") yield* againstMembers(schema, node, path);
	else if (schema.items && node.type === "array") {
		for (const [index, item] of (node.children ?? []).entries()) yield* against(schema.items, item, `${path}[${index}]`);
	} else if (!fits(schema, getNodeValue(node))) {
		yield { offset: node.offset, path, message: `${path === "" ? "a script " : ""}must be ${inWords(schema)}` };
	}
}

/** Whether a value fits the words that `JsonSchema` lists. A schema library knows them too, and takes longer to load than a script takes to play. */
function fits(schema: JsonSchema, value: unknown): boolean {
	if (schema.anyOf && !schema.anyOf.some((branch) => fits(branch, value))) return false;
	if (schema.enum && !schema.enum.includes(value)) return false;
	if (schema.const !== undefined && schema.const !== value) return false;
	if (schema.type !== undefined && !isOfType(schema.type, value)) return false;
	if (typeof value === "number") return value >= (schema.minimum ?? -Infinity) && value <= (schema.maximum ?? Infinity);
	if (typeof value === "string") return value.length >= (schema.minLength ?? 0);
	if (Array.isArray(value)) return value.every((item) => !schema.items || fits(schema.items, item));
	return !isObject(value) || membersFit(schema, value);
}

function membersFit({ properties = {}, required = [], additionalProperties }: JsonSchema, value: Record<string, unknown>): boolean {
	const isKnown = (name: string) => Object.hasOwn(properties, name);
	if (!required.every((name) => Object.hasOwn(value, name))) return false;
	return Object.keys(value).every((name) => (isKnown(name) ? fits(properties[name] as JsonSchema, value[name]) : additionalProperties !== false));
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

function isOfType(type: string, value: unknown): boolean {
	if (type === "integer") return Number.isInteger(value);
	if (type === "array") return Array.isArray(value);
	return type === "object" ? isObject(value) : typeof value === type;
}

/** Several shapes differ by a member that each requires; this picks the shape that the value has. */
function* againstChoice(choices: readonly JsonSchema[], title: string, node: Node, path: string): Generator<Problem> {
	const key = (choice: JsonSchema) => choice.required?.[0] ?? "";
	const present = choices.filter((choice) => findNodeAtLocation(node, [key(choice)]));
	const keys = or(choices.map(key));
	const [choice] = present;
	if (!choice) {
		const message = `a ${title.toLowerCase()} needs one of ${keys}`;
		yield { offset: node.offset, path, message };
	} else if (present.length > 1) {
		const message = `a ${title.toLowerCase()} is one of ${keys}, not ${present.map(key).join(" and ")} at once`;
		yield { offset: node.offset, path, message };
	} else yield* againstMembers(choice, node, path);
}

function* againstMembers({ properties = {}, required = [], title }: JsonSchema, node: Node, path: string): Generator<Problem> {
	const present = new Set<string>();
	for (const { children: [name, value] = [] } of node.children ?? []) {
		if (!name || !value) continue;
		const member = String(name.value);
		const memberPath = path === "" ? member : `${path}.${member}`;
		const schema = Object.hasOwn(properties, member) ? properties[member] : undefined;
		if (!schema) yield { offset: name.offset, path: memberPath, message: unknownMember(member, Object.keys(properties)) };
		else if (present.has(member)) yield { offset: name.offset, path: memberPath, message: "is given twice" };
		else yield* against(schema, value, memberPath);
		present.add(member);
	}
	for (const name of required) {
		if (!present.has(name)) yield { offset: node.offset, path, message: `${title ? `a ${title.toLowerCase()} ` : ""}needs ${name}` };
	}
}

function unknownMember(member: string, known: string[]): string {
	const meant = nearest(member, known);
	return `unknown member; ${meant ? `did you mean ${meant}?` : `known are ${known.join(", ")}`}`;
}

/** What JSON Schema cannot say. */
function* beyondTheSchema(root: Node): Generator<Problem> {
	const { replies }: Script = getNodeValue(root);
	for (const [index, reply] of replies.entries()) {
		const path = `replies[${index}]`;
		const offsetOf = (...segments: string[]) => findNodeAtLocation(root, ["replies", index, ...segments])?.offset ?? root.offset;
		const reason = reply.when?.matches === undefined ? undefined : regExpProblem(reply.when.matches);
		if (reason) yield { offset: offsetOf("when", "matches"), path: `${path}.when.matches`, message: reason };
		const ends = (["fail", "stall", "cut"] as const).filter((end) => reply[end]);
		if (ends.length > 1) yield { offset: offsetOf(), path, message: `a reply ends in one way, not with ${ends.join(" and ")}` };
		if (ends.length > 0 && reply.stop) yield { offset: offsetOf("stop"), path, message: `a reply with ${ends[0]} has no stop` };
	}
}

function regExpProblem(source: string): string | undefined {
	try {
		new RegExp(source);
		return undefined;
	} catch (error) {
		return (error as Error).message;
	}
}

function inWords(schema: JsonSchema): string {
	if (schema.anyOf) return or([...new Set(schema.anyOf.map(inWords))]);
	if (schema.enum) return or(schema.enum.map((value) => JSON.stringify(value)));
	if (schema.const !== undefined) return JSON.stringify(schema.const);
	const { minimum, maximum } = schema;
	const range = minimum === undefined ? "" : maximum === undefined ? ` from ${minimum}` : ` from ${minimum} to ${maximum}`;
	const names: Record<string, string> = {
		string: schema.minLength ? "a string that is not empty" : "a string",
		boolean: "true or false",
		integer: `a whole number${range}`,
		number: "a number",
		array: "a list",
		object: "an object",
	};
	return names[schema.type ?? ""] ?? "something else";
}

function or(names: readonly string[]): string {
	return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
}
