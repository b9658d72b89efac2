/** Makes a picture of a page small: at most 256 colours, the others replaced by the nearest of these. */
import { crc32, deflateSync, inflateSync } from "node:zlib";

const signature = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);

/** For pictures as browsers write them: 8 bits, colours with or without transparency, not interlaced. Transparency is dropped. */
export function palettePng(png: Buffer): Buffer {
	const width = png.readUInt32BE(16);
	const height = png.readUInt32BE(20);
	const channels = png[25] === 6 ? 4 : 3;
	const pixels = unfiltered(inflateSync(Buffer.concat(dataOf(png))), width, height, channels);
	const counts = new Map<number, number>();
	const colourAt = (at: number) => ((pixels[at] as number) << 16) | ((pixels[at + 1] as number) << 8) | (pixels[at + 2] as number);
	for (let at = 0; at < pixels.length; at += channels) counts.set(colourAt(at), (counts.get(colourAt(at)) ?? 0) + 1);
	const colours = [...counts].sort(([, one], [, other]) => other - one).map(([colour]) => colour);
	const kept = paletteOf(colours);
	const indices = new Map(colours.map((colour) => [colour, nearest(colour, kept)]));
	const rows = Buffer.alloc((width + 1) * height);
	for (let y = 0; y < height; y++) {
		for (let x = 0; x < width; x++) rows[y * (width + 1) + 1 + x] = indices.get(colourAt((y * width + x) * channels)) as number;
	}
	const header = Buffer.from(png.subarray(16, 29));
	header[8] = 8;
	header[9] = 3;
	const palette = Buffer.from(kept.flatMap((colour) => [colour >> 16, (colour >> 8) & 255, colour & 255]));
	return Buffer.concat([
		signature,
		chunk("IHDR", header),
		chunk("PLTE", palette),
		chunk("IDAT", deflateSync(rows, { level: 9 })),
		chunk("IEND", Buffer.alloc(0)),
	]);
}

function dataOf(png: Buffer): Buffer[] {
	const parts: Buffer[] = [];
	for (let at = 8; at < png.length; ) {
		const length = png.readUInt32BE(at);
		if (png.toString("latin1", at + 4, at + 8) === "IDAT") parts.push(png.subarray(at + 8, at + 8 + length));
		at += 12 + length;
	}
	return parts;
}

function unfiltered(data: Buffer, width: number, height: number, channels: number): Buffer {
	const stride = width * channels;
	const out = Buffer.alloc(stride * height);
	for (let y = 0; y < height; y++) {
		const filter = data[y * (stride + 1)];
		for (let x = 0; x < stride; x++) {
			const left = x >= channels ? (out[y * stride + x - channels] as number) : 0;
			const up = y > 0 ? (out[(y - 1) * stride + x] as number) : 0;
			const corner = y > 0 && x >= channels ? (out[(y - 1) * stride + x - channels] as number) : 0;
			const guess = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter as number] as number;
			out[y * stride + x] = ((data[y * (stride + 1) + 1 + x] as number) + guess) & 255;
		}
	}
	return out;
}

function paeth(left: number, up: number, corner: number): number {
	const [a, b, c] = [Math.abs(up - corner), Math.abs(left - corner), Math.abs(left + up - 2 * corner)];
	return a <= b && a <= c ? left : b <= c ? up : corner;
}

/** The most frequent ones, and before them those that nothing else comes near: a small red dot is rare, and matters. */
function paletteOf(colours: readonly number[]): number[] {
	const kept: number[] = [];
	for (const colour of colours) if (kept.length < 192 && kept.every((other) => distance(colour, other) > 1000)) kept.push(colour);
	const alone = new Set(kept);
	return [...kept, ...colours.filter((colour) => !alone.has(colour)).slice(0, 256 - kept.length)];
}

function nearest(colour: number, kept: readonly number[]): number {
	let best = 0;
	let least = Number.POSITIVE_INFINITY;
	for (const [index, other] of kept.entries()) {
		const far = distance(colour, other);
		if (far < least) [best, least] = [index, far];
	}
	return best;
}

const distance = (one: number, other: number) => [16, 8, 0].reduce((sum, shift) => sum + (((one >> shift) & 255) - ((other >> shift) & 255)) ** 2, 0);

function chunk(type: string, data: Buffer): Buffer {
	const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
	const length = Buffer.alloc(4);
	length.writeUInt32BE(data.length);
	const sum = Buffer.alloc(4);
	sum.writeUInt32BE(crc32(body) >>> 0);
	return Buffer.concat([length, body, sum]);
}
