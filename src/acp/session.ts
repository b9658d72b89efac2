/** One session of an editor: a live session of ours, its turns, and what is shown of it. */
import { setImmediate } from "node:timers/promises";
import type { PromptResponse, SessionUpdate } from "@agentclientprotocol/sdk";
import type { LiveSession } from "../live/live-session.ts";
import { ownCommandIn, ownCommands, runOwnCommand } from "../live/own-commands.ts";
import { isCommandError } from "../protocol/command-error.ts";
import type { CommandName, CommandParams } from "../protocol/commands/index.ts";
import type { AgentEvent } from "../protocol/events.ts";
import type { UserMessage } from "../protocol/messages.ts";
import type { Refusal } from "../session/refusal.ts";
import type { Approvals } from "./approvals.ts";
import { type PromptContent, promptContent, storedPrompt } from "./content.ts";
import { codes, failed, RpcError } from "./errors.ts";
import type { ConfigOptions } from "./options.ts";
import type { Incoming } from "./peer.ts";
import type { Projection } from "./projection.ts";
import { titleOf } from "./title.ts";
import { Turn } from "./turn.ts";
import type { UsageReport } from "./usage.ts";
import type { Voice } from "./voice.ts";

export interface AcpSessionParts {
	live: LiveSession;
	cwd: string;
	projection: Projection;
	approvals: Approvals;
	options: ConfigOptions;
	usage: UsageReport;
	/** What a prompt that comes in a turn becomes. */
	busy: () => "queue" | "steer";
	voice: Voice;
	/** Writes updates about the session, each in a write of its own. */
	tell: (update: SessionUpdate) => void;
	/** Questions to the client that are open end with the turn. */
	withdraw: () => void;
	/** Undoes what was to happen at the end of the process. */
	release: () => void;
}

/** A cancelled turn is answered after this time even if a tool has not ended. */
const cancelPatienceMs = 3500;

export class AcpSession {
	readonly id: string;
	readonly cwd: string;
	readonly live: LiveSession;
	readonly options: ConfigOptions;
	#parts: AcpSessionParts;
	/** Turns that have no response yet; the first one runs. */
	#turns: Turn[] = [];
	#running: Promise<void> = Promise.resolve();
	#title: string | undefined;
	#isClosed = false;
	#knownOptions = "";
	#knownCommands = "";

