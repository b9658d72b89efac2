/** A sleeping shell that cleans up after us when we are killed and cannot do it ourselves. */
import { type ChildProcess, spawn } from "node:child_process";

/**
 * Reads lines from us: the live process groups, or `done`. When the pipe breaks we are gone: ask, wait a moment, insist until nothing
 * carries the mark. A group is killed as one, so it needs no second look; and it would count as alive while it has a zombie. Runs in a
 * session of its own, so that a signal to our group does not reach it.
 */
const script = `
groups=
while read -r line; do
	[ "$line" = done ] && exit 0
	groups=$line
done
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
signal TERM || [ -n "$groups" ] || exit 0
sleep 0.3
round=0
while signal KILL && [ "$round" -lt 12 ]; do
	round=$((round + 1))
	sleep 0.05
done
`;

export class Watchdog {
	readonly #mark: string;
	#child: ChildProcess | undefined;
	readonly #groups = new Set<number>();

	/** Guards the processes whose environment contains `mark`. */
	constructor(mark: string) {
		this.#mark = mark;
	}

	/** Starts the shell, unless it is already there. */
	start(): void {
		if (process.platform === "win32" || (this.#child && this.#child.exitCode === null && this.#child.signalCode === null)) return;
		// Nothing of ours in its environment: it must not carry the mark it looks for, nor keep a directory busy.
		const child = spawn("/bin/sh", ["-c", script, "bowline-watchdog", this.#mark], {
			cwd: "/",
			detached: true,
			stdio: ["pipe", "ignore", "ignore"],
			env: { PATH: "/usr/bin:/bin:/usr/sbin:/sbin" },
		});
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

	/** Sends it away. Everything it guards must have ended before. */
	dismiss(): void {
		this.#child?.stdin?.end("done\n");
		this.#child = undefined;
	}

	#tell(): void {
		this.#child?.stdin?.write(`${[...this.#groups].join(" ")}\n`);
	}

	#lost(child: ChildProcess): void {
		if (this.#child === child) this.#child = undefined;
	}
}
