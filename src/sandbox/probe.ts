/** Tries the walls before anything relies on them: real escapes, run by the code that runs commands. Each of them must fail. */

import { randomBytes } from "node:crypto";
import { readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import type { Confinement } from "../lib/shell/confinement.ts";
import type { Shell as Commands, Program } from "../lib/shell/index.ts";
import type { SandboxState } from "../protocol/sandbox.ts";
import { isWithin, look } from "./paths.ts";
import { temporaryName, type View } from "./view.ts";

export type ProbeResult = NonNullable<SandboxState["probes"]>[number];

export interface ProbeInput {
	walls: Confinement;
	view: Promise<View>;
	cwd: string;
	/** The program that runs the script; bash where there is one, for only bash connects to ports. */
	shell: string;
	home: string | undefined;
	network: "off" | "hosts" | "on";
	/** A hidden directory of ours. */
	hiddenDirectory: string;
	platform?: NodeJS.Platform;
	/** The short form for a new cell. */
	isShort?: boolean;
}

/** A machine that is busy gets a second, longer try. */
const deadlinesMs = [3000, 20_000] as const;
/** Longer paths cannot be the name of a socket. */
const longestSocketPath = 100;

/** Ways out that only Linux has. */
const namespaceProbes = `unshare -U true >/dev/null 2>&1 & unshared=$!
if [ -n "$P_NET" ]; then if [ "$(readlink /proc/self/ns/net)" = "$P_NET" ]; then say network_namespace open; else say network_namespace blocked; fi; fi
if wait $unshared; then say user_namespace open; else say user_namespace blocked; fi
must_fail kernel_settings append /proc/sys/kernel/core_pattern`;

/**
 * Prints `name open`, `name blocked` and so on. Only `blocked` is good, and `works` for the first one. Hardly any step starts a process: the start
 * of a session waits for all of them. Where a redirection may fail the command is `true`: after a failed one of `:` or `exec` some shells end.
 */
const script = (isShort: boolean, isMac: boolean) => `
say() { echo "probe $1 $2"; }
must_fail() { name=$1; shift; if "$@" >/dev/null 2>&1; then say "$name" open; else say "$name" blocked; fi; }
create() { true > "$1" && rm -f "$1"; }
append() { true >> "$1"; }
if { true > "$P_WORKS"; } 2>/dev/null; then say write_inside works; else say write_inside failed; fi
[ -n "$P_PROTECTED" ] && must_fail write_protected create "$P_PROTECTED"
connect() { true 4<>"/dev/tcp/127.0.0.1/$P_PORT"; }
[ -n "$P_PORT" ] && must_fail connect connect
${isShort ? "exit 0" : ""}
write_outside() { for each in "$P_HOME" / /usr /etc /var /opt; do create "$each/.$P_NAME" && return 0; done; return 1; }
must_fail write_outside write_outside
peek() { read -r line < "$P_SECRET"; }
must_fail read_hidden peek
${
	isMac
		? `must_fail processes kill -0 ${process.pid}
[ -n "$P_SOCKET" ] && must_fail socket /usr/bin/nc -U "$P_SOCKET" </dev/null`
		: `began() { line=\${1##*) }; set -- $line; [ "\${20}" = "$P_START" ]; }
seen=blocked; for each in /proc/[0-9]*/stat; do if read -r line 2>/dev/null < "$each" && began "$line"; then seen=open; fi; done; say processes $seen
[ -n "$P_SOCKET" ] && must_fail socket test -S "$P_SOCKET"
${namespaceProbes}`
}
if [ -n "$BOWLINE_PROBE_TOKEN" ]; then say environment open; else say environment blocked; fi
descriptors=blocked; for each in ${isMac ? "3 4 5 6 7 8 9" : "/proc/self/fd/*"}; do each=\${each##*/}; if [ "$each" -gt 2 ] && { eval "true >&$each"; } 2>/dev/null; then descriptors=open; fi; done; say descriptors $descriptors
`;

export async function probe(input: ProbeInput): Promise<ProbeResult[]> {
	const [usual, patient] = deadlinesMs;
	return (await attempt(input, usual)) ?? (await attempt(input, patient)) ?? overdue(patient);
}

function overdue(deadlineMs: number): never {
	throw new Error(`the probes took longer than ${deadlineMs / 1000} s`);
}

/** Nothing when it took too long. */
async function attempt(input: ProbeInput, deadlineMs: number): Promise<ProbeResult[] | undefined> {
	const { walls, cwd, home, network, hiddenDirectory, isShort = false, platform = process.platform } = input;
	const isMac = platform === "darwin";
	const name = `bowline-probe-${randomBytes(6).toString("hex")}`;
	const secret = join(hiddenDirectory, name);
	const socketPath = join(walls.logDirectory, `${name.slice(-6)}.s`);
	writeFileSync(secret, "secret\n", { mode: 0o600 });
	const [{ Shell }, canary, socket, view] = await Promise.all([
		// The chunk that runs commands, and not a second copy of it in this one.
		import("../lib/shell/index.ts"),
		network === "on" ? undefined : listening({ host: "127.0.0.1", port: 0 }),
		isShort || socketPath.length > longestSocketPath ? undefined : listening({ path: socketPath }),
		input.view,
	]);
	const isWritable = view.writable.some((root) => isWithin(cwd, root));
	const [placeholder] = view.placeholders.filter(({ kind }) => kind === "directory");
	const guarded = placeholder?.path ?? view.protected.find((path) => look(path)?.isDirectory());
	const variables: Record<string, string> = {
		P_NAME: name,
		P_WORKS: join(isWritable ? cwd : temporaryName(view), `.${name}`),
		P_PROTECTED: isWritable ? (guarded === undefined ? "" : join(guarded, name)) : join(cwd, `.${name}`),
		P_PORT: canary ? String(portOf(canary)) : "",
		P_HOME: home ?? "",
		P_SECRET: secret,
		P_START: isMac ? "" : startOf(process.pid),
		P_SOCKET: socket ? socketPath : "",
		P_NET: network === "on" || isMac ? "" : readlinkSync("/proc/self/ns/net"),
	};
	// The one that must work makes a file.
	const made = join(isWritable ? cwd : (view.temporary[temporaryName(view)] as string), `.${name}`);
	const assignments = Object.entries(variables).map(([key, value]) => `${key}=${quoted(value)}`);
	const shell = new Shell({
		cwd,
		confinement: walls,
		// The last one must not arrive inside.
		environment: () => ({ PATH: "/usr/bin:/bin:/usr/sbin:/sbin", BOWLINE_PROBE_TOKEN: "secret" }),
		redact: plain,
	});
	try {
		const text = `${assignments.join("\n")}\n${script(isShort, isMac)}`;
		const result = await outputOf(await shell.start(input.shell, ["-c", text]), deadlineMs);
		const found = [...result.output.matchAll(/^probe (\w+) (blocked|open|works|failed)$/gm)];
		const results = found.map(([, probeName = "", verdict]) => ({ name: probeName, result: verdict as ProbeResult["result"] }));
		// A script that did not come to its end has proved nothing.
		const isComplete = isShort ? result.exitCode === 0 && results.length > 0 : results.at(-1)?.name === "descriptors";
		if (isComplete) return results;
		if (result.timedOut) return undefined;
		throw new Error(`the probes did not run: ${result.output.trim().slice(-300)}`);
	} finally {
		// Its watchdog; in namespaces there is nothing to end.
		if (walls.canOutlive) await shell.close();
		canary?.close();
		socket?.close();
		for (const path of [secret, made]) rmSync(path, { force: true });
		rmSync(socketPath, { force: true });
	}
}

interface Outcome {
	/** stdout, then stderr. */
	output: string;
	exitCode: number | null;
	timedOut: boolean;
}

function outputOf({ child, kill }: Program, deadlineMs: number): Promise<Outcome> {
	return new Promise((resolve) => {
		const texts = ["", ""];
		for (const [index, stream] of [child.stdout, child.stderr].entries()) {
			stream?.setEncoding("utf8").on("data", (chunk: string) => {
				texts[index] += chunk;
			});
		}
		let timedOut = false;
		const finish = (exitCode: number | null) => {
			clearTimeout(timer);
			resolve({ output: texts.join(""), exitCode, timedOut });
		};
		const timer = setTimeout(() => {
			timedOut = true;
			kill();
			finish(null);
		}, deadlineMs);
		child.once("close", finish);
	});
}

const plain = {
	stream: () => ({ push: (chunk: Buffer) => chunk, end: () => Buffer.alloc(0) }),
} as unknown as ConstructorParameters<typeof Commands>[0]["redact"];

export const hasPassed = (results: readonly ProbeResult[]) =>
	results.length > 0 && results.every(({ name, result }) => result === (name === "write_inside" ? "works" : "blocked"));

/** Only what must fail: a write inside that works is not an escape. */
export const escapes = (results: readonly ProbeResult[]) => results.filter(({ name }) => name !== "write_inside");

const quoted = (value: string) => `'${value.replaceAll("'", "'\\''")}'`;

function listening(place: { host: string; port: number } | { path: string }): Promise<Server | undefined> {
	return new Promise((resolve) => {
		const server = createServer((connection) => connection.destroy());
		server.unref();
		server.once("error", () => resolve(undefined));
		server.listen(place, () => resolve(server));
	});
}

function portOf(server: Server): number {
	const address = server.address();
	return typeof address === "object" && address !== null ? address.port : 0;
}

/** When the process began, in the kernel's ticks: no other process has the same number, the name of its namespaces aside. */
function startOf(pid: number): string {
	const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
	return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
}
