/** The mounts of a command, as data, for each layout of a project. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { mountPlan } from "../../src/sandbox/plan.ts";
import { type Ground, Survey } from "../../src/sandbox/survey.ts";
import { mayRead, mayWrite } from "../../src/sandbox/view.ts";
import { groundIn } from "./ground.ts";

let folder: string;
beforeEach(() => {
	folder = realpathSync(mkdtempSync(join(tmpdir(), "bowline-plan-")));
	for (const name of ["home/.ssh", "user", "private/tmp", "private/var-tmp", "private/logs", "work"])
		mkdirSync(join(folder, name), { recursive: true });
	file("home/.npmrc", "//registry/:_authToken=x");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, content = ""): void {
	mkdirSync(dirname(join(folder, name)), { recursive: true });
	writeFileSync(join(folder, name), content);
}
const git = (cwd: string, ...args: string[]) =>
	execFileSync("git", ["-c", "user.name=T", "-c", "user.email=t@localhost", "-c", "protocol.file.allow=always", ...args], {
		cwd: join(folder, cwd),
		stdio: "pipe",
		env: { PATH: process.env.PATH, HOME: join(folder, "home"), GIT_CONFIG_NOSYSTEM: "1" },
	});
function repository(name: string): void {
	mkdirSync(join(folder, name), { recursive: true });
	git(name, "init", "--quiet", "--template=");
	git(name, "commit", "--quiet", "--allow-empty", "-m", "Beginning");
}

const ground = (changes?: Partial<Ground>) => groundIn(folder, changes);

/** The part of the plan that depends on the project, one line a step. */
function planOf(changes: Partial<Ground> = {}, survey = new Survey(ground(changes))): string[] {
	const view = survey.view();
	survey.makePlaceholders(view);
	const steps = mountPlan({ view: survey.view(), sockets: [], inProc: [], inRun: [] });
	const fixed = 4;
	return steps.slice(fixed).map((step) => step.map((word) => word.replaceAll(`${folder}/`, "").replace(folder, ".")).join(" "));
}

const beginning = [
	"--perms 0000 --tmpfs user",
	"--ro-bind /dev/null home/.npmrc",
	"--perms 0000 --tmpfs home/.ssh",
	"--bind private/tmp /tmp",
	"--bind private/var-tmp /var/tmp",
];
/** The test's folder is below /tmp, where a root is mounted before its pins. */
const root = "--bind work work";

const settings = ["--ro-bind work/.bowline work/.bowline", "--ro-bind work/.mcp.json work/.mcp.json"];
const protectedOf = (directory: string) =>
	["config", "config.worktree", "hooks"].map((name) => `--ro-bind ${directory}/${name} ${directory}/${name}`);

test("a directory without a repository", () => {
	expect(planOf()).toEqual([...beginning, root, root, ...settings]);
});

test("a repository: it can be committed to, and its configuration and hooks cannot be written", () => {
	repository("work");
	expect(planOf()).toEqual([...beginning, root, "--bind work/.git work/.git", root, ...settings, ...protectedOf("work/.git")]);
});

test("sandbox.git read: nothing of it can be written", () => {
	repository("work");
	const [first, second] = settings;
	expect(planOf({ git: "read" })).toEqual([...beginning, root, root, first, "--ro-bind work/.git work/.git", second]);
});

test("hooks that are a link could be replaced, so the whole git directory is read-only", () => {
	repository("work");
	symlinkSync("../elsewhere", join(folder, "work/.git/hooks"));
	const [first, second] = settings;
	expect(planOf()).toEqual([...beginning, root, root, first, "--ro-bind work/.git work/.git", second]);
});

test("read-only: the project is seen, and only temporary files can be written", () => {
	repository("work");
	expect(planOf({ mode: "read-only" })).toEqual([...beginning, "--ro-bind work work"]);
});

