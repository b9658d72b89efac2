/** Repositories whose configuration names programs for git to run: in an untrusted project git never runs them. */
import { execFileSync } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { collectLeftOvers } from "../../src/subagents/isolation/index.ts";
import { Bench, tree } from "../subagents/isolation/support.ts";

/** Keys that git's own list of settings leaves out. */
const unlisted = [
	"alias.add",
	"alias.rev-parse",
	"credential.https://example.com.helper",
	"filter.<driver>.process",
	"interactive.diffFilter",
	"trailer.<token>.cmd",
	"trailer.<token>.command",
	"hook.<name>.command",
	"remote.<name>.uploadpack",
	"uploadpack.packObjectsHook",
];
const mayRun =
	/cmd$|command$|program$|helper$|hook$|driver$|textconv$|process$|clean$|smudge$|editor$|pager|askpass$|external$|fsmonitor$|uploadpack$|receivepack$|vcs$|browser$|gitproxy$|tool$|submodule\.<name>\.update$|ccCmd$|<tool>\.path$|hookspath$|sshcommand$|diffFilter$/i;
/** They match, but they are numbers, words and switches. */
const runsNothing = /^(advice|color|column|completion|notes|fsck|receive)\.|cachetextconv|^core\.hooksPath$/;

/** Every setting of the installed git that can name a program, with names filled in. */
function programKeys(): string[] {
	const listed = execFileSync("git", ["help", "--config"], { encoding: "utf8" }).split("\n");
	const keys = [...new Set([...listed, ...unlisted])].filter((key) => mayRun.test(key) && !runsNothing.test(key));
	const names: Record<string, string[]> = { format: ["openpgp", "ssh", "x509"], name: ["origin", "evil", "sub"], cmd: ["diff-tree", "config"] };
	return keys.flatMap((key) => {
		const place = /<(\w+)>/.exec(key);
		return place ? (key.endsWith(".vcs") ? ["evil"] : (names[place[1] as string] ?? ["evil"])).map((name) => key.replace(place[0], name)) : [key];
	});
}

const hookNames = [
	...["applypatch-msg", "pre-applypatch", "post-applypatch", "pre-commit", "pre-merge-commit", "prepare-commit-msg", "commit-msg", "post-commit"],
	...["pre-rebase", "post-checkout", "post-merge", "pre-push", "pre-receive", "update", "proc-receive", "post-receive", "post-update"],
	...["reference-transaction", "push-to-checkout", "pre-auto-gc", "post-rewrite", "sendemail-validate", "fsmonitor-watchman", "post-index-change"],
];

/** A folder with programs that leave a trace, and a configuration that names them all. */
class Traps {
	readonly #log: string;
	readonly #folder: string;
	readonly config: string;

