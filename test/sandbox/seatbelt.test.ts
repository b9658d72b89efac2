/** The walls of macOS: the profile as text, and everything around it on this machine with a program in place of sandbox-exec. */
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Shell } from "../../src/lib/shell/index.ts";
import { type SettingName, settings } from "../../src/protocol/settings.ts";
import { ConfinedFiles } from "../../src/sandbox/files.ts";
import { Sandbox } from "../../src/sandbox/index.ts";
import { seatbeltEnclosure, seatbeltProfile } from "../../src/sandbox/seatbelt.ts";
import type { View } from "../../src/sandbox/view.ts";
import { testUnless } from "../unless.ts";
import { folderOutsideTmp, missing } from "./support.ts";

const view = (changes: Partial<View> = {}): View => ({
	writable: ["/w/shop"],
	protected: [],
	placeholders: [],
	hidden: [],
	shown: [],
	forbidden: [],
	links: [],
	temporary: { "/u/.bowline/sandbox/1/tmp": "/u/.bowline/sandbox/1/tmp" },
	...changes,
});
const profile = (changes: Partial<View> = {}, network: "off" | "hosts" | "on" = "off", proxyPort?: number) =>
	seatbeltProfile({ view: view(changes), network, proxyPort });
const lines = (...given: Parameters<typeof profile>) => profile(...given).split("\n");

