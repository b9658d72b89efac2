/** The command line as clients of the family write it. */
import { describe, expect, test } from "vitest";
import { versionText } from "../../src/app/version.ts";
import { parseArguments, refuseUnknown } from "../../src/live/arguments.ts";

const optionsOf = (...argv: string[]) => {
	const parsed = parseArguments(argv);
	return "problem" in parsed ? parsed.problem : parsed.options;
};

describe("flags that clients pass", () => {
	test.each([
		[["--resume", "s.jsonl"], { session: "s.jsonl" }],
		[["--resume=5e55"], { session: "5e55" }],
		[["--resume"], { continue: true }],
		[["--resume", "--verbose"], { continue: true, verbose: true }],
		[["-p", "--resume", "a prompt"], { print: true, continue: true }],
		[["--mode", "json", "--resume", "a prompt"], { mode: "json", continue: true }],
		[["-p", "--resume=s.jsonl", "a prompt"], { print: true, session: "s.jsonl" }],
		[["--mode", "rpc-ui"], { mode: "rpc" }],
		[["--mode=rpc-ui"], { mode: "rpc" }],
		[["--list-models"], { "list-models": true }],
		[["--list-models", "opus"], { "list-models": "opus" }],
		[["--no-builtin-tools"], { "no-tools": true }],
		[
			["-ne", "-ns", "-np", "-nc", "-nt", "-a", "-n", "e"],
			{
				"no-extensions": true,
				"no-skills": true,
				"no-prompt-templates": true,
				"no-context-files": true,
				"no-tools": true,
				approve: true,
				name: "e",
			},
		],
	])("%j", (argv, options) => {
		expect(optionsOf(...argv)).toEqual(options);
	});

	test.each([
		["always-ask", "ask"],
		["default", "ask"],
		["auto-edit", "edit"],
		["accept-edits", "edit"],
		["write", "edit"],
		["read-only", "plan"],
		["yolo", "full"],
		["never", "full"],
		["bypass", "full"],
	])("--approval-mode %s means --permission-mode %s", (word, mode) => {
		expect(optionsOf("--approval-mode", word)).toEqual({ "permission-mode": mode });
	});

	test("a prompt after --resume stays a prompt", () => {
		expect(parseArguments(["-p", "--resume", "a prompt"])).toMatchObject({ words: ["a prompt"] });
	});

	test.each([
		["--approval-mode", "sometimes", /^--approval-mode must be plan or ask or edit or full, not "sometimes"/],
		["--mode", "rpc-uis", /^--mode must be text or json or rpc/],
	])("%s %s is refused in words", (flag, value, words) => {
		expect(optionsOf(flag, value)).toMatch(words);
	});

	test.each(["no-color", "no-telemetry", "no-update-check", "no-lsp"])("--%s is accepted with a warning", (name) => {
		const warnings: string[] = [];
		refuseUnknown([{ name, value: undefined, following: undefined, at: 0 }], (text) => warnings.push(text));
		expect(warnings).toEqual([`Unknown flag --${name} has no effect.`]);
	});

	test.each(["no-network", "no-write", "no-bash"])("--%s might be meant to restrict the agent, and is refused", (name) => {
		expect(() => refuseUnknown([{ name, value: undefined, following: undefined, at: 0 }], () => undefined)).toThrow(`Unknown flag: --${name}`);
	});
});

test("--version prints ours, or the one that a host looks for", () => {
	expect(versionText({})).toMatch(/^bowline \d+\.\d+\.\d+ \(node /);
	expect(versionText({ BOWLINE_REPORTED_VERSION: "0.87.1" })).toBe("0.87.1");
});
