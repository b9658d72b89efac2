/** Images that go with a message: from the clipboard, or from a file whose path was pasted, dropped or chosen. */
import { execFile } from "node:child_process";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { readRegularSync } from "../lib/bounded-file-sync.ts";
import { imageType } from "../lib/image-format.ts";
import { UnsuitableFile } from "../lib/unsuitable-file.ts";
import type { Image } from "../protocol/content.ts";

/** Providers refuse larger ones. */
const mostBytes = 5 * 1024 * 1024;
const clipboardMs = 3000;
const ending = /\.(png|jpe?g|gif|webp|bmp)$/i;

export class Images {
	#images: Image[] = [];

	/** Keeps an image, and gives the mark that takes its place in the text. */
	add(image: Image): string {
		return `[image ${this.#images.push(image)}]`;
	}

	/** The images whose marks are in a text, each once. */
	in(text: string): Image[] {
		const numbers = new Set([...text.matchAll(/\[image (\d{1,6})\]/g)].map(([, number]) => Number(number)));
		return [...numbers].flatMap((number) => this.#images[number - 1] ?? []);
	}
}

/** The image file that a text names: a path as terminals paste it, in quotes, with backslashes, or as an address. */
export function imageNamed(text: string, cwd: string): Image | undefined {
	const line = text.trim();
	if (line.includes("\n") || line.length > 4096) return undefined;
	const quoted = /^(['"])(.*)\1$/.exec(line)?.[2];
	const path = quoted ?? line.replace(/\\(.)/g, "$1");
	return ending.test(path) ? imageIn(path, cwd) : undefined;
}

/** Nothing when it is not an image that can be read. Throws when it is too large to be sent. */
export function imageIn(path: string, cwd: string): Image | undefined {
	let bytes: Buffer;
	try {
		bytes = readRegularSync(path.startsWith("file://") ? fileURLToPath(path) : resolve(cwd, path), mostBytes);
	} catch (error) {
		if (error instanceof UnsuitableFile) throw new Error(`${path} cannot be sent: ${error.message}.`);
		return undefined;
	}
	return imageOf(bytes);
}

export const isImagePath = (path: string) => ending.test(path);

function imageOf(bytes: Buffer): Image | undefined {
	const mimeType = imageType(bytes);
	return mimeType && { type: "image", data: bytes.toString("base64"), mimeType };
}

/** The programs that print the image in the clipboard, by platform. */
const clipboards: Partial<Record<NodeJS.Platform, readonly (readonly [string, ...string[]])[]>> = {
	linux: [
		["wl-paste", "--no-newline", "--type", "image/png"],
		["xclip", "-selection", "clipboard", "-target", "image/png", "-out"],
	],
	darwin: [["osascript", "-e", "get the clipboard as «class PNGf»"]],
};

/** Throws with the reason when there is none. */
export async function imageInClipboard(platform: NodeJS.Platform = process.platform): Promise<Image> {
	const programs = clipboards[platform] ?? [];
	let isMissing = true;
	for (const [program, ...args] of programs) {
		const output = await outputOf(program, args);
		if (output === undefined) continue;
		isMissing = false;
		const bytes = fromAppleScript(output) ?? output;
		const image = imageOf(bytes);
		if (image && bytes.length > mostBytes)
			throw new Error(`The image in the clipboard has more than ${mostBytes / 1024 / 1024} MiB: make it smaller.`);
		if (image) return image;
	}
	const names = programs.map(([name]) => name).join(" or ");
	if (programs.length === 0 || isMissing)
		throw new Error(`The clipboard cannot be read here${names ? `: install ${names}` : ""}. Paste the path of an image instead.`);
	throw new Error("There is no image in the clipboard.");
}

/** AppleScript prints data as `«data PNGf89504E47…»`. */
export function fromAppleScript(output: Buffer): Buffer | undefined {
	const found = /^«data PNGf([0-9A-F]+)»\s*$/.exec(output.toString("utf8", 0, 32).startsWith("«data") ? output.toString() : "");
	return found ? Buffer.from(found[1] as string, "hex") : undefined;
}

/** Nothing when the program is not installed; empty when it failed. */
function outputOf(program: string, args: readonly string[]): Promise<Buffer | undefined> {
	return new Promise((resolve) => {
		execFile(program, args, { encoding: "buffer", maxBuffer: 4 * mostBytes, timeout: clipboardMs }, (error, stdout) => {
			if ((error as NodeJS.ErrnoException | null)?.code === "ENOENT") resolve(undefined);
			else resolve(error ? Buffer.alloc(0) : stdout);
		});
	});
}
