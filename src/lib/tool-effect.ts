/** The effect that a tool of a host or an extension declares: which of its arguments are paths of files that it reads or writes. */
import { effectKinds } from "./tool-facts.ts";

type Json = Record<string, unknown>;

/** Returns what is wrong with a declared effect, phrased to follow the tool's name; undefined if nothing is. A typing error must not leave a path unguarded. */
export function effectProblem(effect: unknown, parameters: Json): string | undefined {
	if (typeof effect !== "object" || effect === null || Array.isArray(effect))
		return 'must have an object as effect, such as {"kind":"read","paths":["path"]}';
	const { kind, paths, ...others } = effect as Json;
	const [unknown] = Object.keys(others);
	if (unknown !== undefined) return `has an unknown member ${JSON.stringify(unknown)} in its effect: there are kind and paths`;
	if (!(effectKinds as readonly unknown[]).includes(kind)) return `has the effect.kind ${JSON.stringify(kind)}: there are ${effectKinds.join(", ")}`;
	if (paths === undefined) return undefined;
	if (kind !== "read" && kind !== "write") return `has effect.paths, so its effect.kind must be read or write, not ${kind}`;
	if (!Array.isArray(paths) || paths.length === 0 || !paths.every((name) => typeof name === "string"))
		return "must have a list of names of arguments as effect.paths; leave it out where there are none";
	const known = typeof parameters.properties === "object" && parameters.properties !== null ? Object.keys(parameters.properties) : undefined;
	const missing = known && paths.find((name) => !known.includes(name));
	if (missing === undefined) return undefined;
	return `names ${JSON.stringify(missing)} in effect.paths, which is not an argument of it${known?.length ? `: there are ${known.join(", ")}` : ""}`;
}

/**
 * Returns a function that finds the texts in these arguments, however deep they are. The name of a member is one of them unless the schema has it:
 * what is written may come as an object of contents by path.
 */
export function pathsNamed(names: readonly string[], parameters: Json): (args: Json) => string[] {
	const members = new Set(membersIn(parameters));
	return (args) => names.flatMap((name) => textsIn(args[name], members));
}

function textsIn(value: unknown, members: ReadonlySet<string>): string[] {
	if (typeof value === "string") return [value];
	if (typeof value === "number") return [String(value)];
	if (typeof value !== "object" || value === null) return [];
	if (Array.isArray(value)) return value.flatMap((each) => textsIn(each, members));
	return Object.entries(value).flatMap(([name, member]) => [...(members.has(name) ? [] : [name]), ...textsIn(member, members)]);
}

/** Returns the names that a schema gives to members, at any depth. */
function membersIn(schema: unknown): string[] {
	if (typeof schema !== "object" || schema === null) return [];
	return Object.entries(schema).flatMap(([name, part]: [string, unknown]) => [
		...(name === "properties" && typeof part === "object" && part !== null ? Object.keys(part) : []),
		...membersIn(part),
	]);
}