describe("the profile", () => {
	test("of a project, as a whole", () => {
		const text = profile({
			protected: ["/w/shop/.git/hooks"],
			placeholders: [{ path: "/w/shop/.bowline", kind: "directory" }],
			hidden: [
				{ path: "/u/.ssh", kind: "directory" },
				{ path: "/u/.bowline", kind: "directory" },
				{ path: "/w/shop/.env", kind: "file" },
			],
			shown: ["/u/.bowline/skills"],
			forbidden: ["/w/shop/.git/commondir"],
		});
		expect(text).toBe(`(version 1)
(allow default)
(deny file-write* file-link)
(allow file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (literal "/dev/stdout") (literal "/dev/stderr") (literal "/dev/dtracehelper") (subpath "/dev/fd"))
(deny file-read* file-write* file-link (subpath "/u/.bowline"))
(deny file-read* file-write* file-link (subpath "/u/.ssh"))
(allow file-read* file-write* file-link (subpath "/w/shop"))
(allow file-read* (subpath "/u/.bowline/skills"))
(deny file-read* file-write* file-link (subpath "/w/shop/.env"))
(allow file-read* file-write* file-link (subpath "/u/.bowline/sandbox/1/tmp"))
(allow file-read-metadata (literal "/u/.bowline"))
(allow file-read-metadata (literal "/u/.bowline/sandbox"))
(allow file-read-metadata (literal "/u/.bowline/sandbox/1"))
(deny file-write* file-link (subpath "/w/shop/.bowline") (regex "^/[wW]/[sS][hH][oO][pP]/\\\\.[bB][oO][wW][lL][iI][nN][eE](/|$)"))
(deny file-write* file-link (subpath "/w/shop/.git/commondir") (regex "^/[wW]/[sS][hH][oO][pP]/\\\\.[gG][iI][tT]/[cC][oO][mM][mM][oO][nN][dD][iI][rR](/|$)"))
(deny file-write* file-link (subpath "/w/shop/.git/hooks") (regex "^/[wW]/[sS][hH][oO][pP]/\\\\.[gG][iI][tT]/[hH][oO][oO][kK][sS](/|$)"))
(deny file-write-unlink (literal "/w/shop"))
(deny file-write-unlink (literal "/w/shop/.git"))
(deny network*)
(deny mach-lookup mach-register mach-priv* appleevent-send)
(allow mach-lookup (global-name "com.apple.bsd.dirhelper") (global-name "com.apple.logd") (global-name "com.apple.system.logger") (global-name "com.apple.system.notification_center") (global-name "com.apple.system.opendirectoryd.libinfo") (global-name "com.apple.system.opendirectoryd.membership"))
(deny process-info* signal)
(allow process-info* signal (target same-sandbox))
`);
	});

	test("what is seen as a copy on Linux cannot be read at all, nor be moved with its folder", () => {
		const found = lines({ replaced: [{ path: "/w/shop/api/.env", source: "/copy", isMasked: true }] });
		expect(found).toContain(
			'(deny file-read* file-write* file-link (literal "/w/shop/api/.env") (regex "^/[wW]/[sS][hH][oO][pP]/[aA][pP][iI]/\\\\.[eE][nN][vV](/|$)"))',
		);
		expect(found).toContain('(deny file-write-unlink (literal "/w/shop/api"))');
	});

	test("nothing but temporary files can be written where there is no root", () => {
		const allowed = lines({ writable: [] }).filter((line) => line.startsWith("(allow file") && line.includes("write"));
		expect(allowed).toEqual([
			expect.stringContaining('(literal "/dev/null")'),
			'(allow file-read* file-write* file-link (subpath "/u/.bowline/sandbox/1/tmp"))',
		]);
	});

	test("quotes, backslashes, spaces and signs of patterns in paths mean themselves", () => {
		const root = '/w/a "b" \\c (d)[e]{f}+$^|?*.g';
		const found = lines({ writable: [root], protected: [`${root}/x`] });
		expect(found).toContain('(allow file-read* file-write* file-link (subpath "/w/a \\"b\\" \\\\c (d)[e]{f}+$^|?*.g"))');
		const [rule = ""] = found.filter((line) => line.includes("(regex "));
		// Read as Scheme reads it, then as a pattern.
		const [, pattern = ""] = /\(regex "((?:[^"\\]|\\.)*)"\)/.exec(rule) ?? [];
		const matcher = new RegExp(pattern.replace(/\\(.)/g, "$1"));
		for (const path of [`${root}/x`, `${root}/X/y`]) expect(matcher.test(path), path).toBe(true);
		for (const path of [`${root}/xy`, `/v${root}/x`, root, "/w/a"]) expect(matcher.test(path), path).toBe(false);
	});

	test("a path with control characters is refused, not misread", () => {
		expect(() => profile({ writable: ["/w/a\n(allow default)"] })).toThrow(/control characters: "\/w\/a\\n/);
	});

	test("a protected path that is not there yet is closed, and so are renames of every folder above it and of roots", () => {
		const found = lines({ writable: ["/w/shop", "/w/more"], protected: ["/w/shop/a/b/missing"] });
		for (const path of ["/w/shop", "/w/more", "/w/shop/a", "/w/shop/a/b"]) expect(found).toContain(`(deny file-write-unlink (literal "${path}"))`);
		const allowed = found.indexOf('(allow file-read* file-write* file-link (subpath "/w/shop"))');
		const closed = found.findIndex((line) => line.startsWith('(deny file-write* file-link (subpath "/w/shop/a/b/missing")'));
		expect(closed).toBeGreaterThan(allowed);
	});

	test("a root in a hidden home is open, a hidden path in that root is not, and what is hidden and shown is shown", () => {
		const found = lines({
			writable: ["/u/w"],
			hidden: ["/u", "/u/w/secret", "/u/bin"].map((path) => ({ path, kind: "directory" as const })),
			shown: ["/u/bin"],
		}).filter((line) => /file-read/.test(line));
		expect(found).toEqual([
			'(deny file-read* file-write* file-link (subpath "/u"))',
			'(allow file-read* (subpath "/u/bin"))',
			'(allow file-read* file-write* file-link (subpath "/u/w"))',
			'(deny file-read* file-write* file-link (subpath "/u/w/secret"))',
			'(allow file-read* file-write* file-link (subpath "/u/.bowline/sandbox/1/tmp"))',
			...["/u", "/u/.bowline", "/u/.bowline/sandbox", "/u/.bowline/sandbox/1"].map((path) => `(allow file-read-metadata (literal "${path}"))`),
		]);
	});

	test("the network: off, the proxy's port only, on without sockets of other programs", () => {
		const rules = (...given: Parameters<typeof profile>) => lines(...given).filter((line) => line.includes("network"));
		expect(rules({}, "off", 4000)).toEqual(["(deny network*)"]);
		expect(rules({}, "hosts", 4000)).toEqual(["(deny network*)", '(allow network-outbound (remote ip "localhost:4000"))']);
		expect(rules({}, "hosts")).toEqual(["(deny network*)"]);
		expect(rules({}, "on")).toEqual([
			"(deny network-outbound (remote unix-socket))",
			'(allow network-outbound (literal "/private/var/run/mDNSResponder"))',
		]);
		expect(profile({}, "on")).toContain("com.apple.trustd.agent");
	});

	test("a profile that no command line can hold is refused", () => {
		const many = Array.from({ length: 5000 }, (_, index) => `/w/shop/${"folder".repeat(4)}/${index}`);
		expect(() => profile({ protected: many })).toThrow(/Work in a smaller directory/);
	});

	test("is the second word of sandbox-exec, and the program follows as it is", () => {
		const start = { file: "/bin/echo", args: ["-p", "a b"], cwd: "/w/shop", environment: {} };
		const { file, args } = seatbeltEnclosure({
			...{ view: view(), network: "off", start, environment: {} },
			...{ program: "/usr/bin/sandbox-exec", bash: "/bin/bash" },
		});
		expect([file, ...args.slice(0, 5)]).toEqual(["/usr/bin/sandbox-exec", "-p", profile(), "--", "/bin/bash", "-c"]);
		expect(args.slice(6)).toEqual(["sh", "/w/shop", "/bin/echo", "-p", "a b"]);
	});
});

