/** Rules: what allow covers, what deny and ask catch, and who wins. */
import { describe, expect, test } from "vitest";
import { pathPattern } from "../../src/lib/path-pattern.ts";
import { openedByPrograms } from "../../src/lib/protected-names.ts";
import { fitsStars } from "../../src/lib/stars.ts";
import { Script } from "../../src/permissions/command-patterns.ts";
import { type Call, decide, type RuleBook } from "../../src/permissions/decide.ts";
import { hostPattern } from "../../src/permissions/hosts.ts";
import { readScript } from "../../src/permissions/lexer.ts";
import { isProtected } from "../../src/permissions/path-patterns.ts";
import { proposalOf } from "../../src/permissions/proposal.ts";
import { compileRule } from "../../src/permissions/rules.ts";
import type { PermissionMode, PermissionRule, SourcedRule } from "../../src/protocol/permissions.ts";
import { cpuOf } from "../cpu.ts";

const places = { cwd: "/w/shop", home: "/home/ada" };

function bookOf(rules: readonly PermissionRule[], warn: (reason: string) => void = () => undefined): RuleBook {
	const compiled = rules.map((rule) => compileRule({ ...rule, source: "user" } as SourcedRule, places, warn));
	const of = (action: string) => compiled.filter(({ rule }) => rule.action === action);
	return { deny: of("deny"), ask: of("ask"), allow: of("allow") };
}

const facts = { writtenPaths: [], isInside: true, isGiven: false, source: "built-in", readOnly: false, isVerified: false } as const;
const subjectOf = (kind: Call["subject"]["kind"], tool: string, args: Record<string, unknown>, targets: string[] = []) =>
	({ v: 1, kind, tool, args, cwd: places.cwd, targets, sandbox: "off" }) as const;

function command(text: string): Call {
	return {
		...facts,
		subject: subjectOf("command", "bash", { command: text }),
		script: new Script(text, readScript(text)),
		isForeign: (word) => word !== "inroot",
	};
}
const file = (tool: string, path: string, more: Partial<Call> = {}): Call => ({
	...facts,
	subject: subjectOf(tool === "edit" || tool === "write" ? "write" : "read", tool, { path }, [path]),
	...more,
});

const answer = (call: Call, rules: readonly PermissionRule[], mode: PermissionMode = "ask") => decide(call, bookOf(rules), [], mode).answer;
const allows = (pattern: string, text: string) => answer(command(text), [{ action: "allow", tool: "bash", command: pattern }]) === "allow";
const denies = (pattern: string, text: string) => answer(command(text), [{ action: "deny", tool: "bash", command: pattern }], "full") === "deny";

