/**
 * Looks at the machine and makes a view of it, again for each command. No look is kept for the next one: a command or a person may have changed
 * anything meanwhile, and what a stale look misses is open.
 */
import { mkdirSync, readdirSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, delimiter, dirname, isAbsolute, join } from "node:path";
import { askGitForNamedFiles, type GitNamedFile } from "../lib/git-named-files.ts";
import type { EnvFiles } from "./env-files.ts";
import { emptyLayout, type GitLayout, gitLayout, type Placeholder } from "./git-layout.ts";
import { type GitTrap, trapsIn } from "./git-traps.ts";
import type { Standing } from "./leavings.ts";
import { emptiedInHome, hiddenForRoot, hiddenInHome, movedByVariable, shownInUserDirectory } from "./lists.ts";
import { entriesOf, follow, inDirectory, inFolder, isCovered, isWithin, linkInside, look, nearest, outermost, realPath } from "./paths.ts";
import { type Scan, scan } from "./repository-scan.ts";
import { type PathRule, ruledPaths } from "./ruled-paths.ts";
import { type HiddenPath, mayRead, type ReplacedFile, type View } from "./view.ts";

/** What the settings say, and where this session is. */
export interface Ground {
	mode: "read-only" | "workspace-write" | "external";
	/** The session's working directory, without links. */
	cwd: string;
	/** Directories that may be written to: the working directory and `sandbox.writable`, without links. */
	roots: readonly string[];
	/** Real paths of directories that settings name inside a root: they stay where they are, because the next session trusts their names. */
	innerRoots?: readonly string[];
	home: string | undefined;
	isHomeHidden: boolean;
	/** Variables of this process: some say where programs keep their keys. */
	variables?: Readonly<Record<string, string | undefined>>;
	/** Files of the project whose values are masked. */
	envFiles?: Pick<EnvFiles, "now">;
	/** Where `writeEmptyFiles` has put its files. */
	emptyFiles?: string;
	/** A file of ours that is seen as `~/.gitconfig` in a hidden home: who the user is to git. */
	gitIdentity?: string;
	userDirectory: string;
	/** `PATH` of commands. */
	path: string;
	hidden: readonly string[];
	readable: readonly string[];
	protected: readonly string[];
	git: "write" | "read";
	/** The program, outside every root. */
	gitProgram: string | undefined;
	isRoot: boolean;
	temporary: View["temporary"];
	/** Rules that deny paths to commands. */
	rules?: readonly PathRule[];
	/** Our own directories that the model is told to read. */
	ownReadable: readonly string[];
}

/** What one plan knows of git. It is made for the plan and dropped with it. */
export interface GitLook extends Readonly<Scan> {
	/** Files that the configuration of repositories names. */
	named: readonly GitNamedFile[];
}

const noGitLook: GitLook = { repositories: [], bare: [], opened: [], isWhole: true, named: [] };

/** A path that must not be written. While it is missing it is made empty, as a placeholder, or it must stay absent. */
interface Closing {
	path: string;
	kind: Placeholder["kind"] | "absent";
}

type Closed = Pick<GitLayout, "protected" | "placeholders" | "forbidden" | "links">;

/** Directories that are others inside. */
const elsewhere = ["/tmp", "/var/tmp", "/run", "/dev", "/proc"];

/** Of repositories that a command may have made, no more than this are asked about. */
const mostAsked = 50;

export class Survey {
	readonly ground: Ground;
	/** Repositories that the user opened: what they need outside the roots may be written. Found before any command can forge one. */
	readonly #trusted: readonly string[];
	/** Empty files and directories that we made, each with the real place of its folder. */
	readonly #made = new Map<string, Placeholder & { folder: string }>();
	/** Git directories cannot be watched here, so nothing of them may be written. */
	#isUnwatched = false;
	/** What changed before is older than every command. Clocks of file systems are a little behind. */
	readonly #began = Date.now() - 1000;
	/** Traps that were in git directories before any command ran. They are the user's own. */
	readonly #ownTraps: readonly GitTrap[];
	/** In the home, and where variables say that they are: by their folders. */
	readonly #listedNames: ReadonlyMap<string, readonly string[]>;
	/** The same for files that are seen empty. */
	readonly #emptied: readonly NamedInHome[];

