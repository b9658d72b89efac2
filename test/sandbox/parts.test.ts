/** The parts that build the walls, each alone: programs, variables, the filter of system calls, limits, roots, and the guard. */
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { settings } from "../../src/protocol/settings.ts";
import { insideEnvironment, outsideEnvironment } from "../../src/sandbox/environment.ts";
import { Guard } from "../../src/sandbox/guard.ts";
import { Sandbox } from "../../src/sandbox/index.ts";
import type { Standing } from "../../src/sandbox/leavings.ts";
import { isWithin } from "../../src/sandbox/paths.ts";
import { explain, findPrograms, type MachineKind } from "../../src/sandbox/programs.ts";
import { Quarantine } from "../../src/sandbox/quarantine.ts";
import { type FilterOptions, seccompFilter } from "../../src/sandbox/seccomp.ts";
import type { View } from "../../src/sandbox/view.ts";
import { Walls } from "../../src/sandbox/walls.ts";

/** A machine whose kernel has no watches left. */
vi.mock("node:fs", async (original) => {
	const fs = await original<typeof import("node:fs")>();
	return {
		...fs,
		watch(folder: string, ...rest: unknown[]) {
			if (folder.endsWith("unwatchable")) throw Object.assign(new Error("no watches left"), { code: "ENOSPC" });
			return (fs.watch as (...given: unknown[]) => unknown)(folder, ...rest);
		},
	};
});

