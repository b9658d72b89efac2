/** Removes secrets from JSON without breaking it: a key that is an ordinary word must not change the words of the protocol. */
import { toLine } from "./jsonl.ts";

type Redact = (text: string) => string;

/** Members whose values are words of the protocol. Words consist of letters; a credential hardly ever does. */
const wordMembers = new Set([
	"type",
	"role",
	"stopReason",
	"reason",
	"api",
	"provider",
	"mimeType",
	"command",
	"status",
	"method",
	"level",
	"thinkingLevel",
]);
const word = /^[A-Za-z][A-Za-z_/-]{0,39}$/;

/** Members that refer to entries of the session file. A changed value would refer to nothing. */
const references = new Set(["parentId", "targetId", "firstKeptEntryId", "fromId", "entryId", "leafId"]);

/** Members below which everything, names included, comes from models, tools, hosts and extensions. */
const foreign = new Set(["arguments", "args", "details", "parameters", "partialResult", "result"]);

/** The line with its strings redacted. A line that is not JSON is redacted as text. */
export function cleanJson(json: string, redact: Redact): string {
	let value: unknown;
	try {
		value = JSON.parse(json);
	} catch {
		return redact(json);
	}
	return toLine(cleanValue(value, redact));
}

/** A copy without secrets, in values and in names of members. */
function cleanValue(value: unknown, redact: Redact, isForeign = false, name = ""): unknown {
	if (typeof value === "string") {
		if (!isForeign && (references.has(name) || (wordMembers.has(name) && word.test(value)))) return value;
		return redact(value);
	}
	if (typeof value !== "object" || value === null) return value;
	if (Array.isArray(value)) return value.map((item) => cleanValue(item, redact, isForeign, name));
	const holder = value as Record<string, unknown>;
	// The id of an entry, and the id with which a host finds its answer.
	const keepsId = !isForeign && ("parentId" in holder || holder.type === "response");
	return Object.fromEntries(
		Object.entries(holder).map(([key, member]) => {
			if (isForeign) return [redact(key), cleanValue(member, redact, true, key)];
			if (key === "id" && keepsId) return [key, member];
			const isData = key === "data" && (holder.type === "custom" || holder.type === "custom_message");
			return [key, cleanValue(member, redact, isData || foreign.has(key), key)];
		}),
	);
}
