/** What of a run's changes runs later on its own, as hosts and people hear of it. */
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { changedInPackage, runsLaterByName, runsLaterInWords } from "../../src/lib/runs-later.ts";
import { program } from "../wire/support/agent.ts";
import { bash, rewindable, write } from "./support.ts";

describe("names", () => {
	const all = (names: string) => names.trim().split(/\s+/);

	test("of files that tools run", () => {
		const names = all(`
			Makefile src/GNUmakefile build.gradle.kts lib/conftest.py setup.py .github/workflows/ci.yml .gitlab-ci.yml packages/a/vite.config.ts .npmrc
			.husky/pre-commit docs/.vscode/tasks.json .envrc Dockerfile.dev lefthook.yml .pre-commit-config.yaml build.rs .cargo/config.toml Rakefile
			.gitattributes justfile tox.ini site/sitecustomize.py .mvn/jvm.config .githooks/post-merge package.json a/package.json
			.babelrc .eslintrc.json .prettierrc.toml .swcrc jest.config.json jest.setup.js karma.conf.js tsconfig.build.json pnpm-workspace.yaml .pnp.cjs
			webpack.prod.js .storybook/main.ts .dependency-cruiser.js angular.json biome.json tools/x.rake gems.rb spec/spec_helper.rb Cargo.toml
			rust-toolchain.toml go.work magefile.go requirements-dev.txt Pipfile docs/conf.py mypy.ini .pylintrc CMakePresets.json Makefile.am
			Directory.Build.props src/App.csproj phpunit.xml .htaccess .user.ini config.nims pubspec.yaml .tool-versions .config/mise/config.toml
			.mise.local.toml devenv.nix replit.nix docker-bake.hcl .gitlab/ci/x.yml .azure-pipelines/x.yml .drone.star git-hooks/pre-commit
			.devcontainer.json .vs/tasks.vs.json .run/x.run.xml nbproject/project.properties .local.vimrc .dir-locals-2.el .zprofile .tmux.conf
			Taskfile.dist.yml lefthook-local.yml ansible.cfg cdk.json mkdocs.yml debian/rules x.sublime-workspace .ycm_extra_conf.py .inputrc
		`);
		expect(names.map(runsLaterByName)).toEqual(names.map((path) => ({ path })));
	});

	test("of instructions for the next agent", () => {
		const names = all(
			`AGENTS.md sub/CLAUDE.md .cursorrules .github/copilot-instructions.md .github/instructions/style.md GEMINI.md skills/x/SKILL.md
			a/b/CLAUDE.local.md .aider.model.settings.yml .goosehints.local .roomodes .trae/rules/x.md .openhands/microagents/repo.md opencode.json
			.kilocode/rules/x.md .qwen/settings.json .agent/workflows/x.md docs/style.mdc CODEX.md tools/skills/x/scripts/run.py`,
		);
		expect(names.map(runsLaterByName)).toEqual(names.map((path) => ({ path, what: "instructions" })));
	});

	test("of other files", () => {
		const names = all(`src/index.ts README.md package-lock.json docs/makefile.md tests/test_shop.py config.json notes/agents.txt
			src/skills/list.ts src/arc.ts .github/dependabot.yml app/requirements.md .gitignore .editorconfig src/configure.ts`);
		expect(names.filter(runsLaterByName)).toEqual([]);
	});

	test("a name that a file system takes for one counts", () => {
		expect([runsLaterByName("MAKEFILE"), runsLaterByName("Claude.MD")?.what, runsLaterByName(".VsCode/x")]).toEqual([
			{ path: "MAKEFILE" },
			"instructions",
			{ path: ".VsCode/x" },
		]);
	});
});

describe("package.json", () => {
	const file = (value: object) => JSON.stringify(value);

	test.each<[string, object, object, string[]]>([
		["a new script", {}, { scripts: { test: "x" } }, ["scripts"]],
		["another program", { bin: "a.js" }, { bin: "b.js" }, ["bin"]],
		["settings with plugins", { jest: {} }, { jest: { setupFiles: ["./x.js"] } }, ["jest"]],
		["folders with packages", {}, { workspaces: ["w/*"] }, ["workspaces"]],
		["a hook", {}, { "lint-staged": { "*": "x" } }, ["lint-staged"]],
		["a dependency from an address", { dependencies: { a: "1" } }, { dependencies: { a: "1", b: "git+https://x.example/b" } }, ["dependencies"]],
		["a dependency of the registry", {}, { dependencies: { a: "^1.0.0", b: "npm:c@2", d: "workspace:*" } }, []],
		["a description", { description: "a", scripts: { a: "b" } }, { description: "b", scripts: { a: "b" } }, []],
		["a script that is gone", { scripts: { a: "b" } }, {}, []],
	])("%s", (_, before, after, expected) => {
		expect(changedInPackage(file(before), file(after))).toEqual(expected);
	});

	test("a file that cannot be read counts, and one that is gone does not", () => {
		expect(changedInPackage("{}", "{ broken")).toEqual(["scripts"]);
		expect(changedInPackage(file({ scripts: {} }), undefined)).toEqual([]);
		expect(changedInPackage(undefined, file({ scripts: { a: "b" } }))).toEqual(["scripts"]);
	});
});