describe("allow patterns", () => {
	test.each([
		["git status", "git status"],
		["npm run *", "npm run build"],
		["npm run *", "npm run"],
		["git log --oneline *", "git log --oneline main file"],
		["mytool **", "mytool --any -x y"],
		["cp * dist/", "cp a dist/"],
		["npm ci && npm test", "npm ci && npm test"],
		["find *", "find src"],
		["node test.js", "node test.js"],
		["git commit -m 'a b'", 'git commit -m "a b"'],
		["/usr/bin/make all", "/usr/bin/make all"],
		["test **", "test -f a"],
		["go test *", "go test ./..."],
		["gcc *", "gcc a.c"],
		["npm test **", "npm test unit"],
		["npm run *", "npm run build"],
		["uv run pytest *", "uv run pytest tests"],
		["uv run pytest **", "uv run pytest tests -x"],
		["bundle exec rspec *", "bundle exec rspec spec"],
		["git submodule update *", "git submodule update lib"],
		["git submodule foreach 'git status'", "git submodule foreach 'git status'"],
		["git config user.name", "git config user.name"],
		["pytest **", "pytest -x tests"],
		["tsc **", "tsc --noEmit"],
		["cp **", "cp -r a b"],
		["ls **", "ls -la"],
	])("%j covers %j", (pattern, text) => {
		expect(allows(pattern, text)).toBe(true);
	});

	test.each([
		["git status", "git status -s"],
		["git status", "git status; rm x"],
		["npm run *", "npm run --prefix x build"],
		["git log *", "git log --output=x"],
		["cp * dist/", "cp a b dist/"],
		["cp * dist/", "cp -r dist/"],
		["find *", "find . -delete"],
		["find **", "find . -exec rm {} +"],
		["find **", "find . -delete"],
		["rg *", "rg --pre x y"],
		["sort *", "sort -o x y"],
		["git *", "git push"],
		["git **", "git push"],
		["git -c *", "git -c x=y log"],
		["npm *", "npm publish"],
		["node *", "node x.js"],
		["python3 **", "python3.12 -c x"],
		["env *", "env rm x"],
		["xargs *", "xargs rm"],
		["sed *", "sed 1e x"],
		["tar *", "tar cIf prog x"],
		["* test", "rm test"],
		["**", "rm x"],
		["ls", "/tmp/ls"],
		["ls *", "ls $(rm x)"],
		["ls *", "ls > x"],
		["ls *", "ls & rm x"],
		["inroot *", "inroot x"],
		["test **", "test -v 'a[$(rm x)]'"],
		["test **", "test 'a[$(rm x)]' -eq 1"],
		["split **", "split --filter=rm x"],
		["split **", "split --filter rm x"],
		["sqlite3 *", "sqlite3 a.db '.shell rm x'"],
		["go test **", "go test -exec rm ."],
		["go test **", "go test -exec=rm ."],
		["gcc **", "gcc -wrapper rm,x a.c"],
		["gcc-12 **", "gcc-12 -wrapper rm a.c"],
		["npm test **", "npm test --script-shell=rm"],
		["npm test **", "npm test --script-shell rm"],
		["cargo build **", "cargo build --config x"],
		["git submodule *", "git submodule foreach 'rm x'"],
		["git submodule foreach *", "git submodule foreach 'rm x'"],
		["git submodule *", "git submodule foreach rm x"],
		["git bisect *", "git bisect run rm x"],
		["git config *", "git config alias.x '!rm y'"],
		["npm exec *", "npm exec rm x"],
		["npm config *", "npm config set script-shell rm"],
		["npm explore *", "npm explore x -- rm"],
		["gh alias *", "gh alias set x '!rm'"],
		["uv run *", "uv run rm x"],
		["uv run python *", "uv run python x.py"],
		["uv tool *", "uv tool run rm"],
		["ip netns *", "ip netns exec n rm x"],
		["tar **", "tar --to-command=rm xf a"],
		["tar *", "tar xf a"],
		["rsync **", "rsync -e rm a b"],
		["sort **", "sort --compress-program=rm a"],
		["man **", "man -P rm ls"],
		["less **", "less '+!rm x' a"],
		["vi *", "vi a"],
		["awk *", "awk 'BEGIN{system(1)}'"],
		["zip **", "zip a.zip x -TT rm"],
		["fd **", "fd -x rm"],
		["setpriv *", "setpriv rm x"],
		["taskset *", "taskset 1 rm x"],
		["npm ci && npm test", "npm ci; npm test"],
		["npm ci && npm test", "npm test && npm ci"],
	])("%j does not cover %j", (pattern, text) => {
		expect(allows(pattern, text)).toBe(false);
	});

	test("every command of a script must be covered, by any of the rules", () => {
		const rules: PermissionRule[] = [
			{ action: "allow", tool: "bash", command: "npm ci" },
			{ action: "allow", tool: "bash", command: "npm test" },
		];
		expect(answer(command("npm ci && npm test 2>&1"), rules)).toBe("allow");
		expect(answer(command("npm ci && npm test && npm publish"), rules)).toBe("ask");
	});

	test("a rule without a command covers no launcher, no subcommand and no dangerous option", () => {
		const rules: PermissionRule[] = [{ action: "allow", tool: "bash" }];
		expect(["ls -la", "find src", "mytool --x"].map((text) => answer(command(text), rules))).toEqual(["allow", "allow", "allow"]);
		expect(["bash x", "git push", "find . -delete", "ls $x"].map((text) => answer(command(text), rules))).toEqual(["ask", "ask", "ask", "ask"]);
	});

	test("a pattern that asks for too much is tightened with a warning", () => {
		const warnings: string[] = [];
		bookOf(
			["node *", "npm **", "find **", "a ** b", "$x", "git submodule *", "uv run *", "uv run sh *", "go test **"].map((text) => ({
				action: "allow",
				tool: "bash",
				command: text,
			})),
			(reason) => warnings.push(reason),
		);
		expect(warnings).toEqual([
			"node runs other programs or code, so only exact words are covered",
			"npm has subcommands, so the pattern must name one",
			"options of find can run programs or write files, so ** covers words without a dash only",
			"** in the middle covers one word",
			"it is not made of plain words, so it covers no command",
			"git submodule can run other programs or code, so only exact words are covered",
			"uv run can run other programs or code, so only exact words are covered",
			"sh runs other programs or code, so only exact words are covered",
			"options of go can run programs or write files, so ** covers words without a dash only",
		]);
	});
});

