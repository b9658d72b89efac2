/** A machine for sandbox tests: a home with secrets, a project, an agent whose model runs the commands of a test. As root, and as an ordinary user. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import {
	chmodSync,
	chownSync,
	cpSync,
	existsSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	realpathSync,
	rmSync,
	writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:net";
import { homedir, tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { createInterface } from "node:readline";

/** Shorter than a test may take, so that a failure says what came and what did not. */
const silenceMs = 120_000;

/** Why the tests are left out; nothing when bubblewrap works here. */
export const missing = whyNot();

function whyNot(): string | undefined {
	if (process.platform !== "linux") return "the sandbox is tested on Linux only";
	const { error, status, stderr } = spawnSync("bwrap", ["--unshare-user", "--unshare-net", "--unshare-pid", "--ro-bind", "/", "/", "true"], {
		encoding: "utf8",
	});
	if (error) return "bubblewrap is not installed: apt-get install bubblewrap";
	return status === 0 ? undefined : `bubblewrap does not work here: ${stderr.trim()}`;
}

const isRoot = process.getuid?.() === 0;
/** The users that the tests can be. Root also becomes an ordinary one. */
export const users: { name: string; id: number | undefined }[] = isRoot
	? [
			{ name: "root", id: undefined },
			{ name: "an ordinary user", id: 65534 },
		]
	: [{ name: "an ordinary user", id: undefined }];

const program = join(import.meta.dirname, "../../dist");

/** Inside, /tmp is another directory: what is there proves nothing. */
export const folderOutsideTmp = () => realpathSync(mkdtempSync(join(isRoot ? "/var/lib" : homedir(), "bowline-sandbox-test-")));

export interface Frame {
	type: string;
	[member: string]: unknown;
}

export interface Ran {
	text: string;
	isError: boolean;
	details: { sandbox?: { applied: boolean; denied: string[] }; [member: string]: unknown };
}

export class Machine {
	readonly folder: string;
	readonly home: string;
	readonly work: string;
	readonly outside: string;
	readonly user: string;
	readonly #id: number | undefined;
	readonly #dist: string;
	readonly #children: ChildProcess[] = [];
	readonly #servers: Server[] = [];

	/** Not in /tmp: that is private inside, so nothing could be proved there. */
	constructor(id?: number) {
		this.#id = id;
		this.folder = folderOutsideTmp();
		chmodSync(this.folder, 0o755);
		this.home = this.directory("home");
		this.work = this.directory("work");
		this.outside = this.directory("outside");
		this.user = this.directory("user");
		this.#dist = program;
		if (id !== undefined) {
			// The checkout may be where only root can read.
			this.#dist = join(this.folder, "dist");
			cpSync(program, this.#dist, { recursive: true });
		}
	}

	directory(name: string): string {
		const path = join(this.folder, name);
		mkdirSync(path, { recursive: true });
		this.#own(path);
		return path;
	}

	/** A file below the folder. */
	write(name: string, content: string): string {
		const path = join(this.folder, name);
		const missing: string[] = [];
		for (let at = dirname(path); at.length > this.folder.length; at = dirname(at)) missing.unshift(at);
		for (const at of missing) {
			mkdirSync(at, { recursive: true });
			this.#own(at);
		}
		writeFileSync(path, content);
		this.#own(path);
		return path;
	}

	#own(path: string): void {
		if (this.#id !== undefined) chownSync(path, this.#id, this.#id);
	}

	get #identity(): { uid?: number; gid?: number } {
		return this.#id === undefined ? {} : { uid: this.#id, gid: this.#id };
	}

	git(...args: string[]): string {
		const env = { ...process.env, HOME: this.home, GIT_CONFIG_GLOBAL: "/dev/null" };
		return execFileSync("git", ["-c", "user.name=T", "-c", "user.email=t@localhost", ...args], {
			cwd: this.work,
			env,
			encoding: "utf8",
			stdio: ["ignore", "pipe", "pipe"],
			...this.#identity,
		});
	}

	repository(): void {
		this.git("init", "--quiet", "-b", "main");
		this.git("config", "user.name", "T");
		this.git("config", "user.email", "t@localhost");
		this.git("commit", "--quiet", "--allow-empty", "-m", "Beginning");
	}

