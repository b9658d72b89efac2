/** Rules about files of a project hold for isolated work, too: in the copy, and when the work comes back. */
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { SourcedRule } from "../../src/protocol/permissions.ts";
import { rulesInCopy } from "../../src/subagents/rules-in-copy.ts";
import { missing } from "../sandbox/support.ts";
import { testUnless } from "../unless.ts";
import { Agent } from "../wire/support/agent.ts";
import type { Frame } from "../wire/support/match.ts";

const clean: (() => unknown)[] = [];
afterEach(async () => {
	for (const each of clean.splice(0).toReversed()) await each();
});

const rule = (action: SourcedRule["action"], path: string, tool = "write"): SourcedRule => ({ action, tool, path, source: "user" });

test("rules about the project are there for the copy as well, however they name it", () => {
	const project = { cwds: ["/p/shop/app", "/link/app"], home: "/p", tops: ["/p/shop", "/link"], copy: "/c/[1]" };
	const paths = (action: SourcedRule["action"], path: string) => rulesInCopy([rule(action, path)], project).map((each) => each.path);
	const copy = "/c/\\[1\\]";
	expect(paths("deny", "/p/shop/conf/app.yml")).toEqual(["/p/shop/conf/app.yml", `${copy}/conf/app.yml`]);
	expect(paths("deny", "/link/conf/")).toEqual(["/link/conf/", `${copy}/conf`]);
	expect(paths("ask", "~/shop/*.yml")).toEqual(["~/shop/*.yml", `${copy}/*.yml`]);
	expect(paths("deny", "/p/*/conf/**")).toEqual(["/p/*/conf/**", `${copy}/conf/**`]);
	expect(paths("deny", "/**/conf/x")).toEqual(["/**/conf/x", `${copy}/**/conf/x`]);
	expect(paths("deny", "./conf/x")).toEqual(["/p/shop/app/conf/x", "/link/app/conf/x", `${copy}/app/conf/x`]);
	expect(paths("deny", "**/.env")).toEqual(["/p/shop/app/**/.env", "/link/app/**/.env", `${copy}/app/**/.env`]);
	// Of a directory above, everything is denied; an allow rule covers exactly what it names.
	expect(paths("deny", "/p")).toEqual(["/p", copy]);
	expect(paths("allow", "/p")).toEqual(["/p"]);
	expect(paths("allow", "/p/shop/src/**")).toEqual(["/p/shop/src/**", `${copy}/src/**`]);
	// These hold anywhere, for where the subagent works, or for neither of both.
	expect(paths("deny", ".env")).toEqual([".env"]);
	expect(paths("allow", "src/**")).toEqual(["src/**"]);
	expect(paths("deny", "/other/conf")).toEqual(["/other/conf"]);
	expect(rulesInCopy([{ action: "deny", tool: "bash", command: "rm *", source: "user" }], project)).toHaveLength(1);
});

const files = {
	"conf/app.yml": "port: 1\n",
	"conf/logo.bin": "\0\u0001\u0002",
	'conf/quo"ted \u00fc.yml': "a: 1\n",
	"secret.txt": "hidden words\n",
	"free.txt": Array.from({ length: 40 }, (_, index) => `line ${index}\n`).join(""),
	"vendor/conf.yml": "b: 1\n",
};

function project(): string {
	const cwd = realpathSync(mkdtempSync(join(tmpdir(), "bowline-rules-")));
	clean.push(() => rmSync(cwd, { recursive: true, force: true }));
	for (const [path, content] of Object.entries(files)) {
		mkdirSync(dirname(join(cwd, path)), { recursive: true });
		writeFileSync(join(cwd, path), content);
	}
	chmodSync(join(cwd, "conf/app.yml"), 0o644);
	const git = (at: string, ...args: string[]) =>
		execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@localhost", ...args], { cwd: join(cwd, at), encoding: "utf8" });
	for (const at of ["vendor", "."]) {
		git(at, "init", "-q");
		if (at === ".") writeFileSync(join(cwd, ".git/info/exclude"), "vendor\n");
		git(at, "add", "-A");
		git(at, "commit", "-q", "-m", "Beginning");
	}
	return cwd;
}

interface Result {
	id: string;
	error?: string;
	outputPath: string;
}

