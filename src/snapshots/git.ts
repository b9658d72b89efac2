/**
 * Runs git so that neither the environment nor the repository changes what it does: no hook, daemon, pager, editor or transport is started.
 * Without a transport git fetches nothing and asks for no password, so ssh, proxies, credential helpers and the programs at the other
 * end of a remote stay unused, too.
 */
import { createReadStream, type ReadStream } from "node:fs";
import { onAbort } from "../lib/abort.ts";
import type { Program, ProgramOptions } from "../lib/shell/index.ts";

export interface ProgramStarter {
	start(file: string, args: readonly string[], cwd?: string, options?: ProgramOptions): Promise<Program>;
}

export interface GitOptions {
	/** Starts programs that die with us. */
	shell: () => Promise<ProgramStarter>;
	/** Our environment without secrets. */
	environment: () => Record<string, string | undefined>;
}

export interface Call {
	/** For stdin, one character per byte. */
	input?: string;
	/** A file for stdin, however large. */
	inputFile?: string;
	/** Ends git; the call throws the signal's reason when it is gone. */
	signal?: AbortSignal;
	/** Exit codes that are not failures; 0 when absent. */
	codes?: readonly number[];
}

export interface Answer {
	code: number;
	/** One character per byte. */
	output: string;
}

export class GitError extends Error {
	override readonly name = "GitError";
	/** What git said. */
	readonly stderr: string;

	constructor(args: readonly string[], stderr: string, reason: string) {
		const said = stderr.trim().split("\n").slice(-3).join(" ");
		super(`git ${args.find((arg) => !arg.startsWith("-"))} failed: ${said === "" ? reason : said}`);
		this.stderr = stderr;
	}
}

/** Of git's many variables only those that say who the user is, and where their own configuration is found. */
const keptVariables =
	/^GIT_((AUTHOR|COMMITTER)_(NAME|EMAIL)|CONFIG_(GLOBAL|SYSTEM|NOSYSTEM|COUNT|KEY_\d+|VALUE_\d+)|EXEC_PATH|CEILING_DIRECTORIES|DISCOVERY_ACROSS_FILESYSTEM)$/;

const always = [
	"--no-pager",
	...[
		"core.hooksPath=/dev/null",
		"core.fsmonitor=false",
		// A command can make a directory look like a bare repository.
		"safe.bareRepository=explicit",
		"gc.auto=0",
		"maintenance.auto=false",
		"worktree.useRelativePaths=false",
		"submodule.recurse=false",
	].flatMap((setting) => ["-c", setting]),
];

const killAfterMs = 1000;
/** A program that git left in the background, such as a filter's helper, may hold the pipes open forever. */
const pipesAfterMs = 10_000;

export class Git {
	readonly cwd: string;
	readonly #options: GitOptions;
	readonly #variables: Record<string, string | undefined>;
	readonly #settings: readonly string[];

	constructor(options: GitOptions, cwd: string, variables: Record<string, string | undefined> = {}, settings: readonly string[] = []) {
		this.#options = options;
		this.cwd = cwd;
		this.#variables = variables;
		this.#settings = settings;
	}

	/** Git in another place, or with more variables and settings (`name=value`). */
	with(change: { cwd?: string; variables?: Record<string, string | undefined>; settings?: readonly string[] }): Git {
		const variables = { ...this.#variables, ...change.variables };
		return new Git(this.#options, change.cwd ?? this.cwd, variables, [...this.#settings, ...(change.settings ?? [])]);
	}

	/** What git finds in its environment. */
	environment(): Record<string, string | undefined> {
		return { ...inherited(this.#options.environment()), ...plain, ...this.#variables };
	}

	/** What it printed. Throws a GitError when it fails, and a system error when there is no git. */
	async run(args: readonly string[], call: Call = {}): Promise<string> {
		return (await this.ask(args, call)).output;
	}

	/** What it printed, without the line's end. */
	async line(args: readonly string[], call: Call = {}): Promise<string> {
		return (await this.run(args, call)).replace(/\n$/, "");
	}

	/** For questions that the exit code answers. */
	async ask(args: readonly string[], { input, inputFile, signal, codes = [0] }: Call = {}): Promise<Answer> {
		signal?.throwIfAborted();
		const shell = await this.#options.shell();
		const environment = this.environment();
		const settings = this.#settings.flatMap((setting) => ["-c", setting]);
		const source = inputFile === undefined ? input : createReadStream(inputFile);
		const stdin = source === undefined ? "ignore" : "pipe";
		const program = await shell.start("git", [...always, ...settings, ...args], this.cwd, { environment, stdin });
		const { code, output, stderr } = await finished(program, source, signal);
		signal?.throwIfAborted();
		if (code === null || !codes.includes(code)) throw new GitError(args, stderr, code === null ? "it was killed" : `exit code ${code}`);
		return { code, output };
	}
}

const plain = {
	// Texts in English, and no locks that only save time later.
	LC_ALL: "C",
	LANGUAGE: "",
	GIT_OPTIONAL_LOCKS: "0",
	// A partial clone fetches what it lacks through programs that its configuration names. Git before 2.39.4 knows only the second variable,
	// a list of the transports that are allowed.
	GIT_NO_LAZY_FETCH: "1",
	GIT_ALLOW_PROTOCOL: "none",
	GIT_TERMINAL_PROMPT: "0",
	GIT_ASKPASS: "",
	SSH_ASKPASS: "",
	GIT_EDITOR: "false",
};

function inherited(environment: Record<string, string | undefined>): Record<string, string | undefined> {
	return Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith("GIT_") || keptVariables.test(name)));
}

async function finished(program: Program, input: string | ReadStream | undefined, signal: AbortSignal | undefined) {
	const { child } = program;
	const read = (stream: NodeJS.ReadableStream | null) => {
		const chunks: Buffer[] = [];
		stream?.on("data", (chunk: Buffer) => chunks.push(chunk));
		return () => Buffer.concat(chunks).toString("latin1");
	};
	const output = read(child.stdout);
	const errors = read(child.stderr);
	let kill: NodeJS.Timeout | undefined;
	// SIGTERM first, so that git removes its lock files.
	const release =
		signal &&
		onAbort(signal, () => {
			child.kill("SIGTERM");
			kill = setTimeout(() => program.kill(), killAfterMs);
		});
	// If git fails before it has read everything, it closes the pipe; its exit code says more.
	child.stdin?.on("error", () => undefined);
	if (typeof input === "string") child.stdin?.end(Buffer.from(input, "latin1"));
	// Git complains about the early end of a file that cannot be read.
	else if (input && child.stdin) input.on("error", () => child.stdin?.end()).pipe(child.stdin);
	let grace: NodeJS.Timeout | undefined;
	child.once("exit", () => {
		grace = setTimeout(() => [child.stdout, child.stderr].map((stream) => stream?.destroy()), pipesAfterMs);
	});
	const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
	clearTimeout(grace);
	clearTimeout(kill);
	release?.();
	return { code, output: output(), stderr: Buffer.from(errors(), "latin1").toString("utf8") };
}
