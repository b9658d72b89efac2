/**
 * Says from its bytes whether a message can be sent as it is: valid JSON in which every member that readers expect has the right kind.
 * Makes no objects, so a host that asks for a long conversation costs one pass over its bytes. Says no in doubt; such a message is parsed.
 */

const quote = 0x22;
const comma = 0x2c;
const minus = 0x2d;
const dot = 0x2e;
const zero = 0x30;
const nine = 0x39;
const colon = 0x3a;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
/** The last letter of `null`. */
const letterL = 0x6c;
const openBrace = 0x7b;
const closeBrace = 0x7d;

const space = 0x20;
/** Deeper values are left to the parser, which has a limit. */
const maxDepth = 32;

type Kind = "text" | "number" | "boolean" | "object" | "content" | "blocks" | "usage" | "cost";

/** The members of an object whose kind matters, in the order in which we write them. Others may be there and may be anything. */
interface Shape {
	names: readonly Uint8Array[];
	kinds: readonly Kind[];
	/** A bit for each member that must be there. */
	needed: number;
}

function shape(members: Readonly<Record<string, Kind>>, optional: readonly string[] = []): Shape {
	const names = Object.keys(members);
	const needed = names.reduce((bits, name, index) => (optional.includes(name) ? bits : bits | (1 << index)), 0);
	return { names: names.map((name) => Buffer.from(name)), kinds: Object.values(members), needed };
}

const anyMembers = shape({});

const counts = { input: "number", output: "number", cacheRead: "number", cacheWrite: "number" } as const;
const names = { api: "text", provider: "text", model: "text", stopReason: "text", errorMessage: "text" } as const;

