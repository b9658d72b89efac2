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
makefile gnumakefile bsdmakefile *.mk cmakelists.txt *.cmake meson.build build.ninja sconstruct sconscript wscript configure configure.ac autogen.sh
build build.bazel workspace workspace.bazel module.bazel *.bzl .bazelrc build.gradle* settings.gradle* init.gradle* gradlew gradlew.bat
gradle-wrapper.properties gradle.properties pom.xml mvnw mvnw.cmd build.xml build.sbt *.sbt build.sc rakefile gemfile *.gemspec .rspec guardfile
capfile thorfile vagrantfile dangerfile fastfile podfile build.rs build.zig setup.py setup.cfg pyproject.toml conftest.py pytest.ini tox.ini
noxfile.py tasks.py fabfile.py dodo.py sitecustomize.py usercustomize.py *.pth .pdbrc .pythonrc .pythonrc.py
*.config.js *.config.cjs *.config.mjs *.config.ts *.config.cts *.config.mts .*rc.js .*rc.cjs .*rc.mjs .*rc.ts .mocharc* .lintstagedrc*
.huskyrc* .simple-git-hooks* gulpfile* gruntfile* jakefile* .pnpmfile.* .npmrc .yarnrc .yarnrc.yml binding.gyp nx.json project.json turbo.json
lerna.json deno.json deno.jsonc bunfig.toml composer.json mix.exs rebar.config dune project.clj deps.edn shadow-cljs.edn stack.yaml *.cabal
package.swift justfile .justfile taskfile.y*ml mise.toml .mise.toml .envrc procfile* flake.nix shell.nix default.nix devbox.json earthfile tiltfile
skaffold.y*ml dockerfile* *.dockerfile containerfile* compose*.y*ml docker-compose*.y*ml lefthook.y*ml .lefthook.y*ml .pre-commit-config.y*ml
.pre-commit-hooks.y*ml .overcommit.yml .gitattributes .gitmodules .gitconfig .gitlab-ci.y*ml .travis.yml appveyor.yml .appveyor.yml
azure-pipelines*.y*ml bitbucket-pipelines.yml jenkinsfile* .drone.y*ml .woodpecker.y*ml .cirrus.y*ml cloudbuild.y*ml buildspec*.y*ml
netlify.toml vercel.json render.y*ml fly.toml action.y*ml .gitpod.y*ml *.code-workspace *.sublime-project .exrc .vimrc .nvimrc .nvim.lua .lvimrc
.dir-locals.el .gdbinit .lldbinit .irbrc .pryrc .rprofile .renviron .bashrc .bash_profile .profile .zshrc .zshenv install.sh
`;

/** Folders at any depth in which every file counts. */
const programFolders = `
.github/workflows .github/actions .gitea/workflows .forgejo/workflows .circleci .buildkite .teamcity .woodpecker .githooks .hooks .lefthook
.yarn/plugins .yarn/releases .mvn .cargo .zed .fleet .idx .vim gradle/wrapper
`;

/** What the next agent takes as its orders. */
const instructions = `
agents.md agent.md agents.local.md agents.override.md claude.md claude.local.md gemini.md qwen.md warp.md skill.md conventions.md .cursorrules
.windsurfrules .clinerules .roorules .goosehints .rules .augment-guidelines .aider.conf.yml copilot-instructions.md *.instructions.md *.prompt.md
*.chatmode.md
`;
const instructionFolders = `
.github/instructions .github/prompts .github/chatmodes .github/agents .clinerules .roo .windsurf .continue .kiro .junie .amazonq .augment .opencode
.pi .omp
`;

const words = (table: string) => table.trim().split(/\s+/);

const isNamed = (table: string) => {
	const sources = words(table).map((name) => name.replace(/[.+]/g, "\\$&").replaceAll("*", ".*"));
	return (name: string) => new RegExp(`^(?:${sources.join("|")})$`, "s").test(name);
};
const isProgram = isNamed(programs);
const isInstruction = isNamed(instructions);

const folders = (table: string) => words(table).map((folder) => `/${folder}/`);

/** Returns what a path is, by its name alone; undefined where nothing runs it on its own. A `package.json` counts by what changed in it. */
export function runsLaterByName(path: string): RunsLater | undefined {
	const parts = path.split("/").map(foldedName);
	const name = parts.at(-1) ?? "";
	const folder = `/${parts.slice(0, -1).join("/")}/`;
	const isIn = (table: string) => folders(table).some((each) => folder.includes(each));
	if (isInstruction(name) || isIn(instructionFolders)) return { path, what: "instructions" };
	// Folders of agents hold both.
	if (name === "package.json" || isProgram(name) || isIn(programFolders) || parts.some(isOpenedByPrograms)) return { path };
	return undefined;
}

/** Whether it counts by its content. */
export const isPackageFile = (path: string): boolean => foldedName(path.slice(path.lastIndexOf("/") + 1)) === "package.json";

/** Members of a `package.json` that hold commands, or name files that are run. */
const running = ["scripts", "bin", "husky", "lint-staged", "simple-git-hooks", "gitHooks", "pre-commit", "pre-push", "gypfile", "binary"] as const;
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
