/** What the doctor says about each kind of machine. */
import { expect, test } from "vitest";
import { advice, closedGit, findingOf } from "../../src/app/commands/doctor-sandbox.ts";
import type { SandboxState } from "../../src/protocol/sandbox.ts";

const built: SandboxState = { mode: "workspace-write", active: true, verified: true, backend: "bubblewrap 0.8.0", cell: true, seccomp: true };
const missing: SandboxState = {
	mode: "workspace-write",
	active: false,
	verified: false,
	reason: "bubblewrap is not installed",
	remedy: "Install it.",
};

test("walls that hold, and what they lack on this machine", () => {
	const text = "workspace-write, bubblewrap 0.8.0: every way out that was tried is closed";
	expect(findingOf(built, true)).toEqual({ state: "ok", text });
	expect(findingOf({ ...built, cell: false }, true).text).toBe(
		`${text}; the cell cannot be entered or nsenter is missing, so background processes end with their command`,
	);
	expect(findingOf({ ...built, seccomp: false }, true).text).toBe(`${text}; system calls are not filtered on this processor`);
	expect(findingOf({ ...built, backend: "seatbelt", cell: false }, true).text).toContain("on macOS commands have no processes and no loopback");
});

test("walls that a session asks for and does not get are a failure; where none is asked for they are a note", () => {
	expect(findingOf(missing, true)).toEqual({ state: "fail", text: "not available: bubblewrap is not installed", remedy: "Install it." });
	expect(findingOf(missing, false)).toEqual({ state: "note", text: "off, and not available: bubblewrap is not installed", remedy: "Install it." });
	expect(findingOf(built, false)).toEqual({
		state: "ok",
		text: "off; it works here with bubblewrap 0.8.0",
		remedy: "Turn it on with --sandbox workspace-write.",
	});
	expect(findingOf({ mode: "external", active: true, verified: false }, true)).toEqual({
		state: "note",
		text: "external: your container is the sandbox, and nothing was tested",
	});
});

test("root, and rules that commands do not have to keep", () => {
	const rules = [{ action: "deny" as const, tool: "read", path: "**/.env" }];
	const texts = (isAsked: boolean, isRoot: boolean) => advice({ isAsked, isRoot, rules }).map(({ text }) => text.split(":")[0]);
	expect(texts(true, true)).toEqual(["running as root"]);
	expect(texts(true, false)).toEqual([]);
	expect(texts(false, true)).toEqual(["rules about paths hold for file tools only"]);
	expect(advice({ isAsked: false, isRoot: false, rules: [{ action: "allow", tool: "read", path: "**" }] })).toEqual([]);
});

test("a link in the git directory is named, because commands inside cannot commit", () => {
	expect(closedGit([])).toEqual([]);
	expect(closedGit(["/p/.git/logs is a link to /elsewhere, and git would write through it"])).toEqual([
		{
			state: "note",
			text: "commands inside cannot commit: /p/.git/logs is a link to /elsewhere, and git would write through it",
			remedy: "Remove the link if you did not make it: git outside would write through it, too.",
		},
	]);
});