test("no pattern with a star covers what a program that runs others is told to run", () => {
	const programs =
		"sh env sudo xargs nohup setpriv taskset nice timeout ssh node python3 perl awk sed vi sqlite3 make tar rsync docker uvx watch script".split(" ");
	const runners = [
		"npm exec",
		"npm x",
		"pnpm dlx",
		"yarn exec",
		"uv run",
		"uv tool run",
		"poetry run",
		"bundle exec",
		"git submodule foreach",
		"git bisect run",
		"ip netns exec",
	];
	const shapes = ["P *", "P **", "P * x", "P * *", "P ** x"];
	const wrong = [...programs, ...runners].flatMap((start) =>
		shapes.flatMap((shape) => {
			const pattern = shape.replace("P", start);
			const parts = start.split(" ");
			const shorter = parts.slice(0, -1).join(" ");
			const patterns = parts.length > 2 ? [pattern, shape.replace("P", shorter)] : [pattern];
			return patterns.flatMap((each) =>
				[`${start} rm x`, `${start} 'rm x'`, `${start} -c 'rm x'`, `${start} rm`].filter((text) => allows(each, text)).map((text) => [each, text]),
			);
		}),
	);
	expect(wrong).toEqual([]);
});

describe("deny patterns", () => {
	test.each([
		["rm *", "rm x"],
		["rm *", "rm -rf x"],
		["rm *", "/bin/rm x"],
		["rm *", "\\rm x"],
		["rm *", "r''m x"],
		["rm *", "env rm x"],
		["rm *", "bash -c 'rm x'"],
		["rm *", "bash -c 'ls; rm x'"],
		["rm *", "ls | xargs rm"],
		["rm *", "find . -exec rm {} +"],
		["rm *", "for a in *; do rm $a; done"],
		["rm *", 'echo "$x" rm'],
		["rm *", "(rm x)"],
		["rm *", "X=1 rm x"],
		["rm *", "ls && rm x"],
		["git push *", "git push --force"],
		["git push *", "git -C x push"],
		["git push", "git push origin"],
		["npm publish", "sudo npm publish"],
		["npm publish", "cd x; npm publish"],
		["curl*", "curl-x y"],
	])("%j stops %j", (pattern, text) => {
		expect(denies(pattern, text)).toBe(true);
	});

	test.each([
		["rm *", "ls rm.txt"],
		["rm *", "echo rm"],
		["rm *", "git rm x"],
		["git push *", "git status"],
		["git push *", "push git"],
		["rm *", "$(printf r)m x"],
	])("%j lets %j through", (pattern, text) => {
		expect(denies(pattern, text)).toBe(false);
	});
});

