/** Writes what was done in a copy as patch files. Knows the copy only from its record, so that it works for those of a dead process, too. */
import { existsSync, lstatSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { differences } from "../../snapshots/compare.ts";
import type { Git } from "../../snapshots/git.ts";
import { writePatch } from "../../snapshots/patch.ts";
import { asFileName, below, entries, onDisk, type RepositoryPath, split, toText } from "../../snapshots/paths.ts";
import { repositoryAt } from "../../snapshots/repository.ts";
import { type Change, copyIndex, type IndexEntry, type Place, putEntries, Shadow } from "../../snapshots/shadow.ts";
import { takeTree } from "../../snapshots/take.ts";
import type { Delta } from "../contracts.ts";

/** The copy of one part. */
export interface CopiedPart {
	at: RepositoryPath;
	/** The git directory of its shadow. */
	shadow: string;
	/** Describes the copy; there as soon as it is complete. */
	index: string;
	/** What it was made of. */
	tree: string;
	commonDir: string;
	skipped: IndexEntry[];
	apart: RepositoryPath[];
}

/** A copy of the repository, as its record file describes it. */
export interface CopyRecord {
	id: string;
	path: string;
	parts: CopiedPart[];
}

/** What was found in a copy. */
export interface Captured {
	delta: Omit<Delta, "paths">;
	/** What it changes, below the top of the repository. */
	paths: RepositoryPath[];
	/** The trees before and after, by part; only where they differ. */
	trees: { at: RepositoryPath; before: string; after: string }[];
	/** Bundles of repositories that were made in the copy. */
	histories: string[];
}

/** Where a file of this copy goes, by the end of its name. */
export type PatchFile = (suffix: string) => string;

export async function capture(git: Git, record: CopyRecord, place: PatchFile): Promise<Captured> {
	if (!lstatSync(record.path, { throwIfNoEntry: false })?.isDirectory()) throw new Error(`${record.path} is gone`);
	const captured: Captured = { delta: { nested: [] }, paths: [], trees: [], histories: [] };
	const { delta, paths, trees, histories } = captured;
	const file = distinct(place);
	for (const part of record.parts) {
		// The copy was never finished, so no subagent has worked in it.
		if (!existsSync(part.index)) continue;
		const shadow = new Shadow(git, part.shadow);
		const path = file(part.at === "" ? "" : `nested-${asFileName(toText(part.at))}.`, "patch");
		const { tree: after, made } = await treeOf(shadow, record, part);
		for (const repository of made) {
			const bundle = file(`nested-${asFileName(toText(below(part.at, repository)))}.`, "bundle");
			if (await keepHistory(git, onDisk(record.path, below(part.at, repository)).toString(), bundle)) histories.push(bundle);
		}
		if (after === part.tree) {
			await rm(path, { force: true });
			continue;
		}
		await writePatch(shadow, part.tree, after, path);
		trees.push({ at: part.at, before: part.tree, after });
		for (const change of await differences(shadow.git(), part.tree, after, false)) paths.push(below(part.at, change.path));
		if (part.at === "") delta.patchPath = path;
		else delta.nested.push({ repository: toText(part.at), patchPath: path });
	}
	return captured;
}

/** `a/b` and `a-b` would have the same file. */
function distinct(place: PatchFile): (name: string, suffix: string) => string {
	const used = new Set<string>();
	return (name, suffix) => {
		let file = `${name}${suffix}`;
		for (let count = 2; used.has(file); count++) file = `${name}${count}.${suffix}`;
		used.add(file);
		return place(file);
	};
}

/** The tree of a part now. A repository that was made in it is in there as plain files, for there is none yet that it could be a change of. */
async function treeOf(shadow: Shadow, record: CopyRecord, part: CopiedPart): Promise<{ tree: string; made: RepositoryPath[] }> {
	const top = onDisk(record.path, part.at).toString();
	if (!lstatSync(top, { throwIfNoEntry: false })?.isDirectory()) return { tree: await shadow.git().line(["mktree"], { input: "" }), made: [] };
	const place = { top, index: part.index };
	const { tree, nested } = await takeTree({ ...part, shadow }, place);
	if (nested.length === 0) return { tree, made: [] };
	const index = `${part.index}.all`;
	await copyIndex(part.index, index);
	for (const path of nested) await putEntries(shadow.git({ top, index }), await filesOf(shadow, place, path));
	return { tree: await shadow.git({ top, index }).line(["write-tree", "--missing-ok"]), made: nested };
}

/** The files of a new repository, and of those inside it. */
async function filesOf(shadow: Shadow, { top, index }: Place, path: RepositoryPath): Promise<Change[]> {
	const inner = { top: onDisk(top, path).toString(), index: `${index}.new` };
	await rm(inner.index, { force: true });
	const { tree, nested } = await takeTree({ shadow, skipped: [], apart: [] }, inner);
	const files = entries(await shadow.git(inner).run(["ls-tree", "-r", "-z", "--full-tree", tree])).map((line): Change => {
		const [facts = "", name = ""] = split(line, "\t");
		const [mode = "", , oid = ""] = facts.split(" ");
		return { path: below(path, name), to: { mode, oid } };
	});
	for (const each of nested) {
		for (const file of await filesOf(shadow, inner, each)) files.push({ ...file, path: below(path, file.path) });
	}
	return files;
}

async function keepHistory(git: Git, top: string, path: string): Promise<boolean> {
	const repository = await repositoryAt(git, top);
	if (!repository?.head) return false;
	await mkdir(dirname(path), { recursive: true });
	await repository.git.run(["bundle", "create", path, "--all", "HEAD"]);
	return true;
}
