/** JSON as providers accept it and send it. */
import { isNestedDeeperThan, maxNesting } from "../protocol/nesting.ts";

/** Serialises without lone surrogates: JSON contains them as escapes, and providers refuse them. */
export function wire(value: unknown): string {
	const text = JSON.stringify(value);
	if (!text.includes("\\ud")) return text;
	return text.replace(/(?<!\\)((?:\\\\)*)(?:\\ud[89a-f][0-9a-f]{2})+/g, "$1");
}

export type Json = Record<string, unknown>;

/** An event wraps arguments in a few levels. */
const eventNesting = maxNesting + 16;

/** An event's data as an object, or nothing when it is another kind of JSON. Throws a SyntaxError when it is not JSON. */
export function parseEvent(data: string): Json | undefined {
	if (data.length > 2 * eventNesting && isNestedDeeperThan(eventNesting, data)) throw new SyntaxError(`nested deeper than ${eventNesting}`);
	return object(JSON.parse(data) as unknown);
}

export function object(value: unknown): Json | undefined {
	return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : undefined;
}

export function list(value: unknown): unknown[] {
	return Array.isArray(value) ? value : [];
}

export function text(value: unknown): string {
	return typeof value === "string" ? value : "";
}

/** More tokens than any provider has ever counted. Sums and prices of such numbers stay finite, which JSON needs. */
const mostTokens = 1e12;

/** A token count, or nothing when there is none. */
export function count(value: unknown): number | undefined {
	return typeof value === "number" && value >= 0 && value <= mostTokens ? Math.round(value) : undefined;
}
