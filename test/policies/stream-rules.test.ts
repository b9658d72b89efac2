import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { StreamEvent } from "../../src/agent/contracts.ts";
import { PartialJsonReader } from "../../src/lib/partial-json.ts";
import { ReplyBuilder } from "../../src/models/builder.ts";
import { cutText, type StreamRuleSettings, type StreamRules, streamRules } from "../../src/policies/stream-rules/index.ts";
import { literalOf, patternOf } from "../../src/policies/stream-rules/pattern.ts";
import type { Model } from "../../src/protocol/model.ts";

const model = { api: "a", provider: "p", id: "m" } as Model;
const usual: StreamRuleSettings = { enabled: true, interruptMode: "always", repeatMode: "once", repeatGap: 10 };

type Heads = Record<string, Record<string, unknown>>;

function bench(heads: Heads, settings: Partial<StreamRuleSettings> = {}) {
	const warnings: string[] = [];
	const files = Object.entries(heads).map(([name, attributes]) => ({ name, path: `/r/${name}.md`, content: `No ${name}.`, attributes }));
	const rules = streamRules({ rules: files, settings: { ...usual, ...settings }, warn: (text) => warnings.push(text) });
	return { rules, warnings, reply: () => reply(rules) };
}

/** A reply that is watched while it is written. `cuts` contains the names of the rules that cut it, with the number of the event. */
function reply(rules: StreamRules) {
	const cuts: string[][] = [];
	const listen = (event: StreamEvent) => {
		const cut = rules.watch(event);
		if (cut) cuts.push(cut.map(({ name }) => name));
	};
	const builder = new ReplyBuilder(model, 0, listen);
	rules.replyStarted();
	builder.start();
	const pieces = (text: string, size: number) => text.match(new RegExp(`[\\s\\S]{1,${size}}`, "g")) ?? [];
	const made = {
		cuts,
		builder,
		say(text: string, size = 3) {
			const index = builder.open({ type: "text", text: "" });
			for (const piece of pieces(text, size)) builder.append(index, piece);
			builder.close(index);
			return made;
		},
		think(text: string, size = 3) {
			const index = builder.open({ type: "thinking", thinking: "" });
			for (const piece of pieces(text, size)) builder.append(index, piece);
			builder.close(index);
			return made;
		},
		call(name: string, args: Record<string, unknown>, { size = 3, inPieces = true, isOpen = false } = {}) {
			const index = builder.open({ type: "toolCall", id: "c", name, arguments: {} });
			const reader = new PartialJsonReader();
			if (inPieces) for (const piece of pieces(JSON.stringify(args), size)) builder.appendArguments(index, piece, reader.push(piece));
			if (!isOpen) builder.close(index, { arguments: args });
			return made;
		},
	};
	return made;
}