/** Each task makes its calls in a copy of its own. Returns the results by task, and what each of them saw. */
async function isolated(cwd: string, rules: object[], tasks: Record<string, object>, flags: string[] = []) {
	const always = { times: "always" };
	const replies = [
		{ when: { depth: 0, tool: "task" }, text: "ok" },
		{
			when: { depth: 0 },
			blocks: [
				{
					tool: "task",
					id: "T",
					arguments: {
						agent: "task",
						isolated: true,
						tasks: Object.keys(tasks).map((id) => ({ id, description: id, assignment: `Please do ${id}.` })),
					},
				},
			],
		},
		...["bash", "read", "write"].map((tool) => ({
			when: { depth: 1, tool },
			blocks: [{ tool: "submit_result", arguments: { result: { data: "done" } } }],
			...always,
		})),
		...Object.entries(tasks).map(([id, block]) => ({ when: { depth: 1, text: `Please do ${id}.` }, blocks: [block], ...always })),
	];
	const folder = mkdtempSync(join(tmpdir(), "bowline-rules-"));
	clean.push(() => rmSync(folder, { recursive: true, force: true }));
	writeFileSync(join(folder, "model.json"), JSON.stringify({ replies }));
	const agent = new Agent({
		cwd,
		patienceMs: 120_000,
		env: { BOWLINE_SETTINGS: JSON.stringify({ "permissions.rules": rules }) },
		flags: ["--provider", "scripted", "--model", join(folder, "model.json"), "--set", "task.isolation.mode=worktree", ...flags],
	});
	clean.push(() => agent.dispose());
	agent.send({ id: "1", type: "prompt", message: "go" });
	const end = await agent.until((frame: Frame) => frame.type === "tool_execution_end" && frame.toolCallId === "T");
	const { results } = (end.result as { details: { results: Result[] } }).details;
	const names = Object.keys(tasks);
	return {
		errors: Object.fromEntries(results.map(({ error }, index) => [names[index], error])),
		seen: (id: string) => readFileSync((results[names.indexOf(id)] as Result).outputPath.replace(/md$/, "jsonl"), "utf8"),
	};
}

const bash = (command: string) => ({ tool: "bash", arguments: { command } });

const harms: Record<string, [command: string, path: string]> = {
	change: ["echo 'port: 2' > conf/app.yml", "conf/app.yml"],
	remove: ["rm conf/app.yml", "conf/app.yml"],
	move: ["git mv conf/app.yml other.yml", "conf/app.yml"],
	mode: ["chmod +x conf/app.yml", "conf/app.yml"],
	binary: ["printf '\\003\\000' > conf/logo.bin", "conf/logo.bin"],
	quoted: ["echo 'a: 2' > conf/quo*", 'conf/quo"ted \u00fc.yml'],
	made: ["echo x > conf/new.yml", "conf/new.yml"],
	link: ["rm -r conf && ln -s /etc conf", "conf"],
	inner: ["echo 'b: 2' > vendor/conf.yml", "vendor/conf.yml"],
};

test.each(["patch", "branch"])(
	"what rules deny is not changed by a merge as a %s, whatever is done to the file",
	{ timeout: 200_000 },
	async (mode) => {
		const cwd = project();
		const rules = [rule("deny", `${cwd}/conf`), rule("deny", "./vendor/*.yml")].map(({ source: _, ...each }) => each);
		const tasks = {
			...Object.fromEntries(Object.entries(harms).map(([id, [command]]) => [id, bash(command)])),
			free: bash("echo changed > free.txt"),
		};
		const { errors } = await isolated(cwd, rules, tasks, ["--set", `task.isolation.merge=${mode}`]);
		for (const [id, [, path]] of Object.entries(harms)) {
			const name = id === "inner" ? "deny write ./vendor/*.yml" : `deny write ${cwd}/conf`;
			expect(errors[id], id).toContain(`the rule "${name}" denies changes of ${path}`);
		}
		expect(errors.free).toBeUndefined();
		for (const [path, content] of Object.entries(files))
			expect(readFileSync(join(cwd, path), "utf8"), path).toBe(path === "free.txt" ? "changed\n" : content);
	},
);

test("in its copy a subagent finds what rules deny for the project denied", { timeout: 100_000 }, async () => {
	const cwd = project();
	const rules = [
		{ action: "deny", tool: "read", path: `${cwd}/secret.txt`, because: "it is secret" },
		{ action: "deny", tool: "write", path: `${cwd}/conf/app.yml`, because: "it is deployed" },
	];
	const { seen } = await isolated(cwd, rules, {
		look: { tool: "read", arguments: { path: "secret.txt" } },
		change: { tool: "write", arguments: { path: "conf/app.yml", content: "port: 2\n" } },
		original: { tool: "write", arguments: { path: `${cwd}/conf/app.yml`, content: "port: 2\n" } },
	});
	expect(seen("look")).toContain("Denied by a rule: it is secret.");
	expect(seen("look")).not.toContain("hidden words");
	for (const id of ["change", "original"]) expect(seen(id)).toContain("Denied by a rule: it is deployed.");
	expect(readFileSync(join(cwd, "conf/app.yml"), "utf8")).toBe("port: 1\n");
});

testUnless(missing)("what sandbox.protected closes stays closed in a copy, and to the merge", { timeout: 100_000 }, async () => {
	const cwd = project();
	const closed = ["conf/app.yml", "conf/later.yml"].map((path) => join(cwd, path));
	const tasks = {
		change: bash("echo 'port: 2' > conf/app.yml; cat conf/app.yml"),
		made: bash("echo x > conf/later.yml"),
		free: bash("echo changed > free.txt"),
	};
	const flags = ["--set", "sandbox.mode=workspace-write", "--set", `sandbox.protected=${JSON.stringify(closed)}`];
	const { errors, seen } = await isolated(cwd, [], tasks, flags);
	expect(seen("change")).toContain("Read-only file system");
	expect(errors.made).toContain(`sandbox.protected closes ${closed[1]} to changes`);
	expect(errors.free).toBeUndefined();
	expect(readFileSync(join(cwd, "conf/app.yml"), "utf8")).toBe("port: 1\n");
	expect(readFileSync(join(cwd, "free.txt"), "utf8")).toBe("changed\n");
});
