/**
 * Says from its bytes whether a message can be sent as it is: valid JSON in which every member that readers expect has the right kind.
 * Patterns of the usual ways to write a message, so that a host that asks for a long conversation costs one pass over its bytes. They say no in
 * doubt; such a message is parsed.
 */
import { jsonPatterns, number, plainCharacters } from "../lib/json-pattern.ts";

/** The first byte of U+2028 and U+2029, which readers take for line ends, needs a second look. */
const spelling = {
	plain: plainCharacters.replace("]", "\\xe2]"),
	special: '(?:\\\\(?:["\\\\/bfnrt]|u[0-9a-fA-F]{4})|\\xe2(?!\\x80[\\xa8\\xa9]))',
	gap: " ?",
};

interface Patterns {
	/** The beginning of every message, up to the end of its content. The first group is there when ids of a call precede it. */
	head: RegExp;
	/** The rest, by role. The first group of a result is there when ids of a call follow the content. */
	rest: Readonly<Record<string, RegExp>>;
}

/** Every part is written as seldom as possible: compiling a pattern takes V8 a time that grows with its length. */
function makePatterns(): Patterns {
	const { comma, string, scalar, either, member, object, objectOf, listOf, membersExcept } = jsonPatterns(spelling);
	const shallow = either(scalar);
	const texts = (...names: string[]) => names.map((name) => member(name, string)).join(comma);
	const numbers = (...names: string[]) => names.map((name) => member(name, number)).join(comma);
	const others = (value: string, known: string) => membersExcept(value, `"(?:${known})"`);

	const call = [texts("id", "name"), member("arguments", objectOf(either(shallow)))].join(comma);
	const blocks = { text: texts("text"), thinking: texts("thinking"), toolCall: call, image: texts("data", "mimeType") };
	const kinds = Object.entries(blocks).map(([type, members]) => `"${type}"${comma}${members}`);
	const block = `\\{${member("type", `(?:${kinds.join("|")})`)}${others(scalar, "type|text|thinking|id|name|arguments|data|mimeType")}\\}`;
	const ids = `(${comma}${texts("toolCallId", "toolName")})?`;
	const head = `\\{${member("role", '"[A-Za-z]+"')}${ids}${comma}${member("content", `(?:${string}|${listOf(block)})`)}`;

	const counts = ["input", "output", "cacheRead", "cacheWrite"];
	const cost = object(numbers(...counts, "total"));
	const usage = object(numbers(...counts, "totalTokens"), member("cost", cost));
	const reply = [texts("api", "provider", "model"), member("usage", usage), texts("stopReason"), numbers("timestamp")].join(comma);
	const names = "role|content|timestamp";
	const failure = `(?:${comma}${texts("errorMessage")})?`;
	const details = `(?:${comma}${member("details", either(either(shallow)))})?`;
	const isError = `${comma}${member("isError", "(?:true|false)")}`;
	const rest = (...parts: string[]) => new RegExp(`${parts.join("")}\\}$`, "y");
	return {
		head: new RegExp(head, "y"),
		rest: {
			user: rest(others(shallow, names), comma, numbers("timestamp"), others(scalar, names)),
			assistant: rest(comma, reply, others(shallow, `${names}|api|provider|model|usage|stopReason|errorMessage`), failure),
			toolResult: rest(ids, details, isError, comma, numbers("timestamp"), others(scalar, `${names}|toolCallId|toolName|isError`)),
		},
	};
}

/** Made once for many messages. */
export class PlainMessages {
	#patterns = makePatterns();

	/**
	 * Whether valid UTF-8 contains from `start` to `end` exactly one message with this role that needs no repair and has nothing in it that
	 * readers take for a line end.
	 */
	holds(bytes: Buffer, start: number, end: number, role: string): boolean {
		const { head, rest } = this.#patterns;
		const ending = Object.hasOwn(rest, role) ? rest[role] : undefined;
		if (!ending) return false;
		const text = bytes.toString("latin1", start, end);
		try {
			head.lastIndex = 0;
			const begun = head.exec(text);
			if (!begun) return false;
			ending.lastIndex = head.lastIndex;
			const isText = text[head.lastIndex - 1] === '"';
			const ended = ending.exec(text);
			if (!ended || (isText && role !== "user")) return false;
			return role !== "toolResult" || (begun[1] ?? ended[1]) !== undefined;
		} catch (error) {
			// A text with millions of escapes is too much for a pattern, not for the parser.
			if (error instanceof RangeError) return false;
			throw error;
		}
	}
}