test("a linked worktree: of its repository only what commits add to", () => {
	repository("main");
	rmSync(join(folder, "work"), { recursive: true });
	git("main", "worktree", "add", "-q", "../work");
	const entry = "main/.git/worktrees/work";
	const places = ["main/.git/logs", "main/.git/objects", "main/.git/refs", entry].map((path) => `--bind ${path} ${path}`);
	expect(planOf()).toEqual([
		...beginning,
		root,
		...places,
		root,
		...places,
		"--ro-bind work/.bowline work/.bowline",
		"--ro-bind work/.git work/.git",
		"--ro-bind work/.mcp.json work/.mcp.json",
		...["commondir", "config.worktree", "gitdir"].map((name) => `--ro-bind ${entry}/${name} ${entry}/${name}`),
	]);
});

test("a file .git that a command made opens no directory outside", () => {
	repository("other");
	mkdirSync(join(folder, "work/trap"));
	file("work/trap/.git", `gitdir: ${folder}/other/.git\n`);
	const survey = new Survey(ground());
	expect(survey.view().writable).toEqual([join(folder, "work")]);
	// The same at the top, before the session: the other side does not know it.
	file("work/.git", `gitdir: ${folder}/other/.git\n`);
	expect(new Survey(ground()).view().writable).toEqual([join(folder, "work")]);
});

test("submodules and nested repositories are treated like the repository itself", () => {
	repository("library");
	repository("work");
	git("work", "submodule", "--quiet", "add", "../library", "parts/library");
	repository("work/nested");
	const plan = planOf();
	expect(plan).toEqual(
		expect.arrayContaining([...protectedOf("work/.git"), ...protectedOf("work/.git/modules/parts/library"), ...protectedOf("work/nested/.git")]),
	);
	expect(plan).toContain("--ro-bind work/parts/library/.git work/parts/library/.git");
	expect(plan.filter((line) => line.startsWith("--bind work/"))).toEqual(
		[
			"work/.git",
			"work/nested",
			"work/parts",
			"work/.git/modules",
			"work/nested/.git",
			"work/parts/library",
			"work/.git/modules/parts",
			"work/.git/modules/parts/library",
		].map((path) => `--bind ${path} ${path}`),
	);
});

test("other worktrees of the repository cannot be led elsewhere", () => {
	repository("work");
	git("work", "worktree", "add", "-q", "../other");
	git("work", "worktree", "add", "-q", "inner");
	const plan = planOf();
	expect(plan).toContain("--ro-bind work/.git/worktrees/other work/.git/worktrees/other");
	expect(plan).toContain("--ro-bind work/.git/worktrees/inner/commondir work/.git/worktrees/inner/commondir");
	expect(plan).not.toContain("--ro-bind work/.git/worktrees/inner work/.git/worktrees/inner");
});

test("a directory inside a repository: the git directory above it is writable, and guarded", () => {
	repository("above");
	mkdirSync(join(folder, "above/work"));
	const work = join(folder, "above/work");
	const plan = planOf({ cwd: work, roots: [work] });
	expect(plan).toEqual(expect.arrayContaining(["--bind above/.git above/.git", ...protectedOf("above/.git")]));
	expect(plan).not.toContain("--bind above above");
});

test("folders that cannot be watched: the git directory is read-only", () => {
	repository("work");
	const survey = new Survey(ground());
	survey.giveUpWatching();
	const [first, second] = settings;
	expect(planOf({}, survey)).toEqual([...beginning, root, root, first, "--ro-bind work/.git work/.git", second]);
});

test("more mounts than bubblewrap takes are refused with the reason", () => {
	const view = { ...new Survey(ground()).view(), protected: Array.from({ length: 3000 }, (_, index) => join(folder, "work", String(index))) };
	expect(() => mountPlan({ view, sockets: [], inProc: [], inRun: [] })).toThrow(
		/^The sandbox would need 30\d\d mounts, more than 3000\. Work in a smaller directory\.$/,
	);
});