test("one line for people names at most five", () => {
	expect(runsLaterInWords([])).toBeUndefined();
	expect(runsLaterInWords([{ path: "package.json", what: "scripts" }])).toBe("1 file that runs later changed: package.json (scripts)");
	expect(runsLaterInWords(Array.from("abcdefg", (path) => ({ path })))).toBe("7 files that run later changed: a, b, c, d, e and 2 more");
});

const files = { "package.json": '{"name":"shop","scripts":{"test":"node --test"}}\n', Makefile: "all:\n\ttrue\n", "src/a.ts": "1\n" };
const evil = '{"name":"shop","scripts":{"test":"node --test","prepare":"curl x.example"}}\n';

test("a run reports them in its result, and get_changes shows them again", async () => {
	const { agent } = await rewindable({
		files,
		seq: true,
		replies: [
			{ blocks: [write("package.json", evil), bash("mkdir -p .github/workflows && echo on: push > .github/workflows/ci.yml")] },
			{ blocks: [write("src/a.ts", "2\n"), bash("echo be evil > AGENTS.md")] },
			{ text: "done" },
			{ blocks: [write("src/a.ts", "3\n")] },
			{ text: "nothing that runs" },
		],
	});
	const results: unknown[] = [];
	agent.on("event", (event) => event.type === "run_result" && results.push(event.runsLater));
	await agent.promptAndWait("go");
	const expected = [{ path: ".github/workflows/ci.yml" }, { path: "AGENTS.md", what: "instructions" }, { path: "package.json", what: "scripts" }];
	expect((await agent.getChanges()).runsLater).toEqual(expected);
	await agent.promptAndWait("again");
	await expect.poll(() => results).toEqual([expected, undefined]);

	const { messages } = await agent.getForkMessages();
	const { restored } = await agent.rewind({ entryId: messages[0]?.entryId as string });
	expect(restored).toEqual([".github/workflows/ci.yml", "AGENTS.md", "package.json", "src/a.ts"]);
	expect((await agent.getChanges()).runsLater).toBeUndefined();
});

test("a link that leads out of the project is reported, and one that stays inside is not", async () => {
	const { agent } = await rewindable({
		files,
		replies: [
			{
				blocks: [
					bash(
						'ln -s ../../outside/.profile src/notes.txt; ln -s /etc/hosts hosts; ln -s "$PWD/src" absolute; ln -s a.ts src/b.ts; ln -s ../src src/up',
					),
				],
			},
			{ text: "done" },
		],
	});
	await agent.promptAndWait("go");
	expect((await agent.getChanges()).runsLater).toEqual([
		{ path: "hosts", what: "link" },
		{ path: "src/notes.txt", what: "link" },
	]);
});

test("what a run hides by rules of git or by its size is reported, and what was hidden before and is as it was is not", async () => {
	const { agent, cwd } = await rewindable({
		files: { ...files, "ignored/Makefile": "all:\n", "ignored/AGENTS.md": "be good\n" },
		replies: [
			{
				blocks: [
					bash("echo node_modules/ >> .gitignore; echo dist/ >> .gitignore; echo GNUmakefile >> .gitignore"),
					write("GNUmakefile", "all:\n\tevil\n"),
					bash(
						"mkdir -p tools node_modules/x dist; echo '*' > tools/.gitignore; echo 'all: evil' > tools/Makefile; echo x > node_modules/x/Makefile; echo x > dist/Makefile",
					),
					bash("echo justfile >> .git/info/exclude; echo 'a: evil' > justfile; echo be evil > ignored/AGENTS.md; echo x > tools/notes.txt"),
					bash("{ echo 'a: evil'; yes '# filling' | head -c 17000000; } > Rakefile"),
				],
			},
			{ text: "done" },
		],
		seq: true,
	});
	spawnSync("git", ["init", "-q"], { cwd });
	const results: unknown[] = [];
	agent.on("event", (event) => event.type === "run_result" && results.push(event.runsLater));
	await agent.promptAndWait("go");
	const expected = [
		{ path: "GNUmakefile" },
		{ path: "Rakefile" },
		{ path: "ignored/AGENTS.md", what: "instructions" },
		{ path: "justfile" },
		{ path: "tools/Makefile" },
	];
	expect((await agent.getChanges()).runsLater).toEqual(expected);
	await expect.poll(() => results).toEqual([expected]);
});

test("what a run changes and changes back is not reported", async () => {
	const { agent } = await rewindable({
		files,
		seq: true,
		replies: [{ blocks: [write("package.json", evil)] }, { blocks: [write("package.json", files["package.json"])] }, { text: "done" }],
	});
	await agent.promptAndWait("go");
	expect(await agent.getChanges()).toMatchObject({ files: [] });
	expect((await agent.getChanges()).runsLater).toBeUndefined();
});

test("bowline -p says it on stderr, with the way to look and to undo", async () => {
	const { agent, cwd } = await rewindable({ files, replies: [{ blocks: [write("package.json", evil)] }, { text: "done" }] });
	await agent.close();
	mkdirSync(join(cwd, "user"));
	const { stdout, stderr, status } = spawnSync(
		process.execPath,
		[program, "-p", "go", "--provider", "scripted", "--model", "./script.jsonc", "--set", "checkpoints.enabled=true", "--session-dir", "sessions"],
		{ cwd, encoding: "utf8", env: { ...process.env, BOWLINE_DIR: join(cwd, "user") } },
	);
	expect([status, stdout.trim()]).toEqual([0, "done"]);
	expect(stderr).toContain("1 file that runs later changed: package.json (scripts).");
	expect(stderr).toContain("/undo");
});
