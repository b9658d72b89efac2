/** Looks at the machine and makes a view of it, again for each command: files come and go. */
import { closeSync, constants, mkdirSync, openSync, readlinkSync, realpathSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, delimiter, dirname, isAbsolute, join } from "node:path";
import { type GitNamedFile, gitNamedFiles } from "../lib/git-named-files.ts";
import { emptyLayout, type GitLayout, gitLayout, type Placeholder } from "./git-layout.ts";
import { Listings } from "./listings.ts";
import { hiddenForRoot, hiddenInHome, protectedNames, shownInUserDirectory } from "./lists.ts";
import { atOneGlance, follow, inDirectory, isCovered, isWithin, look, nearest, outermost, realPath, realPathBelow } from "./paths.ts";
import { RepositoryScan } from "./repository-scan.ts";
import type { RuledPathScan } from "./ruled-paths.ts";
import type { HiddenPath, View } from "./view.ts";

/** What the settings say, and where this session is. */
export interface Ground {
	mode: "read-only" | "workspace-write" | "external";
	/** The session's working directory, without links. */
	cwd: string;
	/** Directories that may be written to: the working directory and `sandbox.writable`, without links. */
	roots: readonly string[];
	home: string | undefined;
	isHomeHidden: boolean;
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
	/** What rules deny to commands. */
	rules?: RuledPathScan;
	/** Our own directories that the model is told to read. */
	ownReadable: readonly string[];
}

/** Repositories that were found this long ago need not be looked for again. */
const freshMs = 5;

/** The repositories inside each root. */
export type Found = ReadonlyMap<string, readonly string[]>;

/** More repositories than this are not asked for the files that they name. */
const mostAsked = 50;

export class Survey {
	readonly ground: Ground;
	readonly #scan = new RepositoryScan();
	/** Repositories that the user opened: what they need outside the roots may be written. Found before any command can forge one. */
	readonly #trusted: readonly string[];
	/** Empty files and directories that we made, each with the real place of its folder. */
	readonly #made = new Map<string, Placeholder & { folder: string }>();
	/** What the configuration of each repository names, asked again when its files change. */
	readonly #named = new Map<string, () => Promise<readonly GitNamedFile[]>>();
	#gitNamed: readonly GitNamedFile[] = [];
	readonly #listings = new Listings();
	/** Folders cannot be watched here, so nothing of a git directory may be written. */
	#isUnwatched = false;

	constructor(ground: Ground) {
		this.ground = ground;
		this.#trusted = ground.roots.flatMap((root) => repositoryOf(root) ?? []);
	}