describe("which rule wins", () => {
	test("deny beats ask beats allow, whatever the order", () => {
		const allow: PermissionRule = { action: "allow", tool: "bash", command: "npm test" };
		const ask: PermissionRule = { action: "ask", tool: "bash" };
		const deny: PermissionRule = { action: "deny", tool: "*" };
		expect(answer(command("npm test"), [allow])).toBe("allow");
		expect(answer(command("npm test"), [ask, allow])).toBe("ask");
		expect(answer(command("npm test"), [allow, ask])).toBe("ask");
		expect(answer(command("npm test"), [allow, ask, deny])).toBe("deny");
		expect(answer(command("npm test"), [deny, allow], "full")).toBe("deny");
	});

	test("read means four tools, write means two; a name is only that tool", () => {
		const deny = (tool: string): PermissionRule[] => [{ action: "deny", tool }];
		expect(["read", "grep", "find", "ls"].map((tool) => answer(file(tool, "/w/shop/a"), deny("read")))).toEqual(["deny", "deny", "deny", "deny"]);
		expect(["edit", "write"].map((tool) => answer(file(tool, "/w/shop/a"), deny("write")))).toEqual(["deny", "deny"]);
		expect(answer(file("read", "/w/shop/a"), deny("grep"))).toBe("allow");
		const tool = (name: string): Call => ({ ...facts, source: "mcp", subject: subjectOf("tool", name, {}) });
		expect(answer(tool("mcp__files__read"), deny("mcp__*__read"))).toBe("deny");
		expect(answer(tool("mcp__files__write"), deny("mcp__*__read"))).toBe("ask");
	});

	test("paths: deny also catches what is below, and links by the name they were written with", () => {
		const deny: PermissionRule[] = [{ action: "deny", tool: "read", path: "./secrets" }];
		expect(answer(file("read", "/w/shop/secrets/a/b"), deny)).toBe("deny");
		expect(answer(file("read", "/w/shop/other", { writtenPaths: ["/w/shop/secrets"] }), deny)).toBe("deny");
		expect(answer(file("read", "/w/shop/other"), deny)).toBe("allow");
		const allow: PermissionRule[] = [{ action: "allow", tool: "write", path: "docs" }];
		expect(answer(file("write", "/w/shop/docs/a"), allow)).toBe("ask");
	});

	test("a rule about files that run later is about writes of those, wherever the working directory is", () => {
		const rules: PermissionRule[] = [{ action: "ask", runsLater: true }];
		const of = (tool: string, path: string, more: Partial<Call> = {}) => answer(file(tool, path, more), rules, "full");
		expect(["Makefile", "a/conftest.py", ".github/workflows/ci.yml", "package.json"].map((name) => of("write", `/w/shop/${name}`))).toEqual(
			Array(4).fill("ask"),
		);
		expect([of("write", "/w/shop/src/a.ts"), of("read", "/w/shop/Makefile"), of("write", "/w/shop/package.json", { keepsScripts: true })]).toEqual(
			Array(3).fill("allow"),
		);
		expect(of("edit", "/w/shop/notes", { writtenPaths: ["/w/shop/Makefile"] })).toBe("ask");
		expect(of("write", "/w/shop/Makefile", { keepsScripts: true })).toBe("ask");
		expect(answer(command("echo x > Makefile"), rules, "full")).toBe("allow");
		// A subagent's copy may be in a folder of such a name.
		const copy = "/home/ada/.vscode/copies/1";
		const inCopy = (path: string): Call => ({ ...facts, subject: { ...subjectOf("write", "write", {}, [`${copy}/${path}`]), cwd: copy } });
		expect([answer(inCopy("a.ts"), rules, "full"), answer(inCopy("Makefile"), rules, "full")]).toEqual(["allow", "ask"]);
		expect(answer(file("write", "/w/shop/Makefile"), [{ action: "deny", runsLater: true }], "full")).toBe("deny");
	});

	test("no rule and no grant covers a protected path", () => {
		const call: Call = { ...facts, subject: subjectOf("protected", "write", {}, ["/w/shop/.git/config"]) };
		expect(answer(call, [{ action: "allow", tool: "write" }], "edit")).toBe("ask");
		expect(answer(call, [{ action: "allow", tool: "write" }], "full")).toBe("allow");
	});

	test("in plan no allow rule lifts a denial of writes and commands, but one of tools", () => {
		const rules: PermissionRule[] = [{ action: "allow", tool: "*" }];
		expect(answer(command("ls"), rules, "plan")).toBe("deny");
		expect(answer(file("write", "/w/shop/a"), rules, "plan")).toBe("deny");
		expect(answer({ ...facts, source: "extension", subject: subjectOf("tool", "deploy", {}) }, rules, "plan")).toBe("allow");
	});
});

