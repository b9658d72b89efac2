/** Settings that come with a request: what they may name, in every spelling that the loader of settings understands. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { agentSettings } from "../../src/app/commands/fleet-settings.ts";
import { fleetOf } from "../../src/app/commands/serve-fleet.ts";
import { readSubmission } from "../../src/fleet/spec.ts";
import { openWorkspace } from "../../src/live/workspace.ts";
import { type SettingName, type SettingRow, settings } from "../../src/protocol/settings.ts";
import type { Fleet } from "../../src/serve/fleet/source.ts";
import { checkSettings } from "../../src/serve/validate.ts";
import { asWritten, loadSettings, type SettingsView } from "../../src/settings/settings.ts";
import { placesIn } from "../settings-places.ts";

type Values = Record<string, unknown>;

const rows = Object.entries(settings) as [SettingName, SettingRow][];
const owned = rows.filter(([, row]) => row.ownersOnly).map(([name]) => name);
const free = rows.filter(([, row]) => !row.ownersOnly).map(([name]) => name);

let folder = "";
let fleet: Fleet;
beforeAll(async () => {
	folder = mkdtempSync(join(tmpdir(), "bowline-requests-"));
	mkdirSync(join(folder, "user"));
	const env = { ...process.env, BOWLINE_DIR: join(folder, "user") };
	fleet = await fleetOf(await openWorkspace({ options: {}, isRpc: false, cwd: folder, env }));
});
afterAll(async () => {
	await fleet.close();
	rmSync(folder, { recursive: true, force: true });
});

/** A fitting value that is not the default. */
function sampleOf(name: SettingName): unknown {
	const row = settings[name] as SettingRow;
	if (row.values) return row.values.find((value) => value !== row.default);
	return { boolean: row.default !== true, number: 7, string: "x", strings: ["x"], record: { x: { command: "x" } }, rules: [] }[row.kind];
}

/** The loader's own opinion: what a session has whose settings are these. */
async function loaded(given: Values): Promise<SettingsView> {
	const config = join(folder, "config.json");
	writeFileSync(config, JSON.stringify(given));
	return loadSettings({ ...placesIn(folder, folder), isHermetic: true, config });
}

/** Each way in for settings of someone else. Resolves with the refusal. */
const doors: Record<string, (given: Values) => Promise<string | undefined>> = {
	"fleet submit": async (given) => said(() => readSubmission({ repo: { url: "/r" }, prompt: "x", settings: given })),
	"POST /v1/runs": (given) => said(() => fleet.submit({ repo: { url: "/r" }, prompt: "x", settings: given }, undefined)),
	"POST /v1/sessions": async (given) => said(() => checkSettings(given)),
};

async function said(act: () => unknown): Promise<string | undefined> {
	try {
		await act();
		return undefined;
	} catch (error) {
		return (error as Error).message;
	}
}

/** As JSON has it: `__proto__` is a member like any other. */
const json = (text: string) => JSON.parse(text) as Values;

/** A generator of numbers from 0 to below 1 that gives the same ones for the same seed. */
function seeded(seed: number): () => number {
	let state = seed;
	return () => {
		state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
		return state / 2 ** 32;
	};
}

/** Writes a value below a dotted name, with a dot or a level of nesting at each joint. Objects that are there already are shared. */
function spell(into: Values, name: string, value: unknown, random: () => number): void {
	const [first = "", ...rest] = name.split(".");
	let key = first;
	let at = into;
	for (const part of rest) {
		const there = at[key];
		const isLevel = random() < 0.5 && (there === undefined || (typeof there === "object" && there !== null && !Array.isArray(there)));
		if (isLevel) {
			at[key] ??= {};
			at = at[key] as Values;
			key = part;
		} else key += `.${part}`;
	}
	at[key] = value;
}

