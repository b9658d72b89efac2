/** The programs that build the walls, each by its absolute path. One inside a root could be replaced by a command, so none is taken from there. */
import { execFile } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { release } from "node:os";
import { delimiter, isAbsolute, join } from "node:path";
import { isWithin, realPath } from "./paths.ts";

/** Starters get nothing else: a library path into a root would be a way out. */
export const starterEnvironment = { PATH: "/usr/bin:/bin" };

const usualDirectories = ["/usr/bin", "/bin", "/usr/sbin", "/sbin", "/usr/local/bin"];

export interface Programs {
	/** What the state says about them. */
	backend: string;
	/** On Linux. */
	bwrap: string;
	/** On macOS: sandbox-exec, instead of all that makes namespaces. */
	seatbelt?: string;
	/** Major and minor number. */
	version: readonly [number, number];
	nsenter: string | undefined;
	sh: string;
	bash: string | undefined;
	git: string | undefined;
}

export interface Unavailable {
	reason: string;
	remedy: string;
}

/** The first such program outside every root, where links are followed first. */
export function findProgram(name: string, roots: readonly string[], path = ""): string | undefined {
	const directories = [...usualDirectories, ...path.split(delimiter).filter((entry) => isAbsolute(entry))];
	return directories.map((directory) => join(directory, name)).find((file) => isProgram(file, roots));
}

function isProgram(file: string, roots: readonly string[]): boolean {
	const target = realPath(file);
	if (target === undefined || roots.some((root) => isWithin(target, root) || isWithin(file, root))) return false;
	try {
		accessSync(file, constants.X_OK);
		return true;
	} catch {
		return false;
	}
}

export interface MachineKind {
	platform: NodeJS.Platform;
	/** Of the kernel: WSL 1 is known by it. */
	release?: string;
	/** Part of macOS. It is never taken from anywhere else. */
	sandboxExec: string;
}

export const thisMachine: MachineKind = { platform: process.platform, release: release(), sandboxExec: "/usr/bin/sandbox-exec" };

/** Everything but what has to be asked. */
export type LocatedPrograms = Omit<Programs, "backend" | "version">;

function locate(configured: string | undefined, roots: readonly string[], path: string, machine: MachineKind): LocatedPrograms | Unavailable {
	if (machine.platform === "darwin") return programsOfMac(machine.sandboxExec, roots, path);
	if (machine.platform !== "linux") return elsewhere(machine.platform);
	// WSL 2 says `microsoft-standard-WSL2`, and has a kernel of its own.
	if (/-Microsoft$/.test(machine.release ?? ""))
		return { reason: "WSL 1 has no namespaces", remedy: "Use WSL 2, a container with mode external, or mode off." };
	if (configured !== undefined && !isProgram(configured, roots))
		return {
			reason: `the program of sandbox.bwrapPath cannot be used: ${configured}`,
			remedy: "Name an executable file outside every writable directory.",
		};
	const find = (name: string) => findProgram(name, roots, path);
	const bwrap = configured ?? find("bwrap");
	if (bwrap === undefined) return missing("bubblewrap is not installed");
	const sh = find("sh");
	if (sh === undefined) return { reason: "there is no /bin/sh", remedy: "Install a POSIX shell." };
	return { bwrap, nsenter: find("nsenter"), sh, bash: find("bash"), git: find("git") };
}

/** `begin` is called before bubblewrap is asked for its version: other programs can be started meanwhile. */
export async function findPrograms(
	configured: string | undefined,
	roots: readonly string[],
	path: string,
	machine = thisMachine,
	begin?: (programs: LocatedPrograms) => void,
): Promise<Programs | Unavailable> {
	const located = locate(configured, roots, path, machine);
	if ("reason" in located) return located;
	begin?.(located);
	return withVersion(located);
}

async function withVersion(programs: LocatedPrograms): Promise<Programs | Unavailable> {
	const { bwrap, seatbelt } = programs;
	if (seatbelt !== undefined) return { ...programs, backend: "seatbelt", version: [0, 0] };
	const versionText = await versionOf(bwrap);
	const [, major, minor] = /(\d+)\.(\d+)/.exec(versionText ?? "") ?? [];
	if (versionText === undefined || major === undefined) return missing(`${bwrap} does not run`);
	const version = [Number(major), Number(minor)] as const;
	if (version[0] === 0 && version[1] < 5) return missing(`bubblewrap ${versionText} is too old, 0.5 is needed`);
	return { ...programs, backend: `bubblewrap ${versionText}`, version };
}

function programsOfMac(seatbelt: string, roots: readonly string[], path: string): LocatedPrograms | Unavailable {
	const find = (name: string) => findProgram(name, roots, path);
	const [sh, bash] = [find("sh"), find("bash")];
	const absent = !isProgram(seatbelt, roots) ? seatbelt : sh === undefined ? "/bin/sh" : bash === undefined ? "/bin/bash" : undefined;
	if (absent !== undefined || sh === undefined)
		return { reason: `${absent} is missing, which is part of macOS`, remedy: "Use a container with mode external, or mode off." };
	return { seatbelt, bwrap: "", nsenter: undefined, sh, bash, git: find("git") };
}

function elsewhere(platform: string): Unavailable {
	if (platform === "win32")
		return { reason: "Windows has no sandbox that Bowline can use", remedy: "Use WSL 2, a container with mode external, or mode off." };
	return { reason: `there is no sandbox for ${platform}`, remedy: "Use a container with mode external, or mode off." };
}

const missing = (reason: string): Unavailable => ({
	reason,
	remedy: "Install the package bubblewrap (apt install bubblewrap, dnf install bubblewrap, pacman -S bubblewrap, apk add bubblewrap).",
});

function versionOf(program: string): Promise<string | undefined> {
	return new Promise((resolve) => {
		execFile(program, ["--version"], { env: starterEnvironment, cwd: "/", timeout: 10_000 }, (error, stdout) => {
			resolve(error ? undefined : (/\d+\.\d+[.\d]*/.exec(stdout)?.[0] ?? undefined));
		});
	});
}

/** What bubblewrap's complaint means on this machine. */
export function explain(complaint: string, isRoot = process.getuid?.() === 0): Unavailable {
	const said =
		complaint
			.trim()
			.split("\n")
			.at(-1)
			?.replace(/^bwrap: /, "")
			.replace(/\.$/, "") ?? "";
	const reason = `bubblewrap cannot make user namespaces: ${said}`;
	if (/uid map: Permission denied|RTM_NEWADDR/.test(complaint))
		return {
			reason,
			remedy:
				"AppArmor restricts user namespaces here (Ubuntu 23.10 and newer). Use /usr/bin/bwrap with a profile that grants it userns (part of Ubuntu 25.04 and newer; a copy elsewhere is not covered), or set kernel.apparmor_restrict_unprivileged_userns=0.",
		};
	if (isRoot && /setting up [ug]id map: Operation not permitted/.test(complaint))
		return { reason, remedy: "Run Bowline as an ordinary user: root needs the capability SETFCAP for this, and this container takes it away." };
	if (
		/No permissions to create (a )?new namespace|max_user_namespaces|Creating new namespace failed|Operation not permitted|No space left/.test(
			complaint,
		)
	)
		return {
			reason,
			remedy:
				"Enable user namespaces (user.max_user_namespaces, kernel.unprivileged_userns_clone), start the container with seccomp and AppArmor unconfined, or let the container be the sandbox: mode external.",
		};
	return { reason: `bubblewrap failed: ${said || "it said nothing"}`, remedy: "See bowline doctor." };
}
