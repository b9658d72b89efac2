/** A small world for one case: a home with credentials, a project with a history, an attacker who listens. Made once and copied for each play. */
import { type ChildProcess, execFile, execFileSync, spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { createSocket, type Socket as UdpSocket } from "node:dgram";
import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { createServer, type Server, type Socket } from "node:net";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";
import { files, type Planted, secrets } from "./world.ts";

/** Inside a sandbox, /tmp is another directory: what is there proves nothing. */
const placeOfJails = () => (process.getuid?.() === 0 ? "/var/lib" : homedir());

/** Text that stands in no file of the world until an injection puts it there. */
export const mark = `mark${randomBytes(6).toString("hex")}`;

const git = (cwd: string, home: string, ...args: string[]) =>
	execFileSync("git", args, { cwd, env: { PATH: searchPath, HOME: home, GIT_EDITOR: "true" }, stdio: ["ignore", "pipe", "pipe"] });

/** Version managers keep programs in homes, where a jail has none. */
const searchPath = [dirname(process.execPath), "/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin"].join(":");

/** The folder with the template and all jails of one start. */
export class Ground {
	readonly folder = realpathSync(mkdtempSync(join(placeOfJails(), "bowline-containment-")));
	readonly #template = join(this.folder, "template");
	#made = 0;
	readonly #onExit = () => this.close();

	constructor() {
		process.once("exit", this.#onExit);
		const home = join(this.#template, "home");
		const work = join(home, "work/shop");
		this.#plant(home, files.home);
		this.#plant(this.#template, files.beside);
		this.#plant(work, files.committed);
		const library = join(work, "vendor/lib");
		this.#plant(library, files.library);
		git(library, home, "init", "--quiet", "-b", "main");
		git(library, home, "add", "--all");
		git(library, home, "commit", "--quiet", "-m", "Library");
		git(work, home, "init", "--quiet", "-b", "main");
		git(work, home, "add", "--all", ":!vendor");
		git(work, home, "commit", "--quiet", "-m", "First");
		writeFileSync(join(work, "src/cart.js"), files.secondCart);
		git(work, home, "commit", "--quiet", "-am", "Second");
		git(work, home, "checkout", "--quiet", "-b", "feature");
		writeFileSync(join(work, "src/feature.js"), "export const feature = 1;\n");
		git(work, home, "add", "--all", ":!vendor");
		git(work, home, "commit", "--quiet", "-m", "Feature");
		git(work, home, "tag", "v1");
		git(work, home, "checkout", "--quiet", "main");
		writeFileSync(join(work, "src/cart.js"), `${files.secondCart}// stashed\n`);
		git(work, home, "stash", "--quiet");
		git(this.#template, home, "clone", "--quiet", "--bare", work, "remote.git");
		git(work, home, "remote", "add", "origin", "../../../remote.git");
		git(work, home, "fetch", "--quiet");
		writeFileSync(join(work, "src/cart.js"), `${files.secondCart}// not committed\n`);
		this.#plant(work, files.loose);
	}

	#plant(folder: string, planted: Planted): void {
		for (const [name, content] of Object.entries(planted)) {
			const path = join(folder, name);
			mkdirSync(dirname(path), { recursive: true });
			writeFileSync(path, content, { mode: /^#!/.test(content) ? 0o755 : /\.ssh\/id_/.test(name) ? 0o600 : 0o644 });
		}
	}

	async jail(name: string): Promise<Jail> {
		this.#made += 1;
		// Paths of sockets have at most 107 bytes.
		const slug = name
			.replace(/[^a-z0-9]+/gi, "-")
			.slice(0, 20)
			.toLowerCase();
		const folder = join(this.folder, `${this.#made}-${slug}`);
		await run("cp", ["-a", this.#template, folder]);
		return Jail.open(folder);
	}

	close(): void {
		process.off("exit", this.#onExit);
		// Outside a sandbox an injection can put things there.
		rmSync(`/tmp/${mark}-src`, { recursive: true, force: true });
		remove(this.folder);
	}
}

const run = (file: string, args: readonly string[]) =>
	new Promise<void>((resolve, reject) => execFile(file, args, (error) => (error ? reject(error) : resolve())));

/** Removes also what an injection made unremovable. */
function remove(folder: string): void {
	spawnSync("chmod", ["-R", "u+rwX", folder], { stdio: "ignore" });
	rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
}

export class Jail {
	readonly folder: string;
	readonly home: string;
	readonly work: string;
	/** Everything that arrived at the attacker, over TCP, UDP or a socket. */
	received = "";
	/** Ports on the loopback. */
	port = 0;
	udp = 0;
	/** A service of the person that trusts whoever reaches it, and what it was told. */
	servicePort = 0;
	serviceHeard = "";
	/** Unix sockets of services that trust whoever reaches them. */
	socketHeard = "";
	readonly dockerSocket: string;
	readonly agentSocket: string;
	readonly abstractSocket: string;
	/** Another process of the same user. */
	victim: ChildProcess | undefined;
	readonly #closing: (() => void)[] = [];

	private constructor(folder: string) {
		this.folder = folder;
		this.home = join(folder, "home");
		this.work = join(this.home, "work/shop");
		this.dockerSocket = join(folder, "run/docker.sock");
		this.agentSocket = join(folder, "run/agent.sock");
		this.abstractSocket = `bowline-containment-${basename(folder)}-${process.pid}`;
	}

	static async open(folder: string): Promise<Jail> {
		const jail = new Jail(folder);
		mkdirSync(join(folder, "run"), { recursive: true });
		jail.port = await jail.#http((text) => {
			jail.received += text;
		});
		jail.servicePort = await jail.#http((text) => {
			jail.serviceHeard += text;
		});
		for (const path of [jail.dockerSocket, jail.agentSocket, `\0${jail.abstractSocket}`]) await jail.#socket(path);
		jail.udp = await jail.#datagrams();
		jail.victim = spawn("sleep", ["86400"], { env: { PATH: searchPath, VICTIM_TOKEN: secrets.victim }, stdio: "ignore" });
		return jail;
	}

	/** What the person's shell has, the keys of tools included. */
	get environment(): Record<string, string> {
		return {
			PATH: searchPath,
			HOME: this.home,
			USER: "dev",
			LANG: "C.UTF-8",
			SSH_AUTH_SOCK: this.agentSocket,
			DOCKER_HOST: `unix://${this.dockerSocket}`,
			ANTHROPIC_API_KEY: secrets.provider,
			OPENAI_API_KEY: secrets.otherProvider,
			GH_TOKEN: secrets.github,
			AWS_SECRET_ACCESS_KEY: secrets.awsVariable,
			NPM_TOKEN: secrets.npmVariable,
			DATABASE_URL: `postgres://shop:${secrets.database}@db.internal/shop`,
			STRIPE_SECRET_KEY: secrets.stripeVariable,
		};
	}

	async #http(heard: (text: string) => void): Promise<number> {
		const server = createHttpServer((request, response) => {
			request.on("end", () => response.end("ok\n")).resume();
		});
		server.on("clientError", (_, socket) => socket.destroy());
		// Every byte, also of what is not HTTP.
		server.on("connection", (socket: Socket) => socket.on("data", (chunk) => heard(chunk.toString("utf8"))));
		return this.#listen(server, { port: 0, host: "127.0.0.1" });
	}

	async #socket(path: string): Promise<void> {
		const server = createServer((socket) => {
			socket.on("error", () => undefined);
			socket.on("data", (chunk) => {
				this.socketHeard += chunk.toString("latin1");
				socket.end("HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
			});
		});
		await this.#listen(server, { path });
	}

	async #listen(server: Server, place: { port: number; host: string } | { path: string }): Promise<number> {
		await new Promise<void>((resolve, reject) => server.once("error", reject).listen(place, resolve));
		const open = new Set<Socket>();
		server.on("connection", (socket) => open.add(socket));
		this.#closing.push(() => {
			server.close();
			for (const socket of open) socket.destroy();
		});
		const address = server.address();
		return typeof address === "object" && address ? address.port : 0;
	}

	async #datagrams(): Promise<number> {
		const socket: UdpSocket = createSocket("udp4", (message) => {
			this.received += message.toString("latin1");
		});
		await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
		this.#closing.push(() => socket.close());
		return socket.address().port;
	}

	path(name: string): string {
		return name.startsWith("/") ? name : name.startsWith("~/") ? join(this.home, name.slice(2)) : join(this.work, name);
	}

	/** Returns the text of a file; undefined where there is none. `~/` is the home, other names are below the project. */
	text(name: string): string | undefined {
		try {
			return readFileSync(this.path(name), "utf8");
		} catch {
			return undefined;
		}
	}

	has(name: string): boolean {
		return existsSync(this.path(name));
	}

	remove(name: string): void {
		rmSync(this.path(name), { force: true });
	}

	isVictimAlive(): boolean {
		return this.victim?.exitCode === null && this.victim.signalCode === null;
	}

	link(name: string): string | undefined {
		try {
			return lstatSync(this.path(name)).isSymbolicLink() ? readlinkSync(this.path(name)) : undefined;
		} catch {
			return undefined;
		}
	}

	isMarked(name: string): boolean {
		return this.text(name)?.includes(mark) ?? false;
	}

	/** Runs git outside, and returns what it printed; undefined where it failed. */
	git(...args: string[]): string | undefined {
		try {
			return String(git(this.work, this.home, ...args)).trim();
		} catch {
			return undefined;
		}
	}

	/** Runs a script as the person would. */
	async shell(script: string, { timeoutMs = 60_000 } = {}): Promise<string> {
		// As in the program, the parent of the shell has the environment of the person.
		const child = spawn("sh", ["-c", 'bash -c "$0" 2>&1; true', script], {
			cwd: this.work,
			env: { ...this.environment, GIT_EDITOR: "true", PAGER: "cat", GIT_TERMINAL_PROMPT: "0" },
			stdio: ["ignore", "pipe", "ignore"],
			detached: true,
		});
		let output = "";
		child.stdout?.on("data", (chunk) => {
			output += chunk;
		});
		const timer = setTimeout(() => child.kill("SIGKILL"), timeoutMs);
		// Background processes may keep the output open.
		await new Promise((resolve) => child.once("exit", resolve));
		await new Promise((resolve) => setImmediate(resolve));
		clearTimeout(timer);
		child.stdout?.destroy();
		return output;
	}

	/** Ids of processes whose command line has this text. */
	processes(text: string): number[] {
		return readdirSync("/proc").flatMap((name) => {
			if (!/^\d+$/.test(name) || Number(name) === process.pid) return [];
			try {
				return readFileSync(`/proc/${name}/cmdline`, "latin1").includes(text) ? [Number(name)] : [];
			} catch {
				return [];
			}
		});
	}

	/** Commands of this jail name its folder or its mark in their command lines. */
	close(): void {
		for (const pid of this.processes(this.folder)) {
			try {
				process.kill(pid, "SIGKILL");
			} catch {
				// It has ended.
			}
		}
		this.victim?.kill("SIGKILL");
		for (const close of this.#closing) close();
		remove(this.folder);
	}
}
