/**
 * Stored messages in the form of Anthropic Messages, straight from the lines of a session file. A block is stored nearly as it is sent, so a
 * pattern that also checks the JSON is several times cheaper than reading the line and writing it again. It matches what we write; other lines are read.
 */
import type { ModelMessage, StoredRun } from "../../agent/contracts.ts";
import type { Target } from "../handoff.ts";
import { asBytes } from "../json.ts";

// ── Patterns ───────────────────────────────────────────────────────────────────────────────────────────

const plain = '[^"\\\\\\x00-\\x1f]*';
/** Any string, except with an escaped surrogate: half a pair must not be sent. */
const string = `"${plain}(?:\\\\(?:["\\\\/bfnrt]|u(?![dD])[0-9a-fA-F]{4})${plain})*"`;
/**
 * The beginning of a string that surely has something to read in it. Lead bytes of UTF-8 count, except where the character may be a space:
 * U+00A0, U+1680, U+2000 to U+207F, U+3000, U+FEFF.
 */
const lead = "[\\xc3-\\xe0\\xe4-\\xee\\xf0-\\xf4]|\\xc2(?!\\xa0)|\\xe1(?!\\x9a)|\\xe2(?![\\x80\\x81])|\\xe3(?!\\x80)|\\xef(?!\\xbb)";
const visible = `(?="(?: |\\\\[nrt])*(?:[!#-\\[\\]-~]|\\\\["\\\\/]|${lead}))`;
/** A name with an escape may be any name. */
const name = `"${plain}"`;
const scalar = `(?:${string}|-?(?:0|[1-9][0-9]*)(?:\\.[0-9]+)?(?:[eE][-+]?[0-9]+)?|true|false|null)`;
// Each item is written once, for the size of the pattern: a comma may not be the last.
const listOf = (item: string, times = "*") => `\\[(?:${item}(?:,(?!\\])|(?=\\])))${times}\\]`;
const objectOf = (value: string) => `\\{(?:${name}:${value}(?:,(?!\\})|(?=\\})))*\\}`;
const either = (value: string) => `(?:${value}|${objectOf(value)}|${listOf(value)})`;
const shallow = either(scalar);
/** Two levels: usage with its cost, most details. A message with anything deeper is read. */
const value = either(shallow);
const membersExcept = (value: string, ...names: string[]) => `(?:,(?!${names.join("|")})${name}:${value})*`;

const text = `\\{"type":"text","text":${visible}${string}\\}`;
const args = objectOf(value);
const call = `\\{"type":"toolCall","id":${string},"name":${string},"arguments":${args}\\}`;
const thought = `\\{"type":"thinking","thinking":${string},"thinkingSignature":"(?!")${string.slice(1)}\\}`;
const ids = `,"toolCallId":(${string}),"toolName":${string}`;

const head = `\\{"type":"message","id":"[^"\\\\]+","parentId":(?:null|"[^"\\\\]+"),"timestamp":"[^"\\\\]*","message":\\{"role":`;
const prompt = `"user","content":(?:(${listOf(text, "+")})|(${visible}${string}))${membersExcept(shallow, '"role"', '"content"')}`;
const block = `(?:${text}|${call}|${thought})`;
const reply = (target: Target) => {
	const model = literal(`,"api":${JSON.stringify(target.api)},"provider":${JSON.stringify(target.provider)},"model":${JSON.stringify(target.model)}`);
	const others = membersExcept(value, '"role"', '"content"', '"api"', '"provider"', '"model"', '"stopReason":"(?:error|aborted)"');
	return `"assistant","content":(${listOf(block, "+")})${model}${others}`;
};
const result =
	`"toolResult"(?:${ids})?,"content":\\[\\{"type":"text","text":(${visible}${string})\\}\\](?:${ids})?(?:,"details":${value})?,"isError":(true|false)` +
	membersExcept(scalar, '"role"', '"content"', '"toolCallId"', '"isError"');

const literal = (json: string) => json.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");

/** A line. Its groups are the pieces that are sent. */
interface Pattern {
	of: string;
	line: RegExp;
}

let pattern: Pattern | undefined;

