/** Where modes and rules come from: joined over all places, never loosened by a project, never lost with a broken file. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { loadSettings, type SettingsPlaces } from "../../src/settings/settings.ts";
import { settingsPlaces } from "../settings-places.ts";

let folder: string;
let places: SettingsPlaces;
beforeEach(() => {
	({ folder, places } = settingsPlaces());
	mkdirSync(join(folder, "user"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const user = (value: unknown) => writeFileSync(join(folder, "user/settings.jsonc"), typeof value === "string" ? value : JSON.stringify(value));
const project = (value: unknown) =>
	writeFileSync(join(folder, "project/.bowline/settings.jsonc"), typeof value === "string" ? value : JSON.stringify(value));
const allow = { action: "allow", tool: "bash", command: "npm test" };
const deny = { action: "deny", tool: "read", path: "**/.env" };
const ask = { action: "ask", tool: "deploy" };

test("rules of all places are joined, each with its source", async () => {
	user({ permissions: { rules: [deny] } });
	project({ "permissions.rules": [ask, allow] });
	places.environment = JSON.stringify({ "permissions.rules": [allow] });
	places.assignments = [`permissions.rules=${JSON.stringify([ask])}`];
	const untrusted = await loadSettings(places);
	expect(untrusted.get("permissions.rules")).toEqual([
		{ ...deny, source: "user" },
		{ ...ask, source: "project" },
		{ ...allow, source: "config" },
		{ ...ask, source: "flags" },
	]);
	expect(untrusted.unused).toEqual(["project settings: an allow rule has no effect: the project is not trusted (see --approve)."]);
	const trusted = await loadSettings({ ...places, approve: true });
	expect(trusted.get("permissions.rules").filter(({ source }) => source === "project")).toEqual([
		{ ...ask, source: "project" },
		{ ...allow, source: "project" },
	]);
});

test.each([true, false])("a project (trusted: %s) makes the mode stricter, never weaker", async (approve) => {
	const modeOf = async (mine: string, theirs: string) => {
		user({ "permissions.mode": mine });
		project({ "permissions.mode": theirs });
		return (await loadSettings({ ...places, approve })).get("permissions.mode");
	};
	expect(await modeOf("edit", "ask")).toBe("ask");
	expect(await modeOf("ask", "full")).toBe("ask");
	expect(await modeOf("plan", "edit")).toBe("plan");
	expect(await modeOf("full", "plan")).toBe("plan");
	expect((await loadSettings({ ...places, approve, permissionMode: "edit" })).get("permissions.mode")).toBe("edit");
});

test.each([true, false])("a project (trusted: %s) makes answers lapse, never last", async (approve) => {
	const lapse = async (mine: object, theirs: object) => {
		user(mine);
		project(theirs);
		return (await loadSettings({ ...places, approve })).get("permissions.grantsLapse");
	};
	const [on, off] = [{ "permissions.grantsLapse": true }, { "permissions.grantsLapse": false }];
	expect([await lapse({}, {}), await lapse({}, on), await lapse(off, on), await lapse(on, off)]).toEqual([false, true, true, true]);
});

test("the mode is the same for hosts and for people, and --permission-mode beats every file", async () => {
	user({ "permissions.mode": "ask" });
	expect((await loadSettings(places)).get("permissions.mode")).toBe("ask");
	const flagged = await loadSettings({ ...places, permissionMode: "full" });
	expect([flagged.get("permissions.mode"), flagged.origin("permissions.mode")]).toEqual(["full", "--permission-mode full"]);
	expect((await loadSettings({ ...places, isHermetic: true })).get("permissions.mode")).toBe("full");
});

test.each<[string, unknown, RegExp]>([
	["an unknown member", [{ ...deny, pth: "x" }], /permissions\.rules\[0\] has an unknown member "pth"/],
	["an unknown action", [allow, { action: "forbid", tool: "read" }], /permissions\.rules\[1\] must have an action/],
	["no tool", [{ action: "deny" }], /must have a tool, a host or runsLater/],
	["a command of another tool", [{ action: "deny", tool: "read", command: "x" }], /its tool must be "bash"/],
	["a path of another tool", [{ action: "deny", tool: "bash", path: "x" }], /its tool must be one of read, grep/],
	["a list that is none", {}, /must be a list of rules/],
])("a rule with %s: a file is not read as a file without it, and what was named explicitly does not start", async (_, rules, problem) => {
	user({ "retry.maxRetries": 9, "permissions.rules": rules });
	const settings = await loadSettings({ ...places, permissionMode: "full" });
	expect(settings.get("permissions.mode")).toBe("ask");
	expect(settings.get("retry.maxRetries")).toBe(3);
	expect(settings.warnings.join("\n")).toMatch(problem);
	expect(settings.warnings.at(-1)).toBe('That file may contain rules about tool calls, so permissions.mode is "ask" until it is repaired.');
	user({});
	await expect(loadSettings({ ...places, environment: JSON.stringify({ "permissions.rules": rules }) })).rejects.toThrow(problem);
});

test("a mode that is no mode, and a file with permissions that cannot be parsed, are treated as broken rules are", async () => {
	user({ "permissions.mode": "readonly" });
	expect((await loadSettings(places)).get("permissions.mode")).toBe("ask");
	user('{ "permissions": { "rules": [ { "action": "deny" "tool": "read" } ] } }');
	expect((await loadSettings(places)).get("permissions.mode")).toBe("ask");
	user('{ "retry": { "maxRetries" 1 } }');
	expect((await loadSettings(places)).get("permissions.mode")).toBe("full");
	await expect(loadSettings({ ...places, assignments: ["permissions.mode=readonly"] })).rejects.toThrow("--set permissions.mode must be");
});