describe("where a rule looks", () => {
	test("by default in text and in the arguments of any tool, not in thinking", () => {
		const heads = { any: { condition: "console\\.log" } };
		expect(bench(heads).reply().say("Use console.log here").cuts).toEqual([["any"]]);
		expect(bench(heads).reply().call("write", { path: "a.ts", content: "console.log(1)" }).cuts).toEqual([["any"]]);
		expect(bench(heads).reply().think("console.log").say("fine").cuts).toEqual([]);
	});

	test.each<[unknown, string[]]>([
		["text", ["text"]],
		["thinking", ["thinking"]],
		["tool", ["bash", "edit"]],
		["toolcall", ["bash", "edit"]],
		["tool:bash", ["bash"]],
		["bash", ["bash"]],
		["tool:edit(*.ts)", ["edit"]],
		["edit(src/**)", ["edit"]],
		["edit(*.{js,ts}), thinking", ["thinking", "edit"]],
		["edit(*.rs)", []],
		[
			["text", "thinking"],
			["text", "thinking"],
		],
	])("scope %j", (scope, expected) => {
		const fires = (write: (at: ReturnType<typeof reply>) => { cuts: string[][] }) =>
			write(bench({ r: { condition: "bad", scope } }).reply()).cuts.length > 0;
		const found = {
			text: fires((at) => at.say("so bad")),
			thinking: fires((at) => at.think("so bad")),
			bash: fires((at) => at.call("bash", { command: "so bad" })),
			edit: fires((at) => at.call("edit", { path: "src/deep/a.ts", edits: [{ oldText: "x", newText: "so bad" }] })),
		};
		expect(Object.entries(found).flatMap(([name, hit]) => (hit ? [name] : []))).toEqual(expected);
	});

	test("with globs only calls that name a fitting file count", () => {
		const heads = { r: { condition: "bad", globs: "*.ts, docs/**/*.md" } };
		const fires = (path: unknown, key = "path") =>
			bench(heads)
				.reply()
				.call("write", { [key]: path, content: "bad" }).cuts.length > 0;
		expect(["a.ts", "src/a.ts", "./docs/x/y.md", "/home/me/docs/y.md", "src\\win\\a.ts", "a.tsx", "README.md"].map((path) => fires(path))).toEqual([
			true,
			true,
			true,
			true,
			true,
			false,
			false,
		]);
		expect([fires(["b.rs", "a.ts"], "paths"), fires("a.ts", "file_path"), fires("a.ts", "target")]).toEqual([true, true, false]);
		expect(bench(heads).reply().say("bad").cuts).toEqual([]);
	});

	test("a path that is still being written is not taken for another", () => {
		const heads = { r: { condition: "bad", globs: ["*.js"] } };
		expect(bench(heads).reply().call("write", { content: "bad", path: "a.json" }, { size: 1 }).cuts).toEqual([]);
		expect(bench(heads).reply().call("write", { content: "bad", path: "a.js" }, { size: 1 }).cuts).toEqual([["r"]]);
	});

	test("a condition that is a glob fires for any change of such a file, as soon as it is named", () => {
		const heads = { rust: { condition: "*.rs" } };
		expect(bench(heads).reply().call("edit", { path: "src/main.rs", edits: [] }, { isOpen: true }).cuts).toEqual([["rust"]]);
		expect(bench(heads).reply().call("read", { path: "src/main.rs" }).cuts).toEqual([]);
		expect(bench(heads).reply().call("write", { path: "a.ts", content: "x" }).cuts).toEqual([]);
		expect(
			bench({ r: { condition: "src/**/*.{ts,tsx}" } })
				.reply()
				.call("write", { path: "src/a/b.tsx", content: "" }).cuts,
		).toEqual([["r"]]);
		expect(
			bench({ r: { condition: "foo.*.bar" } })
				.reply()
				.say("foo and bar").cuts,
		).toEqual([["r"]]);
	});

	test("arguments are seen as they are meant, and as they are written", () => {
		const content = 'line one\n\tsay "it"\\';
		const fires = (condition: string) => bench({ r: { condition } }).reply().call("write", { path: "a", content }).cuts.length > 0;
		expect(["one\\n\\tsay", 'say "it"', "^line one", '"path":"a"', 'say \\\\"it', "nothing"].map(fires)).toEqual([
			true,
			true,
			true,
			true,
			true,
			false,
		]);
	});

	test("arguments that come in one piece with the end are looked at", () => {
		const { cuts } = bench({ r: { condition: "rm -rf" } })
			.reply()
			.call("bash", { command: "rm -rf /" }, { inPieces: false });
		expect(cuts).toEqual([["r"]]);
	});
});