test("a hidden home: only what PATH needs is seen in it", () => {
	mkdirSync(join(folder, "home/bin"));
	const [user, , , ...rest] = beginning;
	expect(planOf({ isHomeHidden: true, path: `/usr/bin:${folder}/home/bin:relative` })).toEqual([
		"--perms 0755 --tmpfs home",
		user,
		...rest,
		root,
		root,
		...settings,
		"--ro-bind home/bin home/bin",
		"--remount-ro home",
	]);
});

test("secrets in a folder of the home that is a link are hidden where they are", () => {
	file("home/dotfiles/config/gh/hosts.yml");
	symlinkSync("dotfiles/config", join(folder, "home/.config"));
	const hidden = new Survey(ground()).view().hidden.map(({ path }) => path.slice(folder.length + 1));
	expect(hidden).toContain("home/dotfiles/config/gh");
});

test("a project in a hidden home: what is hidden in it stays hidden, for commands and for tools", () => {
	file("home/shop/secret");
	file("home/shop/ruled");
	file("home/.config/gh/token");
	const shop = join(folder, "home/shop");
	const rules = [{ literal: join(shop, "ruled"), covers: () => false, denies: "reading" as const }];
	const readable = [join(folder, "home/.config")];
	const survey = new Survey(ground({ cwd: shop, roots: [shop], isHomeHidden: true, hidden: [join(shop, "secret")], readable, rules }));
	const view = survey.commandView();
	const hidden = view.hidden.map(({ path }) => path.slice(folder.length + 1)).sort();
	expect(hidden).toEqual(["home", "home/.config/gh", "home/shop/ruled", "home/shop/secret", "user"]);
	const steps = mountPlan({ view, sockets: [], inProc: [], inRun: [] }).map((step) => step.join(" ").replaceAll(`${folder}/`, ""));
	const order = [
		"--perms 0755 --tmpfs home",
		"--bind home/shop home/shop",
		"--ro-bind home/.config home/.config",
		"--perms 0000 --tmpfs home/.config/gh",
	];
	const at = [...order, "--ro-bind /dev/null home/shop/ruled", "--ro-bind /dev/null home/shop/secret"].map((step) => steps.indexOf(step));
	expect(at).toEqual([...at].sort((a, b) => a - b));
	expect(at).not.toContain(-1);
	const names = ["home/shop/a", "home/shop/secret", "home/.config/x", "home/.config/gh/token", "home/.npmrc"];
	expect(names.filter((name) => mayRead(view, join(folder, name)).allowed)).toEqual(["home/shop/a", "home/.config/x"]);
});

test("hidden and protected paths of the settings inside the project", () => {
	file("work/secrets/key");
	file("work/ci/deploy.sh");
	mkdirSync(join(folder, "work/.vscode"));
	const plan = planOf({ hidden: [join(folder, "work/secrets")], protected: [join(folder, "work/ci/deploy.sh")] });
	expect(plan.slice(beginning.length)).toEqual([
		root,
		"--bind work/ci work/ci",
		root,
		settings[0],
		settings[1],
		"--ro-bind work/.vscode work/.vscode",
		"--ro-bind work/ci/deploy.sh work/ci/deploy.sh",
		"--perms 0000 --tmpfs work/secrets",
	]);
});

