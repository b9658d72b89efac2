/** The sandbox of a session: built, then probed before it is trusted. Loaded only when a session asks for one. */

import { randomBytes } from "node:crypto";
import { accessSync, chmodSync, constants, mkdirSync, readdirSync, rmdirSync, rmSync, type Stats, statSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { basename, dirname, join } from "node:path";
import { asSentence } from "../lib/as-sentence.ts";
import type { Confinement, ProgramStart } from "../lib/shell/confinement.ts";
import type { SandboxState, SandboxUse } from "../protocol/sandbox.ts";
import type { SettingName, SettingValue } from "../protocol/settings.ts";
import { type Cell, CellError, openCell } from "./cell.ts";
import type { EnvFiles } from "./env-files.ts";
import { outsideEnvironment } from "./environment.ts";
import { ConfinedFiles } from "./files.ts";
import { Guard } from "./guard.ts";
import { undo } from "./leavings.ts";
import { between, follow, isWithin, linkInside, look, outermost, realPath } from "./paths.ts";
import { escapes, hasPassed, type ProbeResult, probe } from "./probe.ts";
import { explain, findProgram, findPrograms, type MachineKind, type Programs, thisMachine, type Unavailable } from "./programs.ts";
import type { HostProxy, JudgeConnection } from "./proxy.ts";
import { Quarantine } from "./quarantine.ts";
import type { PathRule } from "./ruled-paths.ts";
import { isProcessor, seccompFilter } from "./seccomp.ts";
import { readableOfUserDirectory, Survey, writeEmptyFiles } from "./survey.ts";
import { temporaryName, type View } from "./view.ts";
import { type Trial, Walls } from "./walls.ts";

export type { PathRule } from "./ruled-paths.ts";

export interface SandboxInput {
	cwd: string;
	/** Further directories of the project. */
	roots?: readonly string[];
	userDirectory: string;
	env: NodeJS.ProcessEnv;
	/** Rules that deny paths to commands. */
	pathRules?: readonly PathRule[];
	setting: <Name extends SettingName>(name: Name) => SettingValue<Name>;
	/** For tests of another platform. */
	machine?: MachineKind;
}

/** What was started before anything is tried. */
interface Beginning {
	/** When. */
	began: number;
	cell: Promise<Cell> | undefined;
}

/** Private directories of sessions that were killed are removed after this. */
const maxAgeMs = 7 * 24 * 60 * 60 * 1000;

export class Sandbox {
	readonly mode: Exclude<SandboxState["mode"], "off">;
	readonly #input: SandboxInput;
	#state: SandboxState;
	#opening: Promise<void> | undefined;
	#survey: Survey | undefined;
	#walls: Walls | undefined;
	#gitWalls: Walls | undefined;
	#guard: Guard | undefined;
	#proxy: HostProxy | undefined;
	#judge: JudgeConnection = async () => ({ isAllowed: false, mayBePrivate: false });
	/** Found once: they are outside every root, where no command can put another program in their place. */
	#programs: Programs | undefined;
	/** Of copies that subagents work in: each is its own only root. Kept for the repository that each trusts and the placeholders that it made. */
	#copies = new Map<string, Survey>();
	#private: string | undefined;
	/** What the system prompt says of masked files. */
	#maskingNote: string | undefined;
	/** How many projects and copies were searched for files to mask. */
	#maskings = 0;
	/** What the model is told to read in hidden directories. */
	readonly #ownReadable: string[] = [];
	#permissionMode: () => string = () => "full";
	#uncovered: () => string[] = () => [];
	/** Directories that our own git writes to. */
	readonly #gitDirectories: string[];

	constructor(input: SandboxInput) {
		this.#input = input;
		this.mode = input.setting("sandbox.mode") as Sandbox["mode"];
		this.#state = { mode: this.mode, active: false, verified: false, reason: "it has not been tried yet" };
		this.#gitDirectories = ["worktrees", "checkpoints"].map((name) => join(input.userDirectory, name));
	}

	get #machine(): MachineKind {
		return this.#input.machine ?? thisMachine;
	}

	/** The same object until something in it changes. */
	get state(): SandboxState {
		if (!this.#state.active || this.mode === "external") return this.#state;
		const uncovered = this.#uncovered();
		if (uncovered.join("\n") !== this.#state.uncovered?.join("\n")) this.#state = { ...this.#state, uncovered };
		return this.#state;
	}

	/** What commands may write now: nothing in mode plan. */
	get currentMode(): Sandbox["mode"] {
		return this.mode === "workspace-write" && this.#permissionMode() === "plan" ? "read-only" : this.mode;
	}

	/** The mode of permissions may change while the session lives. */
	watchMode(mode: () => string): void {
		this.#permissionMode = mode;
	}

	/** What runs outside, asked again each time. */
	listUncovered(list: () => string[]): void {
		const before = this.#uncovered;
		this.#uncovered = () => [...before(), ...list()];
	}

	/** The variables of a command that a person lets run outside. */
	outside(variables: Record<string, string | undefined>): Record<string, string | undefined> {
		return outsideEnvironment(variables, this.roots, isWithin);
	}

	/** What everything that the model starts runs in. Absent in mode external, and where the user lets the session run without. */
	get confinement(): Confinement | undefined {
		return this.#state.active ? this.#walls : undefined;
	}

	/** Why no prompt may run: the walls are required and not there. */
	get refusal(): string | undefined {
		if (this.#state.active || !this.#input.setting("sandbox.required")) return undefined;
		const { reason = "unknown reason", remedy = "" } = this.#state;
		return `The sandbox that this session requires is not available: ${asSentence(reason)} ${remedy}`.trim();
	}

	/** What the result of a command says about it. */
	facts(denied: readonly string[]): SandboxUse {
		const mode = this.currentMode === "external" ? {} : { mode: this.currentMode };
		return { applied: true, ...mode, network: this.#input.setting("sandbox.network"), denied: [...denied] };
	}

	/** One line for the model when the walls may be why a command failed. */
	note(output: string): string | undefined {
		if (
			!/Read-only file system|Operation not permitted|Permission denied|Network is unreachable|Could not resolve|Name or service not known|Temporary failure in name resolution|getaddrinfo|EAI_AGAIN|ENOTFOUND|Device or resource busy/.test(
				output,
			)
		)
			return undefined;
		const [closed] = this.closedGit;
		const git = closed === undefined ? "" : ` Nothing in that git directory is writable, because ${closed}.`;
		const masked = this.#maskedIn(output);
		const copy =
			masked === undefined
				? ""
				: ` ${masked} is a copy with masked values: it cannot be changed, and the folders above it cannot be moved. The user can show the file itself with sandbox.readable.`;
		return `[Ran in a sandbox: ${this.#describe(this.currentMode === "read-only" ? [] : this.#state.writable)}.${git}${copy}]`;
	}

	/** The masked file that an output speaks of; any where it may be about one. */
	#maskedIn(output: string): string | undefined {
		const files = this.#maskedFiles();
		return files.find((path) => output.includes(basename(path))) ?? (/busy|Read-only/.test(output) ? files[0] : undefined);
	}

	#maskedFiles(): string[] {
		const { replaced = [] } = this.#survey?.ground.envFiles ? this.#survey.readingView() : {};
		const files = replaced.flatMap(({ path, isMasked }) => (isMasked ? [path] : []));
		return files.filter((path) => this.roots.some((root) => isWithin(path, root)));
	}

	/** Git directories that cannot be written because of what was in them before any command, each with the reason. */
	get closedGit(): readonly string[] {
		return this.#survey?.closedGit ?? [];
	}

	/** The same for the system prompt: it does not change while the session lives. */
	get description(): string {
		this.#maskingNote ??= this.#maskedFiles().length === 0 ? "" : ", and files such as .env are copies with masked values";
		return this.#describe(this.#state.writable) + this.#maskingNote;
	}

	#describe(writable: readonly string[] = []): string {
		const last = this.#temporaryNames();
		const places = [...(writable.length > 0 ? [writable.join(", ")] : []), ...last].join(" and ");
		return `${places} ${writable.length + last.length > 1 ? "are" : "is"} writable, ${this.#networkText()}`;
	}

	#temporaryNames(): string[] {
		return this.#survey ? [temporaryName(this.#survey.ground)] : [];
	}

	#networkText(): string {
		const hosts = this.#input.setting("sandbox.hosts");
		switch (this.#input.setting("sandbox.network")) {
			case "off":
				return "the network is off";
			case "hosts":
				return `the network is limited to ${hosts.length > 0 ? hosts.join(", ") : "hosts that are approved"}`;
			case "on":
				return "the network is on";
		}
	}

	/** The same for programs that only read, such as a search. */
	get readingConfinement(): Confinement | undefined {
		const survey = this.#survey;
		return survey && this.#state.active ? this.#walls?.viewing(() => survey.commandView(true)) : undefined;
	}

	/** For git that we run ourselves. */
	get gitConfinement(): Confinement | undefined {
		return this.#state.active ? this.#gitWalls : undefined;
	}

	/** Files of subagents: commands and tools may read them, and our own git writes patches there. */
	shareArtifacts(directory: string): void {
		const place = realPath(directory);
		if (place === undefined || this.#gitDirectories.includes(place)) return;
		this.#gitDirectories.push(place);
		this.#ownReadable.push(place);
	}

	/** The path of a program that no command can have made. */
	programOf(name: string): string {
		return (name === "git" ? this.#programs?.git : findProgram(name, this.roots)) ?? name;
	}

	/** A directory inside a copy has the whole copy as its root, and not the live tree. */
	async #surveyOf(cwd: string, survey: Survey): Promise<Survey> {
		const copies = realPath(join(this.#input.userDirectory, "worktrees"));
		if (copies === undefined || !isWithin(cwd, copies) || isWithin(survey.ground.cwd, copies)) return survey;
		const top = [...between(join(cwd, "x"), copies)].reverse().find((path) => look(join(path, ".git"))) ?? cwd;
		const known = this.#copies.get(top);
		if (known) return known;
		const { envFiles: _, ...ground } = survey.ground;
		const made = new Survey({ ...ground, cwd: top, roots: [top], ...(await this.#envFiles([top], ground.gitProgram)) });
		// Another command there may have been faster.
		const first = this.#copies.get(top) ?? made;
		this.#copies.set(top, first);
		return first;
	}

	/** What file tools may touch; nothing where the session runs without a sandbox. */
	get files(): ConfinedFiles | undefined {
		const survey = this.#survey;
		if (!survey || !this.#state.active) return undefined;
		const viewOf = async (use: "reading" | "writing") =>
			use === "reading" ? survey.readingView() : survey.view(undefined, await survey.lookAtGit());
		return new ConfinedFiles(viewOf, this.#machine.platform, (path) => this.#guard?.allow(path));
	}

	/** Directories that may be written to; the working directory first. */
	get roots(): readonly string[] {
		return this.#survey?.ground.roots ?? [];
	}

	/** Real paths of the session's own /tmp and /var/tmp. */
	get temporaryDirectories(): readonly string[] {
		return Object.values(this.#survey?.ground.temporary ?? {});
	}

	/** What the model may read in any mode: its temporary files and full outputs. */
	get ownDirectories(): readonly string[] {
		return [...this.temporaryDirectories, ...(this.#survey?.ground.ownReadable ?? [])];
	}

	/** Whether no command can have made the program at this path. */
	isTrustedProgram(path: string): boolean {
		const target = realPath(path);
		const roots = this.#survey?.ground.roots ?? [];
		return target !== undefined && !roots.some((root) => isWithin(target, root) || isWithin(path, root));
	}

	/** Builds the walls and tries them. Never rejects: `state` says how it went. */
	open(): Promise<void> {
		this.#opening ??= this.#open().catch((error: Error) => this.#unavailable({ reason: error.message, remedy: "See bowline doctor." }));
		return this.#opening;
	}

	/** Ends everything inside, once the commands that run now have been ended in order. */
	abort(): void {
		void this.#walls?.endAllSoon();
	}

	async close(): Promise<void> {
		await this.#opening;
		await Promise.all([this.#walls?.endAll(), this.#gitWalls?.endAll()]);
		// What the last command left is looked at once more; placeholders are then ours to remove.
		await this.#guard?.check(true);
		this.#guard?.close();
		this.#proxy?.close();
		for (const survey of [this.#survey, ...this.#copies.values()]) survey?.removePlaceholders();
		this.#removePrivate();
	}

	#unavailable({ reason, remedy }: Unavailable): void {
		const required = this.#input.setting("sandbox.required");
		this.#state = { mode: this.mode, active: false, verified: false, ...(required && { required }), reason, remedy };
	}

	async #open(): Promise<void> {
		const { setting, env } = this.#input;
		const roots = this.#roots();
		if ("reason" in roots) return this.#unavailable(roots);
		const redirected = this.#redirected(roots.roots);
		if (redirected) return this.#unavailable(redirected);
		const temporary = this.#makePrivate();
		const { HOME: home } = env;
		this.#ownReadable.push(
			join(this.#private as string, "logs"),
			...readableOfUserDirectory(this.#input.userDirectory),
			// Searches without ripgrep are a program of ours, and extensions and scripts are run by this node.
			realPath(import.meta.dirname) ?? import.meta.dirname,
			...ripgrepPackages(),
			dirname(realPath(process.execPath) ?? process.execPath),
		);
		const gitProgram = findProgram("git", roots.roots, env.PATH ?? "");
		const survey = new Survey({
			mode: this.mode,
			cwd: roots.cwd,
			roots: roots.roots,
			innerRoots: roots.inner,
			home: home === undefined ? undefined : realPath(home),
			isHomeHidden: setting("sandbox.home") === "hidden",
			variables: env,
			emptyFiles: this.#makeEmptyFiles(),
			...(await this.#gitIdentity(gitProgram)),
			...(await this.#envFiles(roots.roots, gitProgram)),
			userDirectory: this.#input.userDirectory,
			path: env.PATH ?? "",
			hidden: setting("sandbox.hidden"),
			readable: setting("sandbox.readable"),
			protected: setting("sandbox.protected"),
			git: setting("sandbox.git"),
			gitProgram,
			isRoot: process.getuid?.() === 0,
			temporary,
			ownReadable: this.#ownReadable,
			rules: this.#input.pathRules ?? [],
		});
		this.#survey = survey;
		if (this.mode === "external") {
			this.#state = { mode: "external", active: true, verified: false, writable: [...survey.view().writable] };
			return;
		}
		// Each of these is a program that has to be started, and none needs another one.
		const beginning: Beginning = { began: performance.now(), cell: undefined };
		const programs = await findPrograms(setting("sandbox.bwrapPath"), roots.roots, env.PATH ?? "", this.#machine, (located) => {
			if (located.nsenter !== undefined) beginning.cell = openCell(located, setting("sandbox.network") !== "on");
		});
		if ("reason" in programs) {
			beginning.cell?.then((cell) => cell.kill()).catch(() => "there is none");
			return this.#unavailable(programs);
		}
		if (setting("sandbox.network") === "hosts" && programs.nsenter === undefined && programs.seatbelt === undefined)
			return this.#unavailable({
				reason: "sandbox.network hosts needs the program nsenter",
				remedy: "Install the package util-linux, or set sandbox.network to off.",
			});
		await this.#try(survey, programs, beginning);
	}

	/** Decides about connections, for network `hosts`. Without it none are allowed. */
	judgeConnections(judge: JudgeConnection): void {
		this.#judge = judge;
	}

	async #openProxy({ nsenter }: Programs): Promise<HostProxy | undefined> {
		if (this.#input.setting("sandbox.network") !== "hosts") return undefined;
		const { HostProxy, relayProgram } = await import("./proxy.ts");
		const relay = join(this.#private as string, "logs", "relay.cjs");
		writeFileSync(relay, relayProgram);
		return new HostProxy({ ...(nsenter !== undefined && { nsenter }), relay, judge: (...connection) => this.#judge(...connection) });
	}

	async #try(survey: Survey, programs: Programs, { began, cell }: Beginning): Promise<void> {
		const { setting } = this.#input;
		const network = setting("sandbox.network");
		const maxProcesses = setting("sandbox.maxProcesses");
		const view = async ({ cwd }: Pick<ProgramStart, "cwd"> = survey.ground) => {
			const place = await this.#surveyOf(cwd, survey);
			const git = await place.lookAtGit();
			const look = () => place.makePlaceholders(place.commandView(this.currentMode === "read-only", git));
			const current = look();
			if (guard.prepare(current, place === survey ? survey.standing(git) : undefined)) return current;
			place.giveUpWatching();
			return look();
		};
		const quarantine = new Quarantine(join(this.#input.userDirectory, "quarantine"), Date.now);
		const guard: Guard = new Guard({
			quarantine,
			endAll: async () => this.#walls?.endAll(),
			hasBackground: async () => (await this.#walls?.hasBackground()) ?? false,
			inspect: () => {
				const { traps, standing } = survey.inspect();
				const others = [...this.#copies.values()].flatMap((each) => (look(each.ground.cwd) ? each.inspect().traps : []));
				return { traps: [...traps, ...others], standing };
			},
			undo: (before, now, onMove) => {
				const { gitProgram: git, home, roots } = survey.ground;
				return undo(before, now, { quarantine, git, home, roots, onMove });
			},
			giveUp: () => survey.giveUpWatching(),
		});
		this.#guard = guard;
		const gitView = async () => {
			await guard.check();
			return survey.makePlaceholders(await survey.gitView(this.#gitDirectories));
		};
		const seccompFile = this.#writeFilter(programs);
		const logDirectory = join(this.#private as string, "logs");
		const seatbelt = programs.seatbelt === undefined ? {} : { seatbelt: (await import("./seatbelt.ts")).seatbeltEnclosure };
		const options = { ...seatbelt, programs, view, seccompFile, network, env: setting("sandbox.env"), maxProcesses, logDirectory };
		this.#proxy = await this.#openProxy(programs);
		const walls = new Walls({ ...options, guard, ...(cell && { cell }), ...(this.#proxy && { proxy: this.#proxy }) });
		this.#walls = walls;
		// In a cell of its own: an abort ends the model's commands, and not the git that puts things in order after it.
		const gitWalls = new Walls({ ...options, network: "off", view: gitView });
		this.#gitWalls = gitWalls;
		this.#programs = programs;
		const { cwd, home } = survey.ground;
		const hiddenDirectory = this.#private as string;
		const { platform } = this.#machine;
		try {
			const looked = view();
			const shell = programs.bash ?? programs.sh;
			const places = { cwd, home, network, hiddenDirectory, platform, shell };
			let isFirst = true;
			// A path that vanished before it was mounted is not in the view of the next attempt.
			const viewOnce = () => {
				const given = isFirst ? looked : view();
				isFirst = false;
				return given;
			};
			const attempt = () => probe({ walls: walls.viewing(viewOnce), view: looked, ...places });
			const results = await attempt().catch((error: Error) => {
				// Entering namespaces may be forbidden where making them is not. The proxy has to be inside a cell.
				if (!walls.hasCell || this.#proxy) throw error;
				for (const each of [walls, gitWalls]) each.withoutCell();
				return attempt();
			});
			const failed = results.filter((each) => !hasPassed([each]));
			if (!hasPassed(results)) {
				this.#unavailable(whyOpen(failed, survey.ground));
				this.#state = { ...this.#state, probes: escapes(results) };
				return;
			}
			const trying = (viewOf: () => Promise<View>, reach: typeof network): Trial["run"] => {
				return async (untried, isShort) => {
					const again = await probe({ walls: untried, view: viewOf(), ...places, network: reach, isShort });
					// A directory that can no longer be written to opens no hole. A full disk must not stop the commands that free it.
					const open = again.filter(({ result }) => result === "open").map(({ name }) => name);
					if (open.length > 0) throw new Error(`The walls do not hold any more (${open.join(", ")} open): the command was not run.`);
				};
			};
			// Settings are read once, at the start: only the mode of permissions changes the plan.
			await walls.tryAgain({ plan: () => this.currentMode, run: trying(view, network) });
			gitWalls.tryFirst({ plan: () => "git", run: trying(gitView, "off") });
			const first = await looked;
			this.#state = {
				mode: this.mode,
				active: true,
				verified: true,
				backend: programs.backend,
				cell: walls.hasCell,
				seccomp: seccompFile !== undefined,
				network,
				writable: [...first.writable],
				hidden: first.hidden.length,
				protected: first.protected.length + first.placeholders.length,
				limits: maxProcesses > 0 && process.getuid?.() !== 0 && !programs.seatbelt ? { processes: maxProcesses } : {},
				uncovered: [],
				probes: escapes(results),
				checkedMs: Math.round(performance.now() - began),
			};
		} catch (error) {
			this.#unavailable(error instanceof CellError ? explain(error.message) : explainFailure((error as Error).message));
		}
	}

	/** Directories that commands may write to. Some are refused: writing there is as good as no sandbox. */
	#roots(): Roots | Unavailable {
		const { cwd, roots: more = [], setting, userDirectory, env } = this.#input;
		const user = realPath(userDirectory) ?? userDirectory;
		const homes = [env.HOME, ownHome()].flatMap((path) => (path ? (realPath(path) ?? []) : []));
		const installation = realPath(dirname(import.meta.dirname)) ?? import.meta.dirname;
		const found: NamedRoot[] = [];
		for (const named of [cwd, ...more, ...setting("sandbox.writable")]) {
			const root = realPath(named);
			const facts = root === undefined ? undefined : statSync(root, { throwIfNoEntry: false });
			const problem = !facts?.isDirectory()
				? "is not a directory"
				: root === "/"
					? "holds everything"
					: isWithin(user, root as string)
						? "holds Bowline's own files"
						: homes.some((home) => isWithin(home, root as string))
							? "holds a home directory"
							: this.mode === "read-only"
								? undefined
								: isWithin(installation, root as string)
									? "holds Bowline itself"
									: this.mode === "external" || isWritable(root as string, facts)
										? undefined
										: "belongs to another user";
			if (problem !== undefined || root === undefined)
				return {
					reason: `${named} cannot be a directory to write to: it ${problem}`,
					remedy:
						problem === "belongs to another user"
							? "Run Bowline as that user, or with --sandbox read-only."
							: "Start in a project's directory, or name other directories with sandbox.writable.",
				};
			found.push({ named, root });
		}
		const misled = misledOne(found);
		if (misled) return misled;
		const roots = outermost(found.map(({ root }) => root));
		const inner = found.map(({ root }) => root).filter((root) => !roots.includes(root));
		return { roots, inner, cwd: (found[0] as NamedRoot).root };
	}

	/** Says which path of `sandbox.readable` a command can have led to a place that is hidden otherwise. */
	#redirected(roots: readonly string[]): Unavailable | undefined {
		for (const named of this.#input.setting("sandbox.readable")) {
			const place = realPath(named);
			const link = place === undefined || place === named ? undefined : linkInside(follow(named), roots);
			if (link === undefined || place === undefined || roots.some((root) => isWithin(place, root))) continue;
			return {
				reason: `${named} cannot be shown: it leads to ${place} through the link ${link}, which a command can have made`,
				remedy: `Name ${place} itself in sandbox.readable if you want to show it, or remove the link.`,
			};
		}
		return undefined;
	}

	#makePrivate(): View["temporary"] {
		const directory = join(this.#input.userDirectory, "sandbox", randomBytes(6).toString("hex"));
		mkdirSync(directory, { recursive: true, mode: 0o700 });
		const real = realPath(directory) as string;
		this.#private = real;
		const names = ["tmp", "var-tmp", "logs"].map((name) => {
			const path = join(real, name);
			mkdirSync(path, { mode: 0o700 });
			if (name !== "logs") chmodSync(path, 0o1777);
			return path;
		});
		const [tmp, varTmp] = names as [string, string];
		// Nothing can be mounted on macOS: commands find their directory by TMPDIR.
		return this.#machine.platform === "darwin" ? { [tmp]: tmp } : { "/tmp": tmp, "/var/tmp": varTmp };
	}

	/** Full outputs stay for a week, as they do without a sandbox. */
	#removePrivate(): void {
		const directory = this.#private;
		if (directory === undefined) return;
		for (const name of ["tmp", "var-tmp", "filter", "git", "masked", "empty", "logs/relay.cjs"]) remove(join(directory, name));
		removeIfEmpty(join(directory, "logs"));
		removeIfEmpty(directory);
		for (const name of readdirSync(dirname(directory))) {
			const other = join(dirname(directory), name);
			const facts = statSync(other, { throwIfNoEntry: false });
			if (facts && Date.now() - facts.mtimeMs > maxAgeMs) remove(other);
		}
		removeIfEmpty(dirname(directory));
	}

	#makeEmptyFiles(): string {
		const directory = join(this.#private as string, "empty");
		writeEmptyFiles(directory);
		return directory;
	}

	/** Finds the files whose values are masked, before any command can make one. */
	async #envFiles(roots: readonly string[], git: string | undefined): Promise<{ envFiles?: EnvFiles }> {
		if (this.#input.setting("sandbox.envFiles") !== "masked") return {};
		const { EnvFiles } = await import("./env-files.ts");
		this.#maskings += 1;
		const directory = join(this.#private as string, "masked", String(this.#maskings));
		return { envFiles: await EnvFiles.find({ roots, directory, git, home: this.#input.env.HOME }) };
	}

	/** In a hidden home git would not know who commits. */
	async #gitIdentity(git: string | undefined): Promise<{ gitIdentity?: string }> {
		const { setting, env } = this.#input;
		if (git === undefined || this.mode === "external" || setting("sandbox.home") !== "hidden") return {};
		const { writeGitIdentity } = await import("./git-identity.ts");
		const directory = join(this.#private as string, "git");
		const gitIdentity = await writeGitIdentity({ git, env, directory });
		if (gitIdentity === undefined) return {};
		this.#ownReadable.push(directory);
		return { gitIdentity };
	}

	#writeFilter({ version, seatbelt }: Programs): string | undefined {
		const processor = process.arch;
		if (seatbelt !== undefined || !isProcessor(processor)) return undefined;
		const noNamespaces = version[0] === 0 && version[1] < 8;
		const noUnixSockets = this.#input.setting("sandbox.unixSockets") === "none";
		const file = join(this.#private as string, "filter");
		writeFileSync(file, seccompFilter({ processor, noUnixSockets, noNamespaces }), { mode: 0o600 });
		return file;
	}
}

interface Roots {
	/** None inside another. */
	roots: string[];
	/** Those that are named, too, and are inside another. */
	inner: string[];
	cwd: string;
}

interface NamedRoot {
	named: string;
	/** The real path. */
	root: string;
}

/**
 * Says which directory a command of an earlier session can have led elsewhere: its name goes through a link in a place that commands may write. A
 * link that lies outside of all of them is the user's own.
 */
function misledOne(found: readonly NamedRoot[]): Unavailable | undefined {
	const writable = found.map(({ root }) => root);
	const linked = found.map(({ named, root }) => ({ named, root, link: root === named ? undefined : linkInside(follow(named), writable) }));
	const sound = linked.filter(({ link }) => link === undefined).map(({ root }) => root);
	for (const { named, root, link } of linked) {
		// What may be written anyway is no prize.
		if (link === undefined || sound.some((outer) => isWithin(root, outer))) continue;
		return {
			reason: `${named} cannot be a directory to write to: it leads to ${root} through the link ${link}, which a command can have made`,
			remedy: `Name ${root} itself if you want commands to write there, or put the directory back.`,
		};
	}
	const [start] = found;
	if (start && start.root !== start.named && start.named === process.cwd())
		return {
			reason: `the working directory ${start.named} was replaced while Bowline was starting: it leads to ${start.root} now`,
			remedy: "Put the directory back and start again.",
		};
	return undefined;
}

/** A home below a directory that is private inside is private itself: a write there proves nothing, so the walls cannot be tried. */
function whyOpen(failed: readonly ProbeResult[], { home, temporary }: Pick<View, "temporary"> & { home: string | undefined }): Unavailable {
	const place = Object.keys(temporary).find((directory) => home !== undefined && isWithin(home, directory));
	if (place !== undefined && failed.every(({ name }) => name === "write_outside"))
		return {
			reason: `the home directory ${home} is below ${place}, which commands see as a private directory of their own, with another home in it`,
			remedy: `Set HOME to a directory that is not below ${Object.keys(temporary).join(" or ")}.`,
		};
	const names = failed.map(({ name, result }) => `${name} ${result}`).join(", ");
	return { reason: `the sandbox does not hold: ${names}`, remedy: "See bowline doctor, and docs/sandbox.md." };
}

function explainFailure(text: string): Unavailable {
	return /bwrap: /.test(text) ? explain(text.slice(text.indexOf("bwrap: "))) : { reason: text.replace(/\.$/, ""), remedy: "See bowline doctor." };
}

/** As the system knows it, whatever HOME says. */
function ownHome(): string | undefined {
	try {
		return userInfo().homedir;
	} catch {
		// In some containers the user has no name and no home.
		return undefined;
	}
}

/** Root has no more rights inside than any other user. */
function isWritable(directory: string, { uid, gid, mode }: Stats): boolean {
	if (process.getuid?.() === 0) return (mode & (uid === 0 ? 0o200 : gid === 0 ? 0o020 : 0o002)) !== 0;
	try {
		accessSync(directory, constants.W_OK);
		return true;
	} catch {
		return false;
	}
}

function remove(path: string): void {
	try {
		rmSync(path, { recursive: true, force: true });
	} catch {
		// A directory without permissions stays until the user removes it.
	}
}

function removeIfEmpty(directory: string): void {
	try {
		rmdirSync(directory);
	} catch {
		// Something is in it.
	}
}

/** Where npm puts the optional package of ripgrep: in our package, or next to it. It must be seen also where Bowline is installed below a hidden directory. */
function ripgrepPackages(): string[] {
	const own = dirname(realPath(import.meta.dirname) ?? import.meta.dirname);
	return [join(own, "node_modules", "@vscode"), join(dirname(own), "@vscode")];
}
