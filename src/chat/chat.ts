/** The chat: turns a person's keys into commands of the client, and events of the client into the screen. */
import { type Client, type Dialog, type DialogAnswer, type Exit, ExitError, RequestError } from "../client/index.ts";
import { didYouMean } from "../lib/nearest.ts";
import type { AgentEvent } from "../protocol/events.ts";
import type { ExtensionUiRequest } from "../protocol/extension-ui.ts";
import { askApproval } from "./approval.ts";
import { commands, type Desk, ownCommands } from "./commands.ts";
import { Composer, type KnownCommand } from "./composer.ts";
import { Conversation, type Level } from "./conversation.ts";
import { Questions, Writing, YesOrNo } from "./dialogs.ts";
import { gitBranch } from "./git-branch.ts";
import { type Key, Keys } from "./keys.ts";
import { tellWhatRunsLater } from "./rewind-commands.ts";
import type { Terminal } from "./terminal.ts";
import { frameOf, pageOf, type Screen } from "./view.ts";
import { Viewport } from "./viewport.ts";

/** The screen is drawn at most this often, and for at most a third of the time; this often while a spinner turns. */
const frameMs = 16;
const spinnerMs = 120;

export class Chat implements Desk {
	readonly client: Client;
	readonly sessions: Desk["sessions"];
	/** Resolves when the user wants to leave. */
	readonly left: Promise<void>;
	quit!: () => void;
	#terminal: Terminal;
	#keys = new Keys((key) => this.#key(key));
	#screen: Screen = {
		conversation: new Conversation(),
		viewport: new Viewport(),
		composer: new Composer({
			cwd: () => this.#screen.facts.cwd,
			commands: () => [...ownCommands(), ...this.#agentCommands],
			say: (level, text) => this.say(level, text),
			onChange: () => this.#change(),
		}),
		questions: new Questions(() => this.#change()),
		isExpanded: false,
		doing: undefined,
		queued: [],
		name: "",
		facts: { cwd: process.cwd() },
		statuses: new Map(),
		widgets: new Map(),
	};
	#timer: NodeJS.Timeout | undefined;
	#spinner: NodeJS.Timeout | undefined;
	#drawMs = 0;
	#isLeaving = false;
	/** There is no agent at the moment, or not yet with the right session. */
	#isDown = true;
	/** The commands of the agent, for the menu and for typing errors. */
	#agentCommands: readonly KnownCommand[] = [];
	/** What the agent does, and what we do ourselves; the latest of the latter is shown. */
	#agentDoing: string | undefined;
	#ownDoing: string[] = [];
	/** How many commands of the user are running. */
	#shells = 0;
	#lastShell = 0;
	/** The last prompt, until a run has begun. */
	#sent: string | undefined;
	/** How many checkpoints the session had when the last run was over. */
	#checkpoints = 0;
	/** The session to continue when the agent has to be started again. */
	#sessionFile: string | undefined;
	#sessionId = "";

	constructor(client: Client, terminal: Terminal, sessions: Desk["sessions"]) {
		this.client = client;
		this.sessions = sessions;
		this.#terminal = terminal;
		this.left = new Promise((resolve) => {
			this.quit = () => {
				this.#isLeaving = true;
				resolve();
			};
		});
	}

	/** The session, once something was said and if it is stored. */
	get session(): { file: string; id: string } | undefined {
		const isBegun = this.#screen.conversation.items.some(({ kind }) => kind === "user");
		return isBegun && this.#sessionFile !== undefined ? { file: this.#sessionFile, id: this.#sessionId } : undefined;
	}

	/** `warnings`: the agent's messages about its start. */
	async start(warnings: string): Promise<void> {
		const { client } = this;
		client.on("event", (event) => this.#hear(event));
		client.on("extension_ui_request", (request) => this.#show(request));
		client.on("response", ({ command, error }) => error && this.#refused(command, error));
		client.on("exit", (exit) => void this.#mourn(exit));
		client.onDialog((dialog, signal) => this.#answer(dialog, signal));
		this.#terminal.enter(
			(chunk) => this.#keys.push(chunk),
			() => this.#change(),
			() => this.quit(),
		);
		await this.#attempt(() => client.onPermission((request, signal) => askApproval(this.#screen.questions, request, signal)));
		await this.#attempt(this.reload);
		this.#isDown = false;
		if (warnings.trim()) this.say("warning", warnings);
		if (this.#screen.conversation.items.length === 0)
			this.say("info", "Type what you want and press Enter. / lists commands, @ files, /help the keys.");
	}

	stop(): void {
		this.#isLeaving = true;
		clearTimeout(this.#timer);
		clearTimeout(this.#spinner);
		this.#keys.close();
		this.#terminal.leave();
	}

	// Arrow functions, because commands detach these from the object.

	say = (level: Level, text: string): void => {
		this.#screen.conversation.notice(level, text);
		this.#change();
	};

	show = (markdown: string): void => {
		this.#screen.conversation.show(markdown);
		this.#change();
	};

	choose = (title: string, options: readonly string[], selected = 0): Promise<number | undefined> => {
		return this.#screen.questions.choose(title, options, { selected });
	};

	write = (text: string): void => {
		this.#screen.composer.text = text;
		this.#change();
	};

	reload = async (): Promise<void> => {
		const { conversation, viewport } = this.#screen;
		const { editor } = this.#screen.composer;
		const [{ messages }, { checkpoints }] = await Promise.all([this.client.getMessages(), this.client.getCheckpoints(), this.refresh()]);
		this.#checkpoints = checkpoints.length;
		conversation.reset(messages);
		viewport.follow();
		editor.forget();
		for (const item of conversation.items) if (item.kind === "user") editor.remember(item.text);
		this.#change();
	};

	refresh = async (): Promise<void> => {
		const [state, { commands: known }] = await Promise.all([this.client.getState(), this.client.getCommands(), this.#measure()]);
		this.#sessionFile = state.sessionFile;
		this.#sessionId = state.sessionId;
		this.#agentCommands = known;
		this.#screen.name = state.sessionName ?? "";
		const { model, thinkingLevel, safety, cwd = process.cwd() } = state;
		const level = model?.reasoning ? thinkingLevel : undefined;
		const facts = { cwd, branch: gitBranch(cwd), model: model ?? undefined, level, loosened: safety?.loosened };
		this.#screen.facts = { ...this.#screen.facts, ...facts };
		this.#change();
	};

	during = async <T>(doing: string, work: Promise<T>): Promise<T> => {
		this.#ownDoing.push(doing);
		this.#showDoing();
		try {
			return await work;
		} finally {
			this.#ownDoing.splice(this.#ownDoing.indexOf(doing), 1);
			this.#showDoing();
		}
	};

	/** How full the context is, and what the session has cost. */
	#measure = async (): Promise<void> => {
		const { cost, contextUsage } = await this.client.getSessionStats();
		const context = contextUsage && { percent: contextUsage.percent, window: contextUsage.contextWindow };
		const { cwd } = this.#screen.facts;
		this.#screen.facts = { ...this.#screen.facts, cost, context, branch: gitBranch(cwd) };
		this.#change();
	};

	#lookAtChanges = async (): Promise<void> => {
		this.#checkpoints = await tellWhatRunsLater(this.#checkpoints, this);
	};

	// ── From the person ────────────────────────────────────────────────────────────────────────────────

	#key(key: Key): void {
		const { questions, composer, viewport, conversation } = this.#screen;
		const { editor } = composer;
		this.#change();
		if (key.name === "ctrl+l") return this.#terminal.forget();
		if (questions.current) return questions.key(key);
		const chosen = composer.menuKey(key);
		if (chosen) return chosen === "send" ? this.#send("steer") : undefined;
		const scroll = (pages: number) => {
			const { width, height } = this.#terminal.size;
			const page = pageOf(height);
			viewport.scroll(conversation.items, { width: width - 1, isExpanded: this.#screen.isExpanded }, page, pages * Math.max(1, page - 1));
		};
		switch (key.name) {
			case "enter":
				return this.#send("steer");
			case "alt+enter":
				return this.#send("followUp");
			case "escape":
				return this.#stop();
			case "ctrl+c":
				if (editor.text !== "") composer.text = "";
				else if (this.#screen.doing) this.#stop();
				else this.quit();
				return;
			case "ctrl+d":
				return editor.text === "" ? this.quit() : composer.key(key);
			case "ctrl+z":
				return this.#terminal.suspend();
			case "ctrl+o":
				this.#screen.isExpanded = !this.#screen.isExpanded;
				return viewport.follow();
			case "pageup":
				return scroll(1);
			case "pagedown":
				return scroll(-1);
			case "shift+tab":
				return void this.#attempt(() => this.#cycleThinking());
			default:
				composer.key(key);
		}
	}

	async #cycleThinking(): Promise<void> {
		if (!(await this.client.cycleThinkingLevel())) return this.say("info", "The model has no thinking levels.");
		await this.refresh();
	}

	/** Ends what the user has started last: a command of their own, else the agent's work. */
	#stop(): void {
		if (this.#shells > 0) void this.#attempt(async () => void (await this.client.abortBash()));
		else if (this.#screen.doing) void this.#attempt(() => this.#abort());
	}

	/** Messages sent while the agent works wait in one of its queues. */
	#send(streamingBehavior: "steer" | "followUp"): void {
		const { composer, viewport } = this.#screen;
		// Without an agent the text stays in the input.
		if (composer.editor.text.trim() === "" || this.#isDown) return;
		const written = composer.editor.take().trimEnd();
		viewport.follow();
		const [, name, argument = ""] = /^\/(\S+)\s*(.*)$/s.exec(written) ?? [];
		const command = name !== undefined && Object.hasOwn(commands, name) ? commands[name] : undefined;
		if (command) return void this.#attempt(async () => command.run(argument, this));
		if (name !== undefined && /^[\w:-]+$/.test(name) && !this.#agentCommands.some((known) => known.name === name)) {
			const known = [...ownCommands(), ...this.#agentCommands].map((each) => each.name);
			const guess = didYouMean(name, known, (meant) => `/${meant}`);
			this.say("warning", `There is no command /${name}.${guess} See /help. To send it as it is, begin with a space.`);
			return this.write(written);
		}
		const [, signs, shellCommand = ""] = /^(!!?)\s*(.*)$/s.exec(written) ?? [];
		if (signs) return shellCommand ? void this.#attempt(() => this.#run(shellCommand, signs === "!!")) : undefined;
		// A space in front of a sign makes it a message like any other, also for the agent.
		void this.#attempt(() => this.#prompt(/^\s+[/!]/.test(written) ? written : written.trim(), streamingBehavior));
	}

	async #prompt(message: string, streamingBehavior: "steer" | "followUp"): Promise<void> {
		const images = this.#screen.composer.imagesIn(message);
		if (images.length && this.#screen.facts.model?.input?.includes("image") === false) this.say("warning", "This model does not take images.");
		this.#sent = message;
		try {
			await this.client.prompt({ message, ...(images.length ? { images } : {}), streamingBehavior });
		} catch (error) {
			this.#giveBack();
			throw error;
		}
	}

	/** Runs a command of the user's own; the model sees it with the next prompt, unless it is kept from it. */
	async #run(command: string, excludeFromContext: boolean): Promise<void> {
		const { conversation } = this.#screen;
		const id = `own-${++this.#lastShell}`;
		conversation.shell(id, command);
		this.#shells++;
		try {
			conversation.shell(id, command, await this.during("running", this.client.bash({ command, excludeFromContext })));
		} catch (error) {
			conversation.shell(id, command, { output: "It was not run.", cancelled: false, exitCode: 1 });
			throw error;
		} finally {
			this.#shells--;
		}
		await this.#measure();
	}

	/** A request was accepted and then failed. */
	#refused(command: string, error: string): void {
		if (command === "prompt") this.#giveBack();
		this.say("error", error);
	}

	/** The prompt was refused: the written text is not lost. */
	#giveBack(): void {
		if (this.#sent !== undefined && this.#screen.composer.editor.text === "") this.write(this.#sent);
		this.#sent = undefined;
	}

	async #abort(): Promise<void> {
		// Both at once: an abort does not wait for its turn.
		const [{ steering, followUp }] = await Promise.all([this.client.clearQueue(), this.client.abort()]);
		const queued = [...steering, ...followUp];
		if (queued.length) this.write([...queued, this.#screen.composer.editor.text].filter(Boolean).join("\n"));
	}

	/** Shows failures. The exit of the agent is shown once, elsewhere. */
	async #attempt(work: () => Promise<void>): Promise<void> {
		try {
			await work();
		} catch (error) {
			if (error instanceof ExitError || this.#isLeaving) return;
			this.say("error", error instanceof RequestError ? error.text : error instanceof Error ? error.message : String(error));
		}
	}

	// ── From the agent ─────────────────────────────────────────────────────────────────────────────────

	#hear(event: AgentEvent): void {
		const screen = this.#screen;
		screen.conversation.hear(event);
		switch (event.type) {
			case "agent_start":
				this.#sent = undefined;
				this.#agentDoing = "working";
				break;
			case "auto_retry_start":
				this.#agentDoing = "waiting to try again";
				break;
			case "auto_compaction_start":
				this.#agentDoing = "compacting";
				break;
			case "auto_compaction_end":
				this.#agentDoing &&= "working";
				break;
			case "turn_end":
				void this.#attempt(this.#measure);
				break;
			case "agent_settled":
				this.#agentDoing = undefined;
				void this.#attempt(this.#measure);
				void this.#attempt(this.#lookAtChanges);
				break;
			case "queue_update":
				screen.queued = [...event.steering, ...event.followUp];
				break;
			case "thinking_level_changed":
			case "permission_mode_changed":
			case "session_info_changed":
				void this.#attempt(this.refresh);
				break;
		}
		this.#showDoing();
	}

	#showDoing(): void {
		this.#screen.doing = this.#ownDoing.at(-1) ?? this.#agentDoing;
		this.#change();
	}

	async #answer(dialog: Dialog, unwanted: AbortSignal): Promise<DialogAnswer> {
		const { questions } = this.#screen;
		// The agent does not wait longer than it says, and does not say when it stops.
		const limit = "timeout" in dialog && dialog.timeout ? [AbortSignal.timeout(dialog.timeout)] : [];
		const signal = AbortSignal.any([unwanted, ...limit]);
		switch (dialog.method) {
			case "select":
				return dialog.options[(await questions.choose(dialog.title, dialog.options, { signal })) ?? -1];
			case "confirm":
				return questions.ask<boolean>((done) => new YesOrNo(dialog.title, dialog.message, done), signal);
			case "input":
				return questions.ask<string>((done) => new Writing(dialog.title, { placeholder: dialog.placeholder }, done), signal);
			case "editor":
				return questions.ask<string>((done) => new Writing(dialog.title, { text: dialog.prefill, isLong: true }, done), signal);
		}
	}

	#show(request: ExtensionUiRequest): void {
		const { statuses, widgets } = this.#screen;
		switch (request.method) {
			case "notify":
				return this.say(request.notifyType ?? "info", request.message);
			case "setStatus":
				if (request.statusText) statuses.set(request.statusKey, request.statusText);
				else statuses.delete(request.statusKey);
				return this.#change();
			case "setWidget":
				if (request.widgetLines?.length)
					widgets.set(request.widgetKey, { lines: request.widgetLines, isBelow: request.widgetPlacement === "belowEditor" });
				else widgets.delete(request.widgetKey);
				return this.#change();
			case "set_editor_text":
				return this.write(request.text);
		}
	}

	/** The agent has died: shows that, and offers another one that continues the session. */
	async #mourn({ code, signal, stderr }: Exit): Promise<void> {
		if (this.#isLeaving) return;
		const screen = this.#screen;
		this.#isDown = true;
		this.#agentDoing = undefined;
		screen.queued = [];
		this.#showDoing();
		screen.statuses.clear();
		screen.widgets.clear();
		const how = signal ? `was ended by ${signal}` : `ended with exit code ${code}`;
		this.say("error", `The agent ${how}.\n${stderr.trimEnd().split("\n").slice(-5).join("\n")}`.trimEnd());
		const restart = (await this.choose("The agent is gone. What now?", ["Start it again and go on", "Leave"])) === 0;
		if (!restart) return this.quit();
		// If the new one dies too, the same happens again.
		await this.#attempt(() => this.during("starting the agent", this.#restart()));
	}

	async #restart(): Promise<void> {
		const { session } = this;
		await this.client.restart();
		if (session) await this.client.switchSession({ sessionPath: session.file });
		await this.reload();
		this.#isDown = false;
	}

	// ── To the screen ──────────────────────────────────────────────────────────────────────────────────

	#change(): void {
		this.#timer ??= setTimeout(() => this.#draw(), Math.max(frameMs, 2 * this.#drawMs));
	}

	#draw(): void {
		this.#timer = undefined;
		if (this.#isLeaving) return;
		const begin = performance.now();
		this.#terminal.draw(frameOf(this.#screen, this.#terminal.size, Date.now()));
		this.#drawMs = performance.now() - begin;
		clearTimeout(this.#spinner);
		if (this.#screen.doing) this.#spinner = setTimeout(() => this.#change(), spinnerMs);
	}
}
