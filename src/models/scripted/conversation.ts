/** The facts of the conversation that a script can use. */
import type { ModelMessage, ModelRequest } from "../../agent/contracts.ts";
import type { When } from "./format.ts";
import type { Facts } from "./template.ts";

export interface Asker {
	agent: string;
	depth: number;
}

export function textOf(message: ModelMessage | undefined): string {
	if (!message) return "";
	if (typeof message.content === "string") return message.content;
	return message.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}

export function factsOf(messages: readonly ModelMessage[], n: number): Facts {
	return { prompt: textOf(messages.findLast((message) => message.role === "user")), last: textOf(messages.at(-1)), n };
}

export function holds(when: When | undefined, messages: readonly ModelMessage[], asker: Asker): boolean {
	if (!when) return true;
	const { agent, depth, ...aboutMessage } = when;
	if (agent !== undefined && agent !== asker.agent) return false;
	if (depth !== undefined && depth !== asker.depth) return false;
	return Object.keys(aboutMessage).length === 0 || sinceLastReply(messages).some((message) => meets(message, when));
}

/** Several results and prompts may be new; a script should not have to know which of them came last. */
function sinceLastReply(messages: readonly ModelMessage[]): readonly ModelMessage[] {
	const news = messages.slice(messages.findLastIndex((message) => message.role === "assistant") + 1);
	return news.length > 0 ? news : messages.slice(-1);
}

function meets(message: ModelMessage, { text, matches, tool, isError }: When): boolean {
	const result = message.role === "toolResult" ? message : undefined;
	if (tool !== undefined && result?.toolName !== tool) return false;
	if (isError !== undefined && result?.isError !== isError) return false;
	if (text !== undefined && !textOf(message).includes(text)) return false;
	return matches === undefined || new RegExp(matches).test(textOf(message));
}

const charactersPerToken = 4;
/** What providers charge for a picture of common size. */
const charactersPerImage = 4800;

export const tokensOf = (characters: number) => Math.ceil(characters / charactersPerToken);

/** Counts the characters of requests. A conversation grows at its end: of one that goes on, only what is new is counted. */
export class AskedLength {
	#counted: readonly ModelMessage[] = [];
	#sum = 0;

	of({ systemPrompt, messages }: ModelRequest): number {
		const before = this.#counted;
		const goesOn = before.length > 0 && messages[0] === before[0] && messages[before.length - 1] === before.at(-1);
		let sum = goesOn ? this.#sum : 0;
		for (let index = goesOn ? before.length : 0; index < messages.length; index++) sum += charactersIn(messages[index] as ModelMessage);
		this.#counted = messages;
		this.#sum = sum;
		return systemPrompt.length + sum;
	}
}

function charactersIn({ content }: ModelMessage): number {
	if (typeof content === "string") return content.length;
	let sum = 0;
	for (const block of content) {
		if (block.type === "text") sum += block.text.length;
		else if (block.type === "thinking") sum += block.thinking.length;
		else if (block.type === "toolCall") sum += block.name.length + JSON.stringify(block.arguments).length;
		else if (block.type === "image") sum += charactersPerImage;
		else if (block.type === "redactedThinking") sum += block.data.length;
	}
	return sum;
}
