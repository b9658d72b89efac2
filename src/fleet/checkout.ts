/** Mirrors of repositories on this machine, and working trees that borrow from them. Git runs no program that a repository names. */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { type Git, GitError } from "../snapshots/git.ts";
import { guardAgain } from "../snapshots/programs.ts";
import { alone } from "../snapshots/repository-lock.ts";
import type { RunSpec } from "./spec.ts";
import { allowedTransports } from "./transports.ts";

/** The repository cannot be had, and asking again would not help. */
export class CheckoutError extends Error {
	override readonly name = "CheckoutError";
	/** Another worker, or the same one later, may get it. */
	readonly isPassing: boolean;

	constructor(message: string, isPassing: boolean, options?: ErrorOptions) {
		super(message, options);
		this.isPassing = isPassing;
	}
}

export interface Mirror {
	path: string;
	commit: string;
}

const freshForMs = 60_000;
/** A mirror that was used this recently may be borrowed from by another worker of this machine. */
const inUseForMs = 24 * 3_600_000;

export class Mirrors {
	readonly #git: Git;
	readonly #directory: string;
	readonly #maxBytes: number;
	/** One at a time for each mirror, within this process. */
	readonly #queues = new Map<string, Promise<unknown>>();

	constructor(git: Git, directory: string, maxBytes: number) {
		this.#git = git.with({ cwd: "/", variables: { GIT_NO_LAZY_FETCH: undefined } });
		this.#directory = directory;
		this.#maxBytes = maxBytes;
	}

