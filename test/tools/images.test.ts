import { deflateSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { imageSize, imageType } from "../../src/lib/image-format.ts";
import { fitImage, type Sharp } from "../../src/tools/image-fit.ts";
import { workbench } from "./workbench.ts";

/** A real one-pixel PNG, or one that only says that it is larger. */
function png(width = 1, height = 1, extra = 0): Buffer {
	const chunk = (type: string, data: Buffer) => {
		const head = Buffer.alloc(8);
		head.writeUInt32BE(data.length);
		head.write(type, 4, "latin1");
		return Buffer.concat([head, data, Buffer.alloc(4)]);
	};
	const header = Buffer.alloc(13);
	header.writeUInt32BE(width, 0);
	header.writeUInt32BE(height, 4);
	header.set([8, 2], 8);
	const signature = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
	return Buffer.concat([
		signature,
		chunk("IHDR", header),
		chunk("IDAT", deflateSync(Buffer.alloc(4))),
		chunk("IEND", Buffer.alloc(0)),
		Buffer.alloc(extra),
	]);
}

const jpeg = Buffer.from("ffd8ffe000104a46494600010100000100010000ffc0001108012c0190030122000211010311010000000000000000", "hex");
const gif = Buffer.concat([Buffer.from("GIF89a"), Buffer.from([0x90, 0x01, 0x2c, 0x01]), Buffer.alloc(30)]);
const webp = Buffer.concat([Buffer.from("RIFF\0\0\0\0WEBPVP8X\0\0\0\0\0\0\0\0"), Buffer.from([0x8f, 1, 0, 0x2b, 1, 0]), Buffer.alloc(8)]);
const bmp = Buffer.alloc(60);
bmp.write("BM");
bmp.writeUInt32LE(40, 14);
bmp.writeInt32LE(400, 18);
bmp.writeInt32LE(-300, 22);

test.each([
	["image/png", png(400, 300)],
	["image/jpeg", jpeg],
	["image/gif", gif],
	["image/webp", webp],
	["image/bmp", bmp],
] as const)("%s is known by its bytes, and so is its size", (type, bytes) => {
	expect([imageType(bytes), imageSize(bytes, type)]).toEqual([type, { width: 400, height: 300 }]);
});

test("text that begins like an image is text", () => {
	expect(
		["BM is short", "GIF is a format", "RIFF raff of the WEBP kind", "\x89PN"].map((text) => imageType(Buffer.from(text.padEnd(40), "latin1"))),
	).toEqual([undefined, undefined, undefined, undefined]);
});

describe("reading an image", () => {
	const bench = workbench();
	const blind = workbench({ acceptsImages: () => false });

	test("gives it to the model, whatever its name", async () => {
		bench.file("picture.txt", png());
		expect(await bench.run("read", { path: "picture.txt" })).toEqual({
			content: [
				{ type: "text", text: "Read image file [image/png]" },
				{ type: "image", data: png().toString("base64"), mimeType: "image/png" },
			],
		});
	});

	test("a large one never fails for want of sharp", async () => {
		bench.file("large.png", png(3000, 10));
		expect(await bench.text("read", { path: "large.png" })).toMatch(/^Read image file \[image\/png\]\n\[Image not shown: /);
	});

	test("a model without eyes gets a note", async () => {
		blind.file("a.png", png());
		expect(await blind.text("read", { path: "a.png" })).toBe(
			"Read image file [image/png]\n[Image not shown: the current model cannot look at images.]",
		);
	});
});

const missing = async () => undefined;

describe("an image that is too large", () => {
	test("is not shown without sharp, and the note says what to do", async () => {
		const result = await fitImage(png(4000, 3000), "image/png", true, missing);
		expect(result.image).toBeUndefined();
		expect(result.note).toMatch(/4000x3000 pixels.*too large.*sharp.*smaller/);
	});

	test("goes as it is when resizing is off and only its sides are long", async () => {
		expect((await fitImage(png(4000, 3000), "image/png", false, missing)).image?.mimeType).toBe("image/png");
	});

	test("is never shown above 4.5 MB", async () => {
		const result = await fitImage(png(10, 10, 3_600_000), "image/png", false, missing);
		expect([result.image, result.note]).toEqual([undefined, expect.stringContaining("images.autoResize is off")]);
	});

	test("BMP needs converting", async () => {
		expect((await fitImage(bmp, "image/bmp", true, missing)).note).toContain("BMP must be converted first");
	});
});

/** Says what it was asked to do instead of doing it: results are as many bytes as `bytesFor` says. */
function talkingSharp(original: { width: number; height: number }, bytesFor: (format: string, width: number) => number) {
	const asked: string[] = [];
	const sharp = (() => {
		let width = 0;
		let format = "";
		const image = {
			autoOrient: () => image,
			resize: (size: { width: number }) => {
				width = size.width;
				return image;
			},
			png: () => {
				format = "png";
				return image;
			},
			jpeg: ({ quality }: { quality: number }) => {
				format = `jpeg${quality}`;
				return image;
			},
			metadata: async () => ({ autoOrient: original }),
			toBuffer: async () => {
				asked.push(`${format}@${width}`);
				return Buffer.alloc(bytesFor(format, width));
			},
		};
		return image;
	}) as unknown as Sharp;
	return { asked, load: async () => sharp };
}

describe("with sharp", () => {
	const large = 4_000_000;

	test("it is fitted into 2000 pixels, as the smaller of PNG and JPEG, with the way back to its coordinates", async () => {
		const { asked, load } = talkingSharp({ width: 4000, height: 3000 }, (format) => (format === "png" ? 200 : 100));
		const result = await fitImage(png(4000, 3000), "image/png", true, load);
		expect([asked, result.image?.mimeType]).toEqual([["png@2000", "jpeg80@2000"], "image/jpeg"]);
		expect(result.note).toBe("[Image of 4000x3000 pixels, shown at 2000x1500. Multiply coordinates by 2.00 to get those of the original.]");
	});

	test("quality goes first, then size", async () => {
		const { asked, load } = talkingSharp({ width: 2000, height: 1000 }, (_, width) => (width <= 1500 ? 100 : large));
		const result = await fitImage(png(2000, 1000, large), "image/png", true, load);
		expect(asked).toEqual(["png@2000", "jpeg80@2000", "jpeg85@2000", "jpeg70@2000", "jpeg55@2000", "jpeg40@2000", "jpeg85@1500"]);
		expect(result.note).toContain("shown at 1500x750");
	});

	test("it gives up before the picture is a stamp", async () => {
		const { asked, load } = talkingSharp({ width: 2000, height: 250 }, () => large);
		const result = await fitImage(png(2000, 250, large), "image/png", true, load);
		expect([result.image, asked.at(-1)]).toEqual([undefined, "jpeg40@1000"]);
		expect(result.note).toContain("cannot be made small enough");
	});

	test("a broken one costs the picture, not the call", async () => {
		const load = async () =>
			(() => {
				throw new Error("corrupt header");
			}) as unknown as Sharp;
		expect(await fitImage(png(4000, 10), "image/png", true, load)).toEqual({ note: "[Image not shown: it could not be decoded (corrupt header).]" });
	});

	test("a BMP becomes something a model can take", async () => {
		const { load } = talkingSharp({ width: 400, height: 300 }, (format) => (format === "png" ? 50 : 100));
		const result = await fitImage(bmp, "image/bmp", true, load);
		expect([result.image?.mimeType, result.note]).toEqual(["image/png", undefined]);
	});
});
