/** Real repositories for tests of isolation. */
import { execFileSync } from "node:child_process";
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect } from "vitest";
import { redactor } from "../../../src/lib/redact.ts";
import { Shell } from "../../../src/lib/shell/index.ts";
import type { CapturedWork, Frozen, Merged, Workspace } from "../../../src/subagents/contracts.ts";
import { gitIsolation } from "../../../src/subagents/isolation/index.ts";
import { later } from "../../later.ts";

/** A folder with a repository, and all that isolation needs. */
export class Bench {
	readonly folder = realpathSync(mkdtempSync(join(tmpdir(), "bowline-isolation-")));
	readonly repo = join(this.folder, "repo");
	readonly root = join(this.folder, "user/worktrees");
	readonly home = join(this.folder, "home");
	environment: Record<string, string | undefined> = {
		PATH: process.env.PATH,
		HOME: this.home,
		GIT_CONFIG_NOSYSTEM: "1",
		// The caller's environment must not affect us.
		GIT_DIR: "/nowhere",
		GIT_INDEX_FILE: "/nowhere/index",
	};
	readonly shell: Shell;
	isTrusted = true;
	readonly signal = new AbortController().signal;

	constructor() {
		for (const path of [this.repo, this.home, join(this.folder, "artifacts")]) mkdirSync(path, { recursive: true });
		this.write(
			join(this.home, ".gitconfig"),
			'[user]\n\tname = User\n\temail = user@example.com\n[init]\n\tdefaultBranch = main\n[protocol "file"]\n\tallow = always\n',
		);
		this.shell = new Shell({ cwd: this.folder, environment: () => this.environment, redact: redactor(() => []), tempDir: this.folder });
		later(() => this.close());
	}

	async close(): Promise<void> {
		await this.shell.close();
		rmSync(this.folder, { recursive: true, force: true });
	}

	write(path: string, text: string | Buffer): void {
		mkdirSync(dirname(path), { recursive: true });
		writeFileSync(path, text);
	}

	/** Files of the repository, by path. */
	files(files: Record<string, string | Buffer>, top = this.repo): void {
		for (const [path, text] of Object.entries(files)) this.write(join(top, path), text);
	}

	git(args: string[], cwd = this.repo): string {
		const env = { PATH: process.env.PATH, HOME: this.home, GIT_CONFIG_NOSYSTEM: "1" };
		return execFileSync("git", args, { cwd, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
	}

	/** Commits all files in the directory. */
	commit(message = "more", cwd = this.repo): void {
		this.git(["add", "-A"], cwd);
		this.git(["commit", "-q", "--allow-empty", "-m", message], cwd);
	}

	init(files: Record<string, string | Buffer>, top = this.repo): void {
		mkdirSync(top, { recursive: true });
		this.git(["init", "-q"], top);
		this.files(files, top);
		this.commit("first", top);
	}

	isolation(cwd = this.repo) {
		return gitIsolation({
			cwd,
			root: this.root,
			sessionId: "session",
			isTrusted: this.isTrusted,
			artifact: (id, suffix) => join(this.folder, "artifacts", `${id}.${suffix}`),
			shell: async () => this.shell,
			environment: () => this.environment,
		});
	}

	async freeze(cwd = this.repo): Promise<Frozen> {
		const frozen = await this.isolation(cwd).freeze(this.signal);
		if ("problem" in frozen) throw new Error(frozen.problem);
		return frozen;
	}

	/** The message that the model gets when isolation fails. */
	async problem(cwd = this.repo): Promise<string> {
		const frozen = await this.isolation(cwd).freeze(this.signal);
		return "problem" in frozen ? frozen.problem : "";
	}

	/** One task from beginning to end. */
	async task(
		work: (cwd: string, workspace: Workspace) => void | Promise<void>,
		options: { mode?: "patch" | "branch"; meanwhile?: () => void; cwd?: string } = {},
	): Promise<Merged> {
		const frozen = await this.freeze(options.cwd);
		const done = await this.work(frozen, "0-Fix", work);
		options.meanwhile?.();
		const [merged] = await frozen.merge([done], options.mode ?? "patch");
		await frozen.release();
		return merged as Merged;
	}

	/** A copy, work in it, and its patch. */
	async work(frozen: Frozen, id: string, work: (cwd: string, workspace: Workspace) => void | Promise<void>): Promise<CapturedWork> {
		const workspace = await frozen.checkOut(id, this.signal);
		await work(workspace.cwd, workspace);
		const delta = await workspace.capture();
		await workspace.remove();
		return { id, description: `Work of ${id}`, delta };
	}

	/** Nothing of ours is left: no copy, no lock, no worktree, no branch. */
	expectClean(): void {
		expect(tree(this.root)).toEqual({});
		expect(this.git(["worktree", "list", "--porcelain"]).match(/^worktree /gm)).toHaveLength(1);
		expect(readdirSync(join(this.repo, ".git")).filter((name) => /bowline|\.lock$/.test(name))).toEqual([]);
		expect(this.git(["branch", "--list", "bowline/*"])).toBe("");
	}

	artifact(name: string): string {
		return readFileSync(join(this.folder, "artifacts", name), "latin1");
	}
}

/** All files below a folder without git's own: content, `-> target` of links, `*` after the names of programs. Names are bytes. */
export function tree(folder: string): Record<string, string> {
	const found: Record<string, string> = {};
	const walk = (path: Buffer, name: string) => {
		for (const entry of readdirSync(path, { encoding: "buffer" }).sort(Buffer.compare)) {
			if (entry.toString() === ".git") continue;
			const inner = Buffer.concat([path, Buffer.from("/"), entry]);
			const innerName = name === "" ? entry.toString("latin1") : `${name}/${entry.toString("latin1")}`;
			const stats = lstatSync(inner);
			if (stats.isDirectory()) walk(inner, innerName);
			else if (stats.isSymbolicLink()) found[innerName] = `-> ${readlinkSync(inner, "latin1")}`;
			else found[innerName + (stats.mode & 0o100 ? "*" : "")] = readFileSync(inner, "latin1");
		}
	};
	try {
		walk(Buffer.from(folder), "");
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
	}
	return found;
}
