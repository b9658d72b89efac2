import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { expandPrompt } from "../../src/prompting/index.ts";
import { skillList } from "../../src/prompting/lists.ts";
import { folder, skill } from "./folder.ts";

const names = (found: { skills: readonly { name: string }[] }) => found.skills.map(({ name }) => name);

test("skills are found at any depth, but not below another skill", async () => {
	const { load, cwd } = folder({
		"home/.bowline/skills/deploy/SKILL.md": skill("deploy"),
		"home/.bowline/skills/deploy/nested/SKILL.md": skill("nested"),
		"home/.bowline/skills/group/of/review/SKILL.md": skill("review"),
		"home/.bowline/skills/plain.md": skill("plain"),
		"home/.bowline/skills/group/notes.md": skill("notes"),
		"work/.bowline/skills/local/SKILL.md": skill("local"),
	});
	const found = await load();
	expect(names(found)).toEqual(["deploy", "review", "plain", "local"]);
	expect(found.warnings).toEqual([]);
	expect(found.skills.at(-1)).toEqual({
		name: "local",
		description: "About local.",
		path: join(cwd, ".bowline/skills/local/SKILL.md"),
		directory: join(cwd, ".bowline/skills/local"),
		body: "How to local.",
		isHidden: false,
		scope: "project",
		source: "auto",
	});
});

test("dot directories, node_modules and what ignore files name are passed over", async () => {
	const { load } = folder({
		"work/.bowline/skills/.hidden/SKILL.md": skill("hidden"),
		"work/.bowline/skills/node_modules/dependency/SKILL.md": skill("dependency"),
		"work/.bowline/skills/.gitignore": "drafts/\n/old.md\n",
		"work/.bowline/skills/drafts/draft/SKILL.md": skill("draft"),
		"work/.bowline/skills/old.md": skill("old"),
		"work/.bowline/skills/group/.ignore": "b\n",
		"work/.bowline/skills/group/a/SKILL.md": skill("a"),
		"work/.bowline/skills/group/b/SKILL.md": skill("b"),
		"work/.bowline/skills/group/c/.gitignore": "SKILL.md",
		"work/.bowline/skills/group/c/SKILL.md": skill("c"),
		"work/.bowline/skills/group/keep/.gitignore": "!drafts/\n",
		"work/.bowline/skills/group/keep/drafts/SKILL.md": skill("drafts"),
	});
	expect(names(await load())).toEqual(["a", "drafts"]);
});

test("of two skills with one name the first is used, and the other is reported", async () => {
	const { load, root } = folder({
		"home/.bowline/skills/same/SKILL.md": skill("same", "The user's."),
		"work/.bowline/skills/same/SKILL.md": skill("same", "The project's."),
	});
	const { skills, warnings } = await load();
	expect(skills.map(({ description }) => description)).toEqual(["The user's."]);
	expect(warnings).toEqual([
		`Skill same of ${join(root, "work/.bowline/skills/same/SKILL.md")} is not used: ${join(root, "home/.bowline/skills/same/SKILL.md")} has the same name.`,
	]);
});

test("the same file by two ways is one skill, and links in a circle end", async () => {
	const { load, cwd, userDirectory } = folder({ "home/.bowline/skills/one/SKILL.md": skill("one") });
	symlinkSync(userDirectory, join(cwd, ".bowline"));
	symlinkSync(join(userDirectory, "skills"), join(userDirectory, "skills", "again"));
	const found = await load({ isTrusted: true });
	expect([names(found), found.warnings]).toEqual([["one"], []]);
});

test("line ends of Windows and Windows paths in the front matter are read", async () => {
	const { load } = folder({
		"work/.bowline/skills/crlf/SKILL.md": '---\r\nname: crlf\r\ndescription: "Reads C:\\Users\\me"\r\n---\r\nOne.\r\nTwo.\r\n',
	});
	const { skills, warnings } = await load();
	expect(skills.map(({ name, description, body }) => [name, description, body])).toEqual([["crlf", "Reads C:\\Users\\me", "One.\nTwo."]]);
	expect(warnings).toEqual([]);
});

test.each([
	["Bad_Name", ['the name "Bad_Name" is not that', "other characters than"]],
	["-a", ["is not that", "begins or ends with a hyphen"]],
	["a--b", ["is not that", "two in a row"]],
	["x".repeat(65), ["is not that", "65 characters, more than 64"]],
])("a skill named %s is used, with a warning", async (name, expected) => {
	const { load } = folder({ "work/.bowline/skills/dir/SKILL.md": skill(name) });
	const { skills, warnings } = await load();
	expect(skills.map((each) => each.name)).toEqual([name]);
	expect(warnings).toEqual(expected.map((text) => expect.stringContaining(text)));
});

