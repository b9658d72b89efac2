/** Tools of hosts and extensions that declare paths run outside the sandbox, and leave nothing out below a directory. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { pathsNamed } from "../../src/lib/tool-effect.ts";
import { Gate } from "../../src/permissions/gate.ts";
import type { PermissionMode, PermissionRecord, PermissionRule, PermissionSubject, SourcedRule } from "../../src/protocol/permissions.ts";
import { resolveExisting, resolvePath } from "../../src/tools/paths.ts";

let home = "";
let cwd = "";
beforeAll(() => {
	home = realpathSync(mkdtempSync(join(tmpdir(), "bowline-declared-")));
	cwd = join(home, "shop");
	for (const directory of ["shop/keys", "shop/src", "own"]) mkdirSync(join(home, directory), { recursive: true });
	for (const file of ["shop/keys/k", "shop/package.json", "own/permissions.jsonc", "own/other"]) writeFileSync(join(home, file), "{}");
});
afterAll(() => rmSync(home, { recursive: true }));

interface Case {
	source?: "built-in" | "extension";
	kind?: "read" | "write";
	mode?: PermissionMode;
	sandbox?: PermissionSubject["sandbox"];
	rules?: readonly PermissionRule[];
}

/** What happens to a call where nobody can be asked. */
async function judged(path: string, { source = "extension", kind = "read", mode = "edit", sandbox = "off", rules = [] }: Case = {}) {
	const records: PermissionRecord[] = [];
	const gate = new Gate({
		place: {
			cwd,
			roots: () => [cwd],
			given: async () => [],
			reading: () => ({ home, secrets: [join(cwd, "keys"), join(home, "own")], temporary: [], open: [] }),
			protectedFiles: async () => [],
			sandbox: () => ({ mode: sandbox, isVerified: true }),
			hasEscalation: false,
			toolOf: () => ({ source, effect: { kind, paths: pathsNamed(["file"], {}) } }),
			pathOf: async (each) => resolveExisting(cwd, each).catch(() => resolvePath(cwd, each)),
			writtenPaths: (each) => [resolvePath(cwd, each)],
			searchPath: async () => undefined,
			isKnownShell: true,
			looksAtChanges: true,
			grantsFile: join(home, "own/permissions.jsonc"),
		},
		rules: rules.map((rule): SourcedRule => ({ ...rule, source: "user" })),
		grants: { file: undefined, project: cwd },
		home,
		mode: () => mode,
		route: () => "nobody",
		dialog: async () => ({ hasTimedOut: false }),
		onSilence: () => undefined,
		settings: { timeoutMs: 0, onTimeout: "deny", grantsLapse: false },
		ownFiles: () => [],
		hasOuterDeadline: false,
		isHermetic: false,
		preview: async () => undefined,
		halts: () => [],
		skipsOnSteering: () => false,
		record: (record) => records.push(record),
		onUnasked: () => undefined,
		emit: () => undefined,
		abortRun: () => undefined,
		warn: () => undefined,
		newId: () => "id",
		now: () => 0,
	});
	const call = { toolCallId: "t", toolName: "own", input: { file: path }, batch: { index: 0, count: 1 } };
	const decision = await gate.policy.beforeTool?.(call, new AbortController().signal);
	if (!decision || !("denied" in decision)) return "allowed";
	return records.at(-1)?.by === "nobody" ? "asked" : "denied";
}

test("a sandbox hides nothing from such a tool, so credentials and places elsewhere are asked about as without one", async () => {
	for (const path of ["keys/k", "../own/other", "/etc/hosts"]) {
		expect([path, await judged(path, { sandbox: "workspace-write" })]).toEqual([path, "asked"]);
		expect([path, await judged(path, { sandbox: "workspace-write", source: "built-in" })]).toEqual([path, "allowed"]);
		// It is in a sandbox that holds the whole agent.
		expect([path, await judged(path, { sandbox: "external" })]).toEqual([path, "allowed"]);
	}
	expect(await judged("src", { sandbox: "workspace-write" })).toBe("allowed");
});

test("a directory that holds credentials is asked about like the credentials", async () => {
	for (const mode of ["plan", "ask", "edit"] as const) expect([mode, await judged(".", { mode })]).toEqual([mode, "asked"]);
	expect(await judged(".", { source: "built-in" })).toBe("allowed");
	expect(await judged("src")).toBe("allowed");
});

test("a directory that holds the user's own answers is asked about whatever rules and modes say", async () => {
	const rules: PermissionRule[] = [{ action: "allow", tool: "*" }];
	for (const kind of ["read", "write"] as const) {
		expect(await judged("../own", { kind, mode: "full", rules })).toBe("asked");
		expect(await judged("../own/permissions.jsonc", { kind, mode: "full", rules })).toBe("denied");
		expect(await judged("../own/other", { kind, mode: "full", rules })).toBe("allowed");
	}
});

test("a write of a directory is asked about where a rule is about files that run later", async () => {
	for (const action of ["ask", "deny"] as const) {
		const rules: PermissionRule[] = [{ action, runsLater: true }];
		expect(await judged(".", { kind: "write", mode: "full", rules })).toBe("asked");
		expect(await judged(".", { kind: "read", mode: "full", rules })).toBe("allowed");
	}
});
