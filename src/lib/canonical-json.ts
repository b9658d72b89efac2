/** One spelling for each JSON value, and its hash. */
import { createHash } from "node:crypto";

/** Members sorted by the code units of their names, no white space, strings and numbers as `JSON.stringify` writes them. */
export function canonicalJson(value: unknown): string {
	if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item === undefined ? null : item)).join(",")}]`;
	if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
	const members = Object.entries(value).filter(([, member]) => member !== undefined);
	members.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
	return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`).join(",")}}`;
}

/** `sha256:` and the hash of the canonical value. */
export function digestOf(value: unknown): string {
	return `sha256:${createHash("sha256").update(canonicalJson(value)).digest("hex")}`;
}
