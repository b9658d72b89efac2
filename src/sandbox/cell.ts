/**
 * The namespaces of one session, held open by one small process. All commands enter them, so a server that one command leaves in the background
 * is reached and ended by the next. When this process dies, however it dies, the kernel ends everything inside.
 */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import type { Readable } from "node:stream";
import { type Programs, starterEnvironment } from "./programs.ts";

export interface Cell {
	/** Of its first process, as this process sees it. */
	pid: number;
	/** Resolves when it has ended, for whatever reason. */
	ended: Promise<void>;
	hasEnded: () => boolean;
	/** Paths that bubblewrap has made read-only in it by itself, and that commands take over as they are. */
	readOnly: ReadonlySet<string>;
	/** Ends everything inside at once. */
	kill(): void;
}

/** Long: a busy machine takes its time, and a cell that fails says so at once. */
const startMs = 10_000;

export async function openCell({ bwrap, sh }: Pick<Programs, "bwrap" | "sh">, hasOwnNetwork: boolean): Promise<Cell> {
	const network = hasOwnNetwork ? ["--unshare-net"] : [];
	const args = [
		...["--unshare-user", "--unshare-pid", ...network, "--unshare-ipc", "--unshare-uts", "--die-with-parent", "--info-fd", "3"],
		...["--dev-bind", "/", "/", "--proc", "/proc", "--cap-drop", "ALL", "--", sh, "-c", "echo up; read x"],
	];
	const child = spawn(bwrap, args, { cwd: "/", env: starterEnvironment, stdio: ["pipe", "pipe", "pipe", "pipe"], detached: true });
	let over = false;
	const ended = new Promise<void>((resolve) => {
		const end = () => {
			over = true;
			resolve();
		};
		child.once("exit", end).once("error", end);
	});
	child.stdin.on("error", () => undefined);
	const complaint = collected(child.stderr);
	const info = collected(child.stdio[3] as Readable);
	const pidOf = () => /"child-pid":\s*(\d+)/.exec(info())?.[1];
	// The number of the process is known before its mounts are done, and who enters then fails now and then: the shell says when it is up.
	const said = collected(child.stdout);
	await until(() => said() !== "" && pidOf() !== undefined, [child.stdout, child.stdio[3] as Readable], ended);
	const pid = pidOf();
	if (said() === "" || pid === undefined) {
		child.kill("SIGKILL");
		throw new CellError(complaint() || "the cell did not start");
	}
	for (const stream of [child.stdin, child.stdout, child.stderr, child.stdio[3]]) (stream as unknown as { unref?(): void }).unref?.();
	child.unref();
	const first = Number(pid);
	return {
		pid: first,
		ended,
		hasEnded: () => over,
		readOnly: readOnlyIn(first),
		kill() {
			if (over) return;
			signal(first);
			child.kill("SIGKILL");
		},
	};
}

/** Mounts in /proc that are read-only, in the namespace of a process. */
function readOnlyIn(pid: number): Set<string> {
	try {
		const mounts = readFileSync(`/proc/${pid}/mountinfo`, "utf8");
		return new Set([...mounts.matchAll(/^\d+ \d+ \S+ \S+ (\/proc\/\S+) ro,/gm)].map(([, path]) => path as string));
	} catch {
		return new Set();
	}
}

/** The text is what bubblewrap said. */
export class CellError extends Error {
	override readonly name = "CellError";
}

function signal(pid: number): void {
	try {
		process.kill(pid, "SIGKILL");
	} catch {
		// It has ended already.
	}
}

function collected(stream: Readable): () => string {
	let text = "";
	stream.on("data", (chunk: Buffer) => {
		if (text.length < 4096) text += chunk;
	});
	stream.on("error", () => undefined);
	return () => text;
}

/** Resolves when it is so, when everything has ended, or when it takes too long. */
function until(isSo: () => boolean, streams: readonly Readable[], ended: Promise<void>): Promise<void> {
	return new Promise((resolve) => {
		const timer = setTimeout(resolve, startMs);
		const finish = () => {
			clearTimeout(timer);
			resolve();
		};
		const check = () => {
			if (isSo()) finish();
		};
		for (const stream of streams) stream.on("data", check);
		// What it said on stderr is read before this.
		void ended.then(() => setTimeout(finish, 5));
	});
}