test("the directory gives the name when the file has none; without a description there is no skill", async () => {
	const { load, cwd } = folder({
		"work/.bowline/skills/named-by-directory/SKILL.md": "---\ndescription: Some.\n---\nbody",
		"work/.bowline/skills/silent/SKILL.md": "no front matter",
		"work/.bowline/skills/long/SKILL.md": skill("long", "x".repeat(1025)),
	});
	const found = await load();
	expect(names(found)).toEqual(["long", "named-by-directory"]);
	expect(found.warnings).toEqual([
		expect.stringContaining("the description has 1025 characters, more than 1024."),
		`Skill ${join(cwd, ".bowline/skills/silent/SKILL.md")}: it has no description and is not used.`,
	]);
});

test("named skills win over found ones, and are loaded even when nothing is looked for", async () => {
	const { load, root, file } = folder({ "home/.bowline/skills/a/SKILL.md": skill("a", "Found."), "home/.bowline/skills/b/SKILL.md": skill("b") });
	const directory = join(file("elsewhere/a/SKILL.md", skill("a", "Named.")), "..");
	const single = file("elsewhere/c.md", skill("c"));
	const all = await load({ skillPaths: [directory, "../elsewhere/c.md"] });
	expect(all.skills.map(({ name, description, scope }) => [name, description, scope])).toEqual([
		["a", "Named.", "temporary"],
		["c", "About c.", "temporary"],
		["b", "About b.", "user"],
	]);
	for (const changes of [{ noSkills: true }, { userDirectory: undefined }]) {
		expect(names(await load({ skillPaths: [directory, single], ...changes }))).toEqual(["a", "c"]);
	}
	expect((await load({ skillPaths: ["nowhere"] })).warnings).toEqual([`Skill not found: ${join(root, "work", "nowhere")}`]);
	expect(names(await load({ settingsSkillPaths: [single], noSkills: true }))).toEqual([]);
	expect(names(await load({ settingsSkillPaths: [single] }))).toEqual(["a", "b", "c"]);
});

test("the directories that agents share are searched up to the root of the repository", async () => {
	const { load, cwd, root } = folder({
		".agents/skills/outside/SKILL.md": skill("outside"),
		"home/.agents/skills/mine/SKILL.md": skill("mine"),
		"work/.agents/skills/top/SKILL.md": skill("top"),
		"work/packages/one/.agents/skills/near/SKILL.md": skill("near"),
	});
	mkdirSync(join(cwd, "packages/one/src"), { recursive: true });
	const found = await load({ cwd: join(cwd, "packages/one/src"), homeDirectory: join(root, "home") });
	expect(names(found)).toEqual(["mine", "near", "top"]);
});

test("the model is told of the skills it may use", async () => {
	const { load, cwd } = folder({
		"work/.bowline/skills/a/SKILL.md": skill("a", "For <b> & co."),
		"work/.bowline/skills/secret/SKILL.md": "---\nname: secret\ndescription: Hidden.\ndisable-model-invocation: true\n---\nbody",
	});
	const { skills } = await load();
	const list = skillList(skills);
	expect(list.slice(list.indexOf("<available_skills>"))).toBe(
		[
			"<available_skills>",
			"  <skill>",
			"    <name>a</name>",
			"    <description>For &lt;b&gt; &amp; co.</description>",
			`    <location>${join(cwd, ".bowline/skills/a/SKILL.md")}</location>`,
			"  </skill>",
			"</available_skills>",
		].join("\n"),
	);
	expect(skillList(skills.filter(({ isHidden }) => isHidden))).toBe("");
});

test("/skill:name stands for the skill's text and the words after it", async () => {
	const { load, cwd } = folder({ "work/.bowline/skills/a/SKILL.md": skill("a", "About a.", "Do $1.") });
	const resources = await load();
	const directory = join(cwd, ".bowline/skills/a");
	const block = `<skill name="a" location="${join(directory, "SKILL.md")}">\nReferences are relative to ${directory}.\n\nDo $1.\n</skill>`;
	const on = { enableSkillCommands: true };
	expect(expandPrompt("/skill:a", resources, on)).toBe(block);
	expect(expandPrompt('/skill:a  the "x" \n', resources, on)).toBe(`${block}\n\nthe "x"`);
	expect(expandPrompt("/skill:a\nmore\nlines", resources, on)).toBe(`${block}\n\nmore\nlines`);
	for (const text of ["/skill:b x", "/skill:", "/skill", " /skill:a", "/skill:abc"]) expect(expandPrompt(text, resources, on)).toBe(text);
	expect(expandPrompt("/skill:a", resources, { enableSkillCommands: false })).toBe("/skill:a");
});
