/** A sleeping shell that ends our processes when we are killed and cannot do it ourselves. */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";

/**
 * Sleeps until the pipe from us says `done` or breaks, which means that we are gone. The live process groups are the last line of the pipe,
 * or the first line of descriptor 3 if the pipe had none. It asks the processes to end, waits a moment, and kills until two looks in a row
 * find no process with the mark. It freezes what it finds before it kills, because a frozen process cannot fork. A group is signalled as a
 * whole and not looked for again: it would count as alive while it has a zombie. The watchdog runs in a session of its own, so that a signal
 * to our group does not reach it.
 */
const script = `
groups=
told=
while read -r line; do
	[ "$line" = done ] && exit 0
	groups=$line
	told=1
done
[ -n "$told" ] || read -r groups <&3
signal() {
	for group in $groups; do kill -s "$1" -- "-$group"; done
	[ -d /proc/self ] || return 1
	found=
	for file in $(grep -lsF -e "$mark" /proc/[0-9]*/environ); do
		pid=\${file#/proc/}
		kill -s "$1" "\${pid%/environ}" && found=1
	done
	[ -n "$found" ]
}
mark=$1
signal TERM || signal TERM || [ -n "$groups" ] || exit 0
sleep 0.3
round=0
empty=0
while [ "$empty" -lt 2 ] && [ "$round" -lt 60 ]; do
	round=$((round + 1))
	signal STOP && signal STOP
	if signal KILL; then empty=0; else empty=$((empty + 1)); fi
	sleep 0.02
done
`;

/** Room for some five hundred groups. */
const listBytes = 4096;

export class Watchdog {
	readonly #mark: string;
	readonly #tempDir: string;
	#child: ChildProcess | undefined;
	/** A file without a name. A line in it wakes no process, which a line in the pipe would do twice for each command. */
	#list: number | undefined;
	readonly #groups = new Set<number>();

	/** Guards the processes whose environment contains `mark`. */
	constructor(mark: string, tempDir: string) {
		this.#mark = mark;
		this.#tempDir = tempDir;
	}

	/** Starts the shell unless it is running. */
	start(): void {
		if (process.platform === "win32" || (this.#child && this.#child.exitCode === null && this.#child.signalCode === null)) return;
		// Its environment has none of our variables: it must not carry the mark it looks for, nor keep a directory busy.
		const list = this.#openList();
		const child = spawn("/bin/sh", ["-c", script, "bowline-watchdog", this.#mark], {
			cwd: "/",
			detached: true,
			stdio: ["pipe", "ignore", "ignore", ...(list === undefined ? [] : [list])],
			env: { PATH: "/usr/bin:/bin:/usr/sbin:/sbin" },
		});
		if (list !== undefined) closeSync(list);
		// A watchdog that cannot start, or was killed, is started again with the next command.
		child.on("error", () => this.#lost(child));
		child.stdin?.on("error", () => this.#lost(child));
		child.unref();
		(child.stdin as unknown as { unref?: () => void } | undefined)?.unref?.();
		this.#child = child;
		if (this.#groups.size > 0) this.#tell();
	}

	/** From now on the group dies with us. */
	guard(group: number): void {
		this.#groups.add(group);
		this.#tell();
	}

	release(group: number): void {
		if (this.#groups.delete(group)) this.#tell();
	}

	/** Ends it. Everything it guards must have ended first. */
	dismiss(): void {
		this.#child?.stdin?.end("done\n");
		this.#child = undefined;
		this.#closeList();
	}

	#tell(): void {
		const line = `${[...this.#groups].join(" ")}\n`;
		if (this.#list !== undefined) {
			try {
				writeSync(this.#list, line, 0);
				return;
			} catch {
				// A full disk: from now on the pipe.
				this.#closeList();
			}
		}
		this.#child?.stdin?.write(line);
	}

	/** Returns a descriptor for the watchdog to read from. Nothing if no file can be made: the pipe serves as well. */
	#openList(): number | undefined {
		this.#closeList();
		let directory: string | undefined;
		try {
			directory = mkdtempSync(join(this.#tempDir, "bowline-groups-"));
			const path = join(directory, "list");
			this.#list = openSync(path, "wx", 0o600);
			// The room is taken now, so that a disk that fills up later does no harm.
			writeSync(this.#list, "\n".padEnd(listBytes, "\n"), 0);
			return openSync(path, "r");
		} catch {
			this.#closeList();
			return undefined;
		} finally {
			if (directory !== undefined) rmSync(directory, { recursive: true, force: true });
		}
	}

	#closeList(): void {
		if (this.#list !== undefined) closeSync(this.#list);
		this.#list = undefined;
	}

	#lost(child: ChildProcess): void {
		if (this.#child === child) this.#child = undefined;
	}
}
