/** `safety: "contained"`: which settings it stands for, who may loosen it, and who may not. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { containedValues } from "../../src/settings/contained.ts";
import { loadSettings, type SettingsPlaces } from "../../src/settings/settings.ts";
import { settingsPlaces } from "../settings-places.ts";

type Layers = { user?: string; project?: string };

async function load(layers: Layers, more: Partial<SettingsPlaces> = {}) {
	const { folder, places } = settingsPlaces();
	mkdirSync(join(folder, "user"), { recursive: true });
	if (layers.user !== undefined) writeFileSync(join(folder, "user/settings.jsonc"), layers.user);
	if (layers.project !== undefined) writeFileSync(join(folder, "project/.bowline/settings.jsonc"), layers.project);
	return loadSettings({ ...places, approve: true, ...more });
}

const effective = (view: Awaited<ReturnType<typeof load>>) =>
	Object.fromEntries(Object.keys(containedValues).map((name) => [name, view.get(name as keyof typeof containedValues)]));

describe.each<[string, Layers, Partial<SettingsPlaces>]>([
	["the flag", {}, { isContained: true }],
	["--set", {}, { assignments: ["safety=contained"] }],
	["BOWLINE_SETTINGS", {}, { environment: '{"safety":"contained"}' }],
	["the user's file", { user: '{"safety":"contained"}' }, {}],
	["a project", { project: '{"safety":"contained"}' }, {}],
	["a project that is not trusted", { project: '{"safety":"contained"}' }, { approve: false }],
])("%s", (_, layers, more) => {
	test("one word sets them all", async () => {
		const view = await load(layers, more);
		expect(effective(view)).toEqual(containedValues);
		expect(view.contained?.loosenedNow()).toEqual([]);
		expect(view.origin("sandbox.network")).toBe('safety "contained"');
	});
});

test("without the word nothing changes", async () => {
	const view = await load({});
	expect(view.contained).toBeUndefined();
	expect([view.get("permissions.mode"), view.get("sandbox.mode"), view.get("checkpoints.enabled")]).toEqual(["full", "off", false]);
});

test("a single setting may be stricter, in any place", async () => {
	const view = await load({ user: '{"permissions":{"mode":"ask"},"sandbox":{"mode":"read-only","git":"read"}}' }, { isContained: true });
	expect([view.get("permissions.mode"), view.get("sandbox.mode"), view.get("sandbox.git")]).toEqual(["ask", "read-only", "read"]);
	expect(view.contained?.loosenedNow()).toEqual([]);
});

test("a looser one counts in the place of the word or a stronger one, and is named", async () => {
	const view = await load({ user: '{"safety":"contained","sandbox":{"network":"on","readable":["~/.config/tool"]}}' }, { permissionMode: "full" });
	expect([view.get("sandbox.network"), view.get("permissions.mode")]).toEqual(["on", "full"]);
	expect(view.contained?.loosenedNow()).toEqual(["permissions.mode", "sandbox.network", "sandbox.readable"]);
});

test("a looser one in a weaker place has no effect, and says so", async () => {
	const view = await load({ user: '{"sandbox":{"network":"on","required":false},"checkpoints":{"enabled":false}}' }, { isContained: true });
	expect(effective(view)).toEqual(containedValues);
	expect(view.unused).toContain('user settings: sandbox.network has no effect: safety is "contained", which needs "off" or stricter.');
	expect(view.unused).toHaveLength(3);
});

test.each([
	["a project", "{}"],
	["a project where the user asks for it", '{"safety":"contained"}'],
])("%s cannot loosen or undo it", async (_, user) => {
	const project =
		'{"safety":"off","permissions":{"mode":"full"},"sandbox":{"mode":"off","network":"on","home":"shown"},"checkpoints":{"enabled":false}}';
	const view = await load({ user, project }, user === "{}" ? { isContained: true } : {});
	expect(effective(view)).toEqual(containedValues);
	expect(view.contained?.loosenedNow()).toEqual([]);
});

test("a project that asks for it and loosens it is held to the word", async () => {
	const view = await load({ project: '{"safety":"contained","checkpoints":{"enabled":false},"permissions":{"mode":"full"}}' });
	expect(effective(view)).toEqual(containedValues);
});

test("the caller may turn off what a file asks for", async () => {
	const view = await load({ user: '{"safety":"contained"}' }, { assignments: ["safety=off"] });
	expect(view.contained).toBeUndefined();
	expect(view.get("sandbox.mode")).toBe("off");
});

test.each([
	["a file that cannot be read as JSON", '{"safety": "contained",, '],
	["a word that does not exist", '{"safety": "contain"}'],
])("%s is never silently off", async (_, user) => {
	const view = await load({ user });
	expect(view.get("safety")).toBe("contained");
	expect(view.contained?.loosenedNow()).toEqual([]);
	expect(view.warnings.join("\n")).toContain('safety is "contained" until it is repaired');
});

test("the mode of now counts, and a session that is not stored has no checkpoints", async () => {
	const view = await load({}, { isContained: true, permissionMode: "full" });
	expect(view.contained?.loosenedNow({ mode: "edit", isStored: false })).toEqual(["checkpoints.enabled"]);
	expect(view.contained?.loosenedNow({ mode: "full", isStored: true })).toEqual(["permissions.mode"]);
	expect(view.contained?.loosenedNow({ mode: "ask", isStored: true })).toEqual([]);
});