	/** The mirror, with the commit that the run works on. A damaged mirror is made again, once. */
	ensure(repo: RunSpec["repo"], signal: AbortSignal): Promise<Mirror> {
		const place = join(this.#directory, createHash("sha256").update(repo.url).digest("hex"));
		mkdirSync(place, { recursive: true, mode: 0o700 });
		const before = this.#queues.get(place) ?? Promise.resolve();
		// A failure of the work before was reported to its caller.
		const work = before.catch(() => undefined).then(() => alone(place, () => this.#ensure(place, repo, signal), signal));
		this.#queues.set(place, work);
		return work;
	}

	async #ensure(place: string, repo: RunSpec["repo"], signal: AbortSignal): Promise<Mirror> {
		const path = join(place, "mirror.git");
		try {
			return await this.#fetched(place, path, repo, signal);
		} catch (error) {
			if (!isDamage(error)) throw explained(error, repo.url);
			rmSync(path, { recursive: true, force: true });
		}
		try {
			return await this.#fetched(place, path, repo, signal);
		} catch (error) {
			throw explained(error, repo.url);
		}
	}

	async #fetched(place: string, path: string, repo: RunSpec["repo"], signal: AbortSignal): Promise<Mirror> {
		const marker = join(place, "fetched");
		const transports = { GIT_ALLOW_PROTOCOL: await allowedTransports(this.#git, { of: "run", signal }) };
		if (!existsSync(path)) {
			const partial = `${path}.partial`;
			rmSync(partial, { recursive: true, force: true });
			await this.#git.with({ variables: transports }).run(["clone", "--mirror", "--quiet", "--", repo.url, partial], { signal });
			renameSync(partial, path);
			writeFileSync(marker, "");
			await this.#makeRoom(place);
		}
		const mirror = this.#git.with({ cwd: path, variables: { ...transports, GIT_DIR: path } });
		const age = () => Date.now() - (statSync(marker, { throwIfNoEntry: false })?.mtimeMs ?? 0);
		const fetch = async () => {
			await mirror.run(["fetch", "--prune", "--quiet", "--no-auto-gc", "origin"], { signal });
			writeFileSync(marker, "");
			const now = new Date();
			utimesSync(marker, now, now);
		};
		// A commit that is there never changes; a branch moves.
		if (repo.commit === undefined && age() > freshForMs) await fetch();
		let commit = await commitOf(mirror, repo, signal);
		if (commit === undefined) {
			await fetch();
			commit = await commitOf(mirror, repo, signal);
		}
		if (commit === undefined) {
			const what = repo.commit ?? repo.ref ?? "HEAD";
			throw new CheckoutError(`There is no ${what} in ${repo.url}.`, false);
		}
		const now = new Date();
		writeFileSync(join(place, "used"), "");
		utimesSync(join(place, "used"), now, now);
		return { path, commit };
	}

	/** Removes the mirrors that were not used for longest, until the rest fits. */
	async #makeRoom(keep: string): Promise<void> {
		const places = readdirSync(this.#directory).map((name) => join(this.#directory, name));
		const sized = await Promise.all(
			places.map(async (place) => ({
				place,
				bytes: await sizeOf(place),
				usedMs: statSync(join(place, "used"), { throwIfNoEntry: false })?.mtimeMs ?? 0,
			})),
		);
		let total = sized.reduce((sum, { bytes }) => sum + bytes, 0);
		for (const { place, bytes, usedMs } of sized.sort((a, b) => a.usedMs - b.usedMs)) {
			if (total <= this.#maxBytes) return;
			if (place === keep || Date.now() - usedMs < inUseForMs) continue;
			rmSync(place, { recursive: true, force: true });
			total -= bytes;
		}
	}
}

async function commitOf(mirror: Git, { ref, commit }: RunSpec["repo"], signal: AbortSignal): Promise<string | undefined> {
	const names = commit !== undefined ? [commit] : ref === undefined ? ["HEAD"] : [`refs/heads/${ref}`, `refs/tags/${ref}`, ref];
	for (const name of names) {
		const found = await mirror.ask(["rev-parse", "--verify", "--quiet", "--end-of-options", `${name}^{commit}`], { signal, codes: [0, 1, 128] });
		if (found.code === 0) return found.output.trim();
	}
	return undefined;
}

/** A working tree of its own. `origin` is the real repository; hooks are off. */
export async function checkOut(git: Git, mirror: Mirror, repo: RunSpec["repo"], top: string, signal: AbortSignal): Promise<void> {
	const local = git.with({ cwd: "/", variables: { GIT_ALLOW_PROTOCOL: "file" } });
	try {
		await local.run(["clone", "--shared", "--no-tags", "--no-checkout", "--quiet", "--", mirror.path, top], { signal });
		const tree = git.with({ cwd: top });
		await tree.run(["config", "remote.origin.url", repo.url], { signal });
		await tree.run(["config", "core.hooksPath", "/dev/null"], { signal });
		// Files as they are stored: what git would convert here would come back as a change of every file.
		writeFileSync(join(top, ".git/info/attributes"), "* -text !eol !filter !ident !working-tree-encoding\n");
		await tree.run(["checkout", "--quiet", "--detach", mirror.commit], { signal });
		if (repo.submodules) await checkOutSubmodules(tree, signal);
	} catch (error) {
		throw refusedSubmodule(error, repo.url, top) ?? explained(error, repo.url);
	}
}

/** The repository chooses the urls, so paths on this machine are not among those that git fetches. Filters of the worker's configuration do not run. */
async function checkOutSubmodules(tree: Git, signal: AbortSignal): Promise<void> {
	const { git } = await guardAgain({ git: tree, filteringGit: tree });
	const GIT_ALLOW_PROTOCOL = await allowedTransports(tree, { of: "submodule", signal });
	await git.with({ variables: { GIT_ALLOW_PROTOCOL } }).run(["submodule", "update", "--init", "--recursive", "--quiet"], { signal });
}

function refusedSubmodule(error: unknown, url: string, top: string): CheckoutError | undefined {
	const stderr = error instanceof GitError ? error.stderr : "";
	const [, transport] = /transport '([^']+)' not allowed/.exec(stderr) ?? [];
	const [, from, path] = /clone of '(.+)' into submodule path '(.+)' failed/.exec(stderr) ?? [];
	if (transport === undefined || path === undefined) return undefined;
	const name = path.startsWith(`${top}/`) ? path.slice(top.length + 1) : path;
	const remedy =
		transport === "file"
			? "A repository may not name others on the worker's machine. Give the submodule a url of https or ssh, or allow it there: git config --global protocol.file.allow always"
			: `Give the submodule a url of https or ssh, or allow it on the worker: git config --global protocol.${transport}.allow always`;
	return new CheckoutError(
		`The submodule ${name} of ${url} is not fetched from ${from}: git refuses the transport ${transport} there. ${remedy}`,
		false,
		{
			cause: error,
		},
	);
}

async function sizeOf(place: string): Promise<number> {
	const entries = await readdir(place, { recursive: true }).catch(() => [] as string[]);
	const sizes = await Promise.all(
		entries.map((name) =>
			lstat(join(place, name)).then(
				({ size }) => size,
				() => 0,
			),
		),
	);
	return sizes.reduce((sum, size) => sum + size, 0);
}

const isDamage = (error: unknown) =>
	error instanceof GitError &&
	/not a git repository|object file .* is empty|bad object|corrupt|unable to read tree|missing blob|invalid sha1 pointer|packfile/i.test(
		error.stderr,
	);

function explained(error: unknown, url: string): unknown {
	if (!(error instanceof GitError)) return error;
	const isPassing = /could not resolve host|connection|timed out|early EOF|remote end hung up|429|50\d|No space left/i.test(error.stderr);
	return new CheckoutError(`The repository ${url} cannot be checked out. ${error.message}`, isPassing, { cause: error });
}
