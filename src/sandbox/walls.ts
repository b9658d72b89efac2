/** Starts programs inside: one set of mounts for each, in the session's cell. */
import type { ChildProcess } from "node:child_process";
import { closeSync, openSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { basename } from "node:path";
import type { Readable, Writable } from "node:stream";
import { deferred } from "../lib/deferred.ts";
import type { Confinement, Enclosure, EnclosureFacts, ProgramStart } from "../lib/shell/confinement.ts";
import { type Cell, openCell } from "./cell.ts";
import { insideEnvironment } from "./environment.ts";
import type { Guard } from "./guard.ts";
import { guardedInProc } from "./lists.ts";
import { nameOf } from "./locate.ts";
import { look } from "./paths.ts";
import { mountPlan } from "./plan.ts";
import { type Programs, starterEnvironment } from "./programs.ts";
import type { HostProxy, Pass } from "./proxy.ts";
import type { SeatbeltStart } from "./seatbelt.ts";
import { visibleSockets } from "./sockets.ts";
import { temporaryName, type View } from "./view.ts";

export interface WallsOptions {
	programs: Programs;
	/** What a program may see and write: asked again for each start. */
	view: (start: ProgramStart) => View | Promise<View>;
	/** A file with the filter of system calls; none on other processors. */
	seccompFile: string | undefined;
	network: "off" | "hosts" | "on";
	/** `sandbox.env`. */
	env: readonly string[];
	/** 0: no limit. */
	maxProcesses: number;
	logDirectory: string;
	/** The first cell, where it was begun before. */
	cell?: Promise<Cell>;
	/** For network `hosts`. */
	proxy?: Pick<HostProxy, "open" | "admit" | "port">;
	/** On macOS, instead of bubblewrap. */
	seatbelt?: (start: SeatbeltStart) => Pick<Enclosure, "file" | "args" | "environment" | "descriptors">;
	/** Watches over what no mount can stop. */
	guard?: Pick<Guard, "check" | "follow">;
}

/** Tries the walls before they are relied on. */
export interface Trial {
	/** Another text is another plan. */
	plan: () => string;
	/** Rejects where they do not hold. `isShort`: only the cell is new. */
	run: (untried: Confinement, isShort: boolean) => Promise<void>;
}

type Started = Omit<Enclosure, "ended">;

/** The words of all steps together. */
const mostWords = 9000;
/** A little longer than an abort waits for processes. */
const patienceMs = 2200;

export class Walls implements Confinement {
	readonly logDirectory: string;
	readonly #options: WallsOptions;
	readonly #closing: string;
	#cell: Promise<Cell> | undefined;
	#trial: Trial | undefined;
	/** The last test of the enclosure and its outcome. It depends on the cell and the machine, not on files: each command still gets a new view. */
	#tried: { cell: Cell | undefined; plan: string; outcome: Promise<void> } | undefined;
	#hasCell: boolean;
	/** One for each program that has not ended. */
	readonly #running = new Set<Promise<void>>();
	/** Without a cell: what has to be killed one by one. */
	readonly #children = new Set<ChildProcess>();

	constructor(options: WallsOptions) {
		this.#options = options;
		this.logDirectory = options.logDirectory;
		this.#hasCell = options.programs.nsenter !== undefined;
		this.#cell = options.cell;
		// The command that enters it is told why it could not be made.
		options.cell?.catch(() => "told later");
		this.#closing = options.seatbelt ? "" : closingLine(options.programs);
	}

	/** Only namespaces end with the process that made them. */
	get canOutlive(): boolean {
		return this.#options.seatbelt !== undefined;
	}

	/** Whether all commands share their namespaces. */
	get hasCell(): boolean {
		return this.#hasCell;
	}

	/** Whether a program goes on inside although no command runs: every one that does is a child of the cell's first process, beside its shell. */
	async hasBackground(): Promise<boolean> {
		if (this.canOutlive) return true;
		const cell = this.#hasCell ? await this.#cell?.catch(() => undefined) : undefined;
		if (cell === undefined || cell.hasEnded()) return false;
		try {
			return readFileSync(`/proc/${cell.pid}/task/${cell.pid}/children`, "utf8").trim().split(" ").length > 1;
		} catch {
			// The kernel does not say.
			return !cell.hasEnded();
		}
	}

	/** Entering the cell does not work here: each command has namespaces of its own from now on. */
	withoutCell(): void {
		this.#hasCell = false;
	}

	enclose(start: ProgramStart): Promise<Enclosure> {
		return this.#enclose(start, this.#options.view);
	}

	/** The same walls with another view. */
	viewing(view: WallsOptions["view"]): Confinement {
		return {
			logDirectory: this.logDirectory,
			canOutlive: this.canOutlive,
			enclose: (start) => this.#enclose(start, view),
			endAll: () => this.endAll(),
		};
	}

	/** What is there now has been tried. From now on a new cell is tried before a command enters it, and everything when the plan is another one. */
	async tryAgain(trial: Trial): Promise<void> {
		this.#tried = { cell: this.#hasCell ? await this.cell() : undefined, plan: trial.plan(), outcome: Promise.resolve() };
		this.#trial = trial;
	}

	/** The same where nothing has been tried: the first command does. */
	tryFirst(trial: Trial): void {
		this.#trial = trial;
	}

	/** Fails closed: where the walls do not hold the command is not run, and the next one tries again in another cell. */
	async #triedCell(): Promise<Cell | undefined> {
		const cell = this.#hasCell ? await this.cell() : undefined;
		const [trial, last] = [this.#trial, this.#tried];
		if (!trial) return cell;
		const plan = trial.plan();
		const isKnown = last?.cell === cell && last?.plan === plan;
		const untried: Confinement = {
			logDirectory: this.logDirectory,
			canOutlive: this.canOutlive,
			enclose: (start) => this.#enclose(start, this.#options.view, { cell }),
			endAll: () => this.endAll(),
		};
		const outcome = isKnown ? last.outcome : trial.run(untried, last === undefined || last.plan === plan);
		this.#tried = { cell, plan, outcome };
		try {
			await outcome;
		} catch (error) {
			if (this.#tried.outcome === outcome) this.#tried = { cell: undefined, plan: "", outcome };
			await this.endAll();
			throw error;
		}
		return cell;
	}

	async #enclose(start: ProgramStart, viewOf: WallsOptions["view"], entered?: { cell: Cell | undefined }): Promise<Enclosure> {
		const { guard } = this.#options;
		await guard?.check();
		const { cell } = entered ?? { cell: await this.#triedCell() };
		const view = await viewOf(start);
		const { seatbelt } = this.#options;
		const pass = cell || seatbelt ? await this.#pass(cell, start) : undefined;
		const inner = seatbelt ? this.#underSeatbelt(start, view, pass) : this.#inMounts(start, view, cell, pass);
		const finished = guard?.follow(view);
		const running = deferred();
		this.#running.add(running.promise);
		let started: ChildProcess | undefined;
		const ended = async (): Promise<EnclosureFacts> => {
			running.resolve();
			this.#running.delete(running.promise);
			if (started) this.#children.delete(started);
			return { ...(await finished?.()), denied: pass?.end() ?? [] };
		};
		const note = (child: ChildProcess) => {
			started = child;
			if (!cell) this.#children.add(child);
		};
		return {
			...inner,
			begun(child) {
				note(child);
				return inner.begun(child);
			},
			ended,
		};
	}

	async #pass(cell: Cell | undefined, { callId = "" }: ProgramStart): Promise<Pass | undefined> {
		const { proxy } = this.#options;
		await proxy?.open(cell);
		return proxy?.admit(callId);
	}

	#underSeatbelt(start: ProgramStart, view: View, pass: Pass | undefined): Started {
		const { programs, network, env, proxy, seatbelt } = this.#options;
		const variables = insideEnvironment(start.environment, env, ownVariables(start.file), temporaryName(view));
		return {
			...(seatbelt as NonNullable<typeof seatbelt>)({
				...{ view, network, proxyPort: proxy?.port, start },
				...{ program: programs.seatbelt as string, bash: programs.bash as string },
				environment: { ...gitIdentity(view), ...variables, ...pass?.variables },
			}),
			begun: ({ stdio, exitCode }) => firstByte(stdio[3] as Readable, exitCode !== null),
			// Nothing is open for it.
			release: () => undefined,
		};
	}

	#inMounts(start: ProgramStart, view: View, cell: Cell | undefined, pass: Pass | undefined): Started {
		const { programs, seccompFile, network } = this.#options;
		// For each mount bubblewrap reads the table of all mounts, which is most of what a command costs: nothing is mounted twice.
		const inProc = guardedInProc.filter((name) => look(`/proc/${name}`) && !cell?.readOnly.has(`/proc/${name}`));
		const steps = mountPlan({ view, sockets: visibleSockets(view), inProc, inRun: runPlaces(network) });
		const words = [...steps.flat(), ...this.#rest({ ...start, cwd: nameOf(start.cwd, view) }, cell === undefined, pass?.variables)];
		if (words.length > mostWords)
			throw new Error(`The sandbox would need ${words.length} words, more than ${mostWords}. Work in a smaller directory.`);
		const filter = seccompFile === undefined ? undefined : openSync(seccompFile, "r");
		const bwrap = [
			programs.bwrap,
			...["--args", "4", ...(filter === undefined ? [] : ["--seccomp", "3"]), "--"],
			...this.#preamble(),
			start.file,
			...start.args,
		];
		const [file = "", ...args] = cell ? [...entering(programs.nsenter as string, cell.pid, network !== "on"), ...bwrap] : bwrap;
		return {
			file,
			args,
			environment: starterEnvironment,
			descriptors: [filter ?? "pipe", "pipe", "pipe"],
			begun({ stdio, exitCode }) {
				const [, , , , options, begins] = stdio as readonly unknown[] as [unknown, unknown, unknown, unknown, Writable, Readable];
				// bubblewrap may end before it has read them; its exit says so.
				options.on("error", () => undefined);
				options.end(`${words.join("\0")}\0`);
				return firstByte(begins, exitCode !== null);
			},
			release() {
				if (filter !== undefined) closeSync(filter);
			},
		};
	}

	/** The cell, made with the first command and again after it was killed. */
	async cell(): Promise<Cell> {
		// A cell that could not be made was reported to its first caller; this call makes another.
		const current = await this.#cell?.catch(() => undefined);
		if (current && !current.hasEnded()) return current;
		const opening = openCell(this.#options.programs, this.#options.network !== "on");
		this.#cell = opening;
		return opening;
	}

	async endAll(): Promise<void> {
		for (const child of this.#children) endGroup(child);
		// A cell that could not be made needs no end.
		const cell = await this.#cell?.catch(() => undefined);
		cell?.kill();
		await cell?.ended;
	}

	/** The same, but programs that run now have a moment to end: another part is ending them in order. */
	async endAllSoon(): Promise<void> {
		const deadline = new Promise((resolve) => setTimeout(resolve, patienceMs).unref());
		await Promise.race([Promise.all(this.#running), deadline]);
		await this.endAll();
	}

	#rest({ cwd, environment, file }: ProgramStart, isAlone: boolean, added: Record<string, string> = {}): string[] {
		const { programs, network, env } = this.#options;
		const variables = { ...insideEnvironment(environment, env, ownVariables(file)), ...added };
		const alone = ["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--die-with-parent", ...(network === "on" ? [] : ["--unshare-net"])];
		// A second user namespace, above which ours is: nothing in the cell can be traced, entered or read from it, although the user is the same.
		const [major, minor] = programs.version;
		return [
			...(isAlone ? alone : []),
			"--unshare-user",
			...(major > 0 || minor >= 8 ? ["--disable-userns"] : []),
			...["--cap-drop", "ALL", "--new-session", "--unshare-cgroup-try", "--chdir", cwd, "--clearenv"],
			...Object.entries(variables).flatMap(([name, value]) => ["--setenv", name, value]),
		];
	}

	/** Says that the program begins, closes every descriptor but the usual three, and limits processes. */
	#preamble(): string[] {
		const { programs, maxProcesses } = this.#options;
		const limit = maxProcesses > 0 ? `ulimit -u ${maxProcesses} 2>/dev/null || ulimit -p ${maxProcesses} 2>/dev/null; ` : "";
		const shell = this.#closing === "" ? programs.sh : (programs.bash as string);
		return [shell, "-c", `printf . >&5; exec 5>&- ; ${this.#closing}${limit}exec "$@"`, "sh"];
	}
}

/** The program, and the group that it leads: without namespaces its children do not end with it. */
function endGroup(child: ChildProcess): void {
	child.kill("SIGKILL");
	try {
		if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
	} catch {
		// The group is empty.
	}
}

/** Our own git gets the variables that we set for it. */
const ownVariables = (file: string) => (file === "git" || file.endsWith("/git") ? /^(GIT_|LC_|LANGUAGE$|SSH_ASKPASS$)/ : undefined);

/** Nothing can be mounted on macOS: git is told where the copy of the user's configuration is. */
function gitIdentity({ replaced = [] }: View): Record<string, string> {
	const source = replaced.find(({ path }) => basename(path) === ".gitconfig")?.source;
	return source === undefined ? {} : { GIT_CONFIG_GLOBAL: source };
}

const entering = (nsenter: string, pid: number, hasOwnNetwork: boolean) => [
	nsenter,
	...["-t", String(pid), "-U", ...(hasOwnNetwork ? ["-n"] : []), "-p", "-i", "-m", "--preserve-credentials", "--"],
];

/** What a fresh /run keeps: name resolution, and the programs of a system that has them there. */
function runPlaces(network: WallsOptions["network"]): string[] {
	const places = [...(network === "on" ? ["/run/systemd/resolve"] : []), "/run/current-system", "/run/wrappers"];
	return places.filter((path) => look(path)?.isDirectory() || look(path)?.isSymbolicLink()).filter((path) => look(path)?.isDirectory());
}

/** Node passes descriptors on that it inherited. Where there are some, every command closes them first, which takes bash. */
function closingLine({ bash }: Programs): string {
	if (!inheritsDescriptors()) return "";
	if (bash === undefined) throw new Error("This process inherited open descriptors, and closing them for commands needs bash.");
	// The loop has no redirection of its own: bash would keep the saved stderr at a descriptor that the loop closes.
	return `for each in /proc/self/fd/*; do each=\${each##*/}; [ "$each" -gt 2 ] && [ "$each" -ne 255 ] && eval "exec $each>&-"; done; `;
}

const closeOnExec = 0o2000000;

function inheritsDescriptors(): boolean {
	return readdirSync("/proc/self/fdinfo").some((name) => {
		if (Number(name) <= 2) return false;
		try {
			const [, flags = "0"] = /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${name}`, "utf8")) ?? [];
			return (Number.parseInt(flags, 8) & closeOnExec) === 0 && readlinkSync(`/proc/self/fd/${name}`) !== "";
		} catch {
			return false;
		}
	});
}

/** True with the first byte, false at the end. */
function firstByte(stream: Readable, isOver: boolean): Promise<boolean> {
	if (isOver) return Promise.resolve(false);
	return new Promise((resolve) => {
		const finish = (hasBegun: boolean) => {
			stream.destroy();
			resolve(hasBegun);
		};
		stream
			.once("data", () => finish(true))
			.once("end", () => finish(false))
			.once("error", () => finish(false))
			.once("close", () => finish(false));
	});
}