test("the table of modes", () => {
	const modes: PermissionMode[] = ["plan", "ask", "edit", "full"];
	const row = (call: Call) => modes.map((mode) => decide(call, bookOf([]), [], mode).answer).join(" ");
	const walled = (call: Call, isVerified = true, sandbox: "workspace-write" | "read-only" = "workspace-write"): Call => ({
		...call,
		isVerified,
		subject: { ...call.subject, sandbox },
	});
	const tool = (source: Call["source"], more: Partial<Call> = {}): Call => ({ ...facts, source, subject: subjectOf("tool", "x", {}), ...more });
	const outside = { isInside: false };
	expect({
		"read inside": row(file("read", "/w/shop/a")),
		"read given": row(file("read", "/skills/a", { ...outside, isGiven: true })),
		"read elsewhere": row(file("read", "/etc/hosts", outside)),
		"read elsewhere, walls": row(walled(file("read", "/etc/hosts", outside))),
		"read of the system's headers": row(file("read", "/usr/include/a.h", { ...outside, isUsual: true })),
		"read of credentials inside": row(file("read", "/w/shop/.ssh/id", { isSecret: true })),
		"read of credentials inside, walls": row(walled(file("read", "/w/shop/.ssh/id", { isSecret: true }))),
		"read of credentials in a usual place": row(file("read", "/usr/x", { ...outside, isUsual: true, isSecret: true })),
		"write inside": row(file("write", "/w/shop/a")),
		"write of credentials inside": row(file("write", "/w/shop/.ssh/id", { isSecret: true })),
		"write elsewhere": row(file("write", "/x", outside)),
		"write elsewhere, walls": row(walled(file("write", "/x", outside))),
		protected: row({ ...facts, subject: subjectOf("protected", "write", {}, ["/w/shop/.git/config"]) }),
		"protected, walls": row(walled({ ...facts, subject: subjectOf("protected", "write", {}, ["/w/shop/.git/config"]) })),
		command: row(command("ls")),
		"command, walls not verified": row(walled(command("ls"), false)),
		"command, walls": row(walled(command("ls"))),
		"command, walls read-only": row(walled(command("ls"), true, "read-only")),
		"extension tool": row(tool("extension")),
		"read-only tool": row(tool("mcp", { readOnly: true })),
		"extension tool, walls": row(walled(tool("extension"))),
		"tool of an MCP server": row(tool("mcp")),
		"tool of an MCP server, walls": row(walled(tool("mcp"))),
		"tool of an MCP server, walls read-only": row(walled(tool("mcp"), true, "read-only")),
		"read-only tool of an MCP server, walls": row(walled(tool("mcp", { readOnly: true }))),
		"tool of an MCP server, container": row({ ...tool("mcp"), subject: { ...subjectOf("tool", "x", {}), sandbox: "external" } }),
		"host tool": row(tool("host")),
		task: row({ ...facts, isFree: true, subject: subjectOf("tool", "task", {}) }),
		network: row({ ...facts, subject: subjectOf("network", "bash", {}, ["a.example:443"]) }),
		escalation: row({ ...facts, subject: subjectOf("escalation", "bash", {}) }),
	}).toEqual({
		"read inside": "allow allow allow allow",
		"read given": "allow allow allow allow",
		"read elsewhere": "ask ask ask allow",
		"read elsewhere, walls": "ask ask allow allow",
		"read of the system's headers": "ask ask allow allow",
		"read of credentials inside": "ask ask ask allow",
		"read of credentials inside, walls": "allow allow allow allow",
		"read of credentials in a usual place": "ask ask ask allow",
		"write inside": "deny ask allow allow",
		"write of credentials inside": "deny ask ask allow",
		"write elsewhere": "deny ask ask allow",
		"write elsewhere, walls": "deny deny deny deny",
		protected: "deny ask ask allow",
		"protected, walls": "deny ask ask deny",
		command: "deny ask ask allow",
		"command, walls not verified": "deny ask ask allow",
		"command, walls": "deny ask allow allow",
		"command, walls read-only": "allow ask allow allow",
		"extension tool": "deny ask ask allow",
		"read-only tool": "allow ask ask allow",
		"extension tool, walls": "deny ask ask allow",
		"tool of an MCP server": "deny ask ask allow",
		"tool of an MCP server, walls": "deny ask ask ask",
		"tool of an MCP server, walls read-only": "deny ask ask ask",
		"read-only tool of an MCP server, walls": "allow ask ask ask",
		"tool of an MCP server, container": "deny ask ask allow",
		"host tool": "deny allow allow allow",
		task: "allow allow allow allow",
		network: "deny ask ask deny",
		escalation: "deny ask ask ask",
	});
});

test("globs on real paths", () => {
	const covers = (pattern: string, path: string) => pathPattern(pattern, places).covers(path);
	expect(covers("./src/*.ts", "/w/shop/src/a.ts")).toBe(true);
	expect(covers("src/*.ts", "/w/shop/src/a.ts")).toBe(true);
	expect(covers("src/*.ts", "/w/shop/lib/src/a.ts")).toBe(false);
	expect(covers("**/.env", "/w/shop/a/b/.env")).toBe(true);
	expect(covers("**/.env", "/elsewhere/.env")).toBe(false);
	expect(covers("/**/.env", "/elsewhere/.env")).toBe(true);
	expect(covers("~/.ssh/**", "/home/ada/.ssh/id")).toBe(true);
	expect(covers("*.md", "/anywhere/x/readme.md")).toBe(true);
	expect(covers("./*.md", "/w/shop/x/readme.md")).toBe(false);
	expect(covers("/etc/hosts", "/etc/hosts")).toBe(true);
});

