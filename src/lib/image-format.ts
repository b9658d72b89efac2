/** Recognises images by their first bytes and reads their size without decoding them. */

export type ImageType = "image/png" | "image/jpeg" | "image/gif" | "image/webp" | "image/bmp";

export interface Size {
	width: number;
	height: number;
}

export function imageType(bytes: Buffer): ImageType | undefined {
	const starts = (text: string, at = 0) => bytes.toString("latin1", at, at + text.length) === text;
	if (starts("\x89PNG\r\n\x1a\n")) return "image/png";
	if (starts("\xff\xd8\xff")) return "image/jpeg";
	if (starts("GIF87a") || starts("GIF89a")) return "image/gif";
	if (starts("RIFF") && starts("WEBP", 8)) return "image/webp";
	// Two letters prove nothing: the length of the second header must be one that exists.
	if (starts("BM") && bytes.length >= 26 && [12, 40, 52, 56, 108, 124].includes(bytes.readUInt32LE(14))) return "image/bmp";
	return undefined;
}

/** Width and height as stored, before any rotation. Nothing when the file is cut or odd. */
export function imageSize(bytes: Buffer, type: ImageType): Size | undefined {
	if (bytes.length < 30) return undefined;
	switch (type) {
		case "image/png":
			return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
		case "image/gif":
			return { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
		case "image/bmp":
			if (bytes.readUInt32LE(14) === 12) return { width: bytes.readUInt16LE(18), height: bytes.readUInt16LE(20) };
			return { width: bytes.readInt32LE(18), height: Math.abs(bytes.readInt32LE(22)) };
		case "image/webp":
			return webpSize(bytes);
		case "image/jpeg":
			return jpegSize(bytes);
	}
}

function webpSize(bytes: Buffer): Size | undefined {
	switch (bytes.toString("latin1", 12, 16)) {
		case "VP8X":
			return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
		case "VP8L": {
			const bits = bytes.readUInt32LE(21);
			return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
		}
		case "VP8 ":
			return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
		default:
			return undefined;
	}
}

/** Walks from segment to segment to the frame header. */
function jpegSize(bytes: Buffer): Size | undefined {
	let at = 2;
	while (at + 9 <= bytes.length) {
		if (bytes[at] !== 0xff) return undefined;
		const marker = bytes[at + 1] as number;
		const isFill = marker === 0xff;
		const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
		if (isFrame) return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) };
		at += isFill ? 1 : 2 + bytes.readUInt16BE(at + 2);
	}
	return undefined;
}
