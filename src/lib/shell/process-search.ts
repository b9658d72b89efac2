/**
 * Finds every process of a command in /proc: members of its groups and sessions, processes that carry its mark in their environment, and
 * children of either. Repeated scans are cheap, because foreign processes are inspected only once.
 */
import { readdirSync, readFileSync } from "node:fs";

export interface Doomed {
	/** Process group ids. Each group leader also leads the session of the same number. */
	groups: readonly number[];
	/** Text that the environment of every process to end contains. */
	mark: string;
}

export interface FoundProcess {
	pid: number;
	/** Whether it belongs to one of the groups, so that a signal to the group reaches it. */
	isInGroup: boolean;
}

interface Status {
	state: string;
	parent: number;
	group: number;
	session: number;
}

export class ProcessSearch {
	readonly #groups: ReadonlySet<number>;
	readonly #mark: Buffer;
	/** Everything that was ever found. */
	readonly #ours = new Set<number>();
	/** Foreign processes, with their parents: a parent may turn out to be ours later. */
	readonly #others = new Map<number, number>();
	/** Zombies, which their parents may never collect. */
	readonly #dead = new Set<number>();

	constructor({ groups, mark }: Doomed) {
		this.#groups = new Set(groups);
		this.#mark = Buffer.from(mark);
	}

	/**
	 * The living processes, the newest first. `onFound` is called as soon as one is seen: a process that constantly forks and exits is
	 * gone again when the scan is over.
	 */
	look(onFound: (found: FoundProcess) => void = () => undefined): FoundProcess[] {
		const found: FoundProcess[] = [];
		const add = (pid: number, status: Status) => {
			const process = { pid, isInGroup: this.#groups.has(status.group) };
			this.#ours.add(pid);
			this.#others.delete(pid);
			found.push(process);
			onFound(process);
		};
		const inspect = (pid: number) => {
			const status = statusOf(pid);
			if (status && this.#isOurs(pid, status)) add(pid, status);
		};
		const newest = newestId();
		const pids = processIds();
		for (const pid of pids) if (!this.#others.has(pid) && !this.#dead.has(pid)) inspect(pid);
		chase(newest, inspect);
		// A child can be inspected before its parent is known to be ours.
		for (let isComplete = false; !isComplete; ) {
			isComplete = true;
			for (const [pid, parent] of this.#others) {
				if (!this.#ours.has(parent)) continue;
				const status = statusOf(pid);
				if (status && !isDead(status)) add(pid, status);
				else this.#others.delete(pid);
				isComplete = false;
			}
		}
		this.#forgetEnded(new Set(pids));
		return found;
	}

	#isOurs(pid: number, status: Status): boolean {
		const { parent, group, session } = status;
		if (isDead(status)) {
			this.#dead.add(pid);
			return false;
		}
		if (this.#ours.has(pid) || this.#ours.has(parent) || this.#groups.has(group) || this.#groups.has(session)) return true;
		const environment = readProcess(`${pid}/environ`);
		if (environment?.includes(this.#mark)) return true;
		// While a process starts another program its environment is empty for a moment. That of the kernel's threads always is.
		const isSettled = environment === undefined || environment.length > 0 || parent === 2 || parent === 0;
		if (isSettled) this.#others.set(pid, parent);
		return false;
	}

	/** The system may reuse the numbers of ended processes. */
	#forgetEnded(alive: ReadonlySet<number>): void {
		for (const known of [this.#ours, this.#others, this.#dead]) for (const pid of known.keys()) if (!alive.has(pid)) known.delete(pid);
	}
}

const mostChases = 500;
const quietChases = 3;
/** More than this many new processes at once are left to the next scan. */
const mostNew = 16;

/**
 * Inspects processes as they begin, until none does. A process that forks and exits at once is gone before a scan comes to it, and its child too:
 * such a chain is never in a scan, and is caught by its newest number alone.
 */
function chase(newest: number | undefined, inspect: (pid: number) => void): void {
	let seen = newest;
	for (let quiet = 0, tries = 0; seen !== undefined && quiet < quietChases && tries < mostChases; tries += 1) {
		const next = newestId();
		if (next === seen || next === undefined) {
			quiet += 1;
			continue;
		}
		quiet = 0;
		for (let pid = next; pid > next - mostNew && pid > 1 && pid !== seen; pid -= 1) inspect(pid);
		seen = next;
	}
}

/** The number that was given to a process last. undefined where the system does not say. */
function newestId(): number | undefined {
	const id = Number(readProcess("loadavg")?.toString("latin1").trim().split(" ").at(-1));
	return Number.isInteger(id) ? id : undefined;
}

/** The highest numbers first: they are the newest, and the most likely to be gone soon. */
function processIds(): number[] {
	const pids: number[] = [];
	for (const name of readdirSync("/proc")) {
		const pid = Number(name);
		if (Number.isInteger(pid) && pid !== process.pid) pids.push(pid);
	}
	return pids.sort((a, b) => b - a);
}

const isDead = ({ state }: Status) => state === "Z" || state === "X";

function statusOf(pid: number): Status | undefined {
	const stat = readProcess(`${pid}/stat`)?.toString("latin1");
	if (stat === undefined) return undefined;
	// pid (name) state parent group session …; the name may contain anything, brackets too.
	const [state = "", parent, group, session] = stat.slice(stat.lastIndexOf(")") + 2).split(" ", 4);
	return { state, parent: Number(parent), group: Number(group), session: Number(session) };
}

function readProcess(file: string): Buffer | undefined {
	try {
		return readFileSync(`/proc/${file}`);
	} catch (error) {
		if (["ENOENT", "ESRCH", "EACCES", "EPERM"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
		throw error;
	}
}
