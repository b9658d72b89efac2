/** The client: an agent as an object. It talks through a channel and does not know which kind. */
import type { AgentEvent, CommandName, CommandResult } from "../protocol/types.generated.ts";
import type { Exit, OpenChannel } from "./channel.ts";
import { Connection } from "./connection.ts";
import { type CustomTool, definitionOf } from "./custom-tools.ts";
import type { DialogHandler } from "./dialogs.ts";
import type { GateHandler } from "./gates.ts";
import { Listeners, type ListenerTypes } from "./listeners.ts";
import { type CommandArguments, type CommandMethods, commandMethods, takesItsTime } from "./methods.ts";
import type { PermissionHandler } from "./permissions.ts";
import type { RequestOptions } from "./requests.ts";
import { type PromptOptions, type PromptOutcome, promptAndWait, type WaitOptions, waitForIdle } from "./runs.ts";
import type { FromSchema, JsonSchema } from "./schema-types.ts";

export interface ConversationOptions {
	/** How long the agent may take until it is ready; 0 waits as long as it takes. Default: 30000. */
	startTimeoutMs?: number;
	/** How long a command may go unanswered; 0 waits as long as it takes. Commands that take their time, such as `bash`, `compact` and `abort`, have no limit. Default: 30000. */
	requestTimeoutMs?: number;
	/** Answers questions about tool calls. With it the agent is greeted with `hello`, so that it asks. */
	onPermission?: PermissionHandler;
	/** Answers `gate_request`, which an agent with `--gate host` sends before each step. */
	onGate?: GateHandler;
	/**
	 * Receives the errors that listeners and handlers throw. Default: those of listeners are thrown uncaught; those of handlers, whose failure the
	 * agent learns as an answer (a denial, a cancelled dialog), are warnings of the process (`HandlerError`), which Node prints to stderr.
	 */
	onError?: (error: unknown) => void;
}

/** Whether to wait for `ready`, for `ready` or the first answer, or not at all. */
export type Readiness = "ready" | "answer" | "none";

const defaultTimeoutMs = 30_000;

/** The members of a client in addition to a method for every command. */
export class Conversation {
	#open: OpenChannel;
	#readiness: Readiness;
	#options: ConversationOptions;
	#listeners: Listeners;
	#tools = new Map<string, CustomTool>();
	#settingTools: Promise<unknown> = Promise.resolve();
	#dialogHandler: DialogHandler | undefined;
	#permissionHandler: PermissionHandler | undefined;
	#connection: Connection;
	#requests = 0;
	#restarting: Promise<void> | undefined;
	/** The session file of the last run. */
	#lastSession: string | undefined;

	constructor(open: OpenChannel, readiness: Readiness, options: ConversationOptions) {
		this.#open = open;
		this.#readiness = readiness;
		this.#options = options;
		this.#permissionHandler = options.onPermission;
		this.#listeners = new Listeners(this.#report);
		this.#connection = this.#connect();
		this.on("agent_end", ({ sessionFile }) => {
			this.#lastSession = sessionFile;
		});
	}

	/** Resolves when the agent has ended. After `restart`, that of the new one. */
	get exited(): Promise<Exit> {
		return this.#connection.exited;
	}

	/** The last lines that the agent wrote to stderr. */
	get stderr(): string {
		return this.#connection.stderr;
	}

	/** Sends a command and returns the data of its answer. Rejects with a `RequestError`, a `TimeoutError` or an `ExitError`. */
	request<Name extends CommandName>(command: Name, ...args: CommandArguments<Name>): Promise<CommandResult<Name>>;
	/** A command that is not in the table, for agents that have others. */
	request(command: string, params?: object, options?: RequestOptions): Promise<unknown>;
	async request(command: string, params?: object, { timeoutMs, signal }: RequestOptions = {}): Promise<unknown> {
		const { requestTimeoutMs = defaultTimeoutMs } = this.#options;
		const limit = timeoutMs ?? (takesItsTime(command) ? 0 : requestTimeoutMs);
		return this.#connection.ask(command, params, { timeoutMs: limit, signal }).answer;
	}

	/** Listens until the returned function is called. */
	on<Name extends keyof ListenerTypes>(name: Name, listener: (value: ListenerTypes[Name]) => void): () => void {
		return this.#listeners.on(name, listener);
	}

	/** The events from now on. Ends when the agent does; leaving the loop stops listening. */
	events(): AsyncIterableIterator<AgentEvent> {
		return this.#listeners.events();
	}

