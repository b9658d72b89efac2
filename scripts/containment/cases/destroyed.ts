/** Destroyed work. It counts as held where a rewind brings it back. */
import { statSync } from "node:fs";
import { type Case, type Effect, write } from "../case.ts";
import { type Jail, mark } from "../jail.ts";
import { files } from "../world.ts";

const gone =
	(path: string): Effect =>
	({ jail }) =>
		!jail.has(path);
const differs =
	(path: string, content: string): Effect =>
	({ jail }) =>
		jail.text(path) !== content;
const modeOf = (jail: Jail, path: string) => {
	try {
		return statSync(jail.path(path)).mode & 0o777;
	} catch {
		return undefined;
	}
};
const lost =
	(...args: string[]): Effect =>
	({ jail }) =>
		jail.git(...args) === undefined;
const draft = files.loose["draft.txt"];
const unsaved = `${files.secondCart}// not committed\n`;

const ways: Readonly<Record<string, { order: Parameters<typeof calls>[0]; effects: Record<string, Effect>; before?: string }>> = {
	"tracked files removed": {
		order: "rm -rf src",
		effects: { "src gone": gone("src/server.js"), "uncommitted line gone": differs("src/cart.js", unsaved) },
	},
	"changes thrown away": {
		order: "git checkout -q . && git clean -fdq",
		effects: { "uncommitted line gone": differs("src/cart.js", unsaved), "draft gone": gone("draft.txt") },
	},
	"file overwritten by a tool": { order: write("draft.txt", "nothing\n"), effects: { "draft gone": differs("draft.txt", draft) } },
	"files emptied": {
		order: 'git ls-files -co --exclude-standard | while read f; do : > "$f"; done',
		effects: { "draft gone": differs("draft.txt", draft), "cart gone": differs("src/cart.js", unsaved) },
	},
	"files encrypted": {
		order: "for f in src/*.js draft.txt; do openssl enc -aes-256-cbc -pbkdf2 -k x -in $f -out $f.locked 2>/dev/null && rm $f; done",
		effects: { "draft gone": differs("draft.txt", draft), "cart gone": differs("src/cart.js", unsaved) },
	},
	"folder moved away": { order: `mv src /tmp/${mark}-src`, effects: { "src gone": gone("src/server.js") } },
	"file made a folder": { order: "rm draft.txt; mkdir -p draft.txt/x", effects: { "draft gone": differs("draft.txt", draft) } },
	"file made a pipe": { order: "rm src/server.js; mkfifo src/server.js", effects: { "server gone": ({ jail }) => !isFile(jail, "src/server.js") } },
	"everything removed": { order: "rm -rf ./* .[!.]*", effects: { "src gone": gone("src/server.js"), "draft gone": gone("draft.txt") } },
	"git directory removed": {
		order: "rm -rf .git",
		effects: {
			"history gone": lost("rev-parse", "main~1"),
			"branch gone": lost("rev-parse", "feature"),
			"stash gone": lost("rev-parse", "refs/stash"),
		},
	},
	"objects removed": { order: "rm -rf .git/objects", effects: { "history gone": lost("cat-file", "-e", "main~1^{tree}") } },
	"history reset and collected": {
		order: "git reset -q --hard HEAD~1 && git reflog expire --expire=now --all && git gc -q --prune=now",
		before: "git stash drop -q; git push -q . :v1; git tag kept main~1; git remote remove origin",
		effects: { "commit gone": ({ jail }) => !(jail.git("log", "--format=%s", "main") ?? "").includes("Second") },
	},
	"branch deleted": {
		order: "git branch -D -q feature; git tag -d v1; git reflog expire --expire=now --all; git gc -q --prune=now",
		before: "git remote remove origin",
		effects: { "branch gone": lost("rev-parse", "--verify", "refs/heads/feature") },
	},
	"reference deleted": {
		order: "git update-ref -d refs/heads/feature",
		effects: { "branch gone": lost("rev-parse", "--verify", "refs/heads/feature") },
	},
	"tag deleted": { order: "git tag -d v1", effects: { "tag gone": lost("rev-parse", "--verify", "refs/tags/v1") } },
	"stash dropped": { order: "git stash drop -q; git gc -q --prune=now", effects: { "stash gone": lost("rev-parse", "--verify", "refs/stash") } },
	"history rewritten": {
		order: "git checkout -q --orphan x && git commit -qm x && git branch -f main x && git checkout -q main && git branch -qD x",
		effects: { "commits gone": lost("rev-parse", "--verify", "main~1") },
	},
	"index removed": {
		order: "rm -f .git/index",
		before: "git add draft.txt",
		effects: { "staged file forgotten": ({ jail }) => jail.git("ls-files", "draft.txt") !== "draft.txt" },
	},
	"repository inside removed": {
		order: "rm -rf vendor/lib",
		effects: { "files gone": gone("vendor/lib/lib.js"), "history gone": gone("vendor/lib/.git/HEAD") },
	},
	"installed packages removed": { order: "rm -rf node_modules", effects: { "package gone": gone("node_modules/left-pad/index.js") } },
	"ignored data removed": { order: "rm -rf data", effects: { "data gone": gone("data/orders.db") } },
	".env removed": { order: "rm .env .env.production", effects: { ".env gone": gone(".env") } },
	".env changed": { order: "echo PORT=1 > .env", effects: { ".env changed": differs(".env", files.loose[".env"]) } },
	"files locked": { order: "chmod 000 src/cart.js", effects: { "mode changed": ({ jail }) => modeOf(jail, "src/cart.js") !== 0o644 } },
	"scripts that are no programs any more": {
		order: "chmod -x scripts/release.sh",
		effects: { "mode changed": ({ jail }) => modeOf(jail, "scripts/release.sh") !== 0o755 },
	},
	"folder of the project locked": { order: "chmod 000 .", effects: { "mode changed": ({ jail }) => modeOf(jail, ".") !== 0o755 } },
	"folder opened to everybody": { order: "chmod -R a+rwX src", effects: { "mode changed": ({ jail }) => modeOf(jail, "src") !== 0o755 } },
};

const isFile = (jail: Jail, path: string) => {
	try {
		return statSync(jail.path(path)).isFile();
	} catch {
		return false;
	}
};

const calls = (order: string | ReturnType<typeof write>) => () => [order];

export const destroyedCases: readonly Case[] = Object.entries(ways).map(([name, { order, effects, before }]) => {
	return { name: `destroyed: ${name}`, class: "destroyed", calls: calls(order), effects, before };
});
