/** What a repository that nobody trusts cannot make the agent read. */
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

test("what is no plain file is not read", async () => {
	const { load, cwd } = folder({ "work/.bowline/prompts/fix.md": "Fix it" });
	symlinkSync("/dev/zero", join(cwd, "AGENTS.md"));
	execFileSync("mkfifo", [join(cwd, ".bowline/prompts/pipe.md")]);
	const { contextFiles, templates, warnings } = await load({ isTrusted: true });
	expect([contextFiles, templates.map(({ name }) => name)]).toEqual([[], ["fix"]]);
	expect(warnings).toEqual([`${join(cwd, "AGENTS.md")} is not used: it is no plain file.`]);
});
