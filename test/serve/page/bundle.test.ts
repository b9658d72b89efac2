/** What browsers load: how large it is, and that no framework is in it. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { finishedUpTo } from "../../../src/serve/page/open-reply.ts";

const assets = join(import.meta.dirname, "../../../dist/page/assets");
const only = (ending: string) => {
	const found = readdirSync(assets).filter((name) => name.endsWith(ending));
	expect(found).toHaveLength(1);
	return readFileSync(join(assets, found[0] as string));
};

test("script and style are as small as promised, and packed when the program was built", () => {
	const [script, style] = [only(".js"), only(".css")];
	expect(script.length).toBeLessThanOrEqual(340 * 1024);
	expect(only(".js.gz").length).toBeLessThanOrEqual(110 * 1024);
	expect(style.length).toBeLessThanOrEqual(40 * 1024);
	expect(gunzipSync(only(".js.gz")).equals(script)).toBe(true);
	expect(gunzipSync(only(".css.gz")).equals(style)).toBe(true);
});

test("no framework, nothing that makes markup from strings, nothing from elsewhere", () => {
	const frameworks = /__vue|preact|React\.|svelte|lit-html|solid-js|jquery/i;
	expect(frameworks.exec(only(".js").toString())).toBeNull();
	const markup = /innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|createContextualFragment|setHTML|\beval\(|new Function\b/;
	const source = join(import.meta.dirname, "../../../src");
	const sources = ["page", "serve/page"].flatMap((room) => readdirSync(join(source, room)).map((name) => join(source, room, name)));
	expect(sources.filter((path) => path.endsWith(".ts") && markup.test(readFileSync(path, "utf8").replace(/\/\*[\s\S]*?\*\//g, "")))).toEqual([]);
	expect(only(".css").toString()).not.toMatch(/url\((?!['"]?data:)|@import/);
	const shell = readFileSync(join(assets, "../index.html"), "utf8");
	expect([...shell.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, address]) => address)).toEqual([
		"data:,",
		expect.stringMatching(/^\/assets\/page-[0-9a-f]{16}\.css$/),
		expect.stringMatching(/^\/assets\/page-[0-9a-f]{16}\.js$/),
	]);
});

test.each([
	["One line", 0],
	["One line\n", 0],
	["One.\n\nTwo", 6],
	["One.\n\n- a list may go on", 0],
	["- a\n\n- b\n\nText", 10],
	["```js\na\n\nb\n", 0],
	["```js\na\n```\nmore", 12],
	["Before\n```js\na", 7],
	["~~~\n```\n\n~~~\nx", 13],
])("a reply is rendered up to its last finished block: %j", (text, end) => {
	expect(finishedUpTo(text, 0)).toBe(end);
});
