/**
 * The project's files of variables, such as `.env`: commands and file tools see copies with placeholders. Which files those are is found once, before
 * any command has run. Later ones are the model's own, and stay as they are.
 */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, renameSync, type Stats, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { readRegularSync } from "../lib/bounded-file-sync.ts";
import { envFilesIn, isRegistryFile } from "../lib/env-files.ts";
import { maskedText, maskedWhole, withoutCredentials } from "./masked-text.ts";
import { look, realPath } from "./paths.ts";
import type { ReplacedFile } from "./view.ts";

const largestFile = 1 << 20;
const patienceMs = 10_000;
/** Paths in one command line. */
const mostNames = 500;

export interface EnvFilesInput {
	/** Directories that commands may write to. */
	roots: readonly string[];
	/** Where the copies go. */
	directory: string;
	/** The program, outside every root; without it nothing is known to be committed. */
	git: string | undefined;
	home: string | undefined;
}

export class EnvFiles {
	readonly #directory: string;
	/** By their paths. A link is known by its own path and by where it led: a command can replace it. */
	readonly #paths: readonly string[];
	/** Hashes of what git has of them anyway. */
	readonly #committed: ReadonlyMap<string, string>;
	/** Copies, with what their files were then. */
	readonly #copies = new Map<string, { source: string; state: string; isNeeded: boolean }>();

	private constructor(directory: string, paths: readonly string[], committed: ReadonlyMap<string, string>) {
		this.#directory = directory;
		this.#paths = paths;
		this.#committed = committed;
	}

	/** Searches the roots. Rejects where they cannot be searched as a whole. */
	static async find({ roots, directory, git, home }: EnvFilesInput): Promise<EnvFiles> {
		const paths = envFilesIn(roots);
		const targets = new Set(paths.flatMap((path) => realPath(path) ?? []));
		return new EnvFiles(directory, paths, git === undefined ? new Map() : await committed([...targets], git, home));
	}

	/** Copies as they have to be now. Files that are missing have none. */
	now(): ReplacedFile[] {
		const paths = new Set(this.#paths.flatMap((path) => realPath(path) ?? []));
		return [...paths].flatMap((path): ReplacedFile[] => {
			const facts = look(path);
			if (!facts?.isFile()) return [];
			const { isNeeded, source } = this.#copyOf(path, facts);
			return isNeeded ? [{ path, source, isMasked: true }] : [];
		});
	}

	#copyOf(path: string, { ino, size, mtimeMs, ctimeMs }: Stats) {
		const state = [ino, size, mtimeMs, ctimeMs].join(" ");
		const known = this.#copies.get(path);
		if (known?.state === state) return known;
		const source = known?.source ?? join(this.#directory, String(this.#copies.size));
		const text = this.#maskedTextOf(path);
		mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
		if (text !== undefined) {
			// A command that still runs keeps the copy that it has.
			writeFileSync(`${source}.new`, text, { mode: 0o400 });
			renameSync(`${source}.new`, source);
		}
		const copy = { source, state, isNeeded: text !== undefined };
		this.#copies.set(path, copy);
		return copy;
	}

	/** Returns undefined where nothing has to be masked: there is no secret in it, and the rest of it is ordinary, or git shows it to everybody. */
	#maskedTextOf(path: string): string | undefined {
		let content: Buffer;
		try {
			content = readRegularSync(path, largestFile);
		} catch {
			return maskedWhole;
		}
		if (isRegistryFile(basename(path))) return changed(content, withoutCredentials(content));
		const committed = this.#committed.get(path);
		if (committed === undefined || committed !== blobHash(content, committed.length)) return maskedText(content);
		return changed(content, maskedText(content, { onlySecrets: true }));
	}
}

const changed = (content: Buffer, text: string) => (Buffer.from(text).equals(content) ? undefined : text);

/** Asks git for the hashes of files in its index. Where it gives no answer, nothing is known to be committed. */
async function committed(files: readonly string[], git: string, home: string | undefined): Promise<Map<string, string>> {
	const byTop = new Map<string, string[]>();
	for (const file of files) {
		const top = topOf(dirname(file));
		if (top !== undefined) byTop.set(top, [...(byTop.get(top) ?? []), file]);
	}
	const hashes = new Map<string, string>();
	for (const [top, own] of byTop) {
		for (let at = 0; at < own.length; at += mostNames) {
			const names = own.slice(at, at + mostNames).map((file) => relative(top, file));
			for (const [name, hash] of await indexed(git, top, names, home)) hashes.set(join(top, name), hash);
		}
	}
	return hashes;
}

function topOf(folder: string): string | undefined {
	for (let at = folder; ; at = dirname(at)) {
		if (look(join(at, ".git"))) return at;
		if (at === dirname(at)) return undefined;
	}
}

function indexed(git: string, top: string, names: readonly string[], home: string | undefined): Promise<[name: string, hash: string][]> {
	const args = ["--literal-pathspecs", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "ls-files", "--stage", "-z", "--", ...names];
	return new Promise((done) => {
		const env = { PATH: "/usr/bin:/bin", HOME: home, GIT_OPTIONAL_LOCKS: "0" };
		execFile(git, args, { cwd: top, env, timeout: patienceMs, maxBuffer: 1 << 24 }, (error, stdout) => {
			const found = (error ? "" : stdout).matchAll(/(?:^|\0)\d+ ([0-9a-f]+) 0\t([^\0]+)/g);
			done([...found].map(([, hash = "", name = ""]) => [name, hash]));
		});
	});
}

/** As git counts it: SHA-256 has 64 digits. */
const blobHash = (content: Buffer, digits: number) =>
	createHash(digits === 64 ? "sha256" : "sha1")
		.update(`blob ${content.length}\0`)
		.update(content)
		.digest("hex");
