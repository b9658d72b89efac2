/**
 * What a request costs at a provider that caches as Anthropic documents it: a prefix is kept where a request has a mark, in the order tools, system,
 * messages; each mark of a later request finds a kept prefix that ends at most 20 blocks before it; another `thinking` or `tool_choice` loses the
 * messages; what is shorter than 1,024 tokens is not kept. Only input is counted.
 */
import { createHash } from "node:crypto";
import type { TokenCounter } from "./tokens.ts";

/** Dollars per million tokens. */
const prices = { plain: 3, written: 3.75, read: 0.3 };
/** The number of blocks that a mark looks back, including its own. */
const reach = 20;
const smallestPrefix = 1024;

interface Part {
	type: string;
	text?: string;
	content?: string | Part[];
	cache_control?: object;
	[key: string]: unknown;
}

/** The members of a request in the format of Anthropic that matter here. */
export interface Asked {
	model: string;
	thinking?: { type: string };
	tool_choice?: object;
	tools?: { name: string; input_schema?: { properties?: Record<string, object> } }[];
	system?: string | Part[];
	messages: { role: "user" | "assistant"; content: string | Part[] }[];
}

/** A piece of a request that can end a kept prefix. */
export interface Block {
	level: "tools" | "system" | "messages";
	/** For people: `user 3, tool_result`. */
	place: string;
	text: string;
	tokens: number;
	isMarked: boolean;
}

export interface Bill {
	blocks: readonly Block[];
	/** Tokens of tools and system prompt. */
	fixed: number;
	/** Tokens up to the last mark: what the next request can find. */
	marked: number;
	read: number;
	written: number;
	/** Tokens that the cache has nothing to do with. */
	plain: number;
	usd: number;
}

export class PromptCache {
	#kept = new Set<string>();
	#tokens: TokenCounter;

	constructor(tokens: TokenCounter) {
		this.#tokens = tokens;
	}

	/** Keeps what the request marks and returns what it costs. */
	take(request: Asked): Bill {
		const blocks = this.#blocksOf(request);
		const prefixes = prefixesOf(request, blocks);
		const ends = sums(blocks.map(({ tokens }) => tokens));
		const marks = blocks.flatMap(({ isMarked }, index) => (isMarked ? [index] : []));
		const read = Math.max(0, ...marks.map((mark) => this.#found(prefixes, mark)).map((index) => ends[index] ?? 0));
		for (const mark of marks) if ((ends[mark] ?? 0) >= smallestPrefix) this.#kept.add(prefixes[mark] ?? "");
		const marked = ends[marks.at(-1) ?? -1] ?? 0;
		const written = marked >= smallestPrefix ? Math.max(0, marked - read) : 0;
		const plain = (ends.at(-1) ?? 0) - read - written;
		const fixed = ends[blocks.findLastIndex(({ level }) => level !== "messages")] ?? 0;
		const usd = (plain * prices.plain + written * prices.written + read * prices.read) / 1e6;
		return { blocks, fixed, marked, read, written, plain, usd };
	}

	/** Forgets everything, as a provider does when nothing is asked for longer than the lifetime. */
	forget(): void {
		this.#kept.clear();
	}

	/** Returns the index of the last block of the longest kept prefix that a mark finds, or -1. */
	#found(prefixes: readonly string[], mark: number): number {
		for (let index = mark; index >= 0 && index > mark - reach; index--) if (this.#kept.has(prefixes[index] ?? "")) return index;
		return -1;
	}

	#blocksOf({ tools = [], system = [], messages }: Asked): Block[] {
		const block = (level: Block["level"], place: string, part: object, role = ""): Block => {
			const text = role + JSON.stringify(part, (key, value) => (key === "cache_control" ? undefined : value));
			return { level, place, text, tokens: this.#tokens.count(text), isMarked: isMarked(part) };
		};
		return [
			...tools.map((tool) => block("tools", tool.name, tool)),
			...partsOf(system).map((part) => block("system", part.type, part)),
			...messages.flatMap(({ role, content }, index) =>
				partsOf(content).map((part) => block("messages", `${role} ${index}, ${part.type}`, part, role)),
			),
		];
	}
}

export const partsOf = (content: string | Part[]): Part[] => (typeof content === "string" ? [{ type: "text", text: content }] : content);

/** Returns whether a part has a mark. A tool result may have it on what is in it. */
function isMarked({ cache_control, content }: Partial<Part>): boolean {
	return cache_control !== undefined || (Array.isArray(content) && content.some(isMarked));
}

/** Returns a name for what a request begins with, for each of its blocks. */
function prefixesOf({ model, thinking, tool_choice }: Asked, blocks: readonly Block[]): string[] {
	const firstMessage = blocks.findIndex(({ level }) => level === "messages");
	let name = model;
	return blocks.map(({ text }, index) => {
		const configuration = index === firstMessage ? JSON.stringify([thinking, tool_choice]) : "";
		name = createHash("sha256").update(name).update(configuration).update(text).digest("hex");
		return name;
	});
}

function sums(values: readonly number[]): number[] {
	let sum = 0;
	return values.map((value) => {
		sum += value;
		return sum;
	});
}

/** Returns what of the earlier request the later one does not begin with, in words; undefined when it begins with all of it. */
export function difference(before: readonly Block[], after: readonly Block[]): string | undefined {
	const at = before.findIndex(({ text }, index) => text !== after[index]?.text);
	const [old, now] = [before[at], after[at]];
	return old && `${old.level}: ${old.place}${now && now.place !== old.place ? ` became ${now.place}` : ""}`;
}