test("a path that must not be written: links on the way are watched, a missing one stays missing, a file in the way stays", () => {
	file("work/real/ci.yml");
	file("work/plain");
	symlinkSync("real", join(folder, "work/way"));
	const named = ["way/ci.yml", "new/er/ci.yml", "plain/ci.yml", "../outside.yml"];
	const survey = new Survey(ground({ protected: named.map((name) => join(folder, "work", name)) }));
	const view = survey.makePlaceholders(survey.view());
	const inWork = (paths: readonly string[]) => paths.map((path) => path.slice(folder.length + 6));
	expect(inWork(view.links)).toEqual(["way"]);
	expect(inWork(view.protected).sort()).toEqual(["plain", "real/ci.yml"]);
	expect(inWork(view.placeholders.map(({ path }) => path))).toEqual([".bowline", ".mcp.json"]);
	expect(inWork(view.forbidden)).toEqual(["new/er/ci.yml"]);
	expect(existsSync(join(folder, "work/new"))).toBe(false);
	survey.removePlaceholders();
	expect(readdirSync(join(folder, "work")).sort()).toEqual(["plain", "real", "way"]);
});

test.runIf(process.platform === "linux")("a placeholder that cannot be made is not mounted", () => {
	const survey = new Survey(ground());
	const view = survey.view();
	// Not even root can make a directory there.
	const impossible = {
		...view,
		writable: [...view.writable, "/sys"],
		placeholders: [...view.placeholders, { path: "/sys/bowline", kind: "directory" as const }],
	};
	expect(survey.makePlaceholders(impossible).placeholders).toEqual(view.placeholders);
});

test("what the model is told to read in a hidden directory is shown, and the way to it is open", () => {
	file("user/skills/one/SKILL.md");
	const plan = planOf({ ownReadable: [join(folder, "user/skills"), join(folder, "user/prompts")] });
	expect(plan[0]).toBe("--perms 0111 --tmpfs user");
	expect(plan.at(-1)).toBe("--ro-bind user/skills user/skills");
});

test("file tools follow the same view", () => {
	file("work/secrets/key");
	file("user/skills/one/SKILL.md");
	const survey = new Survey(ground({ hidden: [join(folder, "work/secrets")], ownReadable: [join(folder, "user/skills")] }));
	repository("work");
	const view = survey.view();
	const reads = ["work/a", "work/secrets/key", "home/.ssh/id", "home/.bashrc", "user/models.jsonc", "user/skills/one/SKILL.md", "private/tmp/x"];
	expect(reads.filter((name) => mayRead(view, join(folder, name)).allowed)).toEqual([
		"work/a",
		"home/.bashrc",
		"user/skills/one/SKILL.md",
		"private/tmp/x",
	]);
	const writes = [
		"work/a",
		"work/.git/x",
		"work/.git/config",
		"work/.git/hooks/x",
		"work/.git/commondir",
		"work/.bowline/x",
		"work/.mcp.json",
		"work/secrets/key",
		"home/a",
		"private/tmp/x",
	];
	expect(writes.filter((name) => mayWrite(view, join(folder, name)).allowed)).toEqual(["work/a", "work/.git/x", "private/tmp/x"]);
	expect(mayRead(view, "/proc/self/environ").allowed).toBe(false);
	expect(mayWrite(new Survey(ground({ mode: "read-only" })).view(), join(folder, "work/a"))).toEqual({
		allowed: false,
		because: "the sandbox lets tools write only in /tmp",
	});
});

test("a folder that has become a link out gets no placeholder, and nothing there is removed", () => {
	for (const name of ["work/sub", "outside"]) mkdirSync(join(folder, name));
	const survey = new Survey(ground());
	const view = { ...survey.view(), placeholders: ["made", "late"].map((name) => ({ path: join(folder, "work/sub", name), kind: "file" as const })) };
	const [made] = view.placeholders;
	survey.makePlaceholders({ ...view, placeholders: made ? [made] : [] });
	expect(existsSync(join(folder, "work/sub/made"))).toBe(true);
	rmSync(join(folder, "work/sub"), { recursive: true });
	symlinkSync(join(folder, "outside"), join(folder, "work/sub"));
	file("outside/made");
	expect(() => survey.makePlaceholders(view)).toThrow(`${join(folder, "work/sub")} leads out of the writable directories`);
	survey.removePlaceholders();
	expect(readdirSync(join(folder, "outside"))).toEqual(["made"]);
});