describe("settings of a request", () => {
	test("every setting that names code, places or rights is for the owner of the machine", () => {
		const mustBeOwned = ([name, { isPath, kind, project }]: (typeof rows)[number]) =>
			isPath === true ||
			kind === "rules" ||
			project === "never" ||
			project === "stricter" ||
			(typeof project === "object" && "stricter" in project) ||
			/^(fleet|serve|trust|sandbox|permissions|mcp|mcpServers)(\.|$)|\benv\b|^shell|\.profiles$/.test(name);
		expect(rows.filter(mustBeOwned).filter(([, { ownersOnly }]) => !ownersOnly)).toEqual([]);
		// A new setting must be put on this list, or be marked as the owner's.
		expect(free).toEqual([
			...["defaultProvider", "defaultModel", "defaultThinkingLevel", "steeringMode", "followUpMode", "interruptMode"],
			...["enabled", "reserveTokens", "keepRecentTokens", "thresholdPercent", "thresholdTokens"].map((name) => `compaction.${name}`),
			"branchSummary.reserveTokens",
			...["enabled", "maxRetries", "baseDelayMs", "rateLimits", "maxDelayMs"].map((name) => `retry.${name}`),
			...["minimal", "low", "medium", "high"].map((name) => `thinkingBudgets.${name}`),
			...["stream.firstEventTimeoutMs", "stream.idleTimeoutMs", "bash.autoBackground.enabled", "bash.autoBackground.thresholdMs", "acp.busy"],
			...["images.autoResize", "images.blockImages", "enableSkillCommands", "enabledModels"],
			...["todo.enabled", "todo.reminders", "todo.reminders.max", "todo.eager", "tasks.todoClearDelay"],
			...["enabled", "contextMode", "interruptMode", "repeatMode", "repeatGap"].map((name) => `ttsr.${name}`),
			...["async.enabled", "async.maxJobs", "task.isolation.mode", "task.isolation.merge", "task.isolation.commits", "task.eager"],
			...["maxConcurrency", "maxRecursionDepth", "maxRuntimeMs", "softRequestLimit", "disabledAgents", "agentModelOverrides"].map((n) => `task.${n}`),
			...["enabled", "defaultProfile", "requireForIsolated", "maxRetries", "failureContextLineLimit"].map((name) => `task.verification.${name}`),
			...["maxWallTimeMs", "maxInputTokens", "maxOutputTokens", "maxTotalTokens", "maxCostUsd", "maxToolCalls", "maxSubagents"].map(
				(name) => `task.budget.${name}`,
			),
			...["task.budget.warnAtRatio", "task.budget.onExceeded", "gate.timeoutMs", "checkpoints.enabled", "checkpoints.keepDays"],
		]);
	});

	describe.each(Object.keys(doors))("%s", (door) => {
		const ask = doors[door] as (typeof doors)[string];

		test.each(owned)("%s is refused, dotted, nested and half nested", async (name) => {
			const [first = "", ...rest] = name.split(".");
			const value = sampleOf(name);
			const nested = rest.reduceRight<unknown>((inner, part) => ({ [part]: inner }), value);
			const shapes: Values[] = [{ [name]: value }, { [first]: nested }, { [name]: null }, { "retry.maxRetries": 1, [first]: nested }];
			if (rest.length === 2) shapes.push({ [first]: { [rest.join(".")]: value } }, { [`${first}.${rest[0]}`]: { [rest[1] as string]: value } });
			for (const shape of shapes) expect(await ask(shape), JSON.stringify(shape)).toContain(name);
		});

		test.each([
			['{"mcpServers.evil":{"command":"x"}}', "mcpServers.evil"],
			['{"mcpServers.evil.command":"x"}', "mcpServers.evil.command"],
			['{"task":{"verification":{"profiles.ci":{}}}}', "task.verification.profiles.ci"],
			['{"sandbox":{"mode":"workspace-write"},"sandbox.mode":"off"}', "sandbox.mode"],
			['{"retry":{"maxRetries":1},"sandbox":{"env":["*"]}}', "sandbox.env"],
			['{"sandbox":["off"]}', "no setting"],
			['{"sandbox":null}', "no setting"],
			['{"__proto__":{"sandbox.mode":"off"}}', "no setting"],
			['{"__proto__":"x"}', "no setting"],
			['{"sandbox":{"__proto__":{"mode":"off"}}}', "no setting"],
			['{"constructor":{"prototype":1}}', "no setting"],
			['{"Sandbox.mode":"off"}', "no setting"],
			['{"SANDBOX":{"MODE":"off"}}', "no setting"],
			['{" sandbox.mode":"off"}', "no setting"],
			['{"sandbox.mode ":"off"}', "no setting"],
			['{"sandbox":{" mode":"off"}}', "no setting"],
			['{"sandbox.":{"mode":"off"}}', "no setting"],
			['{"sandbox.mode=off":""}', "no setting"],
			['{"":{"sandbox.mode":"off"}}', "no setting"],
			['{"shellPath.x":"/bin/sh"}', "no setting"],
		])("%s is refused", async (text, reason) => {
			expect(await ask(json(text))).toContain(reason);
		});

		test("keys that are very long or very deep are refused with a short sentence", async () => {
			const long = await ask({ ["x".repeat(1_000_000)]: 1 });
			const deep = await ask(json(`${'{"a":'.repeat(200)}1${"}".repeat(200)}`));
			const both = await ask({ [`mcpServers.${"x".repeat(1_000_000)}`]: 1 });
			for (const text of [long, deep, both]) expect(text?.length).toBeLessThan(250);
		});

		test("what may be set is accepted in every spelling", async () => {
			for (const name of free) {
				const spelling: Values = {};
				spell(spelling, name, sampleOf(name), () => 0);
				expect(await ask({ [name]: sampleOf(name) }), name).toBeUndefined();
				expect(await ask(spelling), name).toBeUndefined();
			}
			expect(await ask({ "task.agentModelOverrides.explore": "p/m" })).toBeUndefined();
		});

		test("no mixture of spellings sets anything of the owner's", async () => {
			let refused = 0;
			for (let seed = 1; seed <= 300; seed++) {
				const random = seeded(seed);
				const pick = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)] as T;
				const given: Values = {};
				for (let left = 1 + Math.floor(random() * 5); left > 0; left--) {
					const name = pick(random() < 0.3 ? owned : free);
					const isMember = (settings[name] as SettingRow).kind === "record" && random() < 0.5;
					spell(given, isMember ? `${name}.x` : name, isMember ? { command: "y" } : sampleOf(name), random);
					if (random() < 0.2) spell(given, name, sampleOf(name), random);
				}
				const view = await loaded(given);
				const taken = owned.filter((name) => view.origin(name) !== "default");
				const refusal = await ask(given);
				if (refusal !== undefined) refused++;
				if (taken.length > 0) expect(refusal, `seed ${seed}: ${JSON.stringify(given)}`).toBeDefined();
				else expect(refusal, `seed ${seed}: ${JSON.stringify(given)}`).toBeUndefined();
			}
			expect(refused).toBeGreaterThan(50);
			expect(refused).toBeLessThan(250);
		});
	});

	test("no mixture of spellings in a run weakens its worker, and its other wishes are granted", async () => {
		const rule = { action: "deny", tool: "bash", command: "deploy *" };
		const own = {
			"permissions.rules": [rule],
			...{ "permissions.mode": "edit", "sandbox.network": "off", "sandbox.hidden": ["/secret"], "retry.maxRetries": 2, "todo.enabled": false },
		};
		const worker = await loaded(own);
		const sandbox = { "sandbox.mode": "workspace-write", "sandbox.required": true };
		const place = { sandbox, mirror: "/mirror", variables: ["TOKEN"] };
		let granted = 0;
		for (let seed = 1; seed <= 300; seed++) {
			const random = seeded(seed);
			const pick = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)] as T;
			const wished: Values = {};
			const names = Array.from({ length: 1 + Math.floor(random() * 4) }, () => pick(random() < 0.2 ? owned : free));
			for (const name of names) spell(wished, name, sampleOf(name), random);
			const made = agentSettings(worker, { ...place, wished });
			if ("problem" in made) {
				expect(
					names.some((name) => owned.includes(name)),
					made.problem,
				).toBe(true);
				continue;
			}
			granted++;
			const agent = await loaded(made.settings);
			for (const name of owned) {
				const isAdded = ["sandbox.readable", "sandbox.env", "bash.env.allow"].includes(name);
				const expected = name in sandbox ? sandbox[name as keyof typeof sandbox] : asWritten(worker, name);
				expect(asWritten(agent, name), `seed ${seed}: ${name}`).toEqual(isAdded ? expect.arrayContaining(expected as string[]) : expected);
			}
			expect(agent.get("retry.rateLimits")).toBe("host");
			for (const name of names.filter((each) => each !== "retry.rateLimits" && (settings[each] as SettingRow).kind !== "record"))
				expect(agent.get(name), `seed ${seed}: ${JSON.stringify(wished)}`).toEqual(sampleOf(name));
		}
		expect(granted).toBeGreaterThan(100);
		// What a run leaves open, or to the default, stays as the worker has it.
		const bare = agentSettings(worker, { ...place, wished: { todo: { enabled: null }, "retry.maxRetries": null } });
		const agent = await loaded("settings" in bare ? bare.settings : {});
		expect([agent.get("retry.maxRetries"), agent.get("todo.enabled")]).toEqual([2, false]);
	});

	test("a run may lower its worker's ceilings and set its own, in any spelling, and raise none", async () => {
		const ceilings = rows.filter(([, row]) => (row as SettingRow).isCeiling).map(([name]) => name);
		expect(ceilings).toEqual(rows.map(([name]) => name).filter((name) => name.startsWith("task.budget.max")));
		const place = { sandbox: { "sandbox.mode": "workspace-write", "sandbox.required": true }, mirror: "/mirror" };
		const given = async (own: Values, wished: Values) => {
			const made = agentSettings(await loaded(own), { ...place, wished });
			if ("problem" in made) throw new Error(made.problem);
			return loaded(made.settings);
		};
		for (const [index, name] of ceilings.entries()) {
			const wish = (value: unknown) => {
				const wished: Values = {};
				spell(wished, name, value, seeded(index + 1));
				return wished;
			};
			const own = { [name]: 10 };
			for (const more of [11, 1e99, "5", [], {}, null]) {
				const agent = await given(own, wish(more));
				expect([agent.get(name), agent.warnings, agent.refusal], `${name}: ${JSON.stringify(more)}`).toEqual([10, [], undefined]);
			}
			expect((await given(own, wish(3))).get(name)).toBe(3);
			expect((await given({}, wish(30))).get(name)).toBe(30);
			const finish = { task: { budget: { onExceeded: "finish" } } };
			expect((await given(own, finish)).get("task.budget.onExceeded")).toBe("stop");
			expect((await given({}, finish)).get("task.budget.onExceeded")).toBe("finish");
			const lenient = { ...own, "task.budget.onExceeded": "finish" };
			expect((await given(lenient, finish)).get("task.budget.onExceeded")).toBe("finish");
			expect((await given(lenient, { "task.budget.onExceeded": "stop" })).get("task.budget.onExceeded")).toBe("stop");
		}
	});

	test("every setting can be handed on to another process, which takes it as it is", async () => {
		const samples: Values = Object.fromEntries(rows.map(([name]) => [name, sampleOf(name)]));
		samples["permissions.rules"] = [
			{ action: "ask", tool: "bash", command: "git push *", because: "ask me" },
			{ action: "allow", host: "a.example", private: true },
		];
		samples["trust.projects"] = ["/p"];
		const view = await loaded(samples);
		const again = await loaded(JSON.parse(JSON.stringify(Object.fromEntries(rows.map(([name]) => [name, asWritten(view, name)])))));
		expect([...again.warnings, ...again.unused]).toEqual([]);
		for (const [name] of rows) expect(asWritten(again, name), name).toEqual(asWritten(view, name));
		for (const [name] of rows) expect(again.origin(name), name).not.toBe("default");
	});

	test("a session of a server gets nested settings as they would be in a file", async () => {
		const flat = checkSettings({
			retry: { maxRetries: 7, enabled: null },
			todo: { reminders: { max: 2 } },
			"task.agentModelOverrides": { plan: "p/m" },
		});
		expect(flat).toEqual({ "retry.maxRetries": 7, "todo.reminders.max": 2, "task.agentModelOverrides": { plan: "p/m" } });
	});
});
