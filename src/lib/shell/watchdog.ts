/** A sleeping shell that ends our processes when we are killed and cannot do it ourselves. */
import { type ChildProcess, spawn } from "node:child_process";

/**
 * Reads lines from us: the live process groups, or `done`. When the pipe breaks we are gone. Then it asks the processes to end, waits a
 * moment, and kills until two looks in a row find no process with the mark. It freezes what it finds before it kills, because a frozen
 * process cannot fork. A group is signalled as a whole and not looked for again: it would count as alive while it has a zombie. The
 * watchdog runs in a session of its own, so that a signal to our group does not reach it.
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

export class Watchdog {
	readonly #mark: string;
	#child: ChildProcess | undefined;
	readonly #groups = new Set<number>();

	/** Guards the processes whose environment contains `mark`. */
	constructor(mark: string) {
		this.#mark = mark;
	}

	/** Starts the shell unless it is running. */
	start(): void {
		if (process.platform === "win32" || (this.#child && this.#child.exitCode === null && this.#child.signalCode === null)) return;
		// Its environment has none of our variables: it must not carry the mark it looks for, nor keep a directory busy.
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

	/** Ends it. Everything it guards must have ended first. */
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
