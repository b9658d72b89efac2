import { expect, test } from "vitest";
import { oneLine } from "../../src/models/error-body.ts";

test("a page is reduced to its title, else to its first heading, else to its words", () => {
	const style = "<style>x > y {}</style><!-- not > this -->";
	const rest = `<body>${style}<p>Sorry</p><H1 class="x">Try   <b>later</b></H1><h1>Or never</h1><script>a<b</script></body></html>`;
	expect(oneLine(`<!DOCTYPE html><html><head><TITLE>Bad gateway</TITLE></head>${rest}`)).toBe("Bad gateway (an HTML page)");
	expect(oneLine(`\n<html><head><title> </title></head>${rest}`)).toBe("Try later (an HTML page)");
	expect(oneLine(`<html>${style}<p>Sorry</p> Come back</html>`)).toBe("Sorry Come back (an HTML page)");
	expect(oneLine("<html></html>")).toBe("(an HTML page)");
	expect(oneLine(' {"error": "<b>"} ')).toBe('{"error": "<b>"}');
});

test.each([["<"], ["<title"], ["<script>"], ["<!-- "], ["<style "], ["</"], [" "], ["<a>"], ["<h1>"]])("64 KB of %j take no time", (piece) => {
	const start = process.cpuUsage();
	for (const head of ["<html>", "<body", "\n<!doctype"]) expect(oneLine(head + piece.repeat(65_536 / piece.length)).length).toBeLessThan(400);
	expect(process.cpuUsage(start).user / 1000).toBeLessThan(500);
});
