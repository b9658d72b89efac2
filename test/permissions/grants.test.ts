/** Grants that are kept: in the user's own file, by project, without losing what another process wrote. */
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { digestOf } from "../../src/lib/canonical-json.ts";
import { Grants } from "../../src/permissions/grants.ts";

const folders: string[] = [];
afterEach(() => {
	for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function place() {
	const folder = mkdtempSync(join(tmpdir(), "bowline-grants-"));
	folders.push(folder);
	return join(folder, "user", "permissions.jsonc");
}

let ids = 0;
const warnings: string[] = [];
const open = (file: string | undefined, project = "/w/shop") =>
	new Grants({
		file,
		project,
		places: { cwd: project, home: undefined },
		newId: () => `g${++ids}`,
		now: () => 0,
		warn: (text) => warnings.push(text),
	});
const grant = (command: string) => ({ rule: { action: "allow" as const, tool: "bash", command }, digest: "sha256:x" });

test("a grant that is kept is there for the next process of the project, and for no other project", () => {
	const file = place();
	const kept = open(file).add("always", grant("npm test"));
	expect(open(file).all).toMatchObject([{ id: kept.id, rule: grant("npm test").rule, scope: "always" }]);
	expect(open(file, "/w/other").all).toEqual([]);
	expect(statSync(file).mode & 0o777).toBe(0o600);
	expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({
		version: 1,
		projects: { "/w/shop": [{ id: kept.id, rule: grant("npm test").rule, createdAt: "1970-01-01T00:00:00.000Z", digest: "sha256:x" }] },
	});
	expect(existsSync(`${file}.lock`)).toBe(false);
});

test("two processes keep grants without losing each other's, and revoke only their own", () => {
	const file = place();
	const [one, two] = [open(file), open(file)];
	const first = one.add("always", grant("a"));
	two.add("always", grant("b"));
	expect(open(file).all.map(({ rule }) => rule.command)).toEqual(["a", "b"]);
	expect(one.revoke(first.id)).toBe(true);
	expect(one.revoke(first.id)).toBe(false);
	expect(open(file).all.map(({ rule }) => rule.command)).toEqual(["b"]);
});

test("a file that is not ours is left as it is, ignored and named, and nothing is offered to be kept", () => {
	const file = place();
	open(file).add("always", grant("a"));
	writeFileSync(file, '{"version":1,"projects":{"/w/shop":[{"id":"x","rule":{"action":"deny"}}]}}');
	const grants = open(file);
	expect(grants.all).toEqual([]);
	expect(grants.canKeep).toBe(false);
	expect(warnings.at(-1)).toMatch(/permissions\.jsonc cannot be used: it contains something that is not a grant\. It is ignored and left as it is\./);
	expect(() => grants.add("always", grant("b"))).toThrow("not a grant");
	expect(readFileSync(file, "utf8")).toContain("deny");
	for (const rule of [{ action: "allow" }, { action: "allow", tool: 5 }, { action: "allow", tool: "bash", command: ["ls"] }]) {
		writeFileSync(file, JSON.stringify({ version: 1, projects: { "/w/shop": [{ id: "x", rule, createdAt: "now" }] } }));
		expect(open(file).all).toEqual([]);
		expect(warnings.at(-1)).toContain("it contains something that is not a grant");
	}
});

test("grants of a session are in memory only, and end with it", () => {
	const file = place();
	const grants = open(file);
	grants.add("session", grant("a"));
	expect(grants.all).toHaveLength(1);
	expect(existsSync(file)).toBe(false);
	grants.forgetSession();
	expect(grants.all).toEqual([]);
	expect(open(undefined).canKeep).toBe(false);
});

test("the digest is that of the canonical subject: members sorted, no white space", () => {
	const subject = { v: 1, kind: "command", tool: "bash", args: { command: "npm publish" }, cwd: "/w/shop", targets: [], sandbox: "off" };
	const reversed = Object.fromEntries(Object.entries(subject).reverse());
	expect(digestOf(reversed)).toBe(digestOf(subject));
	expect(digestOf({ b: [1, { d: "é", c: null }], a: true })).toBe("sha256:b56515827d996f78785feb87c17f2fd96235141b1e74b434486eef2ff47f990e");
});