describe("when a rule fires", () => {
	test("at the piece that completes it, wherever the text is cut", () => {
		for (const size of [1, 2, 3, 5, 100]) {
			const { rules } = bench({ r: { condition: "stop here" } });
			const made = reply(rules);
			const index = made.builder.open({ type: "text", text: "" });
			const text = "please stop here, or go on";
			let said = 0;
			for (; made.cuts.length === 0; said += size) made.builder.append(index, text.slice(said, said + size));
			expect(said).toBe(Math.ceil("please stop here".length / size) * size);
		}
	});

	test("all rules that one piece breaks are named together, and nothing after that", () => {
		const { reply } = bench({ a: { condition: "bad" }, b: { condition: "ba" }, c: { condition: "worse" } });
		expect(reply().say("very bad, worse, bad", 8).cuts).toEqual([["a", "b"]]);
	});

	test("any of several conditions will do, also under the old names", () => {
		expect(
			bench({ r: { condition: ["one", "two"] } })
				.reply()
				.say("two").cuts,
		).toEqual([["r"]]);
		expect(
			bench({ r: { ttsr_trigger: "two" } })
				.reply()
				.say("two").cuts,
		).toEqual([["r"]]);
		expect(
			bench({ r: { ttsrTrigger: "two" } })
				.reply()
				.say("two").cuts,
		).toEqual([["r"]]);
		expect(
			bench({ r: { condition: "(?i)TWO" } })
				.reply()
				.say("two").cuts,
		).toEqual([["r"]]);
	});

	test("what one reply said does not count in the next", () => {
		const { reply } = bench({ r: { condition: "one two" } });
		reply().say("one ");
		expect(reply().say("two").cuts).toEqual([]);
	});

	test("a rule that was used is silent for good", () => {
		const { rules, reply } = bench({ a: { condition: "bad" } });
		expect(reply().say("bad").cuts).toEqual([["a"]]);
		// The model did not get it, because the user aborted in between: then it was not used.
		expect(reply().say("bad").cuts).toEqual([["a"]]);
		rules.injectionFor([{ name: "a", path: "/r/a.md", content: "" }]);
		for (let turn = 0; turn < 20; turn += 1) rules.turnEnded();
		expect(reply().say("bad").cuts).toEqual([]);
	});

	test("or until enough turns have passed, with after-gap, also after a restore", () => {
		const { rules, reply } = bench({ a: { condition: "bad" }, b: { condition: "worse" } }, { repeatMode: "after-gap", repeatGap: 2 });
		rules.turnEnded();
		rules.restore(["a"]);
		expect(reply().say("bad").cuts).toEqual([]);
		rules.turnEnded();
		expect(reply().say("bad").cuts).toEqual([]);
		rules.turnEnded();
		expect(reply().say("bad").cuts).toEqual([["a"]]);
		rules.injectionFor([{ name: "a", path: "", content: "" }]);
		expect(reply().say("bad worse").cuts).toEqual([["b"]]);
		rules.restore([]);
		expect(reply().say("bad").cuts).toEqual([["a"]]);
	});

	test.each<[StreamRuleSettings["interruptMode"], boolean[]]>([
		["always", [true, true, true]],
		["prose-only", [true, true, false]],
		["tool-only", [false, false, true]],
		["never", [false, false, false]],
	])("%s decides where a reply may be cut; the rest waits for its end", (interruptMode, expected) => {
		const head = { condition: "bad", scope: "text, thinking, tool" };
		const writers = [
			(at: ReturnType<typeof reply>) => at.say("bad bad"),
			(at: ReturnType<typeof reply>) => at.think("bad bad"),
			(at: ReturnType<typeof reply>) => at.call("bash", { command: "bad bad" }),
		];
		for (const [index, write] of writers.entries()) {
			for (const { rules, reply } of [bench({ r: head }, { interruptMode }), bench({ r: { ...head, interruptMode } }, { interruptMode: "always" })]) {
				const made = write(reply());
				made.builder.done("stop");
				expect([made.cuts, rules.takePending().map(({ name }) => name)]).toEqual(expected[index] ? [[["r"]], []] : [[], ["r"]]);
				expect(rules.takePending()).toEqual([]);
			}
		}
	});

	test("a rule that waited comes along when another one cuts", () => {
		const { rules, reply } = bench({ quiet: { condition: "bad", interruptMode: "never" }, loud: { condition: "worse" } });
		expect(reply().say("bad and worse").cuts).toEqual([["quiet", "loud"]]);
		expect(rules.takePending()).toEqual([]);
	});
});

