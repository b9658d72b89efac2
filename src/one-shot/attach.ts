/** Files and pipes as parts of a prompt: text is put into it, images are sent with it. */

import { readFile, stat } from "node:fs/promises";
import { asSentence } from "../lib/as-sentence.ts";
import { imageType } from "../lib/image-format.ts";
import { UsageError } from "../lib/usage-error.ts";
import type { Image } from "../protocol/content.ts";
import { binaryKind } from "../tools/binary-kind.ts";
import { fitImage, loadSharp } from "../tools/image-fit.ts";
import { resolveExisting } from "../tools/paths.ts";
import { mostBytes } from "./stdin.ts";

export interface Attached {
	text?: string;
	image?: Image;
	/** What the model should know about the image. */
	note?: string;
}

/** The content of a file that the command line names. */
export async function attachFile(cwd: string, word: string, mayResize: boolean): Promise<{ text: string; image?: Image }> {
	const path = await found(cwd, word);
	const { text, image, note } = await attach(await contentOf(path, word), word, mayResize);
	return { text: `<file name="${path}">${text === undefined ? (note ?? "") : `\n${text.replace(/\n$/, "")}\n`}</file>`, image };
}

/** `name`: what the user calls it. */
export async function attach(bytes: Buffer, name: string, mayResize: boolean): Promise<Attached> {
	const type = imageType(bytes);
	if (!type) {
		if (bytes.includes(0)) throw new UsageError(`${name} is neither text nor an image, but ${binaryKind(bytes)}.`);
		return { text: bytes.toString().replace(/^\ufeff/, "") };
	}
	const { image, note } = await fitImage(bytes, type, mayResize, loadSharp);
	if (!image) throw new UsageError(`${name}: ${note}`);
	return { image: { type: "image", ...image }, note };
}

async function found(cwd: string, word: string): Promise<string> {
	try {
		return await resolveExisting(cwd, word);
	} catch (error) {
		throw new UsageError(`@${word}: ${asSentence((error as Error).message)} A prompt that begins with @ needs a space before it.`);
	}
}

async function contentOf(path: string, word: string): Promise<Buffer> {
	try {
		const facts = await stat(path);
		if (facts.isDirectory()) throw new UsageError(`@${word} is a directory. Name a file in it.`);
		// A pipe or a device may never end.
		if (!facts.isFile()) throw new UsageError(`@${word} is not a regular file. Pipe it in instead.`);
		if (facts.size > mostBytes) throw new UsageError(`@${word} has more than ${mostBytes / 1024 / 1024} MiB: no model reads that much.`);
		return await readFile(path);
	} catch (error) {
		if (error instanceof UsageError) throw error;
		throw new UsageError(`@${word} cannot be read: ${(error as NodeJS.ErrnoException).code}.`);
	}
}