	/**
	 * A process of the same user, outside, which is known by its command line: inside, another one may have its number. It listens at a socket with a
	 * relative name in the home.
	 */
	async victim(): Promise<Victim> {
		const mark = `victim-of-${basename(this.folder)}`;
		const code = 'require("net").createServer((socket) => socket.on("error", () => undefined).end("hello")).listen("victim.sock")';
		const child = spawn(process.execPath, ["-e", code, mark], { cwd: this.home, stdio: "ignore", ...this.#identity });
		this.#children.push(child);
		await until(() => existsSync(join(this.home, "victim.sock")));
		return { pid: child.pid as number, mark };
	}

	async listen(place: { port: number; host: string } | { path: string }): Promise<number> {
		const server = createServer((connection) => connection.on("error", () => undefined).end("hello"));
		this.#servers.push(server);
		await new Promise<void>((resolve) => server.listen(place, resolve));
		if ("path" in place && !place.path.startsWith("\0")) chmodSync(place.path, 0o777);
		const address = server.address();
		return typeof address === "object" && address !== null ? address.port : 0;
	}

	/** An agent whose model makes these calls, one reply each. Resolves with their results and the first frame. */
	async run(
		calls: readonly Call[] | { replies: readonly object[] },
		flags: readonly string[],
		env: Record<string, string> = {},
	): Promise<{ results: Ran[]; ready: Frame; frames: Frame[] }> {
		const agent = this.start(calls, flags, env);
		agent.send({ id: "1", type: "prompt", message: "go" });
		const frames = await agent.until((frame) => frame.type === "agent_settled" || (frame.type === "response" && frame.success === false));
		agent.child.stdin?.end();
		await agent.gone;
		const results = frames.filter(({ type }) => type === "tool_execution_end").map(resultOf);
		return { results, ready: frames[0] as Frame, frames };
	}

	/** `calls`: one reply each, or a whole model script. */
	start(
		calls: readonly Call[] | { replies: readonly object[] },
		flags: readonly string[],
		env: Record<string, string> = {},
		/** A command line that starts the agent. */
		starter: readonly string[] = [],
	) {
		const replies = "replies" in calls ? calls.replies : [...calls.map(asReply), { text: "done" }];
		const script = this.write("script.jsonc", JSON.stringify({ replies }));
		const agent = [process.execPath, join(this.#dist, "bowline.js"), "--mode", "rpc", "--provider", "scripted", "--model", script, ...flags];
		const [file, ...args] = [...starter, ...agent] as [string, ...string[]];
		const child = spawn(file, args, {
			cwd: this.work,
			env: {
				PATH: process.env.PATH,
				HOME: this.home,
				BOWLINE_DIR: this.user,
				TMPDIR: tmpdir(),
				SECRET_TOKEN: "canary-of-the-host",
				LANG: "C.UTF-8",
				...env,
			},
			stdio: ["pipe", "pipe", "pipe"],
			...this.#identity,
		});
		this.#children.push(child);
		const frames: Frame[] = [];
		const waiting: (() => void)[] = [];
		const wake = () => {
			for (const resolve of waiting.splice(0)) resolve();
		};
		let stderr = "";
		child.stderr.on("data", (chunk) => {
			stderr += chunk;
		});
		createInterface({ input: child.stdout }).on("line", (line) => {
			frames.push(JSON.parse(line) as Frame);
			wake();
		});
		const seen = () => frames.map(({ type, id }) => (id === undefined ? type : `${type} ${id}`)).join(", ");
		let isGone = false;
		const gone = new Promise<void>((resolve) => {
			child.once("close", () => {
				isGone = true;
				wake();
				resolve();
			});
		});
		return {
			child,
			frames,
			gone,
			stderr: () => stderr,
			send: (frame: object) => child.stdin.write(`${JSON.stringify(frame)}\n`),
			async until(isIt: (frame: Frame) => boolean): Promise<Frame[]> {
				for (let at = 0; ; ) {
					for (; at < frames.length; at += 1) if (isIt(frames[at] as Frame)) return frames;
					if (isGone) throw new Error(`the agent ended: ${stderr}`);
					const refused = frames.find(({ command, success }) => command === "prompt" && success === false);
					if (refused) throw new Error(`the prompt was refused: ${refused.error}`);
					await new Promise<void>((resolve, reject) => {
						const timer = setTimeout(() => reject(new Error(`nothing came for long; so far: ${seen()}; stderr: ${stderr}`)), silenceMs);
						waiting.push(() => {
							clearTimeout(timer);
							resolve();
						});
					});
				}
			},
		};
	}

	async close(): Promise<void> {
		for (const server of this.#servers) server.close();
		await Promise.all(this.#children.map(ended));
		// What ran inside ends a moment after its agent, and may write until then.
		rmSync(this.folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
	}

	/** What sessions left in the user directory. */
	leftovers(): string[] {
		return readdirSync(this.user).includes("sandbox") ? readdirSync(join(this.user, "sandbox")) : [];
	}
}

export interface Victim {
	pid: number;
	mark: string;
}

function ended(child: ChildProcess): Promise<void> {
	if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
	return new Promise((resolve) => {
		child.once("exit", () => resolve()).once("error", () => resolve());
		child.kill("SIGKILL");
	});
}

/** Processes whose command line has this mark. */
export function running(mark: string): number {
	const has = (name: string) => {
		try {
			return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, "latin1").includes(mark);
		} catch {
			return false;
		}
	};
	return readdirSync("/proc").filter(has).length;
}

/** Waits until it is so. The test's own deadline is the only one. */
export async function until(isSo: () => boolean): Promise<void> {
	while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 20));
}

/** Many attempts in one command: what each said, and whether it succeeded. Every one is a program of its own, as it would be in a command. */
export const together = (attempts: readonly string[]): string =>
	attempts.map((attempt, index) => `echo "<<<${index}"; bash -c ${quoted(attempt)} 2>&1; echo ">>>${index} $?"`).join("\n");

/** `status` is absent where the attempt did not come to its end. */
export function apart(text: string, count: number): { text: string; status: number | undefined }[] {
	return Array.from({ length: count }, (_, index) => {
		const [, said, status] = new RegExp(`<<<${index}\n([^]*?)>>>${index} (\\d+)`).exec(text) ?? [];
		return { text: said ?? `it did not end: ${text.slice(-500)}`, status: status === undefined ? undefined : Number(status) };
	});
}

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

export type Call = string | { tool: string; arguments: Record<string, unknown> };

export function resultOf(frame: Frame): Ran {
	const { content, details } = frame.result as { content: { text?: string }[]; details: Ran["details"] };
	return { text: content.map(({ text = "" }) => text).join("\n"), isError: frame.isError === true, details: details ?? {} };
}

const asReply = (call: Call) => ({ blocks: [typeof call === "string" ? { tool: "bash", arguments: { command: call } } : call] });