let folder: string;
beforeEach(() => {
	folder = realpathSync(mkdtempSync(join(tmpdir(), "bowline-parts-")));
	for (const name of ["work", "home", "user", "unwatchable"]) mkdirSync(join(folder, name));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("why there are no walls, and what to do", () => {
	const linux: MachineKind = { platform: "linux", release: "6.1.0", sandboxExec: "" };
	const program = (name: string, script: string) => {
		const path = join(folder, name);
		writeFileSync(path, `#!/bin/sh\n${script}\n`);
		chmodSync(path, 0o755);
		return path;
	};

	test("a bubblewrap that is missing, too old, broken, or in a place that commands can write to", async () => {
		const packages = expect.stringContaining("apt install bubblewrap, dnf install bubblewrap, pacman -S bubblewrap, apk add bubblewrap");
		// If a root holds everything, a command could have made any program.
		expect(await findPrograms(undefined, ["/"], "", linux)).toEqual({ reason: "bubblewrap is not installed", remedy: packages });
		const old = program("old", "echo bubblewrap 0.4.1");
		expect(await findPrograms(old, [], "", linux)).toEqual({ reason: "bubblewrap 0.4.1 is too old, 0.5 is needed", remedy: packages });
		const broken = program("broken", "exit 127");
		expect(await findPrograms(broken, [], "", linux)).toEqual({ reason: `${broken} does not run`, remedy: packages });
		expect(await findPrograms(old, [folder], "", linux)).toEqual({
			reason: `the program of sandbox.bwrapPath cannot be used: ${old}`,
			remedy: "Name an executable file outside every writable directory.",
		});
		expect(await findPrograms(program("new", "echo bubblewrap 0.11.0"), [], "", linux)).toMatchObject({
			backend: "bubblewrap 0.11.0",
			version: [0, 11],
		});
	});

	test.each<[string, Partial<MachineKind>]>([
		["Windows has no sandbox that Bowline can use", { platform: "win32" }],
		["WSL 1 has no namespaces", { release: "4.4.0-19041-Microsoft" }],
		["there is no sandbox for freebsd", { platform: "freebsd" }],
	])("%s", async (reason, machine) => {
		expect(await findPrograms(undefined, [], "", { ...linux, ...machine })).toEqual({
			reason,
			remedy: expect.stringMatching(/^Use (WSL 2, )?a container with mode external, or mode off\.$/),
		});
	});

	test("WSL 2 is a Linux like any other", async () => {
		const machine = { ...linux, release: "5.15.146.1-microsoft-standard-WSL2" };
		expect(await findPrograms(program("bwrap", "echo bubblewrap 0.8.0"), [], "", machine)).toMatchObject({ backend: "bubblewrap 0.8.0" });
	});

	test.each<[string, boolean, string, RegExp]>([
		[
			"bwrap: setting up uid map: Permission denied",
			false,
			"AppArmor",
			/^AppArmor restricts.*\/usr\/bin\/bwrap.*apparmor_restrict_unprivileged_userns=0/,
		],
		["bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted", false, "AppArmor", /^AppArmor restricts/],
		[
			"bwrap: No permissions to create new namespace, likely because…",
			false,
			"containers",
			/^Enable user namespaces .*seccomp and AppArmor unconfined.*external/,
		],
		["bwrap: Creating new namespace failed: nesting depth or max_user_namespaces exceeded (ENOSPC)", false, "limits", /^Enable user namespaces/],
		["bwrap: setting up uid map: Operation not permitted.", true, "root", /^Run Bowline as an ordinary user: .*SETFCAP/],
		["bwrap: setting up uid map: Operation not permitted", false, "containers of users", /^Enable user namespaces/],
	])("%s (root: %s): %s", (complaint, isRoot, _, remedy) => {
		const found = explain(`a line before it\n${complaint}`, isRoot);
		expect(found.reason).toBe(`bubblewrap cannot make user namespaces: ${complaint.slice("bwrap: ".length).replace(/\.$/, "")}`);
		expect(found.remedy).toMatch(remedy);
	});

	test("a complaint that is not known is handed on", () => {
		expect(explain("bwrap: Can't mount proc", false)).toEqual({ reason: "bubblewrap failed: Can't mount proc", remedy: "See bowline doctor." });
		expect(explain("", false).reason).toBe("bubblewrap failed: it said nothing");
	});
});

describe("variables", () => {
	const given = {
		...{ PATH: "/usr/bin:bin::./x:/opt/bin", HOME: "/home/me", LC_ALL: "C", GIT_AUTHOR_NAME: "Me", VIRTUAL_ENV: "/v", BOWLINE_SESSION_ID: "1" },
		...{ DEPLOY_TOKEN: "t", AWS_REGION: "x", AWS_SECRET_ACCESS_KEY: "k", SSH_AUTH_SOCK: "/run/agent", GOCACHE: "/home/me/.cache/go" },
		...{
			BASH_ENV: "/x",
			ENV: "/x",
			"BASH_FUNC_ls%%": "() { :; }",
			SHELLOPTS: "x",
			PS4: "x",
			PROMPT_COMMAND: "x",
			LD_PRELOAD: "/x.so",
			LD_AUDIT: "/x.so",
		},
		...{ BOWLINE_API_KEY: "k", TMPDIR: "/elsewhere", GIT_DIR: "/x" },
	};

	test("only those of the list arrive, with private caches and absolute entries of PATH", () => {
		expect(insideEnvironment(given, [])).toEqual({
			...{
				PATH: "/usr/bin:/opt/bin",
				HOME: "/home/me",
				LC_ALL: "C",
				GIT_AUTHOR_NAME: "Me",
				VIRTUAL_ENV: "/v",
				BOWLINE_SESSION_ID: "1",
				TMPDIR: "/tmp",
			},
			...{ XDG_CACHE_HOME: "/tmp/.cache", npm_config_cache: "/tmp/.cache/npm", PIP_CACHE_DIR: "/tmp/.cache/pip", GOCACHE: "/tmp/.cache/go-build" },
			...{ GOMODCACHE: "/tmp/.cache/go-mod", YARN_CACHE_FOLDER: "/tmp/.cache/yarn", GRADLE_USER_HOME: "/tmp/.cache/gradle" },
			CARGO_TARGET_DIR: "/tmp/.cache/cargo-target",
		});
	});

	test("sandbox.env adds names, beginnings and everything, but never what changes a shell or opens our own doors", () => {
		const added = (wanted: string[]) => Object.keys(insideEnvironment(given, wanted)).filter((name) => !(name in insideEnvironment(given, [])));
		expect(added(["DEPLOY_TOKEN"])).toEqual(["DEPLOY_TOKEN"]);
		expect(added(["AWS_*"])).toEqual(["AWS_REGION", "AWS_SECRET_ACCESS_KEY"]);
		expect(added(["*"]).sort()).toEqual(["AWS_REGION", "AWS_SECRET_ACCESS_KEY", "DEPLOY_TOKEN", "GIT_DIR", "SSH_AUTH_SOCK"]);
		expect(added(["BASH_ENV", "LD_*", "BOWLINE_API_KEY"])).toEqual([]);
		// A cache that the user passes in on purpose is the user's.
		expect(insideEnvironment(given, ["GOCACHE"]).GOCACHE).toBe("/home/me/.cache/go");
	});

	test("a command outside finds no program in a root, and nothing that changes its shell", () => {
		const outside = outsideEnvironment({ ...given, PATH: "/w/shop/bin:/usr/bin::bin:/w/shopping/bin" }, ["/w/shop"], isWithin);
		expect(outside.PATH).toBe("/usr/bin:/w/shopping/bin");
		expect(Object.keys(outside).filter((name) => /^(BASH|ENV|SHELLOPTS|PS4|PROMPT|LD_)/.test(name))).toEqual([]);
		expect(outside.DEPLOY_TOKEN).toBe("t");
	});
});

describe("the filter of system calls", () => {
	const errno: Record<number, string> = { 1: "EPERM", 38: "ENOSYS", 97: "EAFNOSUPPORT" };

	/** What the kernel would do: its packet filter has few instructions. */
	function verdict(options: Partial<FilterOptions>, number: number, args: number[] = [], architecture = 0xc000003e): string {
		const program = seccompFilter({ processor: "x64", noUnixSockets: false, noNamespaces: false, ...options });
		let value = 0;
		for (let at = 0; at < program.length; at += 8) {
			const [code, ifTrue, ifFalse] = [program.readUInt16LE(at), program.readUInt8(at + 2), program.readUInt8(at + 3)];
			const operand = program.readUInt32LE(at + 4);
			const skip = (isSo: boolean) => {
				at += 8 * (isSo ? ifTrue : ifFalse);
			};
			if (code === 0x20) value = operand === 0 ? number : operand === 4 ? architecture : (args[(operand - 16) / 8] ?? 0);
			else if (code === 0x15) skip(value === operand);
			else if (code === 0x35) skip(value >= operand);
			else if (code === 0x45) skip((value & operand) !== 0);
			else if (code === 0x06) return operand === 0x7fff0000 ? "allowed" : operand === 0x80000000 ? "killed" : (errno[operand & 0xffff] as string);
			else throw new Error(`unknown instruction ${code}`);
		}
		throw new Error("the program has no end");
	}
	const arm: [Partial<FilterOptions>, number] = [{ processor: "arm64" }, 0xc00000b7];

	test("sockets: unix, both kinds of internet and netlink, and no other family", () => {
		const families = [1, 2, 10, 16, 17, 38, 40];
		const expected = ["allowed", "allowed", "allowed", "allowed", "EAFNOSUPPORT", "EAFNOSUPPORT", "EAFNOSUPPORT"];
		expect(families.map((family) => verdict({}, 41, [family]))).toEqual(expected);
		expect(families.map((family) => verdict(arm[0], 198, [family], arm[1]))).toEqual(expected);
		expect(verdict({ noUnixSockets: true }, 41, [1])).toBe("EAFNOSUPPORT");
		expect(verdict({ noUnixSockets: true }, 41, [2])).toBe("allowed");
	});

	test("keys, rings, tracing and modules of the kernel, and typing into a terminal", () => {
		// add_key request_key keyctl io_uring_* bpf perf_event_open userfaultfd kexec_load kexec_file_load init_module finit_module delete_module
		const refused = { x64: [248, 249, 250, 425, 426, 427, 321, 298, 323, 246, 320, 175, 313, 176] };
		expect(refused.x64.filter((number) => verdict({}, number) !== "EPERM")).toEqual([]);
		const onArm = [217, 218, 219, 425, 426, 427, 280, 241, 282, 104, 294, 105, 273, 106];
		expect(onArm.filter((number) => verdict(arm[0], number, [], arm[1]) !== "EPERM")).toEqual([]);
		expect([0x5412, 0x541c, 0x5413].map((request) => verdict({}, 16, [0, request]))).toEqual(["EPERM", "EPERM", "allowed"]);
		expect([0x5412, 0x541c, 0x5413].map((request) => verdict(arm[0], 29, [0, request], arm[1]))).toEqual(["EPERM", "EPERM", "allowed"]);
		// read, execve and ptrace: debuggers work.
		expect([0, 59, 101].map((number) => verdict({}, number))).toEqual(["allowed", "allowed", "allowed"]);
	});

	test("calls of another architecture end the process, and those of x32 do not exist", () => {
		expect(verdict({}, 0, [], 0x40000003)).toBe("killed");
		expect(verdict(arm[0], 0, [], 0xc000003e)).toBe("killed");
		expect(verdict({}, 0x40000000)).toBe("ENOSYS");
		expect(verdict({}, 0x40000000 + 41, [40])).toBe("ENOSYS");
	});

	test("namespaces and mounts, where bubblewrap is too old to forbid them", () => {
		const old = { noNamespaces: true };
		// unshare setns mount umount2 pivot_root open_tree move_mount fsopen fsconfig fsmount mount_setattr
		const calls = [272, 308, 165, 166, 155, 428, 429, 430, 431, 432, 442];
		expect(calls.filter((number) => verdict(old, number) !== "EPERM")).toEqual([]);
		expect(calls.filter((number) => verdict({}, number) !== "allowed")).toEqual([]);
		expect([0x10000000, 0x20000, 0x40000000, 0x11].map((flags) => verdict(old, 56, [flags]))).toEqual(["EPERM", "EPERM", "EPERM", "allowed"]);
		expect([verdict(old, 435), verdict({}, 435)]).toEqual(["ENOSYS", "allowed"]);
	});
});

const emptyView: View = { writable: [], protected: [], placeholders: [], hidden: [], shown: [], forbidden: [], links: [], temporary: {} };

test.runIf(process.platform === "linux")("more words than bubblewrap takes are refused with the reason, before anything is started", async () => {
	const programs = {
		backend: "",
		bwrap: "/nowhere/bwrap",
		version: [0, 8] as const,
		nsenter: undefined,
		sh: "/bin/sh",
		bash: "/bin/bash",
		git: undefined,
	};
	const options = {
		programs,
		view: () => emptyView,
		seccompFile: undefined,
		network: "off" as const,
		env: ["*"],
		maxProcesses: 0,
		logDirectory: folder,
	};
	const environment = Object.fromEntries(Array.from({ length: 3000 }, (_, index) => [`VARIABLE_${index}`, "x"]));
	await expect(new Walls(options).enclose({ file: "/bin/true", args: [], cwd: folder, environment })).rejects.toThrow(
		/^The sandbox would need 9\d\d\d words, more than 9000\. Work in a smaller directory\.$/,
	);
});

describe("roots", () => {
	/** Mode external has the same roots, and needs no programs. */
	async function stateOf(cwd: string, changes: Record<string, unknown> = {}) {
		const given: Record<string, unknown> = { "sandbox.mode": "external", ...changes };
		const sandbox = new Sandbox({
			cwd,
			userDirectory: join(folder, "user"),
			env: { HOME: join(folder, "home"), PATH: "/usr/bin" },
			setting: (name) => (given[name] ?? settings[name].default) as never,
		});
		await sandbox.open();
		await sandbox.close();
		return sandbox.state;
	}

	test("a working directory that is reached through a link is a root where it really is", async () => {
		symlinkSync("work", join(folder, "link"));
		expect((await stateOf(join(folder, "link"))).writable).toEqual([join(folder, "work")]);
	});

	test("a root inside another is not counted twice", async () => {
		mkdirSync(join(folder, "work/inner"));
		expect((await stateOf(join(folder, "work/inner"), { "sandbox.writable": [join(folder, "work")] })).writable).toEqual([join(folder, "work")]);
	});

	test("directories that hold everything, a home, or Bowline, and what is not a directory, are refused by name", async () => {
		const refused = async (path: string) => (await stateOf(join(folder, "work"), { "sandbox.writable": [path] })).reason;
		writeFileSync(join(folder, "file"), "");
		mkdirSync(join(folder, "above/home"), { recursive: true });
		renameSync(join(folder, "home"), join(folder, "above/home"));
		symlinkSync("above/home", join(folder, "home"));
		expect(await refused("/")).toBe("/ cannot be a directory to write to: it holds everything");
		expect(await refused(join(folder, "home"))).toBe(`${folder}/home cannot be a directory to write to: it holds a home directory`);
		expect(await refused(join(folder, "above"))).toMatch(/above cannot be a directory to write to: it holds a home directory$/);
		expect(await refused(folder)).toMatch(/it holds Bowline's own files$/);
		expect(await refused(join(import.meta.dirname, "../.."))).toMatch(/it holds Bowline itself$/);
		expect(await refused(join(folder, "file"))).toMatch(/it is not a directory$/);
		expect(await refused(join(folder, "missing"))).toMatch(/it is not a directory$/);
	});
});

describe("the guard", () => {
	const standing = { opened: new Set<string>(), stores: new Set<string>(), bare: new Set<string>() };
	function scene() {
		const ends: string[] = [];
		const compared: Standing[] = [];
		const guard = new Guard({
			quarantine: new Quarantine(join(folder, "quarantine"), () => 1),
			endAll: async () => void ends.push("all"),
			hasBackground: async () => false,
			inspect: () => ({ traps: [], standing }),
			undo: async (before) => {
				compared.push(before);
				return { texts: [], left: [] };
			},
			giveUp: () => undefined,
		});
		return { guard, ends, compared };
	}
	const file = (name: string) => {
		writeFileSync(join(folder, name), "x");
		return join(folder, name);
	};

	test("says where folders cannot be watched", () => {
		const { guard } = scene();
		expect(guard.prepare({ ...emptyView, protected: [file("work/a")] }, standing)).toBe(true);
		expect(guard.prepare({ ...emptyView, protected: [file("unwatchable/a")] }, standing)).toBe(false);
		guard.close();
	});

	test("forgets a copy when its commands have ended, and nothing that another command needs", async () => {
		const { guard, ends } = scene();
		const [shared, own] = [file("work/shared"), file("work/own")];
		const [one, two] = [
			{ ...emptyView, protected: [shared, own] },
			{ ...emptyView, protected: [shared] },
		];
		for (const view of [one, two]) guard.prepare(view);
		const [first, second] = [guard.follow(one), guard.follow(two)];
		await first();
		rmSync(own);
		await guard.check();
		expect(ends).toEqual([]);
		rmSync(shared);
		expect(await second()).toEqual({ breach: `The sandbox was rebuilt because ${shared} was changed from outside.` });
		expect(ends).toEqual(["all"]);
		guard.close();
	});

	test("goes on watching what the project itself needs, also when a copy had the same path", async () => {
		const { guard, ends } = scene();
		const path = file("work/both");
		guard.prepare({ ...emptyView, protected: [path] }, standing);
		const copy = { ...emptyView, protected: [path] };
		guard.prepare(copy);
		await guard.follow(copy)();
		rmSync(path);
		await guard.check();
		expect(ends).toEqual(["all"]);
		guard.close();
	});

	test("what a person let a tool write while a command runs is no leaving of that command", async () => {
		const { guard, compared } = scene();
		const view = { ...emptyView, writable: [join(folder, "work")] };
		guard.prepare(view, standing);
		const ended = guard.follow(view);
		guard.allow(join(folder, "work/sub/.vscode/settings.json"));
		guard.allow(join(folder, "work/src/file.ts"));
		await ended();
		expect(compared.map(({ opened }) => [...opened])).toEqual([[join(folder, "work/sub/.vscode")]]);
		guard.close();
	});

	test("lets worktrees be removed, and ends everything when the configuration is", async () => {
		const { guard, ends } = scene();
		mkdirSync(join(folder, "work/.git/worktrees/one"), { recursive: true });
		const config = file("work/.git/config");
		guard.prepare({ ...emptyView, protected: [config, join(folder, "work/.git/worktrees/one")] }, standing);
		rmSync(join(folder, "work/.git/worktrees/one"), { recursive: true });
		await guard.check();
		expect(ends).toEqual([]);
		rmSync(config);
		await guard.check();
		expect(ends).toEqual(["all"]);
		guard.close();
	});
});