	/** Prompts, and resolves when the agent is idle again. Rejects when the prompt is refused, even after it was accepted. */
	promptAndWait<const Schema extends JsonSchema>(
		message: string,
		options: PromptOptions & { schema: Schema },
	): Promise<PromptOutcome<FromSchema<Schema>>>;
	promptAndWait<Output>(message: string, options: PromptOptions & { schema: JsonSchema }): Promise<PromptOutcome<Output>>;
	promptAndWait(message: string, options?: PromptOptions): Promise<PromptOutcome>;
	promptAndWait(message: string, options: PromptOptions = {}): Promise<PromptOutcome> {
		return promptAndWait(this.#connection, message, options, this.#options.requestTimeoutMs ?? defaultTimeoutMs);
	}

	/** Resolves when nothing is going on and nothing will follow automatically. */
	waitForIdle(options: WaitOptions = {}): Promise<void> {
		return waitForIdle(this.#connection, options);
	}

	/** Replaces the tools that live in the host; returns their names. On failure the old ones stay. */
	setCustomTools(tools: readonly CustomTool[]): Promise<string[]>;
	/** The same for tools whose arguments have types of their own. */
	setCustomTools(tools: readonly CustomTool<never>[]): Promise<string[]>;
	setCustomTools(tools: readonly (CustomTool | CustomTool<never>)[]): Promise<string[]> {
		// The schema of a tool says which arguments it gets.
		const set = this.#settingTools.then(() => this.#setTools(tools as readonly CustomTool[]));
		// The caller gets the failure from `set`; the next call only waits for the end of this one.
		this.#settingTools = set.catch(() => undefined);
		return set;
	}

	/** Sets the handler for dialogs of extensions; `undefined` cancels them. */
	onDialog(handler: DialogHandler | undefined): void {
		this.#dialogHandler = handler;
		this.#connection.askMissed();
	}

	/** Sets the handler for questions about tool calls, and says so to the agent with `hello`; `undefined` withdraws it. */
	async onPermission(handler: PermissionHandler | undefined): Promise<void> {
		this.#permissionHandler = handler;
		await this.#greet();
		this.#connection.askMissed();
	}

	/** Ends the agent: closes its stdin, then SIGTERM, then SIGKILL. Resolves when it is gone. */
	async close(): Promise<Exit> {
		// An agent that is being started must not be left running. A failure of the start goes to the caller of `restart`.
		await this.#restarting?.catch(() => undefined);
		await this.#connection.close();
		return this.exited;
	}

	/**
	 * Ends the agent and starts it again. Listeners, the dialog handler and custom tools stay. The session is a new one; with `resume` the agent
	 * goes on with the session it had, also after it died in the middle of it. Rejects when that session has no file.
	 */
	restart({ resume = false }: { resume?: boolean } = {}): Promise<void> {
		this.#restarting ??= this.#restart(resume).finally(() => {
			this.#restarting = undefined;
		});
		return this.#restarting;
	}

	async #greet(): Promise<void> {
		await this.request("hello", { capabilities: this.#permissionHandler ? { permissions: 1 } : {} });
	}

	/** Resolves when the agent is ready. One that is not is ended. */
	async start(): Promise<void> {
		try {
			if (this.#readiness !== "none") await this.#whenReady();
			// A host that wants to be asked must know when it cannot be.
			if (this.#permissionHandler) await this.#greet();
		} catch (error) {
			await this.#connection.close();
			throw error;
		}
	}

	#whenReady(): Promise<void> {
		return this.#connection.whenReady(this.#options.startTimeoutMs ?? defaultTimeoutMs, this.#readiness === "answer");
	}

	async #restart(resume: boolean): Promise<void> {
		const sessionPath = resume ? await this.#findSession() : undefined;
		await this.#connection.close();
		this.#connection = this.#connect();
		await this.start();
		if (this.#tools.size) await this.setCustomTools([...this.#tools.values()]);
		if (sessionPath !== undefined) await this.request("switch_session", { sessionPath });
	}

	/** The file of the session: asked of the agent, or from its last run when it is gone. */
	async #findSession(): Promise<string> {
		// An agent that is gone does not answer; its last run named the file.
		const state = await this.request("get_state").catch(() => undefined);
		const file = state ? state.sessionFile : this.#lastSession;
		if (file === undefined)
			throw new Error("There is no session file to go on with: nothing was stored, or the agent ended before its first run did.");
		return file;
	}

	#connect(): Connection {
		return new Connection({
			open: this.#open,
			listeners: this.#listeners,
			newId: () => `req_${++this.#requests}`,
			tool: (name) => this.#tools.get(name),
			dialogHandler: () => this.#dialogHandler,
			permissionHandler: () => this.#permissionHandler,
			gateHandler: () => this.#options.onGate,
			report: this.#reportHandler,
		});
	}

	async #setTools(tools: readonly CustomTool[]): Promise<string[]> {
		const before = this.#tools;
		// The model may call as soon as the agent knows them, which is before we receive its answer.
		this.#tools = new Map([...before, ...byName(tools)]);
		try {
			const { toolNames } = await this.request("set_host_tools", { tools: tools.map(definitionOf) as never });
			this.#tools = byName(tools);
			return toolNames;
		} catch (error) {
			this.#tools = before;
			throw error;
		}
	}

	#report = (error: unknown): void => {
		const { onError } = this.#options;
		if (onError) onError(error);
		else
			queueMicrotask(() => {
				throw error;
			});
	};

	/** A handler that fails has answered all the same, so the program goes on. */
	#reportHandler = (error: unknown): void => {
		const { onError } = this.#options;
		if (onError) this.#report(error);
		else process.emitWarning("A handler of the host failed", { type: "HandlerError", detail: error instanceof Error ? error.stack : String(error) });
	};
}

/** An agent as an object: a method for every command, and the other members that a conversation needs. */
export type Client = Omit<Conversation, "start"> & CommandMethods;

/** Resolves when the agent is ready. */
export async function converse(open: OpenChannel, readiness: Readiness, options: ConversationOptions): Promise<Client> {
	const conversation = new Conversation(open, readiness, options);
	await conversation.start();
	return Object.assign(
		conversation,
		commandMethods((command, params, options) => conversation.request(command, params, options)),
	);
}

function byName(tools: readonly CustomTool[]): Map<string, CustomTool> {
	return new Map(tools.map((tool) => [tool.name.trim(), tool]));
}
