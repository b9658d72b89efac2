/** A session in memory, made of the real parts with a model that a test scripts. No process, no file, no clock. */
import { Doors } from "../../src/agent/doors.ts";
import type { SessionModels } from "../../src/agent/models.ts";
import type { Policy } from "../../src/agent/policy.ts";
import type { StreamFunction } from "../../src/agent/stream.ts";
import type { Tool } from "../../src/agent/tool.ts";
import type { Log } from "../../src/lib/log.ts";
import { scriptedModel } from "../../src/models/scripted/model.ts";
import type { AgentEvent } from "../../src/protocol/events.ts";
import type { Model } from "../../src/protocol/model.ts";
import { Briefing } from "../../src/session/briefing.ts";
import { Bus } from "../../src/session/bus.ts";
import { Conversation } from "../../src/session/conversation.ts";
import type { Controls, Edges } from "../../src/session/dependencies.ts";
import { Inbox } from "../../src/session/inbox.ts";
import { ModelChoice } from "../../src/session/model-choice.ts";
// Loaded lazily by the session; here in advance, so that a run takes ticks and nothing else.
import "../../src/agent/validate.ts";
import "../../src/session/run.ts";
import { Requests } from "../../src/session/requests.ts";
import { Session } from "../../src/session/session.ts";
import { TodoList } from "../../src/session/todo-list.ts";
import { WriteAhead } from "../../src/session/write-ahead.ts";
import { FileSessionStore } from "../../src/transcript/file-store.ts";

export const tick = () => new Promise<void>((resolve) => setImmediate(resolve));

export const ticks = async (count: number, signal?: AbortSignal) => {
	for (let n = 0; n < count && !signal?.aborted; n++) await tick();
};

/** A log that keeps what it is given. */
export function keptLog(): Log & { lines: string[]; debugLines: string[] } {
	const lines: string[] = [];
	const debugLines: string[] = [];
	return { lines, debugLines, error: (text) => void lines.push(text), debug: (text, cause) => void debugLines.push(`${text}: ${cause}`) };
}

export interface KernelInput {
	stream: StreamFunction;
	model?: Model;
	tools?: readonly Tool[];
	/** Made once the parts they need are there. */
	policies?: (parts: KernelParts) => Policy[];
	expand?: (text: string) => Promise<string>;
	controls?: Partial<Controls>;
	/** Whether the model can be asked. */
	prepare?: SessionModels["prepare"];
}

export interface KernelParts {
	conversation: Conversation;
	briefing: Briefing;
	inbox: Inbox;
	doors: Doors;
	controls: Controls;
	edges: Edges;
}

export interface Kernel extends KernelParts {
	session: Session;
	events: AgentEvent[];
	log: ReturnType<typeof keptLog>;
	/** The types of the events so far. */
	types: () => string[];
}

export function kernel({
	stream,
	model = scriptedModel("x"),
	tools = [],
	policies = () => [],
	expand = async (text) => text,
	controls = {},
	prepare = async (given) => ({ model: given }),
}: KernelInput): Kernel {
	let id = 0;
	const newId = () => String(++id);
	const now = () => 0;
	const redact = (text: string) => text;
	const log = keptLog();
	const bus = new Bus(log);
	const edges: Edges = { bus, flow: { isOpen: true, whenOpen: async () => undefined }, redact, warn: () => undefined, log, now };
	const store = new FileSessionStore({ cwd: "/", directory: undefined, redact, now, newId, newSessionId: newId });
	const conversation = new Conversation(store.create(), now);
	const catalogue = {
		available: async () => [],
		find: async () => undefined,
		findListed: async () => undefined,
		guess: async () => "",
		findStored: async () => undefined,
		problem: async () => undefined,
	};
	const choice = new ModelChoice({
		catalogue,
		levels: () => ["off"],
		clamp: () => "off",
		scope: async () => undefined,
		level: "off",
		record: (entry) => void conversation.append(entry),
	});
	choice.use({ model });
	const models = { stream, prepare, noModelText: "No model selected." };
	const briefing = new Briefing({
		models,
		choice,
		tools: async () => tools,
		systemPrompt: async () => "",
		idleAnswer: async () => undefined,
		emit: bus.emit,
	});
	const inbox = new Inbox("one-at-a-time", "one-at-a-time", (left) => bus.emit({ type: "queue_update", ...left }));
	const writeAhead = new WriteAhead(conversation, inbox, bus.emit, log);
	const todos = new TodoList({ clearDelay: () => -1, onAutoClear: () => undefined });
	const doors = new Doors();
	const all: Controls = { interruptMode: "immediate", autoCompaction: true, autoRetry: true, ...controls };
	const parts: KernelParts = { conversation, briefing, inbox, doors, controls: all, edges };
	doors.set([writeAhead.policy, ...policies(parts)]);
	const session = new Session({ ...parts, store, requests: new Requests(conversation, now, "short"), writeAhead, todos, expand });
	const events: AgentEvent[] = [];
	bus.observe((event) => void events.push(event));
	return { ...parts, session, events, log, types: () => events.map(({ type }) => type) };
}
