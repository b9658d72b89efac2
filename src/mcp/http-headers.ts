/** Values of requests that are repeated in headers, so that servers in between can route by them. */
import type { Json } from "./peer.ts";
import type { ParameterHeader } from "./tool-list.ts";

/** `Mcp-Param-*` of the arguments that a tool marks. An argument that is absent or null has none. */
export function parameterValues(headers: readonly ParameterHeader[], args: Json): Record<string, string> {
	const found = headers.flatMap(({ header, path }): [string, string][] => {
		let value: unknown = args;
		for (const name of path) value = typeof value === "object" && value !== null ? (value as Json)[name] : undefined;
		return value === undefined || value === null || typeof value === "object" ? [] : [[`Mcp-Param-${header}`, headerValue(String(value))]];
	});
	return Object.fromEntries(found);
}

const plain = /^[\x20-\x7e]*$/;
const encoded = /^=\?base64\?.*\?=$/i;

/** The text where a header can hold it, else in base64. */
export function headerValue(text: string): string {
	const isPlain = plain.test(text) && text === text.trim() && !encoded.test(text);
	return isPlain ? text : `=?base64?${Buffer.from(text, "utf8").toString("base64")}?=`;
}
