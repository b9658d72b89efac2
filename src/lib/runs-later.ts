/**
 * Which files of a project run later, without being called by name: build files, scripts of packages, hooks, continuous integration, settings
 * of editors, and instructions that the next agent reads. The one table of them.
 */
import { foldedName, isOpenedByPrograms } from "./protected-names.ts";

export interface RunsLater {
	path: string;
	/** Which part of it counts, such as `scripts`; `instructions` for what the next agent reads. */
	what?: string;
}

/** Names of files at any depth. `*` stands for any characters. */
const programs = `
makefile gnumakefile bsdmakefile makefile.am makefile.in makefile.inc makefile.local makefile.pl makefile.ps1 makefile.toml makefile.win *.mk *.m4
kbuild cmakelists.txt *.cmake cmake*presets.json meson.build meson.options meson_options.txt build.ninja premake5.lua xmake.lua tupfile sconstruct
sconscript wscript configure configure.ac autogen.sh ltmain.sh build build.bazel workspace workspace.bazel workspace.bzlmod module.bazel *.bzl buck
pants.toml build.pants .buckconfig* build.gradle* settings.gradle* init.gradle* gradlew gradlew.bat gradle-wrapper.properties gradle.properties
libs.versions.toml pom.xml mvnw mvnw.cmd build.xml ivy.xml lombok.config build.sbt *.sbt .sbtopts .jvmopts build.sc build.mill .mill-* *.csproj
*.fsproj *.vbproj *.vcxproj *.targets *.props nuget.config global.json dotnet-tools.json build.cake build.fsx *.pbxproj *.xcscheme cartfile brewfile
appfile matchfile rakefile* *.rake gemfile gems.rb *.gemspec config.ru .rspec .simplecov spec_helper.rb rails_helper.rb test_helper.rb
.rubocop*.y*ml .solargraph.yml guardfile capfile thorfile vagrantfile dangerfile fastfile podfile *.podspec build.rs build.jl build.zig
build.zig.zon cargo.toml cross.toml rust-toolchain* go.mod go.work magefile* mage.go .air.toml air.toml .ko.yaml .golangci.* .goreleaser.*
goreleaser.* buf.gen.y*ml sqlc.y*ml codegen.y*ml setup.py setup.cfg pyproject.toml pipfile requirements*.txt constraints*.txt pip.conf
environment.y*ml pixi.toml uv.toml poetry.toml pdm.toml hatch.toml hatch_build.py conftest.py pytest.ini .pytest.ini pytest.toml tox.ini mypy.ini
.mypy.ini .flake8 pylintrc pyrightconfig.json noxfile.py nox.py tasks.py fabfile.py dodo.py conf.py gunicorn.conf.py ipython_config.py
jupyter_*config.py alembic.ini snakefile nextflow.config dvc.yaml sitecustomize.py usercustomize.py *.pth .pythonstartup .pystartup .*rc .*rc.*
*.config.js *.config.cjs *.config.mjs *.config.ts *.config.cts *.config.mts *.config.json *.conf.js *.conf.cjs *.conf.mjs *.conf.ts *.setup.js
*.setup.cjs *.setup.mjs *.setup.ts vitest.workspace.* webpack.*.js webpack.*.ts gatsby-*.js gatsby-*.ts .ember-cli ember-cli-build.js testem.js
tsconfig*.json jsconfig*.json tslint.json .lintstagedrc* .simple-git-hooks* gulpfile* gruntfile* jakefile* plopfile* knexfile* ormconfig*
cypress.json nodemon.json ecosystem.json electron-builder* angular.json .pnpmfile.* pnpm-workspace.yaml .pnp.* binding.gyp nx.json project.json
workspace.json turbo.json rush.json lerna.json deno.json deno.jsonc import_map.json bunfig.toml tauri*.conf.json composer.json phpunit.xml*
phpstan*.neon* .php-cs-fixer* psalm.xml* rector.php .user.ini php.ini .htaccess web.config cpanfile build.pl dist.ini mix.exs .formatter.exs
.iex.exs .credo.exs rebar.config* erlang.mk dune dune-project dune.inc *.opam setup.hs setup.lhs cabal.project* hie.yaml .ghci stack.yaml *.cabal
project.clj deps.edn bb.edn shadow-cljs.edn *.nimble *.nims nim.cfg dub.json dub.sdl pubspec.yaml analysis_options.yaml melos.yaml package.swift
_targets.r .lintr .rprofile .renviron justfile .justfile taskfile*.y*ml mise.*toml .mise.*toml .rtx.toml .tool-versions .autoenv* procfile* *.nix
devenv.y*ml devbox.json earthfile tiltfile skaffold.y*ml garden.y*ml werf.y*ml devspace.y*ml okteto.y*ml helmfile.y*ml cdk.json serverless.*
pulumi*.y*ml ansible.cfg terragrunt.hcl dockerfile* *.dockerfile containerfile* compose*.y*ml docker-compose*.y*ml docker-bake.* *.service *.timer
*.desktop crontab lefthook*.y*ml lefthook*.toml lefthook*.json .lefthook*.y*ml .lefthook*.toml .lefthook*.json .pre-commit-config.y*ml
.pre-commit-hooks.y*ml .overcommit.yml .arcconfig .arclint .gitattributes .gitmodules .gitconfig .gitlab-ci.y*ml .travis.yml appveyor.yml
.appveyor.yml azure-pipelines*.y*ml bitbucket-pipelines.yml jenkinsfile* .drone.* .woodpecker.y*ml .cirrus.* circle.yml codemagic.y*ml
codeship-*.yml shippable.yml wercker.yml .build.yml .gocd.y*ml dagger.json cloudbuild.y*ml buildspec*.y*ml netlify.toml vercel.json now.json
wrangler.* render.y*ml railway.* heroku.yml firebase.json nixpacks.toml fly.toml snapcraft.yaml pkgbuild apkbuild action.y*ml renovate.json*
release-please-config.json mkdocs.y*ml doxyfile latexmkrc .gitpod.* .devcontainer.json devcontainer.json devfile.y*ml .devfile.y*ml .replit
*.code-workspace *.sublime-project *.sublime-workspace .project .factorypath .cproject _vimrc .local.vimrc .nvim.lua .vimspector.json
.ycm_extra_conf.py .dir-locals*.el .gdbinit .lldbinit .bash_profile .bash_login .bash_aliases .bash_logout .profile .zprofile .zlogin .zshenv
.tmux.conf tmuxp.y*ml .tmuxp.y*ml .tmuxinator.* install.sh make.bat build.bat build.cmd build.ps1 psakefile.ps1 profile.ps1 .*.js .*.cjs .*.mjs
.*.ts biome.json* .release-it.* .size-limit.* .cz.* hygen.js dart_test.yaml .swiftlint.yml .sourcery.yml moon.yml .sourcehut.yml .codeship.yml
.watchmanconfig
`;

