/**
 * Puts the blocks of a stream in order: they open and close one after another, in the order of their first appearance, whatever order
 * their pieces arrive in. Pieces of a block whose turn has not come are kept back. Pieces that arrive together are reported together.
 */
import { PartialJsonReader, parseObject } from "../lib/partial-json.ts";
import type { RedactedThinking, Text, Thinking, ToolCall } from "../protocol/content.ts";
import { isNestedDeeperThan, maxNesting } from "../protocol/nesting.ts";
import type { ReplyBuilder } from "./builder.ts";

/** `argumentsError` says why the arguments cannot be used; such a call must not be executed. */
export type CheckedToolCall = ToolCall & { argumentsError?: string };
type Block = Text | Thinking | RedactedThinking | CheckedToolCall;
type Members = Partial<Text> | Partial<Thinking> | Partial<CheckedToolCall>;

interface Entry {
	block: Block;
	/** Index in the message, once its turn came. */
	index: number | undefined;
	waiting: string[];
	isClosed: boolean;
	members: Members | undefined;
	reader: PartialJsonReader | undefined;
}

/** An endless reply must be cut somewhere; models are cut off long before. */
const maxCharacters = 32 * 1024 * 1024;
const maxBlocks = 2000;

/** The provider never comes to an end. Asking again would not help. */
class EndlessReply extends Error {
	constructor(what: string) {
		super(`it has more than ${what}`);
	}
}

const cutText = "the reply was cut off before the arguments were complete";

export class Blocks {
	#builder: ReplyBuilder;
	#entries: Entry[] = [];
	#byKey = new Map<string | number, Entry>();
	/** Ids of calls, without the item ids that follow a bar. */
	#callIds = new Set<string>();
	/** The entry whose turn it is. */
	#turn = 0;

	/** The block that was appended to last, and the pieces that are not reported yet. */
	#newest: Entry | undefined;
	#newestKey: string | number | undefined;
	#pieces = "";

	#characters = 0;
	#onFirst: (() => void) | undefined;

	/** `onFirst` is called right before the first block opens. */
	constructor(builder: ReplyBuilder, onFirst?: () => void) {
		this.#builder = builder;
		this.#onFirst = onFirst;
	}

	has(key: string | number): boolean {
		return this.#byKey.has(key);
	}

	/** Whether the block is a call whose arguments are whole. */
	isWhole(key: string | number): boolean {
		this.flush();
		return this.#byKey.get(key)?.reader?.isComplete ?? false;
	}

	/** Whether the arguments of a call can be used as they are: whole, empty, or `null`. */
	isUsable(key: string | number): boolean {
		this.flush();
		const reader = this.#byKey.get(key)?.reader;
		return reader === undefined || reader.isComplete || isNothing(reader.text);
	}

	/** Opens a block under a key that the stream will use for it. */
	open(key: string | number, block: Block): void {
		this.flush();
		const reader = block.type === "toolCall" ? new PartialJsonReader(maxNesting) : undefined;
		const own = block.type === "toolCall" ? { ...block, id: this.#uniqueId(block.id) } : block;
		const entry: Entry = { block: own, index: undefined, waiting: [], isClosed: false, members: undefined, reader };
		this.#byKey.set(key, entry);
		this.#newestKey = undefined;
		if (this.#entries.length === maxBlocks) throw new EndlessReply(`${maxBlocks} parts`);
		if (this.#entries.push(entry) === 1) this.#onFirst?.();
		this.#advance();
	}

	/** Appends to a text, to thinking, or to the raw arguments of a call. Nothing happens for an unknown or closed block. */
	append(key: string | number, piece: string): void {
		if (key !== this.#newestKey) this.#turnTo(key);
		const entry = this.#newest;
		if (!entry || entry.isClosed) return;
		this.#characters += piece.length;
		if (this.#characters > maxCharacters) throw new EndlessReply(`${maxCharacters / 1024 / 1024} million characters`);
		this.#pieces += piece;
	}

	#turnTo(key: string | number): void {
		this.flush();
		this.#newestKey = key;
		this.#newest = this.#byKey.get(key);
	}

	/** Reports the pieces that were appended. To be called when no more bytes are there: what follows may take a while. */
	flush(): void {
		const pieces = this.#pieces;
		if (pieces === "") return;
		this.#pieces = "";
		const entry = this.#newest as Entry;
		if (entry.index === undefined) entry.waiting.push(pieces);
		else this.#append(entry, entry.index, pieces);
	}

	/** Replaces members of a block; the next event shows them. */
	change(key: string | number, members: Members): void {
		this.flush();
		const entry = this.#byKey.get(key);
		if (!entry) return;
		if (entry.index === undefined) entry.block = { ...entry.block, ...members } as Block;
		else this.#builder.change(entry.index, members);
	}

	close(key: string | number, members?: Members): void {
		this.flush();
		const entry = this.#byKey.get(key);
		if (!entry || entry.isClosed) return;
		entry.isClosed = true;
		entry.members = members;
		this.#advance();
	}

	/** Closes whatever is open. */
	closeAll(): void {
		this.flush();
		for (const entry of this.#entries) entry.isClosed = true;
		this.#advance();
	}

	/** The reply failed: open calls lose their half-read arguments and are marked, nothing is closed. */
	cut(): void {
		this.flush();
		for (const { index, isClosed, reader } of this.#entries) {
			if (index !== undefined && reader && !isClosed) this.#builder.change(index, { arguments: {}, argumentsError: cutText } as Members);
		}
	}

	/** Some hosts give several calls of a reply one id, or none; their results would be ambiguous. */
	#uniqueId(id: string): string {
		const bar = id.indexOf("|");
		const [callId, itemId] = bar === -1 ? [id, ""] : [id.slice(0, bar), id.slice(bar)];
		const wanted = callId.trim() === "" ? `call_${this.#builder.partial.timestamp.toString(36)}_${this.#callIds.size + 1}` : callId;
		let unique = wanted;
		for (let copy = 2; this.#callIds.has(unique); copy += 1) unique = `${wanted}_${copy}`;
		this.#callIds.add(unique);
		return unique + itemId;
	}

	#append(entry: Entry, index: number, piece: string): void {
		if (entry.reader) this.#builder.appendArguments(index, piece, entry.reader.push(piece));
		else this.#builder.append(index, piece);
	}

	#advance(): void {
		for (let entry = this.#entries[this.#turn]; entry; entry = this.#entries[this.#turn]) {
			if (entry.index === undefined) {
				entry.index = this.#builder.open(entry.block);
				const { waiting } = entry;
				entry.waiting = [];
				for (const piece of waiting) this.#append(entry, entry.index, piece);
			}
			if (!entry.isClosed) return;
			this.#builder.close(entry.index, finished(entry));
			this.#turn += 1;
		}
	}
}

/** Models without anything to say send no arguments, or `null`. */
function isNothing(args: string): boolean {
	return /^\s*(?:null\s*)?$/.test(args);
}

/** The last members of a block; for a call its arguments, read strictly. Arguments that came whole with the call stay. */
function finished({ reader, members }: Entry): Members | undefined {
	if (!reader || isNothing(reader.text)) return members;
	const read = isNestedDeeperThan(maxNesting, reader.text) ? { problem: `nested deeper than ${maxNesting}` } : parseObject(reader.text);
	if ("value" in read) return { ...members, arguments: read.value };
	return { ...members, arguments: {}, argumentsError: `the arguments are not valid JSON: ${read.problem}` } as Members;
}
