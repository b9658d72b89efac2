/**
 * Stored messages in the form of Anthropic Messages, straight from the lines of a session file. A block is stored nearly as it is sent, so a
 * pattern that also checks the JSON is several times cheaper than reading the line and writing it again. It matches what we write; other lines are read.
 */
import type { ModelMessage, StoredRun } from "../../agent/contracts.ts";
import { jsonPatterns, plainCharacters } from "../../lib/json-pattern.ts";
import type { Target } from "../handoff.ts";
import { asBytes } from "../json.ts";

// ── Patterns ───────────────────────────────────────────────────────────────────────────────────────────

/** Any text, except with an escaped surrogate: half a pair must not be sent. */
const spelling = { plain: plainCharacters, special: '\\\\(?:["\\\\/bfnrt]|u(?![dD])[0-9a-fA-F]{4})' };
/**
 * The beginning of a string that surely has something to read in it. Lead bytes of UTF-8 count, except where the character may be a space:
 * U+00A0, U+1680, U+2000 to U+207F, U+3000, U+FEFF.
 */
const lead = "[\\xc3-\\xe0\\xe4-\\xee\\xf0-\\xf4]|\\xc2(?!\\xa0)|\\xe1(?!\\x9a)|\\xe2(?![\\x80\\x81])|\\xe3(?!\\x80)|\\xef(?!\\xbb)";
const visible = `(?="(?: |\\\\[nrt])*(?:[!#-\\[\\]-~]|\\\\["\\\\/]|${lead}))`;
const literal = (text: string) => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");

/** How a line is written: the pieces to look for in it. */
interface Style {
	/** A line with its line end. Its groups are the pieces that are sent: blocks or words of a prompt, blocks of a reply, id, text, id and failure of a result. */
	line: RegExp;
	/** The blocks of a reply that are sent in another form than they are stored. */
	changed: RegExp;
	thoughtStart: string;
	callStart: string;
	name: string;
	args: string;
	signature: string;
}

/** `gap`: what is between tokens, which is nothing or, in files of some programs, a space. */
function styleOf(target: Target, gap: string): Style {
	const { comma, string, scalar, either, member, object, objectOf, listOf, membersExcept } = jsonPatterns({ ...spelling, gap });
	const quoted = (text: string) => literal(JSON.stringify(text));
	const shallow = either(scalar);
	/** Two levels: usage with its cost, most details. A message with anything deeper is read. */
	const value = either(shallow);

	/** Ids are compared as they are spelled: one with an escape has several spellings. */
	const id = `"${plainCharacters}"`;
	const typeOf = (type: string) => member("type", `"${type}"`);
	const text = object(typeOf("text"), member("text", visible + string));
	const args = objectOf(value);
	const call = object(typeOf("toolCall"), member("id", id), member("name", string), member("arguments", args));
	const thought = object(typeOf("thinking"), member("thinking", string), member("thinkingSignature", `"(?!")${string.slice(1)}`));
	const ids = `${comma}${member("toolCallId", `(${id})`)}${comma}${member("toolName", string)}`;

	const prompt = `"user"${comma}${member("content", `(?:(${listOf(text, "+")})|(${visible}${string}))`)}${membersExcept(shallow, '"role"', '"content"')}`;
	const model = [member("api", quoted(target.api)), member("provider", quoted(target.provider)), member("model", quoted(target.model))].join(comma);
	const broken = member("stopReason", '"(?:error"|aborted"|[^"]*\\\\)');
	const others = membersExcept(value, '"role"', '"content"', '"api"', '"provider"', '"model"', broken);
	const reply = `"assistant"${comma}${member("content", `(${listOf(`(?:${text}|${call}|${thought})`, "+")})`)}${comma}${model}${others}`;
	const words = `\\[${object(typeOf("text"), member("text", `(${visible}${string})`))}\\]`;
	const details = `(?:${comma}${member("details", value)})?`;
	const result = [
		`"toolResult"(?:${ids})?${comma}${member("content", words)}(?:${ids})?${details}${comma}${member("isError", "(true|false)")}`,
		membersExcept(scalar, '"role"', '"content"', '"toolCallId"', '"isError"'),
	].join("");

	const place = [typeOf("message"), member("id", id), member("parentId", `(?:null|${id})`), member("timestamp", id)].join(comma);
	const message = `${comma}${member("message", `\\{${member("role", `(?:${prompt}|${reply}|${result})`)}\\}`)}`;
	const thoughtHead = `(\\{${typeOf("thinking")}${comma}${member("thinking", string)})${comma}${member("thinkingSignature", "")}`;
	const callHead = `\\{${typeOf("toolCall")}${comma}${member("id", `(${id})`)}${comma}(${member("name", string)})${comma}${member("arguments", `(${args}\\})`)}`;
	return {
		line: new RegExp(`\\{${place}${message}\\}\\r?\\n|[^\\n]*\\n`, "g"),
		changed: new RegExp(`${callHead}|${thoughtHead}`, "g"),
		thoughtStart: `{${typeOf("thinking")}`,
		callStart: `{${typeOf("toolCall")}${comma}${member("id", '"')}`,
		name: `${comma}${member("name", '"')}`,
		args: `${comma}${member("arguments", "")}`,
		signature: `${comma}${member("thinkingSignature", "")}`,
	};
}

let styles: { of: string; dense: Style; spaced?: Style } | undefined;

/** With the model in the pattern: a reply of another model has to be adapted. */
function styleFor(lines: string, target: Target): Style {
	const of = JSON.stringify([target.api, target.provider, target.model]);
	if (styles?.of !== of) styles = { of, dense: styleOf(target, "") };
	if (!lines.startsWith('{"type": ')) return styles.dense;
	styles.spaced ??= styleOf(target, " ");
	return styles.spaced;
}