/** Everything that is looked up, made once for many messages. */
export class PlainMessages {
	#messages: Readonly<Record<string, Shape>> = {
		user: shape({ role: "text", content: "content", timestamp: "number" }),
		assistant: shape({ role: "text", content: "blocks", ...names, usage: "usage", timestamp: "number" }, ["errorMessage"]),
		toolResult: shape({ role: "text", toolCallId: "text", toolName: "text", content: "blocks", isError: "boolean", timestamp: "number" }),
	};
	/** By the bytes with which a block begins. */
	#blocks: readonly { head: Uint8Array; members: Shape }[] = Object.entries({
		text: shape({ type: "text", text: "text" }),
		thinking: shape({ type: "text", thinking: "text" }),
		toolCall: shape({ type: "text", id: "text", name: "text", arguments: "object" }),
		image: shape({ type: "text", data: "text", mimeType: "text" }),
	}).flatMap(([type, members]) => [
		{ head: Buffer.from(`{"type":"${type}"`), members },
		{ head: Buffer.from(`{"type": "${type}"`), members },
	]);
	#usage = shape({ ...counts, totalTokens: "number", cost: "cost" });
	#cost = shape({ ...counts, total: "number" });
	#literals = ["true", "false", "null"].map((word) => Buffer.from(word));
	/** Bytes at which a string needs a second look: its end, an escape, a control character, the first byte of U+2028 and U+2029. */
	#isSpecial = new Uint8Array(256);
	/** Bytes that may follow a backslash, apart from `u`. */
	#isEscaped = new Uint8Array(256);
	#bytes: Uint8Array = new Uint8Array();
	/** Where the next byte is read. Methods that return true have moved it past what they read. */
	#at = 0;

	constructor() {
		this.#isSpecial.fill(1, 0, 0x20);
		for (const byte of [quote, backslash, 0xe2]) this.#isSpecial[byte] = 1;
		for (const byte of Buffer.from('"\\/bfnrt')) this.#isEscaped[byte] = 1;
	}

	/**
	 * Whether valid UTF-8 contains from `start` to `end` exactly one message with this role that needs no repair and has nothing in it that
	 * readers take for a line end.
	 */
	holds(bytes: Uint8Array, start: number, end: number, role: string): boolean {
		const members = Object.hasOwn(this.#messages, role) ? this.#messages[role] : undefined;
		if (!members) return false;
		this.#bytes = bytes;
		this.#at = start;
		return this.#object(members, 0) && this.#at === end;
	}

	#object({ names, kinds, needed }: Shape, depth: number): boolean {
		if (depth > maxDepth || !this.#take(openBrace)) return false;
		if (this.#take(closeBrace)) return needed === 0;
		/** A bit for each member that was there. */
		let found = 0;
		let next = 0;
		do {
			const start = this.#at + 1;
			if (!this.#string()) return false;
			const end = this.#at - 1;
			const index = this.#indexOf(names, next, start, end);
			if (!this.#takeWithSpace(colon)) return false;
			if (index < 0) {
				// A name that is spelled with an escape may be any.
				if (names.length > 0 && this.#bytes.subarray(start, end).includes(backslash)) return false;
				if (!this.#anything(depth + 1)) return false;
				continue;
			}
			// Of a name that is there twice, readers take the last.
			if (found & (1 << index)) return false;
			found |= 1 << index;
			next = index + 1;
			if (!this.#kind(kinds[index] as Kind, depth + 1)) return false;
		} while (this.#takeWithSpace(comma));
		return (found & needed) === needed && this.#take(closeBrace);
	}

	/** The number of a name between two places, -1 when it is another one. Nearly always it is the next one. */
	#indexOf(names: readonly Uint8Array[], next: number, start: number, end: number): number {
		for (let step = 0; step < names.length; step++) {
			const index = (next + step) % names.length;
			const name = names[index] as Uint8Array;
			if (name.length === end - start && this.#isAt(name, start)) return index;
		}
		return -1;
	}

	#kind(kind: Kind, depth: number): boolean {
		switch (kind) {
			case "text":
				return this.#string();
			case "number":
				return this.#number();
			case "boolean":
				return this.#literal() && this.#bytes[this.#at - 1] !== letterL;
			case "object":
				return this.#object(anyMembers, depth);
			case "content":
				return this.#bytes[this.#at] === quote ? this.#string() : this.#blockList(depth);
			case "blocks":
				return this.#blockList(depth);
			case "usage":
				return this.#object(this.#usage, depth);
			case "cost":
				return this.#object(this.#cost, depth);
		}
	}

	#blockList(depth: number): boolean {
		if (!this.#take(openBracket)) return false;
		if (this.#take(closeBracket)) return true;
		do {
			const members = this.#blockShape();
			if (!members || !this.#object(members, depth + 1)) return false;
		} while (this.#takeWithSpace(comma));
		return this.#take(closeBracket);
	}

	#blockShape(): Shape | undefined {
		for (const { head, members } of this.#blocks) if (this.#isAt(head, this.#at)) return members;
		return undefined;
	}

	#anything(depth: number): boolean {
		const byte = this.#bytes[this.#at] as number;
		if (byte === quote) return this.#string();
		if (byte === openBrace) return this.#object(anyMembers, depth);
		if (byte === openBracket) return this.#array(depth);
		return byte === minus || (byte >= zero && byte <= nine) ? this.#number() : this.#literal();
	}

	#array(depth: number): boolean {
		if (depth > maxDepth || !this.#take(openBracket)) return false;
		if (this.#take(closeBracket)) return true;
		do if (!this.#anything(depth + 1)) return false;
		while (this.#takeWithSpace(comma));
		return this.#take(closeBracket);
	}

	#string(): boolean {
		const bytes = this.#bytes;
		const isSpecial = this.#isSpecial;
		if (bytes[this.#at] !== quote) return false;
		for (let at = this.#at + 1; at < bytes.length; ) {
			const byte = bytes[at] as number;
			if (isSpecial[byte] === 0) at += 1;
			else if (byte === quote) {
				this.#at = at + 1;
				return true;
			} else if (byte === backslash) {
				const next = bytes[at + 1] as number;
				if (this.#isEscaped[next] === 1) at += 2;
				else if (next === 0x75 && this.#isHex(at + 2, at + 6)) at += 6;
				else return false;
			} else if (byte !== 0xe2 || isLineSeparator(bytes, at)) return false;
			else at += 1;
		}
		return false;
	}

	#isHex(start: number, end: number): boolean {
		for (let at = start; at < end; at++) {
			const byte = this.#bytes[at] as number;
			const letter = byte | 0x20;
			if (!((byte >= zero && byte <= nine) || (letter >= 0x61 && letter <= 0x66))) return false;
		}
		return true;
	}

	#number(): boolean {
		this.#take(minus);
		if (this.#take(zero)) {
			const next = this.#bytes[this.#at] as number;
			if (next >= zero && next <= nine) return false;
		} else if (!this.#digits()) return false;
		if (this.#take(dot) && !this.#digits()) return false;
		if (((this.#bytes[this.#at] as number) | 0x20) === 0x65) {
			this.#at += 1;
			if (!this.#take(0x2b)) this.#take(minus);
			return this.#digits();
		}
		return true;
	}

	#digits(): boolean {
		const start = this.#at;
		for (let byte = this.#bytes[start] as number; byte >= zero && byte <= nine; byte = this.#bytes[this.#at] as number) this.#at += 1;
		return this.#at > start;
	}

	#literal(): boolean {
		for (const word of this.#literals) {
			if (!this.#isAt(word, this.#at)) continue;
			this.#at += word.length;
			return true;
		}
		return false;
	}

	/** Some programs put a space after a colon and after a comma. */
	#takeWithSpace(byte: number): boolean {
		if (!this.#take(byte)) return false;
		if (this.#bytes[this.#at] === space) this.#at += 1;
		return true;
	}

	#take(byte: number): boolean {
		if (this.#bytes[this.#at] !== byte) return false;
		this.#at += 1;
		return true;
	}

	#isAt(text: Uint8Array, at: number): boolean {
		for (let index = 0; index < text.length; index++) if (this.#bytes[at + index] !== text[index]) return false;
		return true;
	}
}

function isLineSeparator(bytes: Uint8Array, at: number): boolean {
	return bytes[at + 1] === 0x80 && (bytes[at + 2] === 0xa8 || bytes[at + 2] === 0xa9);
}