	constructor(parts: AcpSessionParts) {
		this.#parts = parts;
		this.live = parts.live;
		this.cwd = parts.cwd;
		this.options = parts.options;
		this.id = parts.live.session.transcript.sessionId;
		this.live.observe((event) => this.#observe(event));
	}

	get isInTurn(): boolean {
		return this.#turns.length > 0;
	}

	// ── Turns ───────────────────────────────────────────────────────────────────────────────────────

	/** Takes a prompt; the promise is the answer. Turns follow one another in the order of their requests. */
	prompt(params: { prompt?: unknown; _meta?: unknown }, incoming: Incoming): Promise<PromptResponse> {
		const content = promptContent(params.prompt, this.cwd);
		const deliver = (params._meta as { bowline?: { deliver?: unknown } } | undefined)?.bowline?.deliver;
		const isSteering = this.isInTurn && (deliver === "steer" || (deliver === undefined && this.#parts.busy() === "steer"));
		const turn = new Turn(content, isSteering);
		this.#turns.push(turn);
		const answer = isSteering ? this.#steer(turn) : this.#inItsTurn(turn);
		if (incoming.signal.aborted) this.#cancelOne(turn);
		else incoming.signal.addEventListener("abort", () => this.#cancelOne(turn), { once: true });
		// The next turn writes nothing before the response of this one.
		this.#running = Promise.allSettled([this.#running, answer]).then(() => setImmediate());
		return answer;
	}

	/** Every open prompt ends as cancelled. */
	cancel(): void {
		if (!this.isInTurn) return;
		for (const turn of this.#turns) turn.cancel();
		this.#abort();
	}

	#cancelOne(turn: Turn): void {
		if (!this.#turns.includes(turn)) return;
		turn.cancel();
		if (this.#turns[0] === turn) return this.#abort();
		if (turn.isSteering) return;
		this.#turns = this.#turns.filter((each) => each !== turn);
		turn.withdrawn.resolve();
	}

	/** A prompt that is withdrawn while others run is answered without waiting for them. */
	#inItsTurn(turn: Turn): Promise<PromptResponse> {
		const cancelled: PromptResponse = { stopReason: "cancelled" };
		const run = this.#running.then(() => (this.#turns.includes(turn) ? this.#run(turn) : cancelled));
		return Promise.race([run, turn.withdrawn.promise.then(() => cancelled)]);
	}

	#abort(): void {
		this.#parts.withdraw();
		this.#command("clear_queue", {});
		this.#command("abort", {});
	}

	async #run(turn: Turn): Promise<PromptResponse> {
		const { projection } = this.#parts;
		try {
			if (turn.isCancelled) return { stopReason: "cancelled" };
			if (this.#isClosed) throw new RpcError(codes.unknownSession, `The session is closed: ${this.id}`);
			projection.isMuted = false;
			projection.isInTurn = true;
			const { refusal } = await this.#orCancelled(turn, this.#work(turn));
			const stopReason = turn.stopReason(refusal);
			return { stopReason };
		} catch (error) {
			if (turn.isCancelled) return { stopReason: "cancelled" };
			throw error;
		} finally {
			this.#turns = this.#turns.filter((each) => each !== turn);
			this.#endTurn();
		}
	}

	/** The work's end; a cancelled turn does not wait for a tool that does not end. */
	async #orCancelled<T extends object>(turn: Turn, work: Promise<T>): Promise<T | { refusal?: Refusal }> {
		let timer: NodeJS.Timeout | undefined;
		const late = turn.cancelled.promise.then(
			() =>
				new Promise<"late">((resolve) => {
					timer = setTimeout(() => resolve("late"), cancelPatienceMs);
				}),
		);
		const first = await Promise.race([work, late]);
		clearTimeout(timer);
		if (first !== "late") return first as T;
		this.#parts.projection.endTurn();
		this.#parts.projection.isMuted = true;
		// The turn is over for the editor; a failure that comes now must not end the process as an unhandled one.
		work.catch(() => undefined);
		return {};
	}

	async #work(turn: Turn): Promise<{ refusal?: Refusal }> {
		const { content } = turn;
		const { live } = this;
		const own = ownCommandIn(content.message);
		if (own && !(await live.slashCommands()).some(({ name }) => name === own.name)) {
			const text = await runOwnCommand((...command) => live.commands.perform(...command), own);
			if (!turn.isCancelled) this.#parts.projection.say(text);
			return {};
		}
		this.#title ??= titleOf(content.message);
		const refusal = await this.#ask(turn, content);
		if (!refusal) await this.#atRest();
		// A command of an extension may have loaded others.
		if (content.message.startsWith("/")) await this.announceCommands();
		return { refusal };
	}

	/** Sends the prompt. Resolves when it is decided: with the reason when it does not run. */
	async #ask(turn: Turn, { message, images }: PromptContent): Promise<Refusal | undefined> {
		for (;;) {
			// A run that an extension began comes first.
			while (this.live.session.isBusy) await this.live.session.settled();
			if (turn.isCancelled) return { text: "", code: "aborted" };
			const refusal = await this.live.commands.prompt({ message, images });
			if (refusal?.code !== "busy") return refusal;
		}
	}

	/** Nothing runs, and nothing follows. A message that an extension sends at the end of a run starts after it. */
	async #atRest(): Promise<void> {
		const { session } = this.live;
		do {
			await session.settled();
			await setImmediate();
		} while (session.isBusy);
	}

