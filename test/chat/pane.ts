/** `bowline chat` in a real terminal, which tmux is: keys in, the screen out. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { program } from "../wire/support/agent.ts";
import { toScript } from "../wire/support/script.ts";

/** Why the tests are skipped; nothing when tmux is there. */
export const missing = spawnSync("tmux", ["-V"]).error ? "tmux is not installed: apt-get install tmux" : undefined;

const patienceMs = 25_000;
const startAttempts = 3;

export interface PaneOptions {
	/** As the `model:` line of a wire test; without it the model echoes. */
	model?: string;
	flags?: string[];
	files?: Record<string, string>;
	env?: Record<string, string>;
	width?: number;
	height?: number;
	/** The folder of another one. */
	folder?: string;
	/** The node that runs the chat. */
	node?: string;
	/** Start a shell instead, so that a test can type `command` into it. */
	shell?: boolean;
	/** The chat may ask whether to be contained. */
	mayAsk?: boolean;
}

export class Pane {
	readonly folder: string;
	readonly cwd: string;
	/** The command that starts the chat. */
	readonly command: string;
	#raw: string;

	constructor({
		model,
		flags = [],
		files = {},
		env = {},
		width = 80,
		height = 24,
		folder,
		node = process.execPath,
		shell = false,
		mayAsk = false,
	}: PaneOptions = {}) {
		this.folder = folder ?? mkdtempSync(join(tmpdir(), "bowline-chat-"));
		this.cwd = join(this.folder, "work");
		this.#raw = join(this.folder, "raw");
		onTestFinished(() => this.close());
		const all = model ? { ...files, "script.json": JSON.stringify(toScript(model)) } : files;
		mkdirSync(this.cwd, { recursive: true });
		for (const [path, content] of Object.entries(all)) {
			mkdirSync(dirname(join(this.cwd, path)), { recursive: true });
			writeFileSync(join(this.cwd, path), content);
		}
		const words = [
			"--set",
			"retry.baseDelayMs=20",
			"--provider",
			"scripted",
			"--model",
			model ? "./script.json" : "echo",
			...(mayAsk ? [] : ["--set", "safety=off"]),
			...flags,
		];
		const variables = { BOWLINE_DIR: join(this.folder, "user"), BOWLINE_CHAT_MARK: this.folder, ...env };
		const assignments = Object.entries(variables).map(([name, value]) => `${name}=${quoted(value)}`);
		// The commands after the chat show how it ended, and whether the terminal is as it was.
		this.command = `env -u NODE_EXTRA_CA_CERTS ${assignments.join(" ")} ${[node, program, "chat", ...words].map(quoted).join(" ")}`;
		const after = "echo EXIT $?; stty -a | tr ' ;' '\\n\\n' | grep -x -e '-*icanon' -e '-*echo'; exec sleep 600";
		const started = shell ? "env PS1='$ ' bash --norc --noprofile -i" : `sh -c ${quoted(`${this.command}; ${after}`)}`;
		this.#start("new-session", "-d", "-s", "chat", "-x", String(width), "-y", String(height), "-c", this.cwd, started);
		this.#tmux("pipe-pane", "-t", "chat", `cat >> ${quoted(this.#raw)}`);
	}

	/** Names of keys as tmux knows them: `Enter`, `C-o`, `M-Enter`. */
	keys(...names: string[]): void {
		this.#tmux("send-keys", "-t", "chat", ...names);
	}

	type(text: string): void {
		this.#tmux("send-keys", "-t", "chat", "-l", text);
	}

	/** In brackets, as a terminal does it for programs that ask for it. */
	paste(text: string): void {
		this.#tmux("set-buffer", "-b", "b", text);
		this.#tmux("paste-buffer", "-p", "-b", "b", "-t", "chat");
	}

	resize(width: number, height: number): void {
		this.#tmux("resize-window", "-t", "chat", "-x", String(width), "-y", String(height));
	}

	/** `styled`: with the codes of colours. */
	screen(styled = false): string {
		return this.#tmux("capture-pane", "-p", "-t", "chat", ...(styled ? ["-e"] : []));
	}

	get cursor(): { column: number; row: number } {
		const [column = 0, row = 0] = this.#tmux("display-message", "-p", "-t", "chat", "#{cursor_x} #{cursor_y}").split(" ").map(Number);
		return { column, row };
	}

	/** All that was written to the terminal. */
	get raw(): string {
		return readFileSync(this.#raw, "utf8");
	}

	/** Waits until the screen is as wanted, and gives it. */
	async until(wanted: string | RegExp | ((screen: string) => boolean)): Promise<string> {
		const fits =
			typeof wanted === "function" ? wanted : (screen: string) => (typeof wanted === "string" ? screen.includes(wanted) : wanted.test(screen));
		const deadline = performance.now() + patienceMs;
		for (;;) {
			const screen = this.screen();
			if (fits(screen)) return screen;
			if (performance.now() > deadline) throw new Error(`${wanted} did not come. The screen:\n${screen}`);
			await new Promise((resolve) => setTimeout(resolve, 40));
		}
	}

	/** The input is there. */
	async ready(): Promise<this> {
		await this.until(/\n>.*\n.*(?:echo|script)/);
		return this;
	}

	/** The chat ignores an Enter that comes right after a question. */
	async calm(): Promise<void> {
		await new Promise((resolve) => setTimeout(resolve, 500));
	}

	/** Processes of this chat whose command line has the words. */
	pids(words: string): number[] {
		return readdirSync("/proc").flatMap((name) => {
			if (!/^\d+$/.test(name)) return [];
			try {
				const line = readFileSync(`/proc/${name}/cmdline`, "latin1").replaceAll("\0", " ");
				const isOurs = readFileSync(`/proc/${name}/environ`, "latin1").includes(`BOWLINE_CHAT_MARK=${this.folder}`);
				return isOurs && line.includes(words) && !line.startsWith("sh ") ? [Number(name)] : [];
			} catch {
				return []; // It ended while we looked, or is none of ours.
			}
		});
	}

	stop(): void {
		spawnSync("tmux", ["-S", join(this.folder, "socket"), "kill-server"]);
	}

	close(): void {
		this.stop();
		rmSync(this.folder, { recursive: true, force: true });
	}

	/** On a busy machine a terminal server may fail to start, which says nothing about the chat. */
	#start(...words: string[]): void {
		for (let attempt = 1; ; attempt++) {
			try {
				return void this.#tmux(...words);
			} catch (error) {
				if (attempt === startAttempts) throw error;
				this.stop();
				Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, attempt * 300);
			}
		}
	}

	#tmux(...words: string[]): string {
		return execFileSync("tmux", ["-S", join(this.folder, "socket"), "-f", "/dev/null", "-u", ...words], { encoding: "utf8" });
	}
}

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
