/** The meaning of `verify`, in every shape that it can have. */
import { describe, expect, test } from "vitest";
import { planVerification, type VerificationSettings } from "../../src/verification/index.ts";

const lint = { name: "lint", command: "npm run lint" };
const check = { name: "test", command: "npm test", timeoutMs: 1000, optional: true };
const settings: VerificationSettings = {
	enabled: false,
	requireForIsolated: false,
	defaultProfile: "ci",
	maxRetries: 1,
	profiles: { ci: { mode: "command", commands: [lint], onFailure: "retry_once", maxRetries: 2 }, bare: { commands: [check] }, off: { mode: "none" } },
};
const plan = (verify: unknown, changed: Partial<VerificationSettings> = {}, isolated = true) =>
	planVerification(verify, { isolated, settings: { ...settings, ...changed } });
const problem = (verify: unknown, changed: Partial<VerificationSettings> = {}, isolated = true) => {
	const planned = plan(verify, changed, isolated);
	return "problem" in planned ? planned.problem : undefined;
};

const ci = { plan: { profile: "ci", commands: [lint], onFailure: "retry_once", maxRetries: 2 } };
const inline = { plan: { commands: [check], onFailure: "return_failure", maxRetries: 1 } };
const automatic = { enabled: true, requireForIsolated: true };

describe("which checks run", () => {
	test.each<[string, unknown, Partial<VerificationSettings>, unknown]>([
		["nothing asked", undefined, {}, {}],
		["null is nothing", null, {}, {}],
		["enabled alone asks for nothing", undefined, { enabled: true }, {}],
		["requireForIsolated alone neither", undefined, { requireForIsolated: true }, {}],
		["both: the default profile", undefined, automatic, ci],
		["false beats both", false, automatic, {}],
		["true", true, {}, ci],
		["an empty name", "", {}, ci],
		["a name", "bare", {}, { plan: { profile: "bare", commands: [check], onFailure: "return_failure", maxRetries: 1 } }],
		["a profile that is off", "off", {}, {}],
		["an empty object", {}, {}, ci],
		["mode none needs no profile", { mode: "none" }, { defaultProfile: "missing" }, {}],
		["commands of its own", { commands: [check] }, {}, inline],
		["commands of its own, the default is missing", { commands: [check] }, { defaultProfile: "missing" }, inline],
		["commands of its own, the profile empty", { profile: "", commands: [check] }, { defaultProfile: "missing" }, inline],
		["over a profile, member by member", { profile: "ci", commands: [check] }, {}, { plan: { ...ci.plan, commands: [check] } }],
		[
			"over the default profile",
			{ onFailure: "discard_patch", maxRetries: 0 },
			{},
			{ plan: { ...ci.plan, onFailure: "discard_patch", maxRetries: 0 } },
		],
		["null members are absent", { profile: null, mode: null, commands: null, onFailure: null, maxRetries: null }, {}, ci],
		[
			"a strange default of retries",
			{ commands: [lint] },
			{ maxRetries: -2.5 },
			{ plan: { commands: [lint], onFailure: "return_failure", maxRetries: 0 } },
		],
	])("%s", (_name, verify, changed, expected) => {
		expect(plan(verify, changed)).toEqual(expected);
	});

	test("work that is not isolated is never verified automatically", () => {
		expect(plan(undefined, automatic, false)).toEqual({});
		expect(plan(false, automatic, false)).toEqual({});
	});
});

describe("mistakes are reported with their remedy", () => {
	const commands = (...list: unknown[]) => ({ commands: list });
	test.each<[unknown, string, Partial<VerificationSettings>?]>([
		[true, "Nothing says how to verify. Name a profile, give commands, or set task.verification.defaultProfile.", { defaultProfile: "" }],
		["nightly", "Unknown verification profile: nightly. There is ci, bare, off, or give commands."],
		["toString", "Unknown verification profile: toString. There is ci, bare, off, or give commands."],
		[
			true,
			"Unknown verification profile: ci. None is defined: add it to the setting task.verification.profiles, or give commands.",
			{ profiles: {} },
		],
		[
			"ci",
			'Verification profile "ci" must be an object with commands. Correct the setting task.verification.profiles.',
			{ profiles: { ci: [lint] } },
		],
		["ci", 'Verification profile "ci" has no commands. Give at least one: {"name":"test","command":"npm test"}.', { profiles: { ci: {} } }],
		["ci", 'Verification profile "ci": commands[1] must be an object with name and command.', { profiles: { ci: commands(lint, "npm test") } }],
		[commands(), 'verify has no commands. Give at least one: {"name":"test","command":"npm test"}.'],
		[{ mode: "lsp", commands: [lint] }, 'verify: mode "lsp" is not supported. Use "command" or "none".'],
		[{ mode: "profile" }, 'Verification profile "ci": mode "profile" is not supported. Use "command" or "none".'],
		[{ commands: "npm test" }, "verify: commands must be a list of {name, command, timeoutMs?, optional?}."],
		[commands({ command: "true" }), "verify: commands[0].name must be a text that is not empty."],
		[commands({ name: "a", command: " " }), "verify: commands[0].command must be a text that is not empty."],
		[commands({ ...lint, timeoutMs: 0 }), "verify: commands[0].timeoutMs must be a number of milliseconds from 1 to 2147483000."],
		[commands({ ...lint, timeoutMs: "5" }), "verify: commands[0].timeoutMs must be a number of milliseconds from 1 to 2147483000."],
		[commands({ ...lint, optional: "yes" }), "verify: commands[0].optional must be true or false."],
		[{ commands: [lint], onFailure: "explode" }, 'verify: onFailure must be "return_failure", "discard_patch" or "retry_once".'],
		[{ commands: [lint], maxRetries: 1.5 }, "verify: maxRetries must be a whole number, 0 or more."],
		[{ profile: 1 }, "verify: profile must be a text."],
		[7, "verify must be true, false, the name of a profile, or an object with profile or commands."],
		[[lint], "verify must be true, false, the name of a profile, or an object with profile or commands."],
	])("%j", (verify, expected, changed) => {
		expect(problem(verify, changed)).toBe(expected);
	});

	test("without isolation", () => {
		const expected = "Only isolated work can be verified. Call the tool with isolated: true, or without verify.";
		for (const verify of [true, "", "ci", { commands: [lint] }]) expect(problem(verify, {}, false)).toBe(expected);
	});
});