	/** The message joins the turn that runs, and its request is answered with that turn. */
	async #steer(turn: Turn): Promise<PromptResponse> {
		const before = this.#running;
		try {
			const { message, images } = turn.content;
			await this.live.commands.perform("steer", { message, images });
			await before;
			return { stopReason: turn.stopReason(undefined) };
		} catch (error) {
			if (turn.isCancelled) return { stopReason: "cancelled" };
			throw isCommandError(error) ? failed(error.message) : error;
		} finally {
			this.#turns = this.#turns.filter((each) => each !== turn);
		}
	}

	#endTurn(): void {
		const { projection } = this.#parts;
		if (!projection.isMuted) projection.endTurn();
		projection.isInTurn = false;
		if (!this.#isClosed) this.#tellTitle(false);
		this.#parts.voice.chunks.flush();
	}

	// ── Updates outside turns ──────────────────────────────────────────────────────────────────────

	/** After the response that creates the session: what a person can type, and how full the context is. */
	async announce(): Promise<void> {
		try {
			this.#parts.voice.begin();
			await this.announceCommands(true);
			this.#parts.usage.tell(true);
		} catch (error) {
			this.live.assembly.log.error("the session could not be announced", error);
		}
	}

	/** The client takes bytes again. */
	drained(): void {
		this.#parts.voice.chunks.drained();
	}

	/** `always`: also when they have not changed. */
	async announceCommands(always = false): Promise<void> {
		const { templates } = await this.live.assembly.prompting.resources();
		const hints = new Map(templates.map(({ name, argumentHint }) => [name, argumentHint]));
		const listed = (await this.live.slashCommands()).map(({ name, description, source }) => {
			const hint = source === "prompt" ? hints.get(name) : undefined;
			return { name, description: description || name, ...(hint && { input: { hint } }) };
		});
		const names = new Set(listed.map(({ name }) => name));
		const availableCommands = [...listed, ...ownCommands.filter(({ name }) => !names.has(name))];
		const json = JSON.stringify(availableCommands);
		if (!always && json === this.#knownCommands) return;
		this.#knownCommands = json;
		if (!this.#isClosed) this.#parts.tell({ sessionUpdate: "available_commands_update", availableCommands });
	}

	/** All options, and from now on changes are measured against them. */
	currentOptions(): ReturnType<ConfigOptions["all"]> {
		const options = this.options.all();
		this.#knownOptions = JSON.stringify(options);
		return options;
	}

	/** Does what the client asked for; it reads the outcome in the answer. */
	async change(work: () => Promise<unknown>): Promise<ReturnType<ConfigOptions["all"]>> {
		await this.#quietly(work);
		return this.currentOptions();
	}

	/** The same, where the answer does not hold the options. */
	async apply(work: () => Promise<unknown>): Promise<void> {
		await this.#quietly(work);
		this.#tellOptions();
	}

	async #quietly(work: () => Promise<unknown>): Promise<void> {
		this.#changing++;
		try {
			await work();
		} finally {
			this.#changing--;
		}
	}
	#changing = 0;

	/** Nobody is asked about calls from now on. */
	stopAsking(): void {
		this.#parts.approvals.hello();
	}

	#tellOptions(): void {
		if (this.#changing > 0) return;
		const before = this.#knownOptions;
		const configOptions = this.currentOptions();
		if (before !== "" && this.#knownOptions !== before) this.#parts.tell({ sessionUpdate: "config_option_update", configOptions });
	}

	/** The name, else how the first prompt begins. `always`: also when it has been sent before. */
	#tellTitle(always: boolean): void {
		const { transcript } = this.live.session;
		const title = transcript.name ?? this.#title;
		if (title === undefined || (!always && title === this.#toldTitle)) return;
		this.#toldTitle = title;
		this.#parts.tell({ sessionUpdate: "session_info_update", title, updatedAt: new Date().toISOString() });
	}
	#toldTitle: string | undefined;

	#observe(event: AgentEvent): void {
		if (this.#isClosed && !this.isInTurn) return;
		for (const turn of this.#turns) if (turn === this.#turns[0] || turn.isSteering) turn.observe(event);
		this.#parts.projection.observe(event);
		this.#parts.approvals.observe(event);
		if (event.type === "permission_mode_changed") {
			this.#parts.tell({ sessionUpdate: "current_mode_update", currentModeId: event.mode });
			this.#tellOptions();
		} else if (event.type === "mcp_server_update" && event.status === "ready") void this.announceCommands();
		else if (event.type === "session_info_changed") this.#tellTitle(true);
		else if (event.type === "thinking_level_changed") this.#tellOptions();
		else if (event.type === "turn_end") {
			this.#parts.usage.turnEnded(event.message);
			this.#tellOptions();
		} else if (event.type === "message_end" && event.message.role === "assistant") this.#parts.usage.add(event.message.usage.cost.total);
	}

	// ── The stored conversation ─────────────────────────────────────────────────────────────────────

	/** Shows everything that was said. `ready` waits while the client does not read. */
	async replay(ready: () => Promise<void> | undefined): Promise<void> {
		const { voice, projection } = this.#parts;
		voice.begin();
		const { transcript } = this.live.session;
		// What a run shows meanwhile must not come between, so nothing is waited for while there is one.
		await projection.replay(transcript.branch, this.live.session.isBusy ? () => undefined : ready);
	}

	/** What was stored before this process opened the session: its title and its cost. */
	learnPast(): void {
		this.#learnTitle();
		this.#parts.usage.learn();
	}

	#learnTitle(): void {
		const { transcript } = this.live.session;
		const { branch } = transcript;
		for (let index = 0; index < branch.length; index++) {
			if (branch.kind(index) !== "message:user") continue;
			const entry = branch.entry(index);
			const message = entry.type === "message" ? (entry.message as UserMessage) : undefined;
			const [block] = message ? storedPrompt(message.content) : [];
			this.#title = block?.type === "text" ? titleOf(block.text) : undefined;
			break;
		}
		this.#toldTitle = transcript.name ?? this.#title;
	}

	// ── The end ─────────────────────────────────────────────────────────────────────────────────────

	/** Cancels, waits and closes. Nothing of the session is written after it. */
	async close(how: "finish" | "kill" = "finish"): Promise<void> {
		this.cancel();
		this.#isClosed = true;
		if (how === "finish") await this.#running;
		this.#parts.voice.end();
		await this.live.close(how);
		this.#parts.release();
	}

	/** Runs a command at once, in its lane; its answer is not needed. */
	#command<Name extends CommandName>(name: Name, params: CommandParams<Name>): void {
		const nothing = () => undefined;
		const replies = {
			succeed: nothing,
			accept: nothing,
			refuse: nothing,
			fail: (error: unknown) => this.live.assembly.log.error(`${name} failed`, error),
		};
		this.live.commands.receive({ kind: "command", name, lane: "interrupt", id: undefined, params: params as Record<string, unknown> }, replies);
	}
}
