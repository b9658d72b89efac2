// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of templates look like that
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { expandPrompt, listCommands } from "../../src/prompting/index.ts";
import { fillTemplate, splitArguments } from "../../src/prompting/placeholders.ts";
import { folder, skill } from "./folder.ts";

test.each([
	["", []],
	["a b", ["a", "b"]],
	['a "b c" d', ["a", "b c", "d"]],
	["'a b' c", ["a b", "c"]],
	['x="a b"y', ["x=a by"]],
	['"" a', ["", "a"]],
	["don't stop, it isn't done", ["don't", "stop,", "it", "isn't", "done"]],
	['say "hello', ["say", '"hello']],
	["C:\\dir\\file 'C:\\my dir'", ["C:\\dir\\file", "C:\\my dir"]],
	["a\n\tb", ["a", "b"]],
	['"it\'s" \'a "b"\'', ["it's", 'a "b"']],
])("splits %j", (text, words) => {
	expect(splitArguments(text)).toEqual(words);
});

test.each([
	["$1-$2", "a b", "a-b"],
	["$3|", "a b", "|"],
	["$10", "a b c d e f g h i j", "j"],
	["[$@] [$ARGUMENTS]", 'a "b c"', "[a b c] [a b c]"],
	["${@:2}", "a b c", "b c"],
	["${@:2:1}", "a b c", "b"],
	["${@:0}", "a b", "a b"],
	["${@:5}|", "a", "|"],
	["${1:-none} ${2:-other words}", "a", "a other words"],
	["${1:-none}", '""', "none"],
	["${1}x", "a", "ax"],
	["$1 $2", "$2 $1", "$2 $1"],
	["$@", "$1 ${@:1} $ARGUMENTS", "$1 ${@:1} $ARGUMENTS"],
	["${1:-$2}", '"" b', "$2"],
	["$ARGUMENTS_FILE costs $", "", "$ARGUMENTS_FILE costs $"],
	["Review.", "the tests", "Review.\n\nthe tests"],
])("fills %j with %j", (template, typed, text) => {
	expect(fillTemplate(template, typed)).toBe(text);
});

test("what an argument says is never read as a place", () => {
	fc.assert(
		fc.property(fc.stringMatching(/^[$@{}:\-0-9A-Z]{1,20}$/), (argument) => {
			expect(fillTemplate("<$1>", argument)).toBe(`<${argument}>`);
		}),
	);
});

test("prompt templates and slash files are found in both places, with the user's first", async () => {
	const { load, root } = folder({
		"home/.bowline/prompts/review.md": "---\ndescription: Look at it\nargument-hint: <file>\n---\nReview $1.\n",
		"home/.bowline/commands/fix.md": "Fix: $ARGUMENTS",
		"work/.bowline/prompts/fix.md": "Another fix",
		"work/.bowline/prompts/local.md": "\n# A title that describes it\n\nmore",
		"work/.bowline/prompts/below/deep.md": "not found",
		"work/.bowline/prompts/notes.txt": "no template",
		"work/.bowline/prompts/two words.md": "nobody can call it",
	});
	const resources = await load();
	expect(resources.templates.map(({ name, description, argumentHint, scope }) => [name, description, argumentHint, scope])).toEqual([
		["fix", "Fix: $ARGUMENTS", undefined, "user"],
		["review", "Look at it", "<file>", "user"],
		["local", "# A title that describes it", undefined, "project"],
	]);
	expect(resources.warnings).toEqual([
		`Prompt /fix of ${join(root, "work/.bowline/prompts/fix.md")} is not used: ${join(root, "home/.bowline/commands/fix.md")} has the same name.`,
		expect.stringContaining("two words.md is not used"),
	]);
	const expand = (text: string) => expandPrompt(text, resources, { enableSkillCommands: true });
	expect(expand('/review "src/a b.ts"')).toBe("Review src/a b.ts.");
	expect(expand("/fix the\nthing")).toBe("Fix: the thing");
	expect(expand("/local")).toBe("# A title that describes it\n\nmore");
	for (const text of ["/unknown x", "/", "review a", "/Review a", "//review", "/home/user/file"]) expect(expand(text)).toBe(text);
});

test("a named template wins and needs no usual place", async () => {
	const { load, file } = folder({ "home/.bowline/prompts/a.md": "found" });
	const path = file("elsewhere/a.md", "named");
	const { templates } = await load({ promptPaths: [path] });
	expect(templates.map(({ body, source }) => [body, source])).toEqual([["named", "cli"]]);
	const hermetic = await load({ userDirectory: undefined, promptPaths: [join(path, "..")] });
	expect(hermetic.templates.map(({ body }) => body)).toEqual(["named"]);
	expect((await load({ promptPaths: ["/nowhere/at/all"] })).warnings).toEqual(["Prompt template not found: /nowhere/at/all"]);
});

test("get_commands lists templates, then skills", async () => {
	const { load, cwd, userDirectory } = folder({
		"home/.bowline/prompts/review.md": "Review it.",
		"home/.bowline/prompts/empty.md": "",
		"work/.bowline/skills/deploy/SKILL.md": skill("deploy"),
	});
	const resources = await load();
	const prompts = join(userDirectory, "prompts");
	expect(listCommands(resources)).toEqual([
		{ name: "empty", source: "prompt", sourceInfo: { path: join(prompts, "empty.md"), source: "auto", scope: "user", origin: "top-level" } },
		{
			name: "review",
			description: "Review it.",
			source: "prompt",
			sourceInfo: { path: join(prompts, "review.md"), source: "auto", scope: "user", origin: "top-level" },
		},
		{
			name: "skill:deploy",
			description: "About deploy.",
			source: "skill",
			sourceInfo: { path: join(cwd, ".bowline/skills/deploy/SKILL.md"), source: "auto", scope: "project", origin: "top-level" },
		},
	]);
	expect(listCommands(resources, { enableSkillCommands: false }).map(({ name }) => name)).toEqual(["empty", "review"]);
});
