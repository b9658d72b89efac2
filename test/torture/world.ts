/** The place a round happens in: folders of its own, and a look at every process that came out of it. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export class World {
	/** A mark in the environment of every process that is started. */
	readonly mark: string;
	readonly root: string;
	readonly cwd: string;
	readonly sessions: string;
	readonly temp: string;
	readonly control: string;
	#faults: Record<string, unknown>;
	#sequence = 0;

	constructor() {
		this.root = mkdtempSync(join(tmpdir(), "bowline-torture-"));
		this.mark = `TORTURE_MARK=${this.root}`;
		this.cwd = join(this.root, "work");
		this.sessions = join(this.root, "sessions");
		this.temp = join(this.root, "temp");
		this.control = join(this.root, "faults.json");
		for (const folder of [this.cwd, this.sessions, this.temp, join(this.root, "home")]) mkdirSync(folder);
		writeFileSync(join(this.cwd, "a.txt"), "one\n");
		writeFileSync(join(this.cwd, "big.txt"), "0123456789\n".repeat(20_000));
		writeFileSync(join(this.root, "no-session"), "precious\n");
		this.#faults = { scope: this.sessions };
	}

	/** Changes what goes wrong inside the program. Returns the number that shows when the program has seen it. */
	fault(change: Record<string, unknown>): number {
		this.#faults = { ...this.#faults, ...change, sequence: ++this.#sequence };
		writeFileSync(this.control, JSON.stringify(this.#faults));
		return this.#sequence;
	}

	get faultsSeen(): number {
		return existsSync(`${this.control}.seen`) ? Number(readFileSync(`${this.control}.seen`, "utf8")) : 0;
	}

	environment(): Record<string, string> {
		return {
			PATH: process.env.PATH ?? "/usr/bin:/bin",
			HOME: join(this.root, "home"),
			TMPDIR: this.temp,
			BOWLINE_DIR: join(this.root, "user"),
			TORTURE_MARK: this.root,
			TORTURE_FAULTS: this.control,
		};
	}

	/** Makes the working directory a repository, which isolated subagents need. */
	makeRepository(): void {
		const git = (...args: string[]) =>
			execFileSync("git", ["-C", this.cwd, "-c", "user.name=t", "-c", "user.email=t@t", ...args], { stdio: "ignore" });
		git("init", "-q");
		git("add", "-A");
		git("commit", "-qm", "first");
	}

	/** Copies of the repository that were not removed. */
	worktrees(): string[] {
		const place = join(this.root, "user/worktrees");
		const own = existsSync(place) ? readdirSync(place, { recursive: true, encoding: "utf8" }).filter((name) => !name.startsWith("rescued")) : [];
		if (!existsSync(join(this.cwd, ".git"))) return own;
		const listed = execFileSync("git", ["-C", this.cwd, "worktree", "list"], { encoding: "utf8" }).trim().split("\n").slice(1);
		return [...own, ...listed];
	}

	sessionFiles(): string[] {
		return readdirSync(this.sessions)
			.filter((name) => name.endsWith(".jsonl"))
			.map((name) => join(this.sessions, name));
	}

	/** Locks, partial files that were meant to replace others, and everything else that should not exist. */
	litter(): string[] {
		const names = readdirSync(this.root, { recursive: true, encoding: "utf8" });
		return names.filter((name) => /\.lock(\.|$)|\.tmp$|bowline-pipes/.test(name));
	}

	/** Command lines of living processes that came out of this round, the agent itself left out. */
	processes(agent: number | undefined): string[] {
		return pids().flatMap((pid) => {
			if (pid === agent || pid === process.pid || !about(pid, "environ").includes(this.mark)) return [];
			const line = about(pid, "cmdline").replaceAll("\0", " ").trim();
			return line === "" ? [] : [line];
		});
	}

	remove(): void {
		rmSync(this.root, { recursive: true, force: true });
	}
}

const pids = () => readdirSync("/proc").map(Number).filter(Number.isInteger);

function about(pid: number, file: string): string {
	try {
		return readFileSync(`/proc/${pid}/${file}`, "latin1");
	} catch {
		// It ended while we looked, or it is not ours.
		return "";
	}
}

/** The files that a process has open, as the system names them. */
export function openFiles(pid: number): string[] {
	return readdirSync(`/proc/${pid}/fd`).flatMap((descriptor) => {
		try {
			return [readlinkSync(`/proc/${pid}/fd/${descriptor}`)];
		} catch {
			return [];
		}
	});
}

export function residentMb(pid: number): number {
	return Number(/VmRSS:\s+(\d+)/.exec(about(pid, "status"))?.[1] ?? 0) / 1024;
}
