/** Isolation by git: every task works in a worktree of its own, and its work comes back as a patch or a commit. */

import { createHash, randomBytes } from "node:crypto";
import { realpathSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { asSentence } from "../../lib/as-sentence.ts";
import { Git, type GitOptions } from "../../snapshots/git.ts";
import { makeOwned } from "../../snapshots/owner.ts";
import { asFileName, inside } from "../../snapshots/paths.ts";
import { removeEmpty, removeTree } from "../../snapshots/remove.ts";
import { checkVersion, findRepository, type Problem, problemOf, type Repository } from "../../snapshots/repository.ts";
import { freezeParts } from "../../snapshots/take.ts";
import type { Frozen, Isolation } from "../contracts.ts";
import { FrozenRepository } from "./frozen.ts";

export { collectLeftOvers, repairInterruptedMerges } from "./leftovers.ts";

export interface IsolationOptions extends GitOptions {
	/** Where the parent works. */
	cwd: string;
	/** `<user dir>/worktrees`. */
	root: string;
	sessionId: string;
	/** Whether the user trusts the project: git filters run only then. */
	isTrusted: boolean;
	/** Where a file of a task goes: `artifact("0-Fix", "patch")` is `…/0-Fix.patch`. */
	artifact: (id: string, suffix: string) => string;
}

export function gitIsolation(options: IsolationOptions): Isolation {
	const git = new Git(options, options.cwd);
	return {
		async freeze(signal) {
			const wrong = await checkVersion(git, signal);
			const repository = wrong ?? (await findRepository(git, signal));
			if ("problem" in repository) return forModel(repository);
			if (repository.head === undefined)
				return forModel({ problem: `The repository ${repository.top} has no commits yet`, remedy: "Make a first commit" });
			return freeze(repository, options, signal);
		},
	};
}

/** In words for the model, which has another way out. */
const forModel = ({ problem, remedy }: Problem) => ({ problem: `${asSentence(problem)} ${remedy}, or call the tool without isolated.` });

async function freeze(repository: Repository, options: IsolationOptions, signal: AbortSignal): Promise<Frozen | { problem: string }> {
	let root = options.root;
	let directory: string | undefined;
	try {
		await mkdir(root, { recursive: true, mode: 0o700 });
		root = realpathSync(root);
		const hash = createHash("sha256").update(repository.commonDir).digest("hex").slice(0, 8);
		const project = join(root, `${asFileName(basename(repository.top))}-${hash}`);
		const session = asFileName(options.sessionId);
		directory = join(project, `${session}.frozen-${randomBytes(6).toString("hex")}`);
		makeOwned(directory);
		const own = inside(repository.top, root);
		const parts = await freezeParts(repository, "", { directory: join(directory, "part"), signal, ...(own === undefined ? {} : { own }) });
		return new FrozenRepository({ ...options, parts, project, session, directory });
	} catch (error) {
		if (directory !== undefined) {
			await removeTree(options.shell, directory);
			removeEmpty(join(directory, ".."));
		}
		signal.throwIfAborted();
		return forModel(problemOf(error, repository.top));
	}
}
