/** States of a run's files: trees, taken without touching the checkout's own git, and patches from the base commit to them. */

import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { asSentence } from "../lib/as-sentence.ts";
import type { Git } from "../snapshots/git.ts";
import { writePatch } from "../snapshots/patch.ts";
import { findRepository } from "../snapshots/repository.ts";
import { Shadow } from "../snapshots/shadow.ts";
import { takeTree } from "../snapshots/take.ts";
import { allowedTransports } from "./transports.ts";

export class PatchTooLarge extends Error {
	override readonly name = "PatchTooLarge";
}

export class FileStates {
	readonly #shadow: Shadow;
	readonly #place: { top: string; index: string };
	readonly #base: string;
	readonly #directory: string;
	readonly #maxBytes: number;

	private constructor(shadow: Shadow, place: { top: string; index: string }, base: string, directory: string, maxBytes: number) {
		this.#shadow = shadow;
		this.#place = place;
		this.#base = base;
		this.#directory = directory;
		this.#maxBytes = maxBytes;
	}

	/** `directory` is ours and outside of the checkout. */
	static async open(git: Git, top: string, directory: string, commit: string, maxBytes: number, signal: AbortSignal): Promise<FileStates> {
		const repository = await findRepository(git.with({ cwd: top }), signal);
		if ("problem" in repository) throw new Error(`${asSentence(repository.problem)} ${repository.remedy}.`);
		const shadow = await Shadow.create(git, join(directory, "git"), repository, signal);
		const place = { top: repository.top, index: join(directory, "index") };
		await shadow.git(place).run(["read-tree", commit], { signal });
		const base = await shadow.git(place).line(["rev-parse", `${commit}^{tree}`], { signal });
		return new FileStates(shadow, place, base, directory, maxBytes);
	}

	get base(): string {
		return this.#base;
	}

	/** The tree of the files as they are. Files that git ignores, and repositories inside, are not in it. */
	async take(signal?: AbortSignal): Promise<string> {
		const { tree } = await takeTree({ shadow: this.#shadow, skipped: [], apart: [] }, this.#place, signal);
		return tree;
	}

	/** From the base to a tree. Throws a `PatchTooLarge`. */
	async patch(tree: string): Promise<Buffer> {
		if (tree === this.#base) return Buffer.alloc(0);
		const path = join(this.#directory, "patch");
		await writePatch(this.#shadow, this.#base, tree, path);
		const bytes = await readFile(path);
		await rm(path);
		if (bytes.length > this.#maxBytes)
			throw new PatchTooLarge(
				`The patch has ${bytes.length} bytes, and fleet.patchBytes allows ${this.#maxBytes}. Add what is built to .gitignore, or raise it.`,
			);
		return bytes;
	}

	/** Brings the files to the state of a checkpoint, and makes sure that they are the same. */
	async restore(checkpoint: { tree: string; patch: Buffer }, signal?: AbortSignal): Promise<void> {
		if (checkpoint.patch.length > 0) {
			// Git applies to files whose state the index knows.
			await this.take(signal);
			const git = this.#shadow.git(this.#place);
			const input = checkpoint.patch.toString("latin1");
			await git.run(["apply", "--index", "--binary", "--whitespace=nowarn", "-p1"], { input, signal });
		}
		const tree = await this.take(signal);
		if (tree !== checkpoint.tree)
			throw new Error(`The files are of tree ${tree} after the checkpoint was applied, and should be of ${checkpoint.tree}.`);
	}

	/** How many files differ from the base. */
	async changedFiles(tree: string): Promise<number> {
		const out = await this.#shadow.git().run(["diff-tree", "-r", "-z", "--name-only", "--no-renames", this.#base, tree]);
		return out.split("\0").filter(Boolean).length;
	}

	/** Pushes the tree as one commit on the base. Hooks and filters of the checkout do not run. */
	async push(git: Git, input: { tree: string; commit: string; branch: string; message: string; url: string }): Promise<void> {
		const who = { name: "Bowline fleet", email: "fleet@bowline.invalid" };
		const { name, email } = who;
		const variables = { GIT_AUTHOR_NAME: name, GIT_AUTHOR_EMAIL: email, GIT_COMMITTER_NAME: name, GIT_COMMITTER_EMAIL: email };
		const shadow = this.#shadow.git().with({ variables });
		const made = await shadow.line(["commit-tree", input.tree, "-p", input.commit, "-m", input.message]);
		const variablesOfPush = { GIT_ALLOW_PROTOCOL: await allowedTransports(git, { of: "run" }), GIT_DIR: this.#shadow.directory };
		await git
			.with({ cwd: this.#place.top, variables: variablesOfPush })
			.run(["push", "--quiet", "--force", "--no-verify", "--", input.url, `${made}:refs/heads/${input.branch}`]);
	}
}
