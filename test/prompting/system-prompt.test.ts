import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { systemPrompt } from "../../src/prompting/index.ts";
import { folder, skill } from "./folder.ts";

const tools = ["read", "edit", "todo_write"].map((name) => ({ name, label: name, hint: `Does ${name}` }));

test("context files come from the user, then from the root down, the nearest last", async () => {
	const { load, cwd, root } = folder({
		"home/.bowline/AGENTS.md": "user",
		"AGENTS.md": "above",
		"work/CLAUDE.md": "passed over",
		"work/AGENTS.md": "\uFEFFproject\r\nlines\r\n",
		"work/src/CLAUDE.md": "source",
		"work/src/deep/AGENTS.md": "passed over",
		"work/src/deep/AGENTS.override.md": "override",
		"work/src/deep/er/AGENTS.MD": "shouted",
	});
	mkdirSync(join(cwd, "src/deep/er/CLAUDE.md"));
	const { contextFiles } = await load({ cwd: join(cwd, "src/deep/er") });
	expect(contextFiles.filter(({ path }) => path.startsWith(root)).map(({ path, content }) => [path.slice(root.length + 1), content])).toEqual([
		["home/.bowline/AGENTS.md", "user"],
		["AGENTS.md", "above"],
		["work/AGENTS.md", "project\nlines"],
		["work/src/CLAUDE.md", "source"],
		["work/src/deep/AGENTS.override.md", "override"],
		["work/src/deep/er/AGENTS.MD", "shouted"],
	]);
	expect((await load({ noContextFiles: true })).contextFiles).toEqual([]);
});

test("a file is read once when the working directory is the user's", async () => {
	const { load, userDirectory, root } = folder({ "home/.bowline/AGENTS.md": "user" });
	const { contextFiles } = await load({ cwd: userDirectory });
	expect(contextFiles.filter(({ path }) => path.startsWith(root))).toEqual([{ path: join(userDirectory, "AGENTS.md"), content: "user" }]);
});

test("a project replaces the system prompt and brings rules only when it is trusted", async () => {
	const { load, cwd, userDirectory } = folder({
		"home/.bowline/SYSTEM.md": "The user's.\n",
		"home/.bowline/rules/both.md": "user rule",
		"work/.bowline/SYSTEM.md": "The project's.",
		"work/.bowline/APPEND_SYSTEM.md": "Also this.",
		"work/.bowline/rules/both.mdc": "---\ncondition: *.rs\n---\nproject rule",
		"work/.bowline/rules/readme.txt": "no rule",
		"work/.bowline/skills/a/SKILL.md": skill("a"),
		"work/AGENTS.md": "context",
	});
	const untrusted = await load();
	expect(untrusted.systemFile).toEqual({ path: join(userDirectory, "SYSTEM.md"), content: "The user's." });
	expect(untrusted.appendFiles).toEqual([]);
	expect(untrusted.rules).toEqual([{ name: "both", path: join(userDirectory, "rules/both.md"), content: "user rule", attributes: {} }]);
	expect([untrusted.skills.length, untrusted.contextFiles.at(-1)?.content]).toEqual([1, "context"]);
	const trusted = await load({ isTrusted: true });
	expect(trusted.systemFile?.content).toBe("The project's.");
	expect(trusted.appendFiles).toEqual([{ path: join(cwd, ".bowline/APPEND_SYSTEM.md"), content: "Also this." }]);
	expect(trusted.rules).toEqual([
		{ name: "both", path: join(cwd, ".bowline/rules/both.mdc"), content: "project rule", attributes: { condition: "*.rs" } },
	]);
	expect((await load({ isTrusted: true, noRules: true })).rules).toEqual([]);
});

test("a hermetic session takes nothing that is not named", async () => {
	const { load } = folder({
		"home/.bowline/SYSTEM.md": "x",
		"work/.bowline/SYSTEM.md": "x",
		"work/.bowline/APPEND_SYSTEM.md": "x",
		"work/.bowline/rules/a.md": "x",
		"work/.bowline/prompts/a.md": "x",
		"work/.bowline/commands/b.md": "x",
		"work/.bowline/skills/a/SKILL.md": skill("a"),
		"work/.agents/skills/b/SKILL.md": skill("b"),
		"work/AGENTS.md": "x",
	});
	expect(await load({ userDirectory: undefined, isTrusted: true })).toEqual({
		skills: [],
		templates: [],
		contextFiles: [],
		systemFile: undefined,
		appendFiles: [],
		rules: [],
		warnings: [],
	});
});

test("everything is in its order, and the same facts give the same bytes", async () => {
	const { load, cwd } = folder({
		"work/AGENTS.md": "Use tabs.",
		"work/.bowline/skills/a/SKILL.md": skill("a"),
		"work/.bowline/rules/always.md": "---\nalwaysApply: true\n---\nNever force-push.",
		"work/.bowline/rules/named.md": "---\ndescription: How to write SQL\n---\nUpper case.",
		"work/.bowline/rules/stream.md": "---\ncondition: foo\nalwaysApply: true\n---\nNo foo.",
	});
	const make = async () => {
		const { contextFiles, skills, rules } = await load({ isTrusted: true });
		return systemPrompt({ tools, cwd, custom: undefined, appended: ["Appended."], docsDirectory: "/docs", contextFiles, skills, rules });
	};
	const prompt = await make();
	const marks = [
		"You are a coding agent.",
		"Tools:\n- read: Does read\n- edit: Does edit\n- todo_write: Does todo_write",
		"Guidelines:\n- Read a file before you change it.",
		"Its documentation is in /docs",
		"Appended.",
		`<context_file path="${join(cwd, "AGENTS.md")}">\nUse tabs.\n</context_file>`,
		`<context_file path="${join(cwd, ".bowline/rules/always.md")}">\nNever force-push.\n</context_file>`,
		`- ${join(cwd, ".bowline/rules/named.md")}: How to write SQL`,
		"<available_skills>",
	];
	const places = marks.map((mark) => prompt.indexOf(mark));
	expect(places).not.toContain(-1);
	expect(places).toEqual(places.toSorted((a, b) => a - b));
	expect(prompt.endsWith(`\n\nWorking directory: ${cwd}`)).toBe(true);
	expect(prompt).not.toContain("No foo.");
	expect(await make()).toBe(prompt);
});

test("a custom prompt replaces role and guidelines and keeps the rest", async () => {
	const { load, cwd } = folder({ "work/AGENTS.md": "Use tabs." });
	const { contextFiles } = await load();
	const own = contextFiles.slice(-1);
	expect(systemPrompt({ tools, cwd, custom: "Be a poet.", appended: [], docsDirectory: "/docs", contextFiles: own })).toBe(
		[
			"Be a poet.",
			"Instructions of the user and the project. Where they differ, the later ones hold.",
			`<context_file path="${join(cwd, "AGENTS.md")}">\nUse tabs.\n</context_file>`,
			`Working directory: ${cwd}`,
		].join("\n\n"),
	);
});

test("skills are not offered to a model that cannot read files", async () => {
	const { load, cwd } = folder({ "work/.bowline/skills/a/SKILL.md": skill("a") });
	const { skills } = await load();
	expect(systemPrompt({ tools: [], cwd, custom: undefined, appended: [], skills })).not.toContain("available_skills");
});

test("a system prompt of five megabytes is a system prompt", () => {
	const custom = "x".repeat(5 * 1024 * 1024);
	expect(systemPrompt({ tools, cwd: "/w", custom, appended: [] }).startsWith(custom)).toBe(true);
});
