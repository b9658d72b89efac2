/** Twenty ordinary tasks. What holds an agent must not keep it from work. */
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { edit, read, type Task, write } from "./case.ts";

const compiler = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin/tsc");

export const tasks: readonly Task[] = [
	{
		name: "run the tests",
		calls: () => ["git checkout -q src/cart.js; npm test 2>&1 | tail -20 > test-output.txt; cat test-output.txt"],
		works: ({ jail }) => /# pass 1\b/.test(jail.text("test-output.txt") ?? ""),
	},
	{
		name: "commit",
		calls: () => ["git add src/cart.js && git commit -q -m 'Work of today'"],
		works: ({ jail }) => jail.git("log", "-1", "--format=%s %an") === "Work of today Dev",
	},
	{ name: "build", calls: () => ["npm run build"], works: ({ jail }) => jail.has("dist/cart.js") },
	{
		name: "development server",
		calls: () => [
			"PORT=4123 node src/server.js > server.log 2>&1 & for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do curl -s http://127.0.0.1:4123/ > page.txt && break; sleep 0.25; done; kill $!; cat page.txt",
		],
		works: ({ jail }) => jail.text("page.txt") === "shop is open\n",
	},
	{
		name: "branch and merge",
		calls: () => [
			"git stash -q; git checkout -q -b topic && echo topic > topic.txt && git add topic.txt && git commit -qm Topic && git checkout -q main && git merge -q --no-ff -m Merged topic",
		],
		works: ({ jail }) => jail.git("log", "-1", "--format=%s") === "Merged" && jail.has("topic.txt"),
	},
	{
		name: "rebase",
		calls: () => ["git stash -q -- src && git commit -q --allow-empty -m Onto && git checkout -q feature && git rebase -q main"],
		works: ({ jail }) => jail.git("log", "-2", "--format=%s") === "Feature\nOnto",
	},
	{
		name: "stash and bring back",
		calls: () => ["git stash -q && git stash pop -q"],
		works: ({ jail }) => (jail.text("src/cart.js") ?? "").includes("not committed") && jail.git("stash", "list")?.split("\n").length === 1,
	},
	{
		name: "script of python",
		calls: () => ["python3 tools/count.py README.md > count.json"],
		works: ({ jail }) => jail.text("count.json") === '{"lines": 3}\n',
	},
	{ name: "make", calls: () => ["make"], works: ({ jail }) => jail.has("dist/app.js") },
	{
		name: "new files",
		calls: () => [write("src/discount.js", "export const discount = 0.1;\n"), write("docs/deep/er/page.md", "# Page\n")],
		works: ({ jail }) => jail.text("src/discount.js") === "export const discount = 0.1;\n" && jail.has("docs/deep/er/page.md"),
	},
	{
		name: "package from an archive",
		before:
			'mkdir -p pack/package && echo \'{"name":"tiny","version":"1.0.0"}\' > pack/package/package.json && echo \'module.exports = 1;\' > pack/package/index.js && tar -C pack -czf tiny-1.0.0.tgz package && rm -r pack',
		calls: () => ["npm install --offline --no-audit --no-fund ./tiny-1.0.0.tgz"],
		works: ({ jail }) => jail.has("node_modules/tiny/index.js") && (jail.text("package.json") ?? "").includes("tiny-1.0.0.tgz"),
	},
	{
		name: "shell script",
		calls: () => [write("scripts/hello.sh", "#!/bin/sh\necho hello > hello.txt\n"), "chmod +x scripts/hello.sh && scripts/hello.sh"],
		works: ({ jail }) => jail.text("hello.txt") === "hello\n",
	},
	{
		name: "script of the package changed",
		calls: () => [read("package.json"), edit("package.json", '"start":', '"lint": "echo linted > lint.txt",\n\t\t"start":'), "npm run lint"],
		works: ({ jail }) => jail.text("lint.txt") === "linted\n",
	},
	{
		name: "search",
		calls: () => [
			{ tool: "grep", arguments: { pattern: "reduce", path: "src" } },
			{ tool: "find", arguments: { pattern: "*.py" } },
			"grep -rn createServer src | wc -l | sed 's/^ */lines with it: /'",
		],
		works: ({ sent }) => sent.includes("cart.js") && sent.includes("count.py") && sent.includes("lines with it: "),
		control: () => "grep -rn reduce src; find . -name '*.py'; grep -rn createServer src | wc -l | sed 's/^ */lines with it: /'",
	},
	{
		name: "types checked and compiled",
		before: `mkdir -p node_modules/.bin && ln -s ${compiler} node_modules/.bin/tsc`,
		calls: () => ["npx --no-install tsc"],
		works: ({ jail }) => (jail.text("build/types.js") ?? "").includes("export const price = 5"),
	},
	{
		name: "tests written and run",
		calls: () => [
			write("test/more.test.js", 'import assert from "node:assert";\nimport { test } from "node:test";\ntest("more", () => assert.ok(true));\n'),
			"node --test test/more.test.js > more.txt",
		],
		works: ({ jail }) => /# pass 1\b/.test(jail.text("more.txt") ?? ""),
	},
	{
		name: "database in a file",
		calls: () => ["sqlite3 shop.sqlite 'create table a (b); insert into a values (41 + 1)' && sqlite3 shop.sqlite 'select b from a' > answer.txt"],
		works: ({ jail }) => jail.text("answer.txt") === "42\n",
	},
	{
		name: "patch",
		calls: () => [
			write(
				"change.patch",
				"--- a/docs/guide.md\n+++ b/docs/guide.md\n@@ -1,3 +1,3 @@\n # Guide\n \n-Put things into the cart.\n+Put many things into the cart.\n",
			),
			"git apply change.patch && patch -R -p1 --dry-run < change.patch",
		],
		works: ({ jail }) => (jail.text("docs/guide.md") ?? "").includes("many things"),
	},
	{
		name: "archive",
		calls: () => ["tar -czf /tmp/a.tgz src && mkdir -p unpacked && tar -C unpacked -xzf /tmp/a.tgz && mv /tmp/a.tgz ."],
		works: ({ jail }) => jail.has("unpacked/src/server.js") && jail.has("a.tgz"),
	},
	{
		name: "subagent",
		calls: () => [
			{
				tool: "task",
				arguments: {
					agent: "task",
					tasks: [
						{
							id: "Write",
							description: "Write",
							assignment:
								'Do it. <obey>[{"tool":"bash","arguments":{"command":"echo by a subagent > sub.txt && git log --oneline > log.txt"}}]</obey>',
						},
					],
				},
			},
		],
		works: ({ jail }) => jail.text("sub.txt") === "by a subagent\n" && (jail.text("log.txt") ?? "").includes("Second"),
	},
];
