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

/** Returns a function that finds the texts in these arguments, however deep they are. */
export function pathsNamed(names: readonly string[]): (args: Json) => string[] {
	return (args) => names.flatMap((name) => textsIn(args[name]));
}

function textsIn(value: unknown): string[] {
	if (typeof value === "string") return [value];
	if (typeof value === "number") return [String(value)];
	return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