// ── Writing ────────────────────────────────────────────────────────────────────────────────────────────

/** Writes a message whose line is not as usual: a result as a block, others whole. Nothing when it cannot be sent as it is. */
export type WriteMessage = (message: ModelMessage) => string | undefined;

/** The messages of a run with a comma in front of each. Nothing when they have to be adapted to the model: then they must be read. */
export function storedMessages(run: StoredRun, target: Target, writeMessage: WriteMessage): string | undefined {
	const lines = run.lines();
	return lines === undefined ? undefined : new RunWriter(run, styleFor(lines, target), writeMessage).write(lines);
}

class RunWriter {
	#run: StoredRun;
	#style: Style;
	#writeMessage: WriteMessage;
	/** Calls of the last reply that have no result yet. */
	#waiting: string[] = [];
	/** All results of a turn are one message. */
	#isInResults = false;
	/** Something has to be adapted. */
	#isUnfit = false;
	#index = 0;

	constructor(run: StoredRun, style: Style, writeMessage: WriteMessage) {
		this.#run = run;
		this.#style = style;
		this.#writeMessage = writeMessage;
	}

	write(lines: string): string | undefined {
		try {
			const text = lines.replace(this.#style.line, this.#lineOf);
			const end = this.#endOfResults();
			return this.#isUnfit || this.#waiting.length > 0 ? undefined : text + end;
		} catch (error) {
			// A text with millions of escapes is too much for a pattern, not for the parser.
			if (error instanceof RangeError) return undefined;
			throw error;
		}
	}

	/** What a line becomes. All groups are undefined when it is not as usual. */
	#lineOf = (
		_: string,
		blocks: string | undefined,
		words: string | undefined,
		replied: string | undefined,
		idBefore: string | undefined,
		output: string | undefined,
		idAfter: string | undefined,
		isError: string | undefined,
	): string => {
		const index = this.#index++;
		if (replied !== undefined) return this.#reply(replied);
		if (blocks !== undefined) return this.#message(`,{"role":"user","content":${blocks}}`);
		if (words !== undefined) return this.#message(`,{"role":"user","content":[{"type":"text","text":${words}}]}`);
		if (output === undefined) return this.#read(index);
		// Of a name that is there twice, readers take the last.
		if (idBefore !== undefined && idAfter !== undefined) this.#isUnfit = true;
		const id = idBefore ?? idAfter ?? "";
		return this.#result(id, `{"type":"tool_result","tool_use_id":${id},"content":${output}${isError === "true" ? ',"is_error":true}' : "}"}`);
	};

	#reply(content: string): string {
		const { thoughtStart, callStart } = this.#style;
		const call = content.indexOf(callStart);
		const isSimple = content.lastIndexOf(thoughtStart) <= 1 && (call < 0 || content.indexOf(callStart, call + 1) < 0);
		const ids: string[] = [];
		const sent = isSimple ? oneOfEach(content, call, this.#style, ids) : manyBlocks(content, this.#style, ids);
		const text = this.#message(`,{"role":"assistant","content":${sent}}`);
		this.#await(ids);
		return text;
	}

	#await(ids: string[]): void {
		if (ids.length > 1 && new Set(ids).size < ids.length) this.#isUnfit = true;
		this.#waiting = ids;
	}

	#message(text: string): string {
		// A call without a result gets one, which is for the handoff to do.
		if (this.#waiting.length > 0) this.#isUnfit = true;
		return this.#isInResults ? this.#endOfResults() + text : text;
	}

	#result(id: string, text: string): string {
		const at = this.#waiting.indexOf(id);
		if (at < 0) this.#isUnfit = true;
		else this.#waiting.splice(at, 1);
		const start = this.#isInResults ? "," : ',{"role":"user","content":[';
		this.#isInResults = true;
		return start + text;
	}

	#endOfResults(): string {
		const end = this.#isInResults ? "]}" : "";
		this.#isInResults = false;
		return end;
	}

	/** A line that is not as usual. */
	#read(index: number): string {
		const message = this.#run.message(index);
		const written = message && this.#writeMessage(message);
		if (written === undefined) {
			this.#isUnfit = true;
			return "";
		}
		const text = asBytes(written);
		if (message?.role === "toolResult") return this.#result(asBytes(JSON.stringify(message.toolCallId)), text);
		// Also a message that is not sent separates a call from its result.
		const sent = this.#message(text === "" ? "" : `,${text}`);
		const calls = message?.role === "assistant" ? message.content.filter((block) => block.type === "toolCall") : [];
		this.#await(calls.map(({ id }) => asBytes(JSON.stringify(id))));
		return sent;
	}
}

/** The blocks of a reply that has at most one call, and no thought but at its beginning. Quotes inside of strings are escaped, so all that is found is JSON. */
function oneOfEach(content: string, call: number, style: Style, ids: string[]): string {
	const blocks = content.startsWith(style.thoughtStart, 1) ? content.replace(style.signature, ',"signature":') : content;
	if (call < 0) return blocks;
	const start = call + blocks.length - content.length;
	const id = start + style.callStart.length - 1;
	const name = blocks.indexOf(style.name, id);
	const input = blocks.indexOf(style.args, name);
	ids.push(blocks.slice(id, name));
	return `${blocks.slice(0, start)}{"type":"tool_use","id":${blocks.slice(id, input)},"input":${blocks.slice(input + style.args.length)}`;
}

function manyBlocks(content: string, { changed }: Style, ids: string[]): string {
	// From left to right: arguments that look like a block are a part of their call.
	return content.replace(changed, (_, id: string | undefined, name: string, input: string, thought: string) => {
		if (id === undefined) return `${thought},"signature":`;
		ids.push(id);
		return `{"type":"tool_use","id":${id},${name},"input":${input}`;
	});
}