/** Folders at any depth in which every file counts. */
const programFolders = `
.github/workflows .github/actions .gitea/workflows .forgejo/workflows .circleci .buildkite .teamcity .woodpecker .gitlab .azuredevops
.azure-pipelines .pipelines .builds .semaphore .dagger .ci .moon bamboo-specs .githooks .git-hooks .hooks githooks git-hooks .git_template .lefthook
.cargo-husky .yarn/plugins .yarn/releases .yarn/sdks .storybook .mvn .jvm .bundle .cargo buildsrc gradle/wrapper debian renv .mise .config/mise
.direnv .shadowenv.d .devbox .flox .dvc .hg .jj .zed .fleet .idx .vim .nvim .helix .lapce .vs .run .settings .externaltoolbuilders .theia .netbeans
nbproject .codesandbox .ladle .changeset .coder .kak
`;

/** What the next agent takes as its orders. */
const instructions = `
agents.md agent.md agents.local.md agents.override.md claude.md claude.local.md gemini.md qwen.md warp.md codex.md amp.md crush.md iflow.md
codebuddy.md replit.md .replit.md skill.md conventions.md .cursorrules .windsurfrules .clinerules* .roorules* .roomodes .kilocodemodes
.continuerules .goosehints* .rules .augment-guidelines .aider.* .openhands_instructions .sweep.y*ml sweep.y*ml opencode.json* crush.json .crush.json
firebender.json mcp.json copilot-instructions.md *.instructions.md *.prompt.md *.chatmode.md *.mdc
`;
const instructionFolders = `
.github/instructions .github/prompts .github/chatmodes .github/agents .github/skills .clinerules .cline .roo .kilocode .windsurf .continue .kiro
.junie .amazonq .augment .opencode .openhands .crush .amp .factory .warp .goose .qwen .trae .qoder .zencoder .tabnine .ruler .cody .agent .jules
.iflow .codebuddy .firebender .rovodev .serena .pi .omp memory-bank .devin .antigravity .kimi .plandex
`;

