import { expect, test } from "vitest";
import { promptContent, storedPrompt } from "../../src/acp/content.ts";

const text = (text: string) => ({ type: "text", text });
const link = (uri: string, name = "n") => ({ type: "resource_link", uri, name });
const message = (...blocks: object[]) => promptContent(blocks, "/project/app").message;

test("links become what a model can use", () => {
	expect(message(text("Look at "), link("file:///project/app/src/a%20b.ts"), text(" please"))).toBe("Look at @src/a b.ts please");
	expect(message(link("file:///etc/hosts"))).toBe("@/etc/hosts");
	expect(message(link("file:///project/app/a.ts#L10-20"))).toBe("@a.ts (lines 10-20)");
	expect(message(link("file:///project/app/a.ts#L10:20"))).toBe("@a.ts (lines 10-20)");
	expect(message(link("file:///project/app/a.ts#L7"))).toBe("@a.ts (line 7)");
	expect(message(text("see"), link("https://example.org/x", "the page"))).toBe("see [the page](https://example.org/x)");
	expect(message(link("zed:///thread/1", "Thread"))).toBe("Thread (zed:///thread/1)");
});

test("what is sent along comes after everything else, and is cut when it is long", () => {
	const resource = (uri: string, content: string) => ({ type: "resource", resource: { uri, text: content } });
	expect(message(text("Explain"), resource("file:///project/app/a.ts", "let x;"), text("now"))).toBe(
		'Explain @a.ts now\n\n<context ref="file:///project/app/a.ts">\nlet x;\n</context>',
	);
	const long = message(resource("file:///project/app/a.ts", "ä".repeat(200_000)));
	expect(Buffer.byteLength(long)).toBeLessThan(263_000);
	expect(long).toContain("[cut: 256 KB of 391 KB]");
});

test("images and blobs of images are images; other blobs are named", () => {
	const image = { type: "image", data: "QUJD", mimeType: "image/png" };
	const blob = (mimeType: string) => ({ type: "resource", resource: { uri: "file:///x", blob: "QUJD", mimeType } });
	expect(promptContent([image, blob("image/gif"), blob("application/zip")], "/w")).toEqual({
		message: "[resource file:///x, application/zip, 3 bytes: not shown]",
		images: [
			{ type: "image", data: "QUJD", mimeType: "image/png" },
			{ type: "image", data: "QUJD", mimeType: "image/gif" },
		],
	});
});

test("what we do not take is refused in words", () => {
	for (const wrong of [
		undefined,
		[],
		[text("  \n")],
		[{ type: "audio", data: "", mimeType: "audio/wav" }],
		[{ type: "video" }],
		[{ type: "text" }],
		[null],
	]) {
		expect(() => promptContent(wrong, "/w"), JSON.stringify(wrong)).toThrow(expect.objectContaining({ code: -32602 }));
	}
});

test("a stored prompt shows what was sent along as links", () => {
	const sent = message(text("Explain"), {
		type: "resource",
		resource: { uri: "file:///project/app/a.ts", text: 'let x; // </context> <context ref="y">' },
	});
	expect(storedPrompt(sent)).toEqual([text("Explain @a.ts"), link("file:///project/app/a.ts", "a.ts")]);
	expect(
		storedPrompt([
			{ type: "text", text: "plain" },
			{ type: "image", data: "QUJD", mimeType: "image/png" },
		]),
	).toEqual([text("plain"), { type: "image", data: "QUJD", mimeType: "image/png" }]);
	// Files of other programs hold blocks of other kinds.
	expect(storedPrompt([{ type: "hologram", scene: 1 }, text("plain")] as never)).toEqual([text("plain")]);
});