test("the model is told which rule it broke, in a message that the user does not see", () => {
	const { rules } = bench({ a: { condition: "x" } });
	const broken = [
		{ name: "a", path: '/r/"a".md', content: "No <b>." },
		{ name: "b", path: "/r/b.md", content: "No b." },
	];
	const message = rules.injectionFor(broken);
	expect({ ...message, content: "" }).toEqual({ customType: "ttsr-injection", content: "", display: false, details: { rules: ["a", "b"] } });
	expect(message.content).toMatch(
		/^<rule-interrupt rule="a" path="\/r\/&quot;a&quot;\.md">\n.+\n\nNo <b>\.\n<\/rule-interrupt>\n\n<rule-interrupt rule="b" path="\/r\/b\.md">\n.+\n\nNo b\.\n<\/rule-interrupt>$/,
	);
	expect(cutText(broken)).toBe("Interrupted by stream rule: a, b");
});

describe("rules that cannot be used", () => {
	test("an invalid condition is left out with a warning, and the others stay", () => {
		const { warnings, reply } = bench({ r: { condition: ["(", "bad"] }, none: { condition: "[" } });
		expect(warnings).toEqual([
			expect.stringMatching(/^Rule \/r\/r\.md: the condition "\(" is not used: Invalid regular expression/),
			expect.stringMatching(/^Rule \/r\/none\.md: the condition "\[" is not used/),
		]);
		expect(reply().say("bad").cuts).toEqual([["r"]]);
	});

	test("a scope that reaches nothing is reported", () => {
		const { rules, warnings } = bench({ r: { condition: "bad", scope: "text", globs: "*.ts" }, s: { condition: "bad", scope: "a b" } });
		expect(rules.isEmpty).toBe(true);
		expect(warnings).toEqual([
			"Rule /r/r.md: its scope reaches nothing.",
			'Rule /r/s.md: the scope "a b" is not understood.',
			"Rule /r/s.md: its scope reaches nothing.",
		]);
	});

	test("an unknown interruptMode is ignored with a warning", () => {
		const { warnings, reply } = bench({ r: { condition: "bad", interruptMode: "sometimes" } });
		expect(warnings).toEqual(["Rule /r/r.md: interruptMode must be always, prose-only, tool-only, never; the value is ignored."]);
		expect(reply().say("bad").cuts).toEqual([["r"]]);
	});

	test("a file without a condition is not a stream rule; switched off there are none at all", () => {
		expect(bench({ r: { alwaysApply: true } }).rules.isEmpty).toBe(true);
		const off = bench({ r: { condition: "bad" }, broken: { condition: "(" } }, { enabled: false });
		expect([off.rules.isEmpty, off.warnings, off.reply().say("bad").cuts]).toEqual([true, [], []]);
	});
});

