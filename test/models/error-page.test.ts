import { expect, test } from "vitest";
import { readable } from "../../src/models/error-page.ts";

test("a page is reduced to its title and its words", () => {
	const page =
		"<!DOCTYPE html><html><head><TITLE>Bad gateway</TITLE><style>x > y {}</style></head><body><h1>Try   later</h1><script>a<b</script></body></html>";
	expect(readable(page)).toBe("(an HTML page) Bad gateway Bad gateway Try later");
	expect(readable(' {"error": "<b>"} ')).toBe('{"error": "<b>"}');
});

test.each([["<"], ["<title"], ["<script>"], ["<!-- "], ["<style "], ["</"], [" "], ["<a>"]])("64 KB of %j take no time", (piece) => {
	const start = process.cpuUsage();
	for (const head of ["<html>", "<body", "\n<!doctype"]) expect(readable(head + piece.repeat(65_536 / piece.length)).length).toBeLessThan(400);
	expect(process.cpuUsage(start).user / 1000).toBeLessThan(500);
});