test("hosts: a star stands for labels in front of the name, ports are 443 and 80 unless they are named", () => {
	const fits = (pattern: string, target: string) => hostPattern(pattern)(target);
	expect(["a.example:443", "a.example:80", "a.example:22"].map((target) => fits("a.example", target))).toEqual([true, true, false]);
	expect(["x.a.example:443", "x.y.a.example:443", "a.example:443", "xa.example:443"].map((target) => fits("*.a.example:443", target))).toEqual([
		true,
		true,
		false,
		false,
	]);
	expect(fits("a.example:*", "a.example:9")).toBe(true);
	expect(fits("[::1]:80", "[::1]:80")).toBe(true);
});

test("protected paths: what programs run when a person opens the project, at any depth and before it exists, and what git runs", () => {
	const check = (path: string) => isProtected(path, { roots: ["/w/shop"], named: ["/w/shop/tools/hooks"] });
	const yes = [
		".bowline/x",
		".mcp.json",
		".vscode/tasks.json",
		".git",
		".git/config",
		".git/hooks/pre-commit",
		".git/config.worktree",
		".git/commondir",
		".git/worktrees/a/gitdir",
		".git/modules/x/hooks/y",
		"sub/.git/hooks/x",
		".GIT/config",
		"tools/hooks/pre-push",
		".git/x/.git/hooks/y",
		".husky/pre-commit",
		"src/.vscode/x",
		...[...openedByPrograms, ".bowline"].flatMap((name) => [
			...[name, `${name}/a/b`, `packages/one/${name}`, `packages/one/${name}/a`, name.toUpperCase(), `a/${name.replace("c", "C")}/b`],
			// As some file systems read them.
			...[`${name}.`, `${name} /x`, name.replace(".", ".\u200c"), name.replace("s", "\u017f"), name.replace("e", "\uff45")],
		]),
	];
	const no = [
		...["a.txt", ".git/index", ".git/objects/aa", ".git/refs/heads/main", "tools/other", "git/config", ".gitignore", ".gitattributes"],
		...[".github/workflows/ci.yml", ".vscode-test/x", ".vscodeignore", ".idea.md", "vscode/x", "claude/x", "agents/a.md", "src/agents.ts"],
		...[".env", ".envrc.example", ".npmrc", ".husky.md", "CLAUDE.md", "AGENTS.md", ".cursorrules", ".claude-plugin.md", "mcp.json", ".mcp.json5"],
		...["...", ". .", "..vscode", ".codexrc", "gemini/.geminiignore", "a.vscode/x", "docs/.vscode.md"],
	];
	expect(yes.filter((path) => !check(`/w/shop/${path}`))).toEqual([]);
	expect(no.filter((path) => check(`/w/shop/${path}`))).toEqual([]);
	expect(check("/elsewhere/.git/config")).toBe(false);
});

test("what a grant proposes covers the call it came from, and no other", () => {
	for (const text of ["npm publish", "a 'b c' && d | e", `echo "it's" 'say "hi"' ''`, "git commit -m 'x $y'"]) {
		const call = command(text);
		const { proposal } = proposalOf(call, "");
		expect(answer(call, [proposal as PermissionRule])).toBe("allow");
		expect(answer(command(`${text} more`), [proposal as PermissionRule])).toBe("ask");
	}
	const odd = file("read", "/w/a[1]*{x}/b?", { isInside: false });
	const { proposal } = proposalOf(odd, "");
	expect(answer(odd, [proposal as PermissionRule])).toBe("allow");
	expect(answer(file("read", "/w/a1x/bb", { isInside: false }), [proposal as PermissionRule])).toBe("ask");
});

test("stars are matched in linear time", async () => {
	expect(await cpuOf(() => expect(fitsStars(`${"*a".repeat(2000)}b`, "a".repeat(50_000))).toBe(false))).toBeLessThan(1000);
	expect(fitsStars("a*c", "abc")).toBe(true);
	expect(fitsStars("ab*b", "ab")).toBe(false);
});
