/** What a server asks a person: a form as a series of dialogs, an address as a question. Every request ends with an answer. */
import type { Elicit, Ui } from "../agent/ui.ts";
import { TimeLimit } from "../lib/in-time.ts";
import { isObject } from "./config.ts";
import type { Json } from "./peer.ts";

type Answer = { action: "accept" | "decline" | "cancel"; content?: Json };

export interface Asked {
	server: string;
	params: Json;
	/** The call in whose course it asks, where that is known. */
	toolCallId?: string;
	signal: AbortSignal;
}

export interface AskerParts {
	ui: Ui;
	/** Asks in one go, where the host can show a form. */
	elicit?: Elicit;
	warn: (text: string) => void;
}

interface Field {
	name: string;
	schema: Json;
	isRequired: boolean;
}

const cancel: Answer = { action: "cancel" };
const decline: Answer = { action: "decline" };
/** A dialog without an answer ends after this time. */
const patienceMs = 600_000;
const patternMs = 100;
const secretName = /pass(word|phrase|code)|token|secret|credential|api.?key|private.?key|(^|[_-])(key|pin)([_-]|$)/i;

export async function answerElicitation(asked: Asked, parts: AskerParts): Promise<Json> {
	const answer = await answerOf(asked, parts);
	return { ...answer };
}

async function answerOf(asked: Asked, parts: AskerParts): Promise<Answer> {
	const { params, server } = asked;
	const message = `${server}: ${typeof params.message === "string" ? params.message.slice(0, 2000) : "asks for input"}`;
	if (params.mode === "url") return askAboutAddress(asked, message, parts);
	const schema = isObject(params.requestedSchema) ? params.requestedSchema : {};
	const fields = fieldsOf(schema);
	const secret = fields.find(({ name }) => secretName.test(name));
	if (secret) {
		parts.warn(`MCP server ${JSON.stringify(server)} asked for ${secret.name} in a form. It was declined: such values do not belong in a form.`);
		return decline;
	}
	return parts.elicit ? askInOneGo(asked, message, schema, fields, parts.elicit) : askByDialogs(asked, message, fields, parts.ui);
}

function fieldsOf(schema: Json): Field[] {
	const properties = isObject(schema.properties) ? schema.properties : {};
	const required = Array.isArray(schema.required) ? schema.required : [];
	return Object.entries(properties).flatMap(([name, property]) =>
		isObject(property) ? [{ name, schema: property, isRequired: required.includes(name) }] : [],
	);
}

async function askAboutAddress({ params, server, signal, toolCallId }: Asked, message: string, { ui, elicit }: AskerParts): Promise<Answer> {
	const url = typeof params.url === "string" && URL.canParse(params.url) ? new URL(params.url) : undefined;
	const isLoopback = url !== undefined && ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname);
	if (!url || !(url.protocol === "https:" || (url.protocol === "http:" && isLoopback))) return decline;
	if (elicit) return plain(await elicit({ server, message, url: url.href, ...(toolCallId === undefined ? {} : { toolCallId }) }, signal));
	const isAgreed = await ui.confirm(message, `${url.host}: ${url.href}`, { signal, timeout: patienceMs });
	if (isAgreed) ui.openUrl?.(url.href, message);
	return { action: isAgreed ? "accept" : "decline" };
}

async function askInOneGo(
	{ server, signal, toolCallId }: Asked,
	message: string,
	form: Json,
	fields: readonly Field[],
	elicit: Elicit,
): Promise<Answer> {
	const answer = plain(await elicit({ server, message, form, ...(toolCallId === undefined ? {} : { toolCallId }) }, signal));
	if (answer.action !== "accept") return answer;
	const content: Json = { ...answer.content };
	for (const { name, schema, isRequired } of fields) {
		if (content[name] === undefined && schema.default !== undefined) content[name] = schema.default;
		if (content[name] === undefined ? isRequired : problemWith(content[name], schema) !== undefined) return cancel;
	}
	return { action: "accept", content };
}

/** Only what the protocol knows of an answer. */
function plain({ action, content }: Answer): Answer {
	return action === "accept" && content ? { action, content } : { action };
}

async function askByDialogs({ server, signal }: Asked, message: string, fields: readonly Field[], ui: Ui): Promise<Answer> {
	const options = { signal, timeout: patienceMs };
	if (fields.length === 0) return (await ui.confirm(message, "", options)) ? { action: "accept", content: {} } : decline;
	const content: Json = {};
	for (const [index, field] of fields.entries()) {
		const label = labelOf(field);
		const first = fields.length > 1 ? `${message}\n${label}` : message;
		const value = await askFor(field, index === 0 ? first : `${server}: ${label}`, ui, options);
		if (value === cancelled) return cancel;
		if (value !== undefined) content[field.name] = value;
	}
	return { action: "accept", content };
}

const cancelled = Symbol("cancelled");

