/** The shells of a session and what their commands see. Loaded with their first use. */
import { childEnvironment, type EnvironmentPolicy, withheldEnvironment } from "../lib/environment.ts";
import { remembered } from "../lib/remembered.ts";
import type { Confinement, Shell } from "../lib/shell/index.ts";
import type { Credentials, Secrets } from "./secrets.ts";
import type { Workspace } from "./workspace.ts";

export class Shells {
	#workspace: Workspace;
	#secrets: Secrets;
	/** Variables that describe the session to commands. */
	#facts: () => Record<string, string | undefined>;
	#shell: Promise<Shell> | undefined;
	#hostShell: Promise<Shell> | undefined;
	#searchShell: Promise<Shell> | undefined;
	#outsideShell: Promise<Shell> | undefined;
	#gitShell: Promise<Shell> | undefined;
	#childShell: Promise<Shell> | undefined;
	#serverShell: Promise<Shell> | undefined;
	#isClosed = false;

	constructor(workspace: Workspace, secrets: Secrets, facts: () => Record<string, string | undefined>) {
		this.#workspace = workspace;
		this.#secrets = secrets;
		this.#facts = facts;
	}

	/** For what the model starts: inside the sandbox, where there is one. */
	shell(): Promise<Shell> {
		this.#shell ??= remembered(this.#load(this.#confinement()), () => {
			this.#shell = undefined;
		});
		return this.#shell;
	}

	/** For programs that only read. */
	searchShell(): Promise<Shell> {
		if (!this.#workspace.sandbox) return this.shell();
		this.#searchShell ??= remembered(this.#load(this.#workspace.sandbox.readingConfinement), () => {
			this.#searchShell = undefined;
		});
		return this.#searchShell;
	}

	/** For the host and for extensions: always outside. */
	hostShell(): Promise<Shell> {
		if (!this.#workspace.sandbox) return this.shell();
		this.#hostShell ??= remembered(this.#load(), () => {
			this.#hostShell = undefined;
		});
		return this.#hostShell;
	}

	/** For a command of the model that a person lets run outside. */
	outsideShell(): Promise<Shell> {
		const { sandbox } = this.#workspace;
		this.#outsideShell ??= remembered(
			this.#load(undefined, (variables) => sandbox?.outside(variables) ?? variables),
			() => {
				this.#outsideShell = undefined;
			},
		);
		return this.#outsideShell;
	}

	/** For a command of the host that it wants inside. */
	insideShell(): Promise<Shell> {
		if (!this.#workspace.sandbox?.confinement) throw new Error("There is no sandbox to run the command in. Send it without sandbox.");
		return this.shell();
	}

	/** For subagents, and for clearing away what they left when no more commands may be started. */
	childShell(): Promise<Shell> {
		this.#childShell ??= remembered(this.#load(), () => {
			this.#childShell = undefined;
		});
		return this.#childShell;
	}

	/** For MCP servers, which live as long as the session and end in a way of their own. */
	serverShell(): Promise<Shell> {
		this.#serverShell ??= remembered(this.#load(), () => {
			this.#serverShell = undefined;
		});
		return this.#serverShell;
	}

	async closeServers(): Promise<void> {
		await (await this.#serverShell)?.close();
	}

	/** For git that we run ourselves, inside the sandbox where there is one, and for the programs that remove its directories. */
	async gitStarter(): Promise<Pick<Shell, "start">> {
		const { sandbox } = this.#workspace;
		const outside = await this.childShell();
		if (!sandbox?.gitConfinement) return outside;
		this.#gitShell ??= this.#load(sandbox.gitConfinement);
		const inside = await this.#gitShell;
		return { start: (file, ...rest) => (file === "git" ? inside : outside).start(sandbox.programOf(file), ...rest) };
	}

	/** Returns what commands see, at any time. */
	async commandEnvironment(): Promise<() => Record<string, string | undefined>> {
		const credentials = await this.#secrets.learn();
		return () => this.#environment(credentials);
	}

	/** Variables that subagents need, but commands must not see. */
	async withheld(): Promise<Record<string, string>> {
		return withheldEnvironment(this.#workspace.env, this.#policy(await this.#secrets.learn()));
	}

	/** Kills every process that was started here; those of subagents after `stop`. */
	async close(stop: () => Promise<void>): Promise<void> {
		this.#isClosed = true;
		const own = await Promise.all([this.#shell, this.#hostShell, this.#searchShell, this.#outsideShell]);
		await Promise.all(own.map((shell) => shell?.close()));
		if (!this.#childShell) return;
		await stop();
		await Promise.all([(await this.#childShell).close(), (await this.#gitShell)?.close()]);
	}

	/** Refuses to start anything while the walls that the user asked for are missing. */
	#confinement(): Confinement | undefined {
		const { sandbox } = this.#workspace;
		if (sandbox?.refusal !== undefined) throw new Error(sandbox.refusal);
		return sandbox?.confinement;
	}

	async #load(
		confinement?: Confinement,
		changed = (variables: Record<string, string | undefined>): Record<string, string | undefined> => variables,
	): Promise<Shell> {
		const { settings, cwd } = this.#workspace;
		const [{ Shell }, variables] = await Promise.all([import("../lib/shell/index.ts"), this.commandEnvironment()]);
		const environment = () => changed(variables());
		const shell = new Shell({
			cwd,
			shellPath: settings.get("shellPath"),
			prefix: settings.get("shellCommandPrefix"),
			environment,
			redact: this.#secrets.redactor,
			confinement,
		});
		// A closed shell refuses every command.
		if (this.#isClosed) await shell.close();
		return shell;
	}

	#environment(credentials: Credentials): Record<string, string | undefined> {
		return { ...childEnvironment(this.#workspace.env, this.#policy(credentials)), ...this.#facts() };
	}

	#policy(credentials: Credentials): EnvironmentPolicy {
		return { secretNames: credentials.secretNames(), allow: this.#workspace.settings.get("bash.env.allow") };
	}
}
