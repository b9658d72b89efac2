/**
 * Keeps the history of one repository: what its names stand for at each checkpoint, and the commits that they lead to. Objects are copied and
 * read again on the way, so that nothing that happens to the repository, by a command or in its files, can lose or change one.
 */
import { createHash, randomBytes } from "node:crypto";
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { copyFile, mkdir, open, rename, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { type Git, GitError } from "../snapshots/git.ts";
import { toText } from "../snapshots/paths.ts";
import { Shadow } from "../snapshots/shadow.ts";
import { copyStaged } from "../snapshots/take.ts";
import { type CommitRecord, fingerprintOf, indexPrint, readRecord, tipsOf } from "./commit-record.ts";
import { filesBelow, type GitPlace, textOf } from "./git-place.ts";

/** Why the history of a repository cannot be kept. */
export class CannotKeep extends Error {
	override readonly name = "CannotKeep";
}

/** Fewer objects than this are kept one by one: as many packs would make git slow. */
const fewObjects = 100;
/** More packs than this are joined when old states are collected. */
const manyPacks = 20;
/** Git itself follows no more borrowed directories of borrowed directories. */
const deepestLoan = 5;

export interface CommitStoreInput {
	/** Where the history is kept. */
	directory: string;
	/** Git of this process. */
	git: Git;
	/** The most bytes of objects. */
	mostBytes: number;
}

interface Wanted {
	/** Everything that these lead to, */
	tips: readonly string[];
	/** but not what these lead to. */
	without?: readonly string[];
	/** It says where the history ends. */
	record: CommitRecord;
}

interface Seen {
	names: string;
	index: string;
	tree: string | undefined;
	id: string;
	record: CommitRecord;
}

export class CommitStore {
	readonly directory: string;
	readonly #git: Git;
	readonly #mostBytes: number;
	readonly #repository: Shadow;
	#seen: Seen | undefined;
	/** Where else objects came from when this process first looked. */
	#borrowed: string | undefined;

	constructor({ directory, git, mostBytes }: CommitStoreInput) {
		this.directory = directory;
		this.#git = git;
		this.#mostBytes = mostBytes;
		this.#repository = new Shadow(git, join(directory, "git"));
	}

	/** Git in the kept history, with more objects at hand. */
	git(objects?: string): Git {
		const git = this.#repository.git();
		return objects === undefined ? git : git.with({ variables: { GIT_ALTERNATE_OBJECT_DIRECTORIES: quoted(objects) } });
	}

	/** Git in the repository itself. */
	at({ top }: Pick<GitPlace, "top">): Git {
		return this.#git.with({ cwd: top });
	}

	/** Keeps what the repository has now, and returns the name of the record. Nothing is run where nothing has changed. */
	async take(place: GitPlace, signal?: AbortSignal): Promise<string> {
		this.#seen ??= this.#lastSeen();
		const seen = this.#seen && existsSync(this.#fileOf(this.#seen.id)) ? this.#seen : undefined;
		const [names, index] = [fingerprintOf(place), indexPrint(place)];
		if (seen && seen.names === names && seen.index === index) return seen.id;
		await this.#open(place);
		const base = seen?.names === names ? seen.record : await readRecord(place, this.at(place), signal);
		const { index: _, ...bare } = base;
		const tree = seen?.index === index ? seen.tree : await this.#stagedTree(place, signal);
		const record: CommitRecord = tree === undefined ? bare : { ...bare, index: tree };
		const known = seen?.record ?? this.#newest();
		await this.#copyObjects(place, record, known, signal);
		const id = this.#write(record);
		this.#seen = { names, index, tree, id, record };
		this.#replace(join(this.directory, "seen.json"), JSON.stringify({ names, index, tree, id }));
		return id;
	}

	/** Returns undefined if it has been collected. */
	read(id: string): CommitRecord | undefined {
		const file = this.#fileOf(id);
		return /^[0-9a-f]+$/.test(id) && existsSync(file) ? (JSON.parse(gunzipSync(readFileSync(file)).toString()) as CommitRecord) : undefined;
	}

	/** A record is kept for as long as the last state that has it. */
	touch(id: string): void {
		const now = new Date();
		utimesSync(this.#fileOf(id), now, now);
	}

	/** Writes objects into those of a repository. */
	async copyTo(objects: string, wanted: Wanted): Promise<void> {
		const staging = this.#staging();
		try {
			const pack = await this.#pack(this.git(), staging, wanted);
			if (!pack) return;
			await mkdir(join(objects, "pack"), { recursive: true });
			const name = join(objects, "pack", `pack-${pack.hash}`);
			if (existsSync(`${name}.idx`)) return;
			// Git looks for the second one.
			for (const ending of ["pack", "idx"]) {
				const partial = join(objects, "pack", `tmp_${randomBytes(6).toString("hex")}`);
				await copyFile(`${pack.base}.${ending}`, partial);
				await rename(partial, `${name}.${ending}`);
			}
			if (isPartialClone(wanted.record)) writeFileSync(`${name}.promisor`, "");
		} finally {
			await rm(staging, { recursive: true, force: true });
		}
	}

	/** Forgets records that are older than they are kept, and what only they had. */
	async collect(isOld: (path: string) => boolean): Promise<void> {
		if (!existsSync(this.#records)) return;
		for (const name of readdirSync(this.directory)) {
			if (name.startsWith("staging-") && isOld(join(this.directory, name))) await rm(join(this.directory, name), { recursive: true, force: true });
		}
		const all = readdirSync(this.#records);
		const old = all.filter((name) => isOld(join(this.#records, name)));
		for (const name of old) rmSync(join(this.#records, name), { force: true });
		const packs = readdirSync(join(this.#repository.objects, "pack")).filter((name) => name.endsWith(".pack"));
		if (old.length === 0 && packs.length <= manyPacks) return;
		const kept = all.flatMap((name) => this.read(name) ?? []);
		// A clone that was completed since would lose what came then.
		if (new Set(kept.map(({ shallow }) => shallow)).size > 1) return;
		const tips = new Set(kept.flatMap(tipsOf));
		const ends = kept[0]?.shallow ?? "";
		if (ends === "") rmSync(join(this.#repository.directory, "shallow"), { force: true });
		else writeFileSync(join(this.#repository.directory, "shallow"), ends);
		const lines = [...tips].sort().map((oid) => `${oid} refs/tips/${oid}\n`);
		writeFileSync(join(this.#repository.directory, "packed-refs"), `# pack-refs with: sorted\n${lines.join("")}`);
		// What another process has just put here stays.
		await this.git().run(["repack", "-q", "-A", "-d", "--unpack-unreachable=1.day.ago"]);
		await this.git().run(["prune", "--expire=1.day.ago"]);
	}

	get #records(): string {
		return join(this.directory, "records");
	}

	#fileOf(id: string): string {
		return join(this.#records, id);
	}

	#staging(): string {
		const staging = join(this.directory, `staging-${randomBytes(6).toString("hex")}`);
		mkdirSync(staging, { recursive: true, mode: 0o700 });
		return staging;
	}

	async #open({ commonDir }: GitPlace): Promise<void> {
		const { directory } = this.#repository;
		const borrowed = textOf(join(commonDir, "objects/info/alternates")) ?? "";
		this.#borrowed ??= borrowed;
		if (borrowed !== this.#borrowed) throw new CannotKeep(`${join(commonDir, "objects/info/alternates")} was changed`);
		if (existsSync(this.#records)) return;
		const bytes = sizeOf(join(commonDir, "objects"), this.#mostBytes);
		if (bytes > this.#mostBytes) throw new CannotKeep(`the commits of ${commonDir} have more than ${Math.round(this.#mostBytes / 1024 / 1024)} MiB`);
		await Promise.all(["objects/info", "objects/pack", "refs"].map((name) => mkdir(join(directory, name), { recursive: true, mode: 0o700 })));
		const isSha256 = /^\s*objectformat\s*=\s*"?sha256/im.test(textOf(join(commonDir, "config")) ?? "");
		const format = isSha256 ? "\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n" : "\trepositoryformatversion = 0\n";
		writeFileSync(join(directory, "config"), `[core]\n\tbare = true\n\tcompression = 1\n${format}`);
		writeFileSync(join(directory, "HEAD"), "ref: refs/heads/none\n");
		mkdirSync(this.#records, { recursive: true, mode: 0o700 });
	}

	async #stagedTree(place: GitPlace, signal: AbortSignal | undefined): Promise<string | undefined> {
		const staging = this.#staging();
		try {
			const index = await copyStaged({ git: this.at(place), gitDir: place.gitDir }, join(staging, "index"), signal);
			if (index === undefined) return undefined;
			const git = this.git(join(place.commonDir, "objects")).with({ variables: { GIT_INDEX_FILE: index } });
			return await git.line(["write-tree", "--missing-ok"], { signal });
		} catch (error) {
			signal?.throwIfAborted();
			// In the middle of a merge there is none.
			if (error instanceof GitError) return undefined;
			throw error;
		} finally {
			await rm(staging, { recursive: true, force: true });
		}
	}

	/** Brings what the record leads to, and the known one does not. */
	async #copyObjects({ commonDir }: GitPlace, record: CommitRecord, known: CommitRecord | undefined, signal: AbortSignal | undefined): Promise<void> {
		// What was cut off may have come since.
		const without = known?.shallow === record.shallow ? tipsOf(known) : [];
		const have = new Set(without);
		const tips = tipsOf(record).filter((oid) => !have.has(oid));
		if (tips.length === 0) return;
		const staging = this.#staging();
		try {
			const pack = await this.#pack(this.git(join(commonDir, "objects")), staging, { tips, without, record }, signal);
			if (!pack) return;
			const { size } = statSync(`${pack.base}.pack`);
			if (size > this.#mostBytes) throw new CannotKeep(`new commits of ${commonDir} have more than ${Math.round(this.#mostBytes / 1024 / 1024)} MiB`);
			if ((await objectsIn(`${pack.base}.pack`)) < fewObjects) {
				await this.git().run(["unpack-objects", "-q"], { inputFile: `${pack.base}.pack`, signal });
				return;
			}
			// Names are computed from the contents: an object that only says that it is another one does not get in.
			await rm(`${pack.base}.idx`);
			await this.git().run(["index-pack", `${pack.base}.pack`], { signal });
			const name = join(this.#repository.objects, "pack", `pack-${pack.hash}`);
			for (const ending of ["pack", "idx"]) await rename(`${pack.base}.${ending}`, `${name}.${ending}`);
		} finally {
			await rm(staging, { recursive: true, force: true });
		}
	}

	/** Returns undefined where there is nothing to pack. */
	async #pack(git: Git, staging: string, { tips, without = [], record }: Wanted, signal?: AbortSignal) {
		const input = [...tips, ...(without.length > 0 ? ["--not", ...without] : []), ""].join("\n");
		const base = join(staging, "pack");
		const options = ["--revs", "-q", "--non-empty", "--window=0", ...(isPartialClone(record) ? ["--missing=allow-any"] : [])];
		const GIT_SHALLOW_FILE = join(staging, "shallow");
		writeFileSync(GIT_SHALLOW_FILE, record.shallow);
		const hash = await git.with({ variables: { GIT_SHALLOW_FILE } }).line(["pack-objects", ...options, base], { input, signal });
		return hash === "" ? undefined : { hash, base: `${base}-${hash}` };
	}

	#write(record: CommitRecord): string {
		const text = JSON.stringify(record);
		const id = createHash("sha256").update(text).digest("hex").slice(0, 32);
		const file = this.#fileOf(id);
		if (!existsSync(file)) this.#replace(file, gzipSync(text));
		return id;
	}

	#replace(file: string, content: string | Buffer): void {
		const partial = join(this.directory, `.${randomBytes(6).toString("hex")}`);
		writeFileSync(partial, content, { mode: 0o600 });
		renameSync(partial, file);
	}

	/** What another process saw saves looking again. */
	#lastSeen(): Seen | undefined {
		try {
			const seen = JSON.parse(readFileSync(join(this.directory, "seen.json"), "utf8")) as Seen;
			const record = this.read(seen.id);
			return record && { ...seen, record };
		} catch {
			// Nobody has, or it cannot be read.
			return undefined;
		}
	}

	#newest(): CommitRecord | undefined {
		const all = readdirSync(this.#records);
		const time = (name: string) => lstatSync(this.#fileOf(name), { throwIfNoEntry: false })?.mtimeMs ?? 0;
		const newest = all.sort((one, two) => time(two) - time(one))[0];
		return newest === undefined ? undefined : this.read(newest);
	}
}

/** Not all objects of such a repository are there. */
export const isPartialClone = ({ config }: Pick<CommitRecord, "config">) => /^\s*(promisor|partialclone)\s*=/im.test(config);

const quoted = (path: string) => (/[":\n]/.test(path) ? `"${path.replace(/[\\"]/g, "\\$&").replace(/\n/g, "\\n")}"` : path);

/** As the head of a pack says. */
async function objectsIn(pack: string): Promise<number> {
	const file = await open(pack);
	try {
		return (await file.read(Buffer.alloc(12), 0, 12, 0)).buffer.readUInt32BE(8);
	} finally {
		await file.close();
	}
}

/** Of all objects, also borrowed ones; no further than the limit. */
function sizeOf(objects: string, most: number, depth = 0): number {
	let bytes = 0;
	for (const { stats } of filesBelow(objects, ".")) bytes += stats.size;
	for (const line of (textOf(join(objects, "info/alternates")) ?? "").split("\n")) {
		if (line !== "" && !line.startsWith("#") && bytes <= most && depth < deepestLoan)
			bytes += sizeOf(resolve(objects, toText(line)), most - bytes, depth + 1);
	}
	return bytes;
}
