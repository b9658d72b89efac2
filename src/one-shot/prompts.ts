/** From the words of the command line and stdin to the prompts. */

import { UsageError } from "../lib/usage-error.ts";
import type { Image } from "../protocol/content.ts";
import { attach, attachFile } from "./attach.ts";
import { readStdin } from "./stdin.ts";

export interface OneShotPrompt {
	/** The user's text; a slash command is at its beginning. */
	text: string;
	/** The piped input and the files: they come in front of the text. */
	context: string;
	images: Image[];
	/** The JSON Schema of the value to answer with. */
	outputSchema?: Record<string, unknown>;
}

export interface PromptSources {
	words: readonly string[];
	cwd: string;
	mayResize: boolean;
	warn: (text: string) => void;
}

/** Each word is a prompt of its own; `@file` words and stdin belong to the first. Throws a UsageError when there is nothing to ask. */
export async function promptsOf({ words, cwd, mayResize, warn }: PromptSources): Promise<OneShotPrompt[]> {
	const isFile = (word: string) => word.length > 1 && word.startsWith("@");
	const texts = words.filter((word) => word !== "-" && !isFile(word));
	if (texts.some((text) => text.trim() === "")) throw new UsageError("The prompt is empty.");
	const files = await Promise.all(words.filter(isFile).map((word) => attachFile(cwd, word.slice(1), mayResize)));
	const isNamed = words.includes("-");
	if (isNamed && process.stdin.isTTY) throw new UsageError("- means stdin, which is a terminal here: pipe something in, or omit it.");
	const bytes = await readStdin(isNamed || texts.length + files.length === 0, warn);
	const piped = bytes?.length ? await attach(bytes, "What is piped in", mayResize) : {};
	const images = [piped, ...files].flatMap(({ image }) => image ?? []);

	const pipedText = piped.text?.trim() ? piped.text.replace(/\s+$/, "") : piped.note;
	if (texts.length === 0 && piped.text?.trim()) texts.push(pipedText as string);
	else if (pipedText !== undefined) files.unshift({ text: pipedText });
	const context = files.map(({ text }) => text).join("\n\n");
	if (texts.length === 0 && context === "" && images.length === 0) throw new UsageError('What is the prompt? bowline -p "prompt", or pipe it in.');
	const [first = "", ...rest] = texts;
	return [{ text: first, context, images }, ...rest.map((text) => ({ text, context: "", images: [] }))];
}