describe("expressions that explode", () => {
	test.each([
		["^(a+)+$", `${"a".repeat(60)}b`],
		["(x+x+)+y", `${"x".repeat(60)}by`],
		["\\s+!", `${" ".repeat(60_000)}b!`],
		["(a|a)*$", `${"a".repeat(40)}b`],
	])("%s is stopped, reported once and not asked again; other rules go on", (condition, filling) => {
		const { rules, warnings } = bench({ bad: { condition }, good: { condition: "f(o+)d" } });
		const made = reply(rules);
		made.say(filling, 100_000);
		// Without the limit this would practically never end.
		expect(warnings).toEqual([`Rule /r/bad.md: the condition ${JSON.stringify(condition)} took more than 50 ms and is not used any more.`]);
		made.say(`${filling} and food`, 1000);
		expect([made.cuts, warnings.length]).toEqual([[["good"]], 1]);
	});

	test("globs that explode are stopped, reported once and not asked again; other rules go on", () => {
		const globs = `${"*a".repeat(30)}b`;
		const { rules, warnings } = bench({ bad: { condition: "x", globs }, good: { condition: "food", globs: "*.md" } });
		const made = reply(rules).call("write", { path: `${"a".repeat(120)}!`, content: "x x x" });
		made.call("write", { path: `${"a".repeat(121)}!`, content: "x x x" }).call("write", { path: "docs/a.md", content: "food" });
		expect(warnings).toEqual([`Rule /r/bad.md: the globs ${JSON.stringify(globs)} took more than 50 ms and are not used any more.`]);
		expect(made.cuts).toEqual([["good"]]);
	});

	test.each([
		["console\\.log\\(", "console.log("],
		["stop\\s+here", "stop"],
		["ab?cd{0}ef*", "a"],
		["a|b", ""],
		["x(y|z)", ""],
		["one(two)?three", "three"],
		["(?!foo)bar", "bar"],
		["[|(]and\\]", "and]"],
		["\\x41bc", ""],
		["ab+cd", "ab"],
		["^foo\\b$", "foo"],
		["a{2,3}long", "long"],
	])("%s cannot match without %j", (source, literal) => {
		expect(literalOf(source)).toBe(literal);
	});

	test("what must occur does occur wherever an expression matches", () => {
		const atom = fc.constantFrom(
			"a",
			"b",
			"ab",
			".",
			"\\.",
			"[ab]",
			"[^|]",
			"\\w",
			"\\n",
			"(a)",
			"(?:ab)",
			"(?=a)",
			"(?!b)",
			"\\b",
			"^",
			"\\{",
			"]",
			"a-b",
		);
		const part = fc.tuple(atom, fc.constantFrom("", "", "*", "+", "?", "{0}", "{1,2}", "*?")).map(([body, times]) => body + times);
		const source = fc.array(part, { maxLength: 6 }).map((parts) => parts.join(""));
		fc.assert(
			fc.property(source, fc.stringMatching(/^[ab.\n{\]-]{0,12}$/), (expression, text) => {
				const pattern = patternOf(expression);
				fc.pre(!("problem" in pattern) && pattern.regex.test(text));
				expect(text).toContain(literalOf(expression));
			}),
			{ numRuns: 2000 },
		);
	});

	test("the limit does not change what is found", () => {
		const { reply, warnings } = bench({ r: { condition: "(\\w+\\s+){3}end" } });
		expect([reply().say("one two three end").cuts, warnings]).toEqual([[["r"]], []]);
	});
});

describe("long replies", () => {
	const filler = "The quick brown fox jumps over the lazy dog. ";

	test("a match far after the beginning is found, in text and in arguments", () => {
		const long = filler.repeat(3000);
		for (const text of [`${long}stop here${long}`, `${long}stop here`]) {
			expect(
				bench({ r: { condition: "stop\\s+here" } })
					.reply()
					.say(text, 4).cuts,
			).toEqual([["r"]]);
			expect(
				bench({ r: { condition: "stop\\nhere" } })
					.reply()
					.call("write", { path: "a", content: text.replace("stop here", "stop\nhere") }, { size: 50 }).cuts,
			).toEqual([["r"]]);
		}
	});

	test("a match that spans more than a glance is found a little later", () => {
		const text = `begin ${filler.repeat(200)} end ${filler.repeat(30)}`;
		expect(
			bench({ r: { condition: "begin[\\s\\S]*end" } })
				.reply()
				.say(text, 4).cuts,
		).toEqual([["r"]]);
	});

	test("the beginning of the text is its beginning, not that of a part", () => {
		expect(
			bench({ r: { condition: "^quick" } })
				.reply()
				.say(filler.repeat(300), 4).cuts,
		).toEqual([]);
	});

	test("conditions that are slow only together do not make every piece of a reply late", () => {
		// Each takes some milliseconds for a look, and all of them many times the limit.
		const heads = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`r${index}`, { condition: `(?:a|a|b)*(?:a|b)*c{${index + 1}}!` }]));
		const { reply, warnings } = bench(heads);
		const start = process.cpuUsage();
		expect(reply().say("ab".repeat(2000), 200).cuts).toEqual([]);
		expect(process.cpuUsage(start).user / 1000).toBeLessThan(20_000);
		expect(warnings.length).toBeGreaterThan(0);
	});

	test("only the last 64 KB count", () => {
		expect(
			bench({ r: { condition: "begin[\\s\\S]*end" } })
				.reply()
				.say(`begin ${filler.repeat(2000)} end`, 1000).cuts,
		).toEqual([]);
	});
});