describe.skipIf(process.platform === "win32")("a session", () => {
	let folder: string;
	let opened: Sandbox[] = [];
	beforeEach(() => {
		folder = folderOutsideTmp();
		for (const name of ["home", "user", "work"]) mkdirSync(join(folder, name));
	});
	afterEach(async () => {
		for (const sandbox of opened) await sandbox.close();
		opened = [];
		rmSync(folder, { recursive: true, force: true });
	});

	/** As on macOS, with this script in place of sandbox-exec. */
	async function open(script: string | undefined, changes: Partial<Record<SettingName, unknown>> = {}): Promise<Sandbox> {
		const sandboxExec = join(folder, "sandbox-exec");
		if (script !== undefined) writeFileSync(sandboxExec, `#!/bin/bash\nprofile=$2; shift 3\n${script}\n`);
		if (script !== undefined) chmodSync(sandboxExec, 0o755);
		const values: Partial<Record<SettingName, unknown>> = { "sandbox.mode": "workspace-write", ...changes };
		const sandbox = new Sandbox({
			cwd: join(folder, "work"),
			userDirectory: join(folder, "user"),
			env: { PATH: "/usr/bin:/bin", HOME: join(folder, "home") },
			setting: (name) => (values[name] ?? settings[name].default) as never,
			machine: { platform: "darwin", sandboxExec },
		});
		opened.push(sandbox);
		await sandbox.open();
		return sandbox;
	}

	test("says that sandbox-exec is missing, and refuses prompts", async () => {
		const { state, refusal } = await open(undefined);
		expect(state).toMatchObject({ active: false, verified: false, reason: `${join(folder, "sandbox-exec")} is missing, which is part of macOS` });
		expect(refusal).toContain("mode external");
	});

	test("finds out a sandbox-exec that only pretends", async () => {
		const { state, confinement } = await open('exec "$@"');
		expect(state).toMatchObject({
			active: false,
			verified: false,
			reason: expect.stringMatching(/^the sandbox does not hold: .*write_protected open/),
		});
		for (const name of ["connect", "write_outside", "read_hidden", "processes"]) expect(state.probes).toContainEqual({ name, result: "open" });
		expect(confinement).toBeUndefined();
	});

	test("says what sandbox-exec says of a profile that it does not take", async () => {
		const { state } = await open('echo "sandbox-exec: unbound variable: file-link" >&2; exit 65');
		expect(state).toMatchObject({ active: false, reason: expect.stringContaining("unbound variable: file-link") });
	});

	/** Does with mounts what the profile asks the other kernel for. */
	const holding = () => `
echo "$profile" > ${folder}/profile
private=$(echo ${folder}/user/sandbox/*)
exec bwrap --ro-bind / / --dev /dev --proc /proc --ro-bind /proc/sys /proc/sys --tmpfs ${folder}/user --bind $private/tmp $private/tmp \\
	--ro-bind $private/logs $private/logs --bind ${folder}/work ${folder}/work --ro-bind ${folder}/work/.bowline ${folder}/work/.bowline \\
	--unshare-user --unshare-pid --unshare-net --cap-drop ALL -- "$@"`;

	testUnless(missing)("runs commands once every probe is blocked", async () => {
		const sandbox = await open(holding(), { "sandbox.network": "hosts" });
		expect(sandbox.state).toMatchObject({ active: true, verified: true, backend: "seatbelt", cell: false, seccomp: false, limits: {} });
		const plain = { stream: () => ({ push: (chunk: Buffer) => chunk, end: () => Buffer.alloc(0) }) };
		const { confinement } = sandbox;
		expect([confinement?.canOutlive, sandbox.readingConfinement?.canOutlive, sandbox.gitConfinement?.canOutlive]).toEqual([true, true, true]);
		const shell = new Shell({
			cwd: join(folder, "work"),
			environment: () => ({ PATH: "/usr/bin:/bin", HOME: "/h", SECRET_TOKEN: "x" }),
			redact: plain as never,
			...(confinement && { confinement }),
		});
		try {
			const command = 'pwd; echo here > made; echo "$SECRET_TOKEN"; echo "$TMPDIR" "$XDG_CACHE_HOME"; echo "$HTTPS_PROXY"; exit 3';
			const { output, exitCode } = await shell.run({ command });
			const [directory, secret, places = "", proxy = ""] = output.split("\n");
			expect([exitCode, directory, secret]).toEqual([3, join(folder, "work"), ""]);
			const [temporary] = sandbox.temporaryDirectories;
			expect(places).toBe(`${temporary} ${temporary}/.cache`);
			expect(sandbox.description).toContain(`${temporary} are writable`);
			expect(readFileSync(join(folder, "work/made"), "utf8")).toBe("here\n");
			expect(readFileSync(join(folder, "profile"), "utf8")).toContain(`(remote ip "localhost:${new URL(proxy).port}")`);
			expect(Number(new URL(proxy).port)).toBeGreaterThan(1023);
		} finally {
			await shell.close();
		}
	});

	test("file tools write and read without /proc, and do not take another case for another file", async () => {
		const root = join(folder, "work");
		for (const name of ["home/.ssh", "private"]) mkdirSync(join(folder, name));
		writeFileSync(join(folder, "home/.ssh/key"), "PRIVATE");
		const temporary = join(folder, "private");
		const seen = view({
			writable: [root],
			protected: [join(root, ".envrc")],
			hidden: [{ path: join(folder, "home/.ssh"), kind: "directory" }],
			temporary: { [temporary]: temporary },
		});
		const files = new ConfinedFiles(() => seen, "darwin");
		await files.write(join(root, "a/b/c.txt"), Buffer.from("one"));
		await files.write(join(root, "a/b/c.txt"), Buffer.from("two"));
		expect(readFileSync(join(root, "a/b/c.txt"), "utf8")).toBe("two");
		expect(await files.list(join(root, "a"))).toEqual(["b/"]);
		await files.write(join(temporary, "t"), Buffer.from("t"));
		for (const name of [".envrc", ".ENVRC"]) await expect(files.write(join(root, name), Buffer.from("x"))).rejects.toThrow("the sandbox protects it");
		await expect(files.write(join(folder, "outside"), Buffer.from("x"))).rejects.toThrow("lets tools write only in");
		await expect(files.open(join(folder, "home/.ssh/key"))).rejects.toThrow("hides it");
		expect(existsSync(join(root, ".ENVRC"))).toBe(false);
	});
});