/** One value; asked once more when it is wrong or missing. */
async function askFor(
	{ name, schema, isRequired }: Field,
	title: string,
	ui: Ui,
	options: { signal: AbortSignal; timeout: number },
): Promise<unknown> {
	let reason = "";
	for (let attempt = 0; attempt < 2; attempt += 1) {
		const answer = await dialog(schema, reason === "" ? title : `${title}\n${reason}`, ui, options);
		if (answer === undefined || options.signal.aborted) return cancelled;
		const value = answer === "" ? schema.default : typed(answer, schema);
		if (value === undefined && !isRequired) return undefined;
		const problem = value === undefined ? "is required" : problemWith(value, schema);
		if (problem === undefined) return value;
		reason = `${name} ${problem}`;
	}
	return cancelled;
}

function dialog(schema: Json, title: string, ui: Ui, options: { signal: AbortSignal; timeout: number }): Promise<string | undefined> {
	const choices = choicesOf(schema);
	if (choices && schema.type !== "array")
		return ui.select(
			title,
			choices.map((each) => each.title),
			options,
		);
	if (schema.type === "boolean") return ui.select(title, ["Yes", "No"], options);
	const placeholder = Array.isArray(schema.default) ? schema.default.join(", ") : schema.default === undefined ? undefined : String(schema.default);
	const hint = choices ? `${title}\n${choices.map((each) => each.title).join(", ")}` : title;
	return ui.input(hint, placeholder, options).then((answer) => answer?.trim());
}

/** What a person typed or chose, as the value that the server expects. */
function typed(answer: string, schema: Json): unknown {
	const choices = choicesOf(schema);
	const chosen = (title: string) => choices?.find((each) => each.title === title || each.value === title)?.value ?? title;
	switch (schema.type) {
		case "boolean":
			return answer === "Yes";
		case "number":
		case "integer":
			return Number(answer);
		case "array":
			return answer.split(",").flatMap((each) => (each.trim() === "" ? [] : [chosen(each.trim())]));
		default:
			return chosen(answer);
	}
}

/** The values that a property allows, where it names them. */
function choicesOf(schema: Json): { title: string; value: string }[] | undefined {
	const from = schema.type === "array" && isObject(schema.items) ? schema.items : schema;
	const titled = [from.oneOf, from.anyOf].find(Array.isArray) as unknown[] | undefined;
	if (titled) return titled.filter(isObject).map(({ const: value, title }) => ({ value: String(value), title: String(title ?? value) }));
	if (!Array.isArray(from.enum)) return undefined;
	const titles = Array.isArray(from.enumNames) ? from.enumNames : [];
	return from.enum.map((value, index) => ({ value: String(value), title: String(titles[index] ?? value) }));
}

function labelOf({ name, schema }: Field): string {
	const title = typeof schema.title === "string" && schema.title !== "" ? schema.title : name;
	return typeof schema.description === "string" && schema.description !== "" ? `${title} (${schema.description})` : title;
}

const formats: Record<string, (text: string) => boolean> = {
	email: (text) => /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text),
	uri: (text) => URL.canParse(text),
	date: (text) => /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text)),
	"date-time": (text) => /^\d{4}-\d{2}-\d{2}T/.test(text) && !Number.isNaN(Date.parse(text)),
};

/** Why a value does not fit, phrased to follow its name. */
export function problemWith(value: unknown, schema: Json): string | undefined {
	const choices = choicesOf(schema)?.map((each) => each.value);
	const { minimum, maximum, minLength, maxLength, minItems, maxItems, format, pattern } = schema as Record<string, number | undefined> & Json;
	switch (schema.type) {
		case "boolean":
			return typeof value === "boolean" ? undefined : "must be Yes or No";
		case "number":
		case "integer":
			if (typeof value !== "number" || !Number.isFinite(value)) return "must be a number";
			if (schema.type === "integer" && !Number.isInteger(value)) return "must be a whole number";
			if (typeof minimum === "number" && value < minimum) return `must be at least ${minimum}`;
			return typeof maximum === "number" && value > maximum ? `must be at most ${maximum}` : undefined;
		case "array":
			if (!Array.isArray(value)) return "must be a list";
			if (choices && !value.every((each) => choices.includes(each))) return `must be some of ${choices.join(", ")}`;
			if (typeof minItems === "number" && value.length < minItems) return `needs at least ${minItems}`;
			return typeof maxItems === "number" && value.length > maxItems ? `may have at most ${maxItems}` : undefined;
		default: {
			if (typeof value !== "string") return "must be a text";
			if (choices && !choices.includes(value)) return `must be one of ${choices.join(", ")}`;
			if (typeof minLength === "number" && value.length < minLength) return `must have at least ${minLength} characters`;
			if (typeof maxLength === "number" && value.length > maxLength) return `must have at most ${maxLength} characters`;
			const isFormat = typeof format === "string" ? formats[format] : undefined;
			if (isFormat && !isFormat(value)) return `must be in the format ${format}`;
			return typeof pattern === "string" && !matches(pattern, value) ? `must match ${pattern}` : undefined;
		}
	}
}

/** A stranger's pattern may take for ever, or not be one at all. */
function matches(pattern: string, text: string): boolean {
	let isMatch = true;
	try {
		const expression = new RegExp(pattern, "u");
		const isDone = new TimeLimit(patternMs).run(() => {
			isMatch = expression.test(text);
		});
		return isDone && isMatch;
	} catch {
		return true;
	}
}
