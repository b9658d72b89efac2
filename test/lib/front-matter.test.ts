import fc from "fast-check";
import { load } from "js-yaml";
import { describe, expect, test } from "vitest";
import { readFrontMatter, splitFrontMatter } from "../../src/lib/front-matter.ts";

const read = async (head: string) => (await readFrontMatter(`---\n${head}\n---\nbody`)).attributes;

test.each([
	["name: a\ndescription: Some words, here.", { name: "a", description: "Some words, here." }],
	['name: "a"\ntags: [x, y]', { name: "a", tags: ["x", "y"] }],
	["description: >\n  two\n  lines\nflag: true", { description: "two lines\n", flag: true }],
	["flag: true\nother: FALSE\nnone: null\nnumber: 3", { flag: true, other: false, none: null, number: 3 }],
	["description: Use it: when it fits\nname: a", { description: "Use it: when it fits", name: "a" }],
	["globs: *.ts,*.tsx\nalwaysApply: false", { globs: "*.ts,*.tsx", alwaysApply: false }],
	['description: "Reads C:\\Users\\me"\nname: a', { description: "Reads C:\\Users\\me", name: "a" }],
	["condition:\n  - *.rs\n  - 'a b'\nname: a", { condition: ["*.rs", "a b"], name: "a" }],
	["condition: [*.rs, \"x\"]\nname: 'a'", { condition: ["*.rs", "x"], name: "a" }],
	["scope: tool:edit(*.ts), text", { scope: "tool:edit(*.ts), text" }],
	["name: a # a remark", { name: "a" }],
])("reads the head %j", async (head, attributes) => {
	expect(await read(head)).toEqual(attributes);
});

test("line ends of Windows and a byte order mark make no difference", async () => {
	expect(await readFrontMatter("\uFEFF---\r\nname: a\r\ndescription: b\r\n---\r\n\r\none\r\ntwo\r\n")).toEqual({
		attributes: { name: "a", description: "b" },
		body: "\none\ntwo\n",
	});
});

test("a text without a closed head is a text", async () => {
	expect(await readFrontMatter("# Title\n---\nx: y\n---\n")).toEqual({ attributes: {}, body: "# Title\n---\nx: y\n---\n" });
	expect(await readFrontMatter("---\nname: a\n")).toEqual({ attributes: {}, body: "---\nname: a\n" });
	expect(splitFrontMatter("---\n---\nbody")).toEqual({ head: "", body: "body" });
});

test("a line of dashes in the body stays", async () => {
	expect(await readFrontMatter("---\nname: a\n---\none\n---\ntwo")).toEqual({ attributes: { name: "a" }, body: "one\n---\ntwo" });
});

test("a head that says nothing is reported", async () => {
	expect(await readFrontMatter("---\n- a\n- b\n---\nbody")).toEqual({
		attributes: {},
		body: "body",
		problem: expect.stringContaining("keys and values"),
	});
});

test("a hostile head changes no prototype", async () => {
	await read("__proto__: polluted\nx: y");
	await read("__proto__: *x\nx: y: z");
	expect(({} as Record<string, unknown>).polluted).toBeUndefined();
	expect(Object.getPrototypeOf(await read("__proto__: *x\nx: y: z"))).toBe(Object.prototype);
});

test("what is read without a parser is what the parser would say", async () => {
	const key = fc.stringMatching(/^[A-Za-z][\w-]{0,8}$/);
	const value = fc.stringMatching(/^[A-Za-z][ -~]{0,30}$/);
	await fc.assert(
		fc.asyncProperty(fc.dictionary(key, value, { minKeys: 1, maxKeys: 4 }), async (entries) => {
			const head = Object.entries(entries)
				.map(([name, text]) => `${name}: ${text}`)
				.join("\n");
			let expected: unknown;
			try {
				expected = load(head);
			} catch (error) {
				// No YAML at all: then it is enough that the text is not lost.
				expect(error).toBeInstanceOf(Error);
				return;
			}
			expect(await read(head)).toEqual(expected);
		}),
	);
});

describe("a head made to keep a parser busy", () => {
	const bomb = (levels: number) => {
		const lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"];
		for (let level = 1; level <= levels; level += 1)
			lines.push(
				`a${level}: &a${level} [${Array(10)
					.fill(`*a${level - 1}`)
					.join(", ")}]`,
			);
		return `---\ndescription: fine\n${lines.join("\n")}\n---\nbody`;
	};
	const hostile: [what: string, text: string, problem: string | undefined][] = [
		["a million lines that nearly end it", `---\n${`---${" ".repeat(100)}x\n`.repeat(9000)}`, undefined],
		["one line that nearly ends it", `---\n---${" ".repeat(900_000)}x`, undefined],
		["blank lines", `---\nkey: {\n${"\n".repeat(30_000)}\n---\nbody`, undefined],
		["aliases of aliases", bomb(9), "it has more than 5000 values, aliases counted"],
		["aliases inside of one key", bomb(9).replace("description: fine", "description: a: b"), undefined],
		["a megabyte of keys", `---\n${"key: [1]\n".repeat(100_000)}---\nbody`, "it is longer than 32 KB"],
		["keys without an end", `---\n${"a".repeat(30_000)}\n---\nbody`, "the front matter must be a list of keys and values"],
		[
			"merges of merges",
			`---\na: &a {${Array.from({ length: 900 }, (_, n) => `k${n}: 1`).join(", ")}}\n${"b: {<<: [*a, *a, *a, *a]}\n".repeat(500)}---\n`,
			undefined,
		],
	];

	test.each(hostile)("%s", async (_what, text, problem) => {
		const start = process.cpuUsage();
		const { attributes, problem: told } = await readFrontMatter(text);
		expect(told).toBe(problem);
		expect(JSON.stringify(attributes).length).toBeLessThan(200_000);
		expect(process.cpuUsage(start).user / 1000).toBeLessThan(1000);
	});
});