	constructor(folder: string) {
		this.#folder = join(folder, "traps");
		this.#log = join(folder, "ran.log");
		this.config = join(folder, "evil.config");
		mkdirSync(this.#folder);
		const values: [string, string][] = programKeys().map((key) => [key, this.program(key)]);
		const update = ([key, value]: [string, string]): [string, string] => [key, key.startsWith("submodule.") ? `!${value}` : value];
		const more: [string, string][] = [
			["core.hooksPath", this.#hooks()],
			...hookNames.map((name): [string, string] => ["hook.evil.event", name]),
			["commit.gpgSign", "true"],
			["tag.gpgSign", "true"],
			["filter.evil.required", "true"],
			["remote.origin.promisor", "true"],
			["remote.origin.url", "/nowhere"],
			["protocol.allow", "always"],
		];
		const text = [...values.map(update), ...more].map(([key, value]) => {
			const [, section, inner, name] = /^([^.]+)\.(?:(.*)\.)?([^.]+)$/.exec(key) ?? [];
			return `[${section}${inner === undefined ? "" : ` "${inner}"`}]\n\t${name} = "${value}"\n`;
		});
		writeFileSync(this.config, text.join(""));
	}

	/** A program that says that it ran, and passes on what it reads. */
	program(name: string): string {
		const path = join(this.#folder, name.replace(/[^\w.-]/g, "_"));
		writeFileSync(path, `#!/bin/sh\necho '${name}' >> ${this.#log}\ncase '${name}' in filter*) cat;; esac\nexit 1\n`, { mode: 0o755 });
		return path;
	}

	#hooks(): string {
		const path = join(this.#folder, "hooks");
		mkdirSync(path);
		for (const name of hookNames) writeFileSync(join(path, name), `#!/bin/sh\necho hook ${name} >> ${this.#log}\n`, { mode: 0o755 });
		return path;
	}

	/** Plants everything in a git directory: through an included file, attributes, hooks. */
	plant(gitDir: string): void {
		appendFileSync(join(gitDir, "config"), `[include]\n\tpath = ${this.config}\n`);
		mkdirSync(join(gitDir, "info"), { recursive: true });
		appendFileSync(join(gitDir, "info/attributes"), "* diff=evil merge=evil\n*.evil filter=evil\n");
		for (const name of hookNames) {
			mkdirSync(join(gitDir, "hooks"), { recursive: true });
			writeFileSync(join(gitDir, "hooks", name), `#!/bin/sh\necho hook ${name} >> ${this.#log}\n`, { mode: 0o755 });
		}
	}

	/** The programs that have run since the last call. */
	ran(): string[] {
		const lines = existsSync(this.#log) ? readFileSync(this.#log, "utf8").trim().split("\n") : [];
		rmSync(this.#log, { force: true });
		return [...new Set(lines)];
	}
}

/** A repository with a submodule, a nested repository and a linked worktree, all of them trapped. */
function trapped(): { bench: Bench; traps: Traps; linked: string } {
	const bench = new Bench();
	bench.isTrusted = false;
	const traps = new Traps(bench.folder);
	const library = join(bench.folder, "library");
	const files = { "a.txt": "a\n", "x.evil": "x\n", ".gitattributes": "* diff=evil merge=evil\n*.evil filter=evil\n" };
	bench.init(files, library);
	bench.init(files);
	bench.git(["submodule", "--quiet", "add", library, "sub"]);
	bench.commit("with a submodule");
	bench.init(files, join(bench.repo, "nested"));
	const linked = join(bench.folder, "linked");
	bench.git(["worktree", "add", "-q", "-b", "feature", linked]);
	for (const gitDir of [".git", ".git/modules/sub", "nested/.git"]) traps.plant(join(bench.repo, gitDir));
	return { bench, traps, linked };
}

test("git of the user does run the planted programs, so that the tests below can fail", () => {
	const { bench, traps } = trapped();
	expect(programKeys().length).toBeGreaterThan(60);
	const commands = [
		["status"],
		["diff", "HEAD", "--ignore-submodules", "--", "a.txt"],
		["update-ref", "refs/heads/other", "HEAD"],
		["hash-object", "x.evil"],
		["fetch", "origin"],
		["log", "-p", "--show-signature"],
	];
	for (const args of commands) {
		bench.files({ "a.txt": `${args[0]}\n` });
		try {
			bench.git(args);
		} catch {
			// A program that fails makes some of them fail.
		}
	}
	const expected = ["core.fsmonitor", "diff.evil.command", "filter.evil.process", "hook reference-transaction", "remote.origin.uploadpack"];
	expect(traps.ran()).toEqual(expect.arrayContaining(expected));
});

const places = ["", "sub/", "nested/"];
const writing =
	(bench: Bench, name: string, inside = places) =>
	(cwd: string) =>
		bench.files(Object.fromEntries(inside.map((place) => [`${place}${name}`, "new\n"])), cwd);

test("nothing runs when a repository, its submodules and nested repositories are copied, and the work comes back as files", async () => {
	const { bench, traps } = trapped();
	const edit = (cwd: string) => ["a.txt", "x.evil"].map((name) => writing(bench, name)(cwd));
	const merged = await bench.task((cwd) => void edit(cwd), { meanwhile: () => bench.files({ "b.txt": "user\n" }) });
	expect(merged.status, merged.text).toBe("merged");
	expect(tree(bench.repo)).toMatchObject({ "a.txt": "new\n", "sub/x.evil": "new\n", "nested/a.txt": "new\n", "x.evil": "new\n" });
	expect(traps.ran()).toEqual([]);
});

test.each([
	["a repository, its submodules and nested repositories", "", places],
	["a linked worktree", "../linked", [""]],
	["a submodule", "sub", [""]],
	["a nested repository", "nested", [""]],
])("nothing runs when work on %s comes back as commits", async (_, path, inside) => {
	const { bench, traps } = trapped();
	const merged = await bench.task(writing(bench, "new.txt", inside), { mode: "branch", cwd: join(bench.repo, path) });
	expect(merged.text).toMatch(inside.length === 3 ? /is committed as \w+, \w+, \w+\./ : /is committed as \w+\./);
	expect(traps.ran()).toEqual([]);
});

test("a commit that needs a filter is made in a trusted project only", async () => {
	const { bench, traps } = trapped();
	const refused = await bench.task(writing(bench, "new.evil", [""]), { mode: "branch" });
	expect(refused).toMatchObject({ status: "failed", text: expect.stringMatching(/only in a trusted project.*new\.evil.*Its work is in \S+\.patch/) });
	expect(existsSync(join(bench.repo, "new.evil"))).toBe(false);
	expect(traps.ran()).toEqual([]);
	bench.isTrusted = true;
	// The planted filter fails; that git asked it is what counts.
	expect(await bench.task(writing(bench, "new.evil", [""]), { mode: "branch" })).toMatchObject({ status: "failed" });
	expect(traps.ran()).toEqual([expect.stringContaining("filter.evil.")]);
});

test("nothing runs when work of a killed process is rescued", async () => {
	const { bench, traps } = trapped();
	const frozen = await bench.freeze();
	const { cwd } = await frozen.checkOut("0-Lost", bench.signal);
	bench.files({ "a.txt": "lost\n", "sub/x.evil": "lost\n", "nested/a.txt": "lost\n" }, cwd);
	bench.init({ "made.txt": "made\n" }, join(cwd, "made"));
	traps.plant(join(cwd, "made/.git"));
	const owners = readdirSync(bench.root, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith("owner.json"));
	for (const path of owners) {
		const owner = JSON.parse(readFileSync(join(bench.root, path), "utf8")) as object;
		writeFileSync(join(bench.root, path), JSON.stringify({ ...owner, pid: 2 ** 22 + 1 }));
	}
	const told: string[] = [];
	const options = { root: bench.root, shell: async () => bench.shell, environment: () => bench.environment, now: Date.now };
	await collectLeftOvers({ ...options, warn: (text) => told.push(text) });
	expect(told).toEqual([expect.stringMatching(/left the work of 0-Lost/)]);
	expect(traps.ran()).toEqual([]);
});

test("a partial clone that lacks its own commit fetches nothing", async () => {
	const { bench, traps } = trapped();
	for (const gitDir of [".git", ".git/modules/sub", "nested/.git"]) {
		appendFileSync(join(bench.repo, gitDir, "config"), "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tpartialClone = origin\n");
		const head = join(bench.repo, gitDir, "objects");
		rmSync(head, { recursive: true });
		mkdirSync(join(head, "info"), { recursive: true });
	}
	expect(() => bench.git(["cat-file", "-p", "HEAD"])).toThrow();
	expect(traps.ran()).not.toEqual([]);
	const problem = await bench.problem();
	expect(problem).toMatch(/has no commits yet|cannot be used/);
	expect(traps.ran()).toEqual([]);
});

test("a repository that names another directory as its working tree is refused", async () => {
	const bench = new Bench();
	bench.init({ "a.txt": "a\n" });
	bench.git(["config", "core.worktree", bench.folder]);
	expect(await bench.problem()).toMatch(/says that its files are in .*Unset core\.worktree/);
	// The files of a repository without a `.git`, as another repository may hold them.
	const posing = join(bench.folder, "posing");
	bench.git(["init", "-q", "--bare", posing], bench.folder);
	bench.git(["config", "core.bare", "false"], posing);
	bench.git(["config", "core.worktree", bench.folder], posing);
	// Git from 2.38 on does not take it for a repository at all.
	expect(await bench.problem(posing)).toMatch(/says that its files are in|is a bare repository or a \.git directory/);
});
