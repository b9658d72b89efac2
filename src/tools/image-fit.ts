/** Makes an image small enough for a model, with the optional package sharp when it is there. */

import { type ImageType, imageSize, type Size } from "../lib/image-format.ts";
import { formatSize } from "../lib/truncate.ts";

export interface FittedImage {
	/** Nothing when the image cannot be shown. */
	image?: { data: string; mimeType: string };
	/** What the model should know about it. */
	note?: string;
}

/** The part of sharp that is used. */
export type Sharp = (input: Buffer) => SharpImage;
interface SharpImage {
	autoOrient(): SharpImage;
	resize(size: Size & { fit: "inside" }): SharpImage;
	png(): SharpImage;
	jpeg(options: { quality: number }): SharpImage;
	metadata(): Promise<{ autoOrient: Size }>;
	toBuffer(): Promise<Buffer>;
}

/** Most pixels per side and most characters of base64 that every provider takes. */
const longestSide = 2000;
const largestData = 4.5 * 1024 * 1024;
const shortestSide = 100;
const qualities = [85, 70, 55, 40];
const scales = [1, 0.75, 0.5, 0.35, 0.25];

export async function fitImage(
	bytes: Buffer,
	type: ImageType,
	mayResize: boolean,
	loadSharp: () => Promise<Sharp | undefined>,
): Promise<FittedImage> {
	const size = imageSize(bytes, type);
	const isTooWide = size !== undefined && Math.max(size.width, size.height) > longestSide;
	const isTooHeavy = base64Length(bytes) > largestData;
	const isForeign = type === "image/bmp";
	if (!isForeign && !isTooHeavy && !(isTooWide && mayResize)) return { image: { data: bytes.toString("base64"), mimeType: type } };
	const described = `${size ? `${size.width}x${size.height} pixels, ` : ""}${formatSize(bytes.length)}`;
	if (!mayResize && !isForeign) return { note: `[Image not shown: ${described} is too large, and images.autoResize is off.]` };
	const sharp = await loadSharp();
	if (!sharp) {
		const why = isForeign && !isTooWide && !isTooHeavy ? "BMP must be converted first" : `${described} is too large`;
		return {
			note: `[Image not shown: ${why}. Install the npm package sharp for automatic conversion, or make a smaller PNG or JPEG copy and read that.]`,
		};
	}
	const [shrunk] = await Promise.allSettled([shrink(sharp, bytes, described)]);
	if (shrunk.status === "fulfilled") return shrunk.value;
	return { note: `[Image not shown: it could not be decoded (${(shrunk.reason as Error).message}).]` };
}

async function shrink(sharp: Sharp, bytes: Buffer, described: string): Promise<FittedImage> {
	const original = (await sharp(bytes).metadata()).autoOrient;
	const factor = Math.min(1, longestSide / original.width, longestSide / original.height);
	for (const scale of scales) {
		const size = {
			width: Math.max(1, Math.round(original.width * factor * scale)),
			height: Math.max(1, Math.round(original.height * factor * scale)),
		};
		if (scale < 1 && (size.width < shortestSide || size.height < shortestSide)) break;
		const shown = await encode(sharp, bytes, size, scale === 1);
		if (shown) return { image: { data: shown.data.toString("base64"), mimeType: shown.mimeType }, note: sizeNote(original, size) };
	}
	return { note: `[Image not shown: ${described} cannot be made small enough. Crop it and read the part that matters.]` };
}

/** The first encoding that is small enough. Screenshots do better as PNG, photographs as JPEG: at full size both are tried. */
async function encode(sharp: Sharp, bytes: Buffer, size: Size, tryPng: boolean): Promise<{ data: Buffer; mimeType: string } | undefined> {
	const resized = () =>
		sharp(bytes)
			.autoOrient()
			.resize({ ...size, fit: "inside" });
	const jpeg = async (quality: number) => ({ data: await resized().jpeg({ quality }).toBuffer(), mimeType: "image/jpeg" });
	if (tryPng) {
		const both = [{ data: await resized().png().toBuffer(), mimeType: "image/png" }, await jpeg(80)] as const;
		const smaller = both[0].data.length <= both[1].data.length ? both[0] : both[1];
		if (base64Length(smaller.data) <= largestData) return smaller;
	}
	for (const quality of qualities) {
		const attempt = await jpeg(quality);
		if (base64Length(attempt.data) <= largestData) return attempt;
	}
	return undefined;
}

function sizeNote(original: Size, shown: Size): string | undefined {
	if (original.width === shown.width && original.height === shown.height) return undefined;
	const factor = (original.width / shown.width).toFixed(2);
	return `[Image of ${original.width}x${original.height} pixels, shown at ${shown.width}x${shown.height}. Multiply coordinates by ${factor} to get those of the original.]`;
}

const base64Length = (bytes: Buffer) => Math.ceil(bytes.length / 3) * 4;

/** Nothing when it is not installed. */
export async function loadSharp(): Promise<Sharp | undefined> {
	// Not a literal, so that no bundler takes it in and no compiler asks for it.
	const name = "sharp";
	const [loaded] = await Promise.allSettled([import(name) as Promise<{ default: Sharp }>]);
	return loaded.status === "fulfilled" ? loaded.value.default : undefined;
}