const words = (table: string) => table.trim().split(/\s+/);

function isNamed(table: string): (name: string) => boolean {
	const names = words(table);
	const plain = new Set(names.filter((name) => !name.includes("*")));
	const sources = names.filter((name) => name.includes("*")).map((name) => name.replace(/[.+]/g, "\\$&").replaceAll("*", ".*"));
	const pattern = new RegExp(`^(?:${sources.join("|")})$`, "s");
	return (name) => plain.has(name) || pattern.test(name);
}
const isProgram = isNamed(programs);
const isInstruction = isNamed(instructions);

function isBelow(table: string): (folder: string) => boolean {
	const folders = words(table).map((folder) => `/${folder}/`);
	return (folder) => folders.some((each) => folder.includes(each));
}
const isInProgramFolder = isBelow(programFolders);
const isInInstructionFolder = isBelow(instructionFolders);
/** Programs that belong to a skill, wherever skills are kept. */
const isInSkill = (folder: string) => /\/skills\/[^/]+\/scripts\//.test(folder);

/** Returns what a path is, by its name alone; undefined where nothing runs it on its own. A `package.json` counts by what changed in it. */
export function runsLaterByName(path: string): RunsLater | undefined {
	const parts = path.split("/").map(foldedName);
	const name = parts.at(-1) ?? "";
	const folder = `/${parts.slice(0, -1).join("/")}/`;
	if (isInstruction(name) || isInInstructionFolder(folder) || isInSkill(folder)) return { path, what: "instructions" };
	// Folders of agents hold both.
	if (name === "package.json" || isProgram(name) || isInProgramFolder(folder) || parts.some(isOpenedByPrograms)) return { path };
	return undefined;
}

/** Whether it counts by its content. */
export const isPackageFile = (path: string): boolean => foldedName(path.slice(path.lastIndexOf("/") + 1)) === "package.json";

/** Members of a `package.json` that hold commands, or name files that are run. */
const running = words(`
scripts bin husky lint-staged simple-git-hooks gitHooks pre-commit pre-push gypfile binary workspaces packageManager pnpm trustedDependencies wireit
nx jest babel eslintConfig prettier stylelint mocha ava c8 nyc tap xo standard commitlint release release-it nodemonConfig
`);
const dependencies = ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies", "overrides", "resolutions"] as const;

/**
 * Returns what runs later of the changes in a `package.json`: the members with commands, and dependencies that come from an address and not from
 * the registry. A text that cannot be read counts as changed throughout.
 */
export function changedInPackage(before: string | undefined, after: string | undefined): string[] {
	// Without the file nothing of it runs.
	if (after === undefined) return [];
	const [old, now] = [membersOf(before ?? "{}"), membersOf(after)];
	if (!old || !now) return ["scripts"];
	const found = running.filter((name) => JSON.stringify(old[name]) !== JSON.stringify(now[name]) && now[name] !== undefined);
	const addressed = dependencies.filter((name) => {
		const known = new Set(addressesIn(old[name]));
		return addressesIn(now[name]).some((line) => !known.has(line));
	});
	return [...found, ...addressed];
}

function membersOf(text: string): Record<string, unknown> | undefined {
	try {
		const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ""));
		return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
	} catch {
		return undefined;
	}
}

/** A version of the registry has neither a colon nor a slash; `npm:` leads to the registry, too. */
function addressesIn(value: unknown): string[] {
	if (typeof value !== "object" || value === null) return [];
	return Object.entries(value).flatMap(([name, version]): string[] => {
		if (typeof version === "object") return addressesIn(version);
		return /^(?!npm:|workspace:|catalog:).*[:/]/s.test(String(version)) ? [`${name} ${version}`] : [];
	});
}

export const runsLaterName = ({ path, what }: RunsLater): string => (what === undefined ? path : `${path} (${what})`);

const mostShown = 5;

/** One line for people; undefined where there is nothing to say. */
export function runsLaterInWords(found: readonly RunsLater[]): string | undefined {
	if (found.length === 0) return undefined;
	const names = found.slice(0, mostShown).map(runsLaterName);
	const more = found.length > mostShown ? ` and ${found.length - mostShown} more` : "";
	return `${found.length === 1 ? "1 file that runs later" : `${found.length} files that run later`} changed: ${names.join(", ")}${more}`;
}
