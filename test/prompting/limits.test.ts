/** Directories that hold more than a person writes by hand: the rest is skipped, and one line says so. */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { fillTemplate } from "../../src/prompting/placeholders.ts";
import { readLimits } from "../../src/prompting/reading.ts";
import { systemPrompt } from "../../src/prompting/system-prompt.ts";
import { folder, skill } from "./folder.ts";

describe("skills", () => {
	test("more of them than a prompt has room for", async () => {
		const { load, cwd } = folder();
		for (let index = 0; index < 600; index += 1) {
			const directory = join(cwd, ".bowline/skills", `skill-${String(index).padStart(3, "0")}`);
			mkdirSync(directory, { recursive: true });
			writeFileSync(join(directory, "SKILL.md"), skill(`skill-${String(index).padStart(3, "0")}`, "x".repeat(500)));
		}
		const { skills, warnings } = await load();
		expect(skills).toHaveLength(500);
		expect(warnings).toEqual([
			`${join(cwd, ".bowline/skills/skill-500/SKILL.md")} and what comes after it is not used: there are more than 500 files.`,
			expect.stringMatching(/^\d+ of 500 skills are not offered to the model: the list has room for 64 KB\.$/),
		]);
		const tools = [{ name: "read", label: "Read" }];
		expect(systemPrompt({ tools, cwd, custom: "", appended: [], skills }).length).toBeLessThan(100_000);
	});

	test("warnings do not fill the screen either", async () => {
		const { load, cwd, file } = folder();
		for (let index = 0; index < 120; index += 1) file(`work/.bowline/skills/s${index}.md`, "no description");
		const { warnings } = await load();
		expect(warnings).toHaveLength(51);
		expect(warnings.at(-1)).toBe("70 more warnings of this kind are not shown.");
		expect(warnings[0]).toContain(cwd);
	});

	test("directories without end", async () => {
		const { load, cwd } = folder({ "work/.bowline/skills/good/SKILL.md": skill("good") });
		mkdirSync(join(cwd, ".bowline/skills", ...Array.from({ length: 40 }, () => "deep")), { recursive: true });
		const { skills, warnings } = await load();
		expect(skills.map(({ name }) => name)).toEqual(["good"]);
		expect(warnings).toEqual([expect.stringMatching(/deep is not searched: it is more than 12 directories down\.$/)]);
	});

	test("a link to the root of the disk", async () => {
		const { load, cwd } = folder({ "work/.bowline/skills/good/SKILL.md": skill("good") });
		symlinkSync("/", join(cwd, ".bowline/skills/root"));
		const { skills, warnings } = await load();
		expect(skills.map(({ name }) => name)).toEqual(["good"]);
		const root = join(cwd, ".bowline/skills/root");
		expect(warnings).toEqual([`${root} is not searched: it is a link out of a project that is not trusted (see --approve).`]);
		const trusted = await load({ isTrusted: true, limits: { ...readLimits, directories: 50 } });
		expect(trusted.skills.map(({ name }) => name)).toContain("good");
		expect(trusted.warnings.length).toBeLessThan(60);
	});

	test("ignore files with too many rules", async () => {
		const { load, cwd } = folder({
			"work/.bowline/skills/good/SKILL.md": skill("good"),
			"work/.bowline/skills/.gitignore": `${"x/**/y\n".repeat(3000)}good`,
		});
		const { skills, warnings } = await load();
		expect(skills.map(({ name }) => name)).toEqual(["good"]);
		expect(warnings).toEqual([`${join(cwd, ".bowline/skills/.gitignore")} is not used: it has more than 2000 rules.`]);
	});

	test("a description and a name that never end", async () => {
		const { load } = folder({
			"work/.bowline/skills/long/SKILL.md": skill("long", "d".repeat(20_000)),
			"work/.bowline/skills/name/SKILL.md": skill("n".repeat(20_000)),
		});
		const { skills } = await load();
		expect(skills.map(({ name, description }) => [name, description.length])).toEqual([["long", 1024]]);
	});
});

test("a search that takes too long is ended, and what it found is read", async () => {
	const { load, cwd } = folder({ "work/.bowline/skills/one/SKILL.md": skill("one"), "work/AGENTS.md": "near" });
	const { skills, contextFiles, warnings } = await load({ limits: { ...readLimits, ms: 0 } });
	expect([skills, contextFiles]).toEqual([[], []]);
	expect(warnings).toEqual([
		`${join(cwd, ".bowline/skills")} and what comes after it is not used: searching took longer than 0 s.`,
		`${join(cwd, "AGENTS.md")} and what comes after it is not used: reading took longer than 0 s.`,
	]);
});

test("context files have room for a megabyte together, and the nearest are kept", async () => {
	const { load, cwd, root } = folder({ "work/AGENTS.md": "near ".repeat(100_000), "AGENTS.md": "far ".repeat(200_000) });
	const { contextFiles, warnings } = await load();
	expect(contextFiles.map(({ path }) => path)).toEqual([join(cwd, "AGENTS.md")]);
	expect(warnings).toEqual([`${join(root, "AGENTS.md")} is not used: the context files have more than 1024 KB together.`]);
});

describe("templates", () => {
	test("places without an end are read in linear time", () => {
		const start = process.cpuUsage();
		fillTemplate("${1:-".repeat(100_000), "a b");
		expect(process.cpuUsage(start).user / 1000).toBeLessThan(3000);
	});

	test("a text that would fill the memory is not made", () => {
		expect(fillTemplate("$@ ".repeat(10_000), "x".repeat(100_000)).length).toBeLessThan(9 * 1024 * 1024);
	});
});