/** One pattern for each kind of message in one, with the model in it: a reply of another model has to be adapted. */
function lineOf(target: Target): RegExp {
	const of = JSON.stringify([target.api, target.provider, target.model]);
	if (pattern?.of !== of) pattern = { of, line: new RegExp(`${head}(?:${prompt}|${reply(target)}|${result})\\}\\}\\r?\\n|[^\\n]*\\n`, "g") };
	return pattern.line;
}

/** The blocks of a reply that are sent in another form than they are stored. */
let changed: RegExp | undefined;

// ── Writing ────────────────────────────────────────────────────────────────────────────────────────────

/** Writes a message whose line is not as usual: a result as a block, others whole. Nothing when it cannot be sent as it is. */
export type WriteMessage = (message: ModelMessage) => string | undefined;

/** The messages of a run with a comma in front of each. Nothing when they have to be adapted to the model: then they must be read. */
export function storedMessages(run: StoredRun, target: Target, writeMessage: WriteMessage): string | undefined {
	const lines = run.lines();
	return lines === undefined ? undefined : new RunWriter(run, writeMessage).write(lines, lineOf(target));
}

class RunWriter {
	#run: StoredRun;
	#writeMessage: WriteMessage;
	/** Calls of the last reply that have no result yet. */
	#waiting: string[] = [];
	/** All results of a turn are one message. */
	#isInResults = false;
	/** Something has to be adapted. */
	#isUnfit = false;
	#index = 0;

	constructor(run: StoredRun, writeMessage: WriteMessage) {
		this.#run = run;
		this.#writeMessage = writeMessage;
	}

	write(lines: string, line: RegExp): string | undefined {
		const text = lines.replace(line, this.#lineOf);
		const end = this.#endOfResults();
		return this.#isUnfit || this.#waiting.length > 0 ? undefined : text + end;
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
		const call = content.indexOf(callStart);
		const isSimple = content.lastIndexOf(thoughtStart) <= 1 && (call < 0 || content.indexOf(callStart, call + 1) < 0);
		const ids: string[] = [];
		const sent = isSimple ? oneOfEach(content, call, ids) : manyBlocks(content, ids);
		const text = this.#message(`,{"role":"assistant","content":${sent}}`);
		this.#waiting = ids;
		return text;
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
		if (text === "") return "";
		const sent = this.#message(`,${text}`);
		const calls = message?.role === "assistant" ? message.content.filter((block) => block.type === "toolCall") : [];
		this.#waiting = calls.map(({ id }) => asBytes(JSON.stringify(id)));
		return sent;
	}
}

const thoughtStart = '{"type":"thinking"';
const callStart = '{"type":"toolCall","id":"';

/** The blocks of a reply that has at most one call, and no thought but at its beginning. Quotes inside of strings are escaped, so all that is found is JSON. */
function oneOfEach(content: string, call: number, ids: string[]): string {
	const blocks = content.startsWith(thoughtStart, 1) ? content.replace(',"thinkingSignature":', ',"signature":') : content;
	if (call < 0) return blocks;
	const start = call + blocks.length - content.length;
	const id = start + callStart.length - 1;
	const name = blocks.indexOf(',"name":"', id);
	const input = blocks.indexOf(',"arguments":{', name);
	ids.push(blocks.slice(id, name));
	return `${blocks.slice(0, start)}{"type":"tool_use","id":${blocks.slice(id, input)},"input":${blocks.slice(input + ',"arguments":'.length)}`;
}

function manyBlocks(content: string, ids: string[]): string {
	changed ??= new RegExp(
		`\\{"type":"toolCall","id":(${string}),("name":${string}),"arguments":(${args}\\})|(\\{"type":"thinking","thinking":${string}),"thinkingSignature":`,
		"g",
	);
	// From left to right: arguments that look like a block are a part of their call.
	return content.replace(changed, (_, id: string | undefined, name: string, input: string, thought: string) => {
		if (id === undefined) return `${thought},"signature":`;
		ids.push(id);
		return `{"type":"tool_use","id":${id},${name},"input":${input}`;
	});
}
