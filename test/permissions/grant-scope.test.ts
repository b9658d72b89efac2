/** An answer for more than one call covers what its question showed: the same tool, the same target, the same place. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Script } from "../../src/permissions/command-patterns.ts";
import { type Call, decide, type RuleBook, serverAskedAbout } from "../../src/permissions/decide.ts";
import { Grants } from "../../src/permissions/grants.ts";
import { readScript } from "../../src/permissions/lexer.ts";
import { proposalOf } from "../../src/permissions/proposal.ts";
import { compileRule } from "../../src/permissions/rules.ts";
import type { PermissionRule, SourcedRule } from "../../src/protocol/permissions.ts";

const places = { cwd: "/w/shop", home: "/home/ada" };
const none: RuleBook = { deny: [], ask: [], allow: [] };

type Subject = Call["subject"];
const callOf = (subject: Partial<Subject> & Pick<Subject, "kind" | "tool">, facts: Partial<Call> = {}): Call => ({
	subject: { v: 1, args: {}, cwd: places.cwd, targets: [], sandbox: "off", ...subject },
	writtenPaths: [],
	isInside: false,
	isGiven: false,
	source: "built-in",
	readOnly: false,
	isVerified: true,
	...facts,
});
const command = (text: string, subject: Partial<Subject> = {}) =>
	callOf(
		{ kind: "command", tool: "bash", args: { command: text }, ...subject },
		{ script: new Script(text, readScript(text)), isForeign: () => true },
	);
const file = (tool: string, target: string, isTree = false) =>
	callOf({ kind: tool === "edit" || tool === "write" ? "write" : "read", tool, targets: [target] }, { isTree });

/** The names of the calls that an answer for a call covers. */
function coveredBy(asked: Call, calls: Record<string, Call>, file?: string): string[] {
	const make = () => new Grants({ file, project: places.cwd, places, newId: () => "g", now: () => 0, warn: () => undefined });
	const grants = make();
	const { grant } = proposalOf(asked, "sha256:x", { cwd: places.cwd });
	if (grant) grants.add(file === undefined ? "session" : "always", grant);
	// What is kept is read again by another process.
	const kept = file === undefined ? grants : make();
	return Object.entries(calls).flatMap(([name, call]) => (decide(call, none, kept.all, "ask").answer === "allow" ? [name] : []));
}

const dir = "/home/ada/notes";
const calls = {
	"ls dir": file("ls", dir),
	"read dir": file("read", dir),
	"find dir": file("find", dir, true),
	"grep dir": file("grep", dir, true),
	"ls dir/sub": file("ls", `${dir}/sub`),
	"grep dir/sub": file("grep", `${dir}/sub`, true),
	"read dir/file": file("read", `${dir}/file`),
	"grep dir/file": file("grep", `${dir}/file`),
	"write dir/file": file("write", `${dir}/file`),
	"edit dir/file": file("edit", `${dir}/file`),
	"write dir/other": file("write", `${dir}/other`),
	"npm test": command("npm test"),
	"npm test -- -u": command("npm test -- -u"),
	"A=b npm test": command("A=b npm test"),
	"A=c npm test": command("A=c npm test"),
	"cd sub && npm test": command("cd sub && npm test"),
	"npm test && npm publish": command("npm test && npm publish"),
	"npm publish": command("npm publish"),
	"npm 'test '": command("npm 'test '"),
	"a.example:443": callOf({ kind: "network", tool: "network", targets: ["a.example:443"] }),
	"a.example:80": callOf({ kind: "network", tool: "network", targets: ["a.example:80"] }),
	"b.a.example:443": callOf({ kind: "network", tool: "network", targets: ["b.a.example:443"] }),
	"deploy x": callOf({ kind: "tool", tool: "deploy", args: { to: "x" } }, { source: "mcp" }),
	"deploy y": callOf({ kind: "tool", tool: "deploy", args: { to: "y" } }, { source: "mcp" }),
	protected: callOf({ kind: "protected", tool: "write", targets: [`${dir}/file`] }),
	outside: callOf(
		{ kind: "escalation", tool: "bash", args: { command: "npm test" }, sandbox: "outside" },
		{ script: new Script("npm test", readScript("npm test")) },
	),
};
type Name = keyof typeof calls;

/** More than the call itself: what a question for it has shown, too. */
const further: Partial<Record<Name, Name[]>> = {
	// The content of that file.
	"read dir/file": ["read dir/file", "grep dir/file"],
	// The whole content of that file, as a change of it.
	"write dir/file": ["write dir/file", "edit dir/file"],
	"read dir": ["ls dir", "read dir"],
	"npm test && npm publish": ["npm test && npm publish"],
	protected: [],
	outside: [],
};

test.each(Object.keys(calls) as Name[])("an answer for %j covers it, and no other call", (name) => {
	expect(coveredBy(calls[name], calls)).toEqual(further[name] ?? [name]);
});

