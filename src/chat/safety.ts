/** Whether a session is to be contained: asked at the first start in a project, where nothing else says it. The answer is kept. */
import { existsSync, mkdirSync, readFileSync, realpathSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline/promises";
import type { SessionState } from "../protocol/commands/state.ts";

/** By project: whether the person wants it contained. */
type Answers = Record<string, boolean>;

const question = `This is the first chat in this directory. "Contained" holds the agent even when a
file or a page gives it orders: its commands run in a sandbox without network and
without your home directory, and what it does to your files can be taken back.
Otherwise everything runs with your rights. The answer is kept for this directory.
Start contained? [Y/n] `;

/** Flags by which a person says it for one start. */
const own = /^--(?:contained|sandbox|no-sandbox|permission-mode|approval-mode|hermetic)(?:=|$)|^--set=(?:safety|sandbox\.|permissions\.mode)/;

export class SafetyChoice {
	readonly #file: string;
	readonly #project: string;
	readonly #isSaid: boolean;

	constructor({ userDirectory, cwd, flags }: { userDirectory: string; cwd: string; flags: readonly string[] }) {
		this.#file = join(userDirectory, "chat-safety.json");
		this.#project = existsSync(cwd) ? realpathSync(cwd) : cwd;
		this.#isSaid = flags.some((flag) => own.test(flag));
	}

	/** Flags for the agent that an earlier answer asks for. */
	get flags(): string[] {
		return !this.#isSaid && this.#answers()[this.#project] === true ? ["--contained"] : [];
	}

	/** Whether to ask about an agent that starts like this. */
	isOpen({ safety, sandbox, permissionMode }: SessionState): boolean {
		if (this.#isSaid || safety !== undefined || Object.hasOwn(this.#answers(), this.#project)) return false;
		return (sandbox?.mode ?? "off") === "off" && (permissionMode ?? "full") === "full";
	}

	/** Asks; undefined where the person left. */
	async ask(): Promise<boolean | undefined> {
		const terminal = createInterface({ input: process.stdin, output: process.stdout });
		const left = new Promise<undefined>((resolve) => {
			for (const end of ["close", "SIGINT"] as const) terminal.once(end, () => resolve(undefined));
		});
		try {
			for (;;) {
				const answer = await Promise.race([terminal.question(question), left]);
				if (answer === undefined) return undefined;
				const [first = "y"] = answer.trim().toLowerCase();
				if (first === "y" || first === "n") return first === "y";
			}
		} finally {
			terminal.close();
		}
	}

	keep(isContained: boolean): void {
		const all = { ...this.#answers(), [this.#project]: isContained };
		mkdirSync(join(this.#file, ".."), { recursive: true, mode: 0o700 });
		const next = `${this.#file}.${process.pid}`;
		writeFileSync(next, `${JSON.stringify(all, null, "\t")}\n`, { mode: 0o600 });
		renameSync(next, this.#file);
	}

	/** A file that cannot be read has no answers: the question comes again. */
	#answers(): Answers {
		try {
			const value: unknown = JSON.parse(readFileSync(this.#file, "utf8"));
			return typeof value === "object" && value !== null ? (value as Answers) : {};
		} catch {
			return {};
		}
	}
}
