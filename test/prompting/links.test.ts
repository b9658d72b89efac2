/** Files that an untrusted repository cannot make the agent read. */
import { execFileSync } from "node:child_process";
import { symlinkSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { folder, skill } from "./folder.ts";

test("links out of a project that is not trusted are not followed, those inside are", async () => {
	const { load, cwd, root } = folder({
		"home/secret.md": "---\ndescription: x\n---\nthe user's secret",
		"work/docs/rules.md": "shared rules",
		"work/.bowline/skills/good/SKILL.md": skill("good"),
		"work/.bowline/prompts/fix.md": "Fix it",
	});
	const secret = join(root, "home/secret.md");
	symlinkSync("docs/rules.md", join(cwd, "AGENTS.md"));
	symlinkSync(secret, join(cwd, "docs/CLAUDE.md"));
	symlinkSync(secret, join(cwd, ".bowline/skills/bad.md"));
	symlinkSync(secret, join(cwd, ".bowline/prompts/leak.md"));
	const untrusted = await load({ cwd: join(cwd, "docs") });
	expect(untrusted.contextFiles.at(-1)).toEqual({ path: join(cwd, "AGENTS.md"), content: "shared rules" });
	expect(untrusted.skills.map(({ name }) => name)).toEqual(["good"]);
	expect(untrusted.templates.map(({ name }) => name)).toEqual(["fix"]);
	const refused = (path: string) => `${join(cwd, path)} is not used: it is a link out of a project that is not trusted (see --approve).`;
	expect(untrusted.warnings).toEqual([".bowline/skills/bad.md", ".bowline/prompts/leak.md", "docs/CLAUDE.md"].map(refused));
	const trusted = await load({ cwd: join(cwd, "docs"), isTrusted: true });
	expect([trusted.contextFiles.length, trusted.skills.length, trusted.templates.length, trusted.warnings]).toEqual([2, 2, 2, []]);
});

test("a directory above the repository answers for itself", async () => {
	const { load, cwd, root, file } = folder({ "home/secret.md": "secret", "notes.md": "mine" });
	symlinkSync(join(root, "notes.md"), join(root, "AGENTS.md"));
	expect((await load()).contextFiles).toEqual([{ path: join(root, "AGENTS.md"), content: "mine" }]);
	unlinkSync(join(root, "AGENTS.md"));
	symlinkSync("/proc/self/environ", join(root, "AGENTS.md"));
	const { contextFiles, warnings } = await load();
	expect([contextFiles, warnings.length]).toEqual([[], 1]);
	file("home/.bowline/x", "");
	symlinkSync(join(root, "notes.md"), join(root, "home/.bowline/AGENTS.md"));
	expect((await load({ cwd })).contextFiles.map(({ content }) => content)).toEqual(["mine"]);
});

test("what is not a regular file is not read", async () => {
	const { load, cwd } = folder({ "work/.bowline/prompts/fix.md": "Fix it" });
	symlinkSync("/dev/zero", join(cwd, "AGENTS.md"));
	execFileSync("mkfifo", [join(cwd, ".bowline/prompts/pipe.md")]);
	const { contextFiles, templates, warnings } = await load({ isTrusted: true });
	expect([contextFiles, templates.map(({ name }) => name)]).toEqual([[], ["fix"]]);
	expect(warnings).toEqual([`${join(cwd, "AGENTS.md")} is not used: it is not a regular file.`]);
});

test("links into .git, and out of a project whose parent directory is the repository, are not followed", async () => {
	const { load, root, file } = folder({
		"work/.git/config": "[remote]\n\turl = https://user:token@host/",
		"work/project/note.md": "mine",
		"work/private.md": "the user's notes",
	});
	const cwd = join(root, "work/project");
	file("work/project/.bowline/prompts/ok.md", "Do.");
	const changes = { cwd, projectDirectory: join(cwd, ".bowline") };
	const attempts: [target: string, why: string][] = [
		[join(root, "work/.git/config"), "it is a link out of a project that is not trusted (see --approve)."],
		[join(root, "work/private.md"), "it is a link out of a project that is not trusted (see --approve)."],
	];
	for (const [target, why] of attempts) {
		for (const name of ["AGENTS.md", ".bowline/prompts/leak.md", ".bowline/skills.md"]) {
			symlinkSync(target, join(cwd, name));
			const { contextFiles, templates, warnings } = await load(changes);
			expect(JSON.stringify([contextFiles, templates])).not.toMatch(/token|notes/);
			if (name !== ".bowline/skills.md") expect(warnings).toEqual([`${join(cwd, name)} is not used: ${why}`]);
			unlinkSync(join(cwd, name));
		}
	}
	symlinkSync(".git/config", join(root, "work/AGENTS.md"));
	const above = await load({ cwd: join(root, "work") });
	expect(above.contextFiles).toEqual([]);
	expect(above.warnings).toEqual([
		`${join(root, "work/AGENTS.md")} is not used: it is a link into .git of a project that is not trusted (see --approve).`,
	]);
});

test("a file of /proc that has no size and no end is read up to the limit", async () => {
	const { load, cwd } = folder();
	symlinkSync("/proc/self/pagemap", join(cwd, "AGENTS.md"));
	const { contextFiles, warnings } = await load({ isTrusted: true });
	expect([contextFiles, warnings]).toEqual([[], [`${join(cwd, "AGENTS.md")} is not used: it is larger than 1024 KB.`]]);
});
