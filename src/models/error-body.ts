/** Reads what a provider says in an error, in one line, from any of the shapes that providers use. Pure. */
import { isHtml, pageLine } from "./error-page.ts";
import { type Json, list, object, text } from "./json.ts";

/** `text` is one line for people; `raw` is all that the provider sent, for the classifier. */
export interface ProviderError {
	text: string;
	raw: string;
	/** The HTTP status that the error itself names. */
	status?: number;
}

const maxLine = 1000;
const maxDepth = 8;

/** Error types that say nothing which the message does not say better. */
const emptyLabels = new Set(["error", "<nil>", "null", "none", "unknown", "unknown_error", "bad_request", "api_error"]);

/** Reads the body of a refused request, or the data of an error event. */
export function readError(body: string, status?: number): ProviderError {
	const found = messageIn(body, 0);
	const line = oneLine(found?.message || body);
	const label = found && labelOf(found, line, status);
	return {
		text: label ? `${label}: ${line}` : line,
		raw: body,
		...(found?.status === undefined ? {} : { status: found.status }),
	};
}

/** A refused request in one line, such as `529 overloaded_error: Overloaded`. `type`: the provider's name for the error, outside of the body. */
export function refusedText(status: number, body: string, type?: string): string {
	const { text: line } = readError(body, status);
	const named = type === undefined || line.startsWith(`${type}:`) ? line : `${type}: ${line}`;
	return named.startsWith(String(status)) ? named : `${status} ${named}`.trimEnd();
}

export function oneLine(value: string): string {
	const line = (isHtml(value) ? pageLine(value) : value).replace(/\s+/g, " ").trim();
	return line.length > maxLine ? `${line.slice(0, maxLine)}…` : line;
}

interface Found {
	message: string;
	labels: string[];
	status?: number;
}

/** The message in a value: it may be text, JSON inside text, or an object around an object. */
function messageIn(value: unknown, depth: number): Found | undefined {
	if (depth > maxDepth) return undefined;
	if (typeof value === "string") return inText(value, depth);
	if (Array.isArray(value)) return inList(value, depth);
	const facts = object(value);
	return facts && inObject(facts, depth);
}

function inText(value: string, depth: number): Found | undefined {
	const trimmed = value.trim();
	if (trimmed === "") return undefined;
	if (/^["{[]/.test(trimmed)) {
		try {
			return messageIn(JSON.parse(trimmed), depth + 1) ?? { message: trimmed, labels: [] };
		} catch {
			return { message: trimmed, labels: [] }; // Text that only looks like JSON, or a body that was cut at its size limit.
		}
	}
	return { message: trimmed, labels: [] };
}

/** Complaints about single members of the request, or a list with one error in it. */
function inList(values: unknown[], depth: number): Found | undefined {
	const complaints = values.flatMap((value) => {
		const facts = object(value);
		const words = text(facts?.msg);
		if (words === "") return [];
		const place = list(facts?.loc).join(".");
		return [place === "" ? words : `${place}: ${words}`];
	});
	if (complaints.length > 0) return { message: complaints.join("; "), labels: [] };
	return messageIn(values[0], depth + 1);
}

/** Where providers put the message, the most telling place first. */
const inner = ["error", "errors", "detail", "message", "msg", "error_message", "error_msg", "status_msg", "base_resp", "response", "title"] as const;

function inObject(facts: Json, depth: number): Found | undefined {
	const upstream = inUpstream(facts, depth);
	for (const name of upstream ? [] : inner) {
		const found = messageIn(facts[name], depth + 1);
		if (found) return withLabels(found, facts);
	}
	return upstream && withLabels(upstream, facts);
}

/** Gateways keep the error of the provider that they asked in `metadata.raw`; their own message only says that there was one. */
function inUpstream(facts: Json, depth: number): Found | undefined {
	const metadata = object(facts.metadata);
	const found = messageIn(metadata?.raw, depth + 1);
	if (!found) return undefined;
	const name = text(metadata?.provider_name);
	return { message: `${text(facts.message) || "Provider returned error"}${name ? ` (${name})` : ""}: ${found.message}`, labels: [] };
}

function withLabels(found: Found, facts: Json): Found {
	const labels = [facts.code, facts.type, facts.status, facts.error_type].flatMap(
		(label) => (typeof label === "number" ? String(label) : text(label)) || [],
	);
	const named = labels.map(Number).find((number) => number >= 400 && number < 600);
	const status = found.status ?? named;
	return { message: found.message, labels: [...found.labels, ...labels], ...(status === undefined ? {} : { status }) };
}

/** The provider's own name for the error, where the message does not already hold it. */
function labelOf({ labels, status }: Found, line: string, known?: number): string | undefined {
	const isTelling = (label: string) => !emptyLabels.has(label.toLowerCase()) && label !== String(known ?? status) && !/\s/.test(label);
	const words = labels.filter(isTelling);
	const label = words.find((word) => !/^\d+$/.test(word)) ?? words[0];
	return label === undefined || line.toLowerCase().includes(label.toLowerCase()) ? undefined : label;
}