	constructor(ground: Ground) {
		this.ground = ground;
		const { home } = ground;
		const inHome = home === undefined ? [] : hiddenInHome.map((name) => inDirectory(home, name));
		this.#listedNames = byFolder([...inHome, ...movedNames(ground, hiddenInHome).map(({ path }) => path)]);
		const emptied = Object.keys(emptiedInHome);
		const ownEmptied = home === undefined ? [] : emptied.map((name) => ({ name, path: inDirectory(home, name) }));
		this.#emptied = [...ownEmptied, ...movedNames(ground, emptied)];
		this.#trusted = [...new Set(ground.roots.flatMap((root) => repositoryOf(root) ?? []))];
		this.#ownTraps = [];
		this.#ownTraps = this.inspect().traps;
	}

	/** Says why a git directory may not be written at all, for each that is so. */
	get closedGit(): string[] {
		return this.#ownTraps.flatMap(({ kind, text }) => (kind === "line" ? [] : [text]));
	}

	/** Looks for what commands have left in git directories, those of new repositories included, and in the project. */
	inspect(): { traps: GitTrap[]; standing: Standing } {
		const { mode, roots } = this.ground;
		if (mode !== "workspace-write") return { traps: [], standing: { opened: new Set(), stores: new Set(), bare: new Set() } };
		const look = { ...scan(roots), named: [] };
		const { directories, stores } = this.#git(roots, look);
		const own = new Set(this.#ownTraps.map(({ key }) => key));
		return { traps: directories.flatMap(trapsIn).filter(({ key }) => !own.has(key)), standing: this.#standingOf(look, stores) };
	}

	/** What is there as a command begins. */
	standing(git: GitLook): Standing {
		return this.#standingOf(git, this.#git(this.ground.roots, git).stores);
	}

	#standingOf({ opened, bare, isWhole }: GitLook, stores: readonly string[]): Standing {
		const { roots } = this.ground;
		return {
			// Ours come and go with the session.
			opened: new Set(opened.filter((path) => !this.#made.has(path) && roots.some((root) => isWithin(path, root)))),
			stores: new Set(stores),
			bare: new Set(bare),
			...(!isWhole && { since: this.#began }),
		};
	}

	/**
	 * Finds the repositories below the roots and asks git which files their configuration names. Rejects when git gives no answer about a repository
	 * that the user opened: without it those files would be open. A repository that a command made must not stop all others, so there no answer
	 * names no files.
	 */
	async lookAtGit(roots: readonly string[] = this.ground.roots): Promise<GitLook> {
		const { git, gitProgram, home, mode } = this.ground;
		if (mode === "read-only") return noGitLook;
		const ask = async (cwd: string): Promise<readonly GitNamedFile[]> => {
			if (gitProgram === undefined || git === "read" || mode === "external") return [];
			return (await askGitForNamedFiles({ cwd, git: gitProgram, environment: () => ({ PATH: "/usr/bin:/bin", HOME: home }) })).files;
		};
		// Git runs while this process reads the directories.
		const answers = this.#trusted.filter(look).map(ask);
		const found = scan(roots);
		const others = found.repositories.filter((top) => !this.#trusted.includes(top)).slice(0, mostAsked);
		answers.push(...others.map((top) => ask(top).catch(() => [])));
		return { ...found, named: (await Promise.all(answers)).flat() };
	}

	/** From now on nothing of a git directory may be written. */
	giveUpWatching(): void {
		this.#isUnwatched = true;
	}

	/** Makes the view for our own git, which may also write whole repositories, and directories of ours. */
	async gitView(own: readonly string[]): Promise<View> {
		this.#insistOnRoots();
		const directories = own.flatMap((path) => this.#outOfReach(path));
		const commons = this.#trusted.flatMap((top) => commonDirectory(top) ?? []);
		const roots = this.ground.mode === "read-only" ? [] : outermost([...this.ground.roots, ...this.#trusted, ...commons]);
		return this.#view(roots, directories, await this.lookAtGit(roots));
	}

	/** Makes a view that is complete only for reading: it skips the search for repositories, so protected paths are missing in it. */
	readingView(): View {
		return this.view(undefined, noGitLook);
	}

	/** Makes the view for file tools. `reading`: nothing but temporary files may be written. */
	view(reading = this.ground.mode === "read-only", git?: GitLook): View {
		return this.#masking(this.#view(reading ? [] : this.ground.roots, [], git));
	}

	/** What is hidden or private stays so, and what the user shows is shown as it is. */
	#masking(view: View): View {
		const { envFiles, readable } = this.ground;
		const copies = [...(envFiles?.now() ?? []), ...this.#emptyCopies()];
		if (copies.length === 0) return view;
		const open = [...view.writable, ...view.shown];
		const isSeen = (path: string) =>
			mayRead(view, path).allowed && (open.some((outer) => isWithin(path, outer)) || !elsewhere.some((outer) => isWithin(path, outer)));
		const shown = readable.flatMap((path) => (path === realPath(path) ? path : this.#outOfReach(path)));
		const masked = copies.filter(({ path }) => isSeen(path) && !shown.includes(path));
		return masked.length === 0 ? view : { ...view, replaced: [...(view.replaced ?? []), ...masked] };
	}

	/** Makes the view for commands, which cannot be asked about one path: what rules deny or ask about is closed to them. */
	commandView(reading?: boolean, git?: GitLook): View {
		this.#insistOnRoots();
		const view = this.view(reading, git);
		const ruled = ruledPaths(this.ground.rules ?? [], this.ground.roots);
		if (ruled.hidden.length + ruled.protected.length === 0) return view;
		const isInRoot = (path: string) => view.writable.some((root) => isWithin(path, root));
		const known = view.hidden.map(({ path }) => path);
		const opened = [...view.writable, ...view.shown];
		const hidden = existing(ruled.hidden).filter((path) => !known.includes(path) && !isCovered(path, known, opened));
		const closed = this.#close(
			ruled.protected.map((path) => ({ path, kind: "absent" })),
			isInRoot,
		);
		return {
			...view,
			hidden: [...view.hidden, ...outermost(hidden).map((path): HiddenPath => ({ path, kind: look(path)?.isDirectory() ? "directory" : "file" }))],
			protected: outermost([...view.protected, ...closed.protected.filter((path) => !hidden.some((outer) => isWithin(path, outer)))]),
			forbidden: [...view.forbidden, ...closed.forbidden],
			...(view.replaced && { replaced: view.replaced.filter(({ path }) => !hidden.some((outer) => isWithin(path, outer))) }),
			links: [...view.links, ...closed.links],
		};
	}

	/** Throws when a program outside has replaced a root since the session began: its name would be mounted, and lead commands to another place. */
	#insistOnRoots(): void {
		for (const root of this.ground.roots) {
			const place = realPath(root);
			if (place === root) continue;
			const what = place === undefined ? "is missing" : `leads to ${place} now`;
			throw new Error(`The directory ${root} ${what}, so the command was not run. Put the directory back, or start another session where it is now.`);
		}
	}

	/** Returns where a path leads, unless a command could have chosen that: through a link inside a root it leads nowhere. */
	#outOfReach(path: string): string[] {
		const target = realPath(path);
		if (target === undefined) return [];
		return target === path || linkInside(follow(path), this.ground.roots) === undefined ? [target] : [];
	}

	/** Finds what settings and rules name inside the writable directories: what has to stay in its place, and the links on the way. */
	#named(isInRoot: (path: string) => boolean): { kept: string[]; links: string[] } {
		const { roots, readable, rules = [], innerRoots = [] } = this.ground;
		const literals = rules.flatMap(({ literal, denies }) => (literal !== undefined && denies === "reading" ? [literal] : []));
		const hidden = existing([...this.#hiddenNames(), ...literals]);
		// Nothing can replace what is mounted. The folder of a hidden path can be moved, and what is in it read in its new place.
		const kept = [...innerRoots, ...existing(readable), ...hidden.map((path) => dirname(path))];
		const links = [...this.#hiddenNames(), ...literals, ...readable].flatMap((path) => {
			const target = realPath(path);
			return target === undefined || target === path ? [] : follow(path).links.filter(isInRoot);
		});
		return { kept: [...new Set(kept)].filter((path) => isInRoot(path) && !roots.includes(path)), links };
	}

	/** `own`: directories of ours in which nothing has to be protected. */
	#view(roots: readonly string[], own: readonly string[], seen: GitLook = { ...scan(roots), named: [] }): View {
		const { ground } = this;
		const isWriting = roots.length > 0;
		const git = isWriting ? this.#git(roots, seen) : emptyLayout();
		const writable = outermost([...roots, ...git.writable, ...own]);
		const named = isWriting ? this.#protected(roots, seen) : emptyLayout();
		const hidden = this.#hidden();
		const placeholders = [...named.placeholders, ...git.placeholders];
		const replaced = [...hidden.map(({ path }) => path), ...Object.keys(ground.temporary)];
		const isHidden = (path: string) => replaced.some((each) => isWithin(path, each)) && !isTemporary(path, ground);
		const readable = this.#readable();
		const shownAgain = ground.readable.flatMap((path) => this.#outOfReach(path));
		const { kept, links } = this.#named((path) => writable.some((root) => isWithin(path, root)));
		// A project may be below /tmp, which is replaced: it is shown there, too.
		const shown = [...(isWriting ? [] : ground.roots), ...readable.filter((path) => look(path) && isHidden(path))];
		return {
			writable,
			protected: outermost([...named.protected, ...git.protected]),
			placeholders,
			hidden: hidden.filter(({ path }) => !shownAgain.includes(path)),
			shown: outermost(shown).filter((path) => !writable.some((root) => isWithin(path, root))),
			kept,
			...this.#gitIdentity(shown, writable),
			forbidden: [...named.forbidden, ...git.forbidden],
			links: [...new Set([...named.links, ...git.links, ...links])],
			temporary: ground.temporary,
		};
	}

	#emptyCopies(): ReplacedFile[] {
		const { emptyFiles } = this.ground;
		if (emptyFiles === undefined) return [];
		return this.#emptied.flatMap(({ name, path }): ReplacedFile[] => {
			const place = realPath(path);
			if (place === undefined || !look(place)?.isFile()) return [];
			return [{ path: place, source: inDirectory(emptyFiles, emptyNameOf(name)), isMasked: true }];
		});
	}

	/** Unless the user shows the file itself. */
	#gitIdentity(shown: readonly string[], writable: readonly string[]): Pick<View, "replaced"> {
		const { home, isHomeHidden, gitIdentity } = this.ground;
		if (home === undefined || !isHomeHidden || gitIdentity === undefined) return {};
		const path = inDirectory(home, ".gitconfig");
		const isSeen = [...shown, ...writable].some((outer) => isWithin(path, outer));
		return isSeen ? {} : { replaced: [{ path, source: gitIdentity }] };
	}

	/** Makes what must not be made by others, and returns the view without what cannot be made: where we may not write, commands may not either. */
	makePlaceholders(view: View): View {
		const failed = view.placeholders.filter(({ path, kind }) => !look(path) && !this.#make(path, kind, view));
		return failed.length === 0 ? view : { ...view, placeholders: view.placeholders.filter((each) => !failed.includes(each)) };
	}

	/** The folders that are missing above it are made, too. A command in the background may put a link in place of a folder at any moment: nothing may be made outside for it. */
	#make(path: string, kind: Placeholder["kind"], view: View): boolean {
		if (!look(dirname(path)) && !this.#make(dirname(path), "directory", view)) return false;
		try {
			inFolder(path, (target, folder) => {
				if (!view.writable.some((root) => isWithin(folder, root))) throw new Error(`${dirname(path)} leads out of the writable directories now.`);
				if (kind === "directory") mkdirSync(target);
				else writeFileSync(target, "", { flag: "wx" });
				this.#made.set(path, { path, kind, folder });
			});
			return true;
		} catch (error) {
			if (["EACCES", "EPERM", "EROFS"].includes((error as NodeJS.ErrnoException).code ?? "")) return false;
			throw error;
		}
	}

	/** Removes what we made, where it is still empty: what is inside a folder before the folder. */
	removePlaceholders(): void {
		for (const { path, kind, folder: known } of [...this.#made.values()].reverse()) {
			try {
				inFolder(path, (target, folder) => {
					const facts = look(target);
					if (folder !== known) return;
					if (kind === "directory") rmdirSync(target);
					else if (facts?.isFile() && facts.size === 0) rmSync(target);
				});
			} catch {
				// It is in use now, or gone.
			}
		}
		this.#made.clear();
	}

	/**
	 * Paths that must not be written, as settings, rules and git name them. A link on the way to one could be replaced, so it is watched. What is
	 * missing must not be made: something empty takes its name where nothing minds that, and a file in place of its folder stays as it is.
	 */
	#close(named: readonly Closing[], isInRoot: (path: string) => boolean): Closed {
		const closed: Closed = { protected: [], placeholders: [], forbidden: [], links: [] };
		for (const { path, kind } of named) {
			const { place, links } = follow(path);
			closed.links.push(...links.filter(isInRoot));
			if (!isInRoot(place)) continue;
			const existing = nearest(place);
			if (existing === place && !this.#made.has(place)) closed.protected.push(place);
			else if (existing !== place && !look(existing)?.isDirectory()) closed.protected.push(existing);
			else if (kind === "absent") closed.forbidden.push(place);
			else closed.placeholders.push({ path: place, kind });
		}
		return closed;
	}

	#git(roots: readonly string[], { repositories }: GitLook): GitLayout {
		const closed = this.#ownTraps.flatMap(({ kind, path }) => (kind === "line" ? [] : [path]));
		const git = this.#isUnwatched ? "read" : this.ground.git;
		return gitLayout([...new Set([...this.#trusted, ...repositories])], this.#trusted, { roots, git, closed });
	}

	/** Anywhere in the roots: what programs run when a folder is opened, and what settings and git name. */
	#protected(roots: readonly string[], { named, opened }: GitLook): Closed {
		const { ground } = this;
		const isInRoot = (path: string) => roots.some((root) => isWithin(path, root));
		const closing = (kind: Closing["kind"]) => (path: string) => ({ path, kind });
		return this.#close(
			[
				...opened.filter((path) => !this.#made.has(path)),
				...ground.roots.map((root) => inDirectory(root, ".bowline")),
				// A directory: git would show an empty file, and commit it.
				inDirectory(ground.cwd, ".mcp.json"),
			]
				.map(closing("directory"))
				// Anything in its place would have a meaning: to make an empty GNUmakefile, to a shell an empty program.
				.concat(ground.protected.map(closing("absent")))
				.concat(named.map((file) => ({ path: file.named, kind: file.kind === "program" ? "absent" : file.kind }))),
			isInRoot,
		);
	}

	/** Paths that are hidden, as lists and settings name them. */
	#hiddenNames(): string[] {
		const { userDirectory, hidden } = this.ground;
		return [...present(this.#listedNames), userDirectory, ...hidden];
	}

	#hidden(): HiddenPath[] {
		const { home, isRoot, isHomeHidden } = this.ground;
		const names = [...(home !== undefined && isHomeHidden ? [home] : []), ...this.#hiddenNames(), ...(isRoot ? pathsHiddenForRoot() : [])];
		const targets = names.flatMap(real);
		// A project in a hidden home shows what is in it again, and there a hidden path has to be hidden once more.
		const found = [...new Set(targets)];
		const opened = [...this.ground.roots, ...this.#readable()];
		return found.flatMap((path): HiddenPath[] => {
			if (isCovered(path, found, opened)) return [];
			const facts = look(path);
			if (!facts) return [];
			return [{ path, kind: facts.isDirectory() ? "directory" : "file", ...(isHomeHidden && path === home ? { isOpen: true } : {}) }];
		});
	}

	/** What can be read although a hidden path contains it. */
	#readable(): string[] {
		const { ownReadable, readable } = this.ground;
		const own = ownReadable.filter((path) => this.#outOfReach(path).length > 0);
		return [...own, ...readable.flatMap((path) => this.#outOfReach(path)), ...this.#shownOfHome()];
	}

	/** With a hidden home: the programs in it that PATH names. A link among them does not open what is hidden for a reason of its own: an earlier session may have made it. */
	#shownOfHome(): string[] {
		const { isHomeHidden, home, path } = this.ground;
		if (!isHomeHidden || home === undefined) return [];
		const entries = path.split(delimiter).filter((entry) => isAbsolute(entry));
		const hidden = this.#hiddenNames().flatMap(real);
		return entries.flatMap((entry) =>
			this.#outOfReach(entry).filter((place) => place !== home && (place === entry || !hidden.some((outer) => isWithin(place, outer)))),
		);
	}
}

interface NamedInHome {
	/** As the list has it. */
	name: string;
	path: string;
}

/**
 * Returns those names of the home that variables move to another place. Devices are skipped: `HISTFILE=/dev/null` keeps no history. So is what
 * holds the home or a writable directory, which cannot be hidden as a whole.
 */
function movedNames({ variables = {}, home, roots }: Ground, names: readonly string[]): NamedInHome[] {
	const holdsTooMuch = (path: string) => [...roots, ...(home === undefined ? [] : [home])].some((inner) => isWithin(inner, path));
	return Object.entries(movedByVariable).flatMap(([variable, place]) => {
		const paths = (variables[variable] ?? "").split(delimiter).filter((path) => isAbsolute(path) && !/^\/(dev|proc|sys)(\/|$)/.test(path));
		const moved = names.filter((name) => isWithin(`/${name}`, `/${place}`));
		const found = paths.flatMap((path) => moved.map((name) => ({ name, path: join(path, name.slice(place.length)) })));
		return found.filter(({ path }) => !holdsTooMuch(realPath(path) ?? path));
	});
}

function byFolder(paths: readonly string[]): Map<string, string[]> {
	const folders = new Map<string, string[]>();
	for (const path of paths) folders.set(dirname(path), [...(folders.get(dirname(path)) ?? []), path]);
	return folders;
}

/** Returns those that exist. One list of a folder costs less than a look at each of the hundreds of names that most homes do not have. */
function present(folders: ReadonlyMap<string, readonly string[]>): string[] {
	return [...folders].flatMap(([folder, paths]) => {
		if (!look(folder)) return [];
		const names = namesIn(folder);
		return paths.filter((path) => names?.has(basename(path).toLowerCase()) !== false && look(path));
	});
}

/** Returns the names in a folder, in lower case as some disks take them, or undefined where it can be passed and not listed. */
function namesIn(folder: string): Set<string> | undefined {
	try {
		return new Set(readdirSync(folder).map((name) => name.toLowerCase()));
	} catch {
		return undefined;
	}
}

/** Returns the paths in /etc that only root could read. */
function pathsHiddenForRoot(): string[] {
	const isOne = (name: string) => hiddenForRoot.some((beginning) => name === beginning || (beginning !== "ssh" && name.startsWith(beginning)));
	return entriesOf("/etc").flatMap(({ name }) => (isOne(name) ? [inDirectory("/etc", name)] : []));
}

const isTemporary = (path: string, { temporary }: Ground) => Object.values(temporary).some((directory) => isWithin(path, directory));

const existing = (paths: readonly string[]) => [...new Set(paths.flatMap(real))];

const real = (path: string) => {
	const target = realPath(path);
	return target === undefined ? [] : [target];
};

/** Writes what is seen of files that may not be hidden as a whole. */
export function writeEmptyFiles(directory: string): void {
	mkdirSync(directory, { mode: 0o700 });
	for (const [name, content] of Object.entries(emptiedInHome)) writeFileSync(join(directory, emptyNameOf(name)), content, { mode: 0o400 });
}

const emptyNameOf = (name: string) => name.replaceAll("/", "-");

/** Of the user directory, what the model is told to read. */
export const readableOfUserDirectory = (userDirectory: string) => shownInUserDirectory.map((name) => join(userDirectory, name));

/** The directory with `.git` that git would use here. */
function repositoryOf(directory: string): string | undefined {
	for (let at = directory; ; at = join(at, "..")) {
		if (look(join(at, ".git"))) return at;
		if (at === "/" || join(at, "..") === at) return undefined;
	}
}

/** Where the repository of a linked worktree keeps its objects; nothing for others. */
function commonDirectory(top: string): string | undefined {
	const pointer = look(join(top, ".git"))?.isFile() ? gitLayout([top], [top], { roots: [], git: "write", closed: [] }).writable : [];
	const entry = pointer.find((path) => path.includes("/worktrees/"));
	return entry === undefined ? undefined : dirname(dirname(entry));
}