	/** Asks git which files inside the roots its configuration names. Returns the repositories that it found a moment ago, for the view that follows. */
	async askGit(): Promise<Found | undefined> {
		const { git, roots, gitProgram, home, mode } = this.ground;
		if (gitProgram === undefined || git === "read" || mode === "read-only") return undefined;
		const began = performance.now();
		const found = new Map(roots.map((root) => [root, this.#scan.find(root)]));
		const repositories = [...new Set([...this.#trusted, ...[...found.values()].flat()])].slice(0, mostAsked);
		const answers = await Promise.all(
			repositories.map((cwd) => {
				const known = this.#named.get(cwd) ?? gitNamedFiles({ cwd, git: gitProgram, environment: () => ({ PATH: "/usr/bin:/bin", HOME: home }) });
				this.#named.set(cwd, known);
				return known();
			}),
		);
		this.#gitNamed = answers.flat();
		// Where git had to be started much may have been made meanwhile.
		return performance.now() - began < freshMs ? found : undefined;
	}

	/** From now on nothing of a git directory may be written. */
	giveUpWatching(): void {
		this.#isUnwatched = true;
	}

	/** For our own git: also whole repositories, and directories of ours. */
	gitView(own: readonly string[]): View {
		const directories = own.flatMap((path) => realPath(path) ?? []);
		const commons = this.#trusted.flatMap((top) => commonDirectory(top) ?? []);
		const isWriting = this.ground.mode !== "read-only";
		return atOneGlance(() => this.#view(isWriting ? [...this.ground.roots, ...this.#trusted, ...commons] : [], directories));
	}

	/** `reading`: nothing but temporary files may be written. */
	view(reading = this.ground.mode === "read-only", found?: Found): View {
		return atOneGlance(() => this.#view(reading ? [] : this.ground.roots, [], found));
	}

	/** The same for commands, which cannot be asked about one path: what rules deny or ask about is closed to them. */
	commandView(reading?: boolean, found?: Found): View {
		return atOneGlance(() => this.#commandView(this.view(reading, found)));
	}

	#commandView(view: View): View {
		const ruled = this.ground.rules?.find(this.ground.roots);
		if (!ruled || ruled.hidden.length + ruled.protected.length === 0) return view;
		const isInRoot = (path: string) => view.writable.some((root) => isWithin(path, root));
		const known = view.hidden.map(({ path }) => path);
		const opened = [...view.writable, ...view.shown];
		const hidden = existing(ruled.hidden).filter((path) => !known.includes(path) && !isCovered(path, known, opened));
		const closed = this.#close(
			ruled.protected.map((path) => ({ path, kind: "directory" })),
			isInRoot,
		);
		return {
			...view,
			hidden: [...view.hidden, ...outermost(hidden).map((path): HiddenPath => ({ path, kind: look(path)?.isDirectory() ? "directory" : "file" }))],
			protected: outermost([...view.protected, ...closed.protected.filter((path) => !hidden.some((outer) => isWithin(path, outer)))]),
			placeholders: [...view.placeholders, ...closed.placeholders],
			links: [...view.links, ...closed.links],
		};
	}

	/** `own`: directories of ours in which nothing has to be protected. */
	#view(wanted: readonly string[], own: readonly string[] = [], found?: Found): View {
		const { ground } = this;
		const isWriting = wanted.length > 0;
		const roots = outermost(wanted);
		const git = isWriting ? this.#git(roots, found) : emptyLayout();
		const writable = outermost([...roots, ...git.writable, ...own]);
		const named = isWriting ? this.#protected(roots) : { protected: [], placeholders: [], links: [] };
		const hidden = this.#hidden();
		const placeholders = [...named.placeholders, ...git.placeholders];
		const replaced = [...hidden.map(({ path }) => path), ...Object.keys(ground.temporary)];
		const isHidden = (path: string) => replaced.some((each) => isWithin(path, each)) && !isTemporary(path, ground);
		const readable = this.#readable();
		// A project may be below /tmp, which is replaced: it is shown there, too.
		const shown = [...(isWriting ? [] : ground.roots), ...readable.filter((path) => look(path) && isHidden(path))];
		return {
			writable,
			protected: outermost([...named.protected, ...git.protected]),
			placeholders,
			hidden: hidden.filter(({ path }) => !ground.readable.some((shownPath) => realPath(shownPath) === path)),
			shown: outermost(shown).filter((path) => !writable.some((root) => isWithin(path, root))),
			forbidden: git.forbidden,
			links: [...named.links, ...git.links],
			temporary: ground.temporary,
		};
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
	 * missing must not be made: something empty takes its name, and a file in place of its folder stays as it is.
	 */
	#close(named: readonly Placeholder[], isInRoot: (path: string) => boolean): Pick<GitLayout, "protected" | "placeholders" | "links"> {
		const closed: Pick<GitLayout, "protected" | "placeholders" | "links"> = { protected: [], placeholders: [], links: [] };
		for (const { path, kind } of named) {
			const { place, links } = follow(path);
			closed.links.push(...links.filter(isInRoot));
			if (!isInRoot(place)) continue;
			const existing = nearest(place);
			if (existing === place && !this.#made.has(place)) closed.protected.push(place);
			else if (existing !== place && !look(existing)?.isDirectory()) closed.protected.push(existing);
			else closed.placeholders.push({ path: place, kind });
		}
		return closed;
	}

	#git(roots: readonly string[], found?: Found): GitLayout {
		const inside = roots.flatMap((root) => found?.get(root) ?? this.#scan.find(root));
		const repositories = [...new Set([...this.#trusted, ...inside])];
		return gitLayout(repositories, this.#trusted, { roots, git: this.#isUnwatched ? "read" : this.ground.git });
	}

	/** At the top of each root: what programs run when a folder is opened. Anywhere in them: what settings and git name. */
	#protected(roots: readonly string[]): Pick<GitLayout, "protected" | "placeholders" | "links"> {
		const { ground } = this;
		const isInRoot = (path: string) => roots.some((root) => isWithin(path, root));
		const directory = (path: string): Placeholder => ({ path, kind: "directory" });
		return this.#close(
			[
				...ground.roots.flatMap((root) => [
					...this.#listings.pick(root, protectedNames).filter((path) => look(path) && !this.#made.has(path)),
					inDirectory(root, ".bowline"),
				]),
				// A directory: git would show an empty file, and commit it.
				inDirectory(ground.cwd, ".mcp.json"),
				...ground.protected,
			]
				.map(directory)
				.concat(this.#gitNamed.map(({ named, kind }) => ({ path: named, kind }))),
			isInRoot,
		);
	}

	#hidden(): HiddenPath[] {
		const { home, userDirectory, hidden, isRoot, isHomeHidden } = this.ground;
		const targets = [
			...(home === undefined ? [] : [...(isHomeHidden ? real(home) : []), ...this.#hiddenInHome(home)]),
			...[userDirectory, ...hidden, ...(isRoot ? this.#hiddenForRoot() : [])].flatMap(real),
		];
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
		return [...ownReadable, ...readable.flatMap(real), ...this.#shownOfHome()];
	}

	#hiddenInHome(home: string): string[] {
		return [...hiddenByFolder].flatMap(([folder, names]) =>
			this.#listings.pick(folder === "." ? home : inDirectory(home, folder), names).flatMap((path) => realPathBelow(path, home) ?? []),
		);
	}

	/** /etc has hundreds of names and hardly ever changes. */
	#hiddenForRoot(): string[] {
		const isOne = (name: string) => hiddenForRoot.some((beginning) => name === beginning || (beginning !== "ssh" && name.startsWith(beginning)));
		return this.#listings
			.names("/etc")
			.filter(isOne)
			.map((name) => inDirectory("/etc", name));
	}

	/** With a hidden home: the programs in it that PATH names. */
	#shownOfHome(): string[] {
		const { isHomeHidden, home, path } = this.ground;
		if (!isHomeHidden || home === undefined) return [];
		const entries = path.split(delimiter).filter((entry) => isAbsolute(entry));
		return entries.flatMap((entry) => realPath(entry) ?? []).filter((entry) => entry !== home);
	}
}

/** The names of each folder of the home together: most of them are missing, and one look at the folder tells. */
const hiddenByFolder: ReadonlyMap<string, readonly string[]> = new Map(
	[...new Set(hiddenInHome.map((name) => dirname(name)))].map((folder) => [
		folder,
		hiddenInHome.filter((name) => dirname(name) === folder).map((name) => basename(name)),
	]),
);

/** Opens the folder of a path, so that its name can lead nowhere else meanwhile, where the system has paths of descriptors. */
function inFolder(path: string, act: (target: string, folder: string) => void): void {
	const descriptor = openSync(dirname(path), constants.O_RDONLY | constants.O_DIRECTORY);
	try {
		const held = `/proc/self/fd/${descriptor}`;
		const isHeld = look(held) !== undefined;
		act(isHeld ? join(held, basename(path)) : path, isHeld ? readlinkSync(held) : realpathSync.native(dirname(path)));
	} finally {
		closeSync(descriptor);
	}
}

const isTemporary = (path: string, { temporary }: Ground) => Object.values(temporary).some((directory) => isWithin(path, directory));

const existing = (paths: readonly string[]) => [...new Set(paths.flatMap(real))];

const real = (path: string) => {
	const target = realPath(path);
	return target === undefined ? [] : [target];
};

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
	const pointer = look(join(top, ".git"))?.isFile() ? gitLayout([top], [top], { roots: [], git: "write" }).writable : [];
	const entry = pointer.find((path) => path.includes("/worktrees/"));
	return entry === undefined ? undefined : dirname(dirname(entry));
}