test("an answer that is kept covers the same as one for the session", () => {
	const folder = mkdtempSync(join(tmpdir(), "bowline-grants-"));
	try {
		for (const name of ["ls dir", "grep dir", "write dir/file", "npm test"] as const)
			expect(coveredBy(calls[name], calls, join(folder, name.replaceAll(/\W/g, "-"), "p.jsonc"))).toEqual(further[name] ?? [name]);
	} finally {
		rmSync(folder, { recursive: true });
	}
});

test("an answer for a command in a sandbox holds in walls that are as strong, and not without them", () => {
	const where = Object.fromEntries(
		(["off", "external", "workspace-write", "read-only"] as const).map((sandbox) => [sandbox, command("npm test", { sandbox })]),
	) as Record<"off" | "external" | "workspace-write" | "read-only", Call>;
	expect(coveredBy(where.off, where)).toEqual(["off", "external", "workspace-write", "read-only"]);
	expect(coveredBy(where["workspace-write"], where)).toEqual(["workspace-write", "read-only"]);
	const folder = mkdtempSync(join(tmpdir(), "bowline-grants-"));
	const kept = join(folder, "user/permissions.jsonc");
	try {
		expect(coveredBy(where["workspace-write"], where, kept)).toEqual(["workspace-write", "read-only"]);
		expect(JSON.parse(readFileSync(kept, "utf8")).projects["/w/shop"]).toMatchObject([{ sandbox: "workspace-write" }]);
	} finally {
		rmSync(folder, { recursive: true });
	}
});

test("an answer for a subagent's copy of the project holds in that copy; one for the project holds in its copies, too", () => {
	const where = { project: command("npm test"), copy: command("npm test", { cwd: "/copies/1" }), other: command("npm test", { cwd: "/copies/2" }) };
	expect(coveredBy(where.copy, where)).toEqual(["copy"]);
	expect(coveredBy(where.project, where)).toEqual(["project", "copy", "other"]);
	const opaque = { project: command("./x $y"), copy: command("./x $y", { cwd: "/copies/1" }) };
	expect(coveredBy(opaque.copy, opaque)).toEqual(["copy"]);
});

test("an answer about an MCP server covers all its tools in mode full, and nothing of another server or in a stricter mode", () => {
	const of = (tool: string, server: string, facts: Partial<Call> = {}) =>
		callOf(
			{ kind: "tool", tool, args: { at: tool }, sandbox: "workspace-write" },
			{ source: "mcp", server: { name: server, tools: `mcp__${server}__*` }, ...facts },
		);
	const asked = of("mcp__notes__read", "notes");
	const where = {
		same: of("mcp__notes__write", "notes"),
		resource: of("mcp_resource", "notes"),
		// Its name fits the pattern of the other.
		similar: of("mcp__notes__eu__read", "notes__eu"),
		other: of("mcp__mail__send", "mail"),
		extension: callOf({ kind: "tool", tool: "mcp__notes__x", sandbox: "workspace-write" }, { source: "extension" }),
	};
	const folder = mkdtempSync(join(tmpdir(), "bowline-grants-"));
	try {
		for (const file of [undefined, join(folder, "p.jsonc")]) {
			const make = () => new Grants({ file, project: places.cwd, places, newId: () => "g", now: () => 0, warn: () => undefined });
			const grants = make();
			const { grant, proposal } = proposalOf(asked, "sha256:x", { cwd: places.cwd, server: serverAskedAbout(asked, "full") });
			expect(proposal).toEqual({ action: "allow", tool: "mcp__notes__*" });
			if (grant) grants.add(file === undefined ? "session" : "always", grant);
			const kept = file === undefined ? grants : make();
			const inMode = (mode: "edit" | "full") => Object.entries(where).filter(([, call]) => decide(call, none, kept.all, mode).answer === "allow");
			expect(inMode("full").map(([name]) => name)).toEqual(["same", "resource", "extension"]);
			expect(inMode("edit")).toEqual([]);
		}
	} finally {
		rmSync(folder, { recursive: true });
	}
});

test("an allow rule covers a search of a directory if it covers everything below, or names the tool", () => {
	const answer = (rule: Partial<PermissionRule>, call: Call) => {
		const allow = [compileRule({ action: "allow", ...rule, source: "user" } as SourcedRule, places, () => undefined)];
		return decide(call, { ...none, allow }, [], "ask").answer;
	};
	const search = file("grep", "/etc/app/conf", true);
	for (const path of ["/etc/app/conf", "/etc/app/*", "/etc/*/*", "conf", "co*", "/etc/**/conf"]) {
		expect([path, answer({ tool: "read", path }, search)]).toEqual([path, "ask"]);
		expect([path, answer({ tool: "*", path }, search)]).toEqual([path, "ask"]);
		expect([path, answer({ tool: "read", path }, file("ls", "/etc/app/conf"))]).toEqual([path, "allow"]);
		expect([path, answer({ tool: "grep", path }, search)]).toEqual([path, "allow"]);
	}
	for (const path of ["/etc/**", "/etc/app/**", "*", "/**", undefined])
		expect([path, answer({ tool: "read", path }, search)]).toEqual([path, "allow"]);
});
