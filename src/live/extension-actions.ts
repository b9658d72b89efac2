/** What extensions can do with the session: the same that a host can, through the same code. */
import type { Hooks, Tool, Ui } from "../agent/contracts.ts";
import { type ExtensionActions, type ExtensionHost, execProgram } from "../extensions/index.ts";
import type { CompactionPolicy } from "../policies/compaction/policy.ts";
import type { SlashCommand } from "../prompting/index.ts";
import type { CommandParams, CommandResult } from "../protocol/commands/index.ts";
import type { UserContent } from "../protocol/content.ts";
import type { CustomMessage } from "../protocol/messages.ts";
import type { EventWriter } from "../rpc/event-writer.ts";
import type { Server } from "../rpc/server.ts";
import type { Queued } from "../session/inbox.ts";
import { contextUsageOf } from "../session/moves.ts";
import type { Session } from "../session/session.ts";
import type { SettingsView } from "../settings/settings.ts";
import type { Call, Handlers } from "./commands/contract.ts";
import type { Models } from "./models.ts";
import type { ToolSelection } from "./tool-selection.ts";
import type { Toolbox } from "./toolbox.ts";

export interface ActionParts {
	session: Session;
	compaction: CompactionPolicy;
	handlers: Pick<Handlers, "new_session" | "fork" | "switch_session">;
	server: Pick<Server, "inTurn">;
	events: Pick<EventWriter, "send">;
	hooks: Hooks;
	ui: Ui;
	/** Somebody may answer dialogs. */
	hasUI: boolean;
	cwd: string;
	toolbox: Toolbox;
	models: Models;
	settings: SettingsView;
	/** Asks whether the session may go on from another entry. */
	beforeTree: ExtensionHost["beforeTree"];
	/** Slash commands that are not of extensions, as far as they have been looked for. */
	slashCommands: () => SlashCommand[];
	hostTools: { readonly tools: readonly Tool[] };
	selection: ToolSelection;
	/** Loads extensions, skills and templates again. */
	reload: () => Promise<void>;
	/** A run has ended, and something may follow by itself. */
	isBetweenRuns: () => boolean;
	/** Ends the program when it is at rest. */
	shutdown: () => void;
	now: () => number;
}

const busyText = "Agent is already processing. Specify deliverAs ('steer' or 'followUp') to queue the message.";

export function extensionActions(parts: ActionParts): ExtensionActions {
	const { session, compaction, handlers, server, events, hooks, toolbox, models, hostTools, selection, now } = parts;
	const { choice } = session;
	/** What is said at the end of a run comes behind everything that follows it by itself. */
	const afterRun = async () => {
		if (session.isBusy && parts.isBetweenRuns()) await session.settled();
	};
	const queue = (deliverAs: "steer" | "followUp", message: Queued) => {
		session.inbox.add(deliverAs === "steer" ? "steering" : "followUp", message);
		session.announceQueues();
	};
	const begin = async (accepted: { begin: () => Promise<string | undefined> }) => {
		const refusal = await accepted.begin();
		if (refusal) throw new Error(refusal);
	};
	const changing = <T>(work: () => T): T => {
		const before = choice.level;
		const result = work();
		if (choice.level !== before) session.emit({ type: "thinking_level_changed", level: choice.level });
		return result;
	};
	/** Runs a command as for the host; nothing is answered, a refusal is thrown. */
	const perform = <Name extends keyof ActionParts["handlers"]>(name: Name, params: CommandParams<Name>): Promise<CommandResult<Name>> =>
		server.inTurn(async () => {
			const afterwards: (() => void)[] = [];
			const call: Call = {
				id: undefined,
				afterResponse: (then) => void afterwards.push(then),
				goOn: (begin) => void afterwards.push(() => void begin()),
				isAborted: () => false,
				inSerialLane: (work) => work(),
			};
			const result = await handlers[name](params, call);
			for (const then of afterwards) then();
			return result;
		});
	const infoOf = ({ name, description, parameters }: Tool) => ({ name, description, parameters });

	return {
		ui: parts.ui,
		hasUI: parts.hasUI,
		cwd: parts.cwd,
		async sendMessage(given, { deliverAs, triggerTurn }) {
			const message: CustomMessage = { role: "custom", ...given, timestamp: now() };
			if (deliverAs === "nextTurn") return void session.inbox.asides.push(message);
			if (deliverAs === undefined) await afterRun();
			// Behind a compaction nobody looks into the queues.
			while (session.aloneUntil && !triggerTurn) await session.aloneUntil;
			if (session.isBusy && !session.aloneUntil) return queue(deliverAs ?? "steer", message);
			if (!triggerTurn) return session.say(message);
			return begin(session.accept({ messages: [message] }, deliverAs ?? "steer"));
		},
		async sendUserMessage(content, { deliverAs }) {
			const said = { messages: [{ ...session.userMessage("", []), content: blocksOf(content) }], source: "extension" as const };
			if (deliverAs === undefined) await afterRun();
			if (session.isBusy && !session.aloneUntil && deliverAs === undefined) throw new Error(busyText);
			return begin(session.accept(said, deliverAs));
		},
		sendFailed: (command, error) => events.send({ type: "response", command, success: false, error }),
		appendEntry: (customType, data) => void session.append({ type: "custom", customType, ...(data === undefined ? {} : { data }) }),
		setLabel(targetId, label) {
			if (!session.transcript.find(targetId)) throw new Error(`Entry not found: ${targetId}`);
			session.append({ type: "label", targetId, ...(label === undefined ? {} : { label }) });
		},
		getSessionName: () => session.transcript.name,
		setSessionName(name) {
			session.rename(name);
			session.emit({ type: "session_info_changed", name: session.transcript.name });
		},
		get model() {
			return choice.model;
		},
		async setModel(wanted) {
			const model = await models.find(wanted.provider, wanted.id);
			if (!model || (await models.problem(model))) return false;
			const previousModel = choice.model;
			changing(() => choice.take({ model }));
			hooks.tell?.({ type: "model_select", model, previousModel, source: "set" });
			return true;
		},
		models,
		getThinkingLevel: () => choice.level,
		setThinkingLevel: (level) => changing(() => choice.setLevel(level)),
		getActiveTools: () => selection.active(hostTools.tools).map(({ name }) => name),
		setActiveTools: (names) => selection.choose(names, hostTools.tools),
		getAllTools: () => selection.all(hostTools.tools).map(infoOf),
		getCommands: parts.slashCommands,
		abort: () => void session.abort(),
		isIdle: () => !session.isBusy,
		hasPendingMessages: () => session.inbox.count > 0,
		waitForIdle: () => session.settled(),
		newSession: (options) => perform("new_session", options),
		fork: (entryId) => perform("fork", { entryId }),
		switchSession: (sessionPath) => perform("switch_session", { sessionPath }),
		navigateTree: async (targetId, options) => (await import("./navigate-tree.ts")).navigateTree(parts, targetId, options),
		reload: parts.reload,
		compact: (instructions) => session.compact((signal) => compaction.compact(instructions?.trim() || undefined, signal)),
		contextUsage: () => contextUsageOf(session),
		systemPrompt: () => session.systemPrompt,
		sessionView: () => session.transcript,
		shutdown: parts.shutdown,
		exec: async (file, args, options) => execProgram(await toolbox.shell(), file, args, options),
	};
}

function blocksOf(content: string | UserContent): UserContent {
	return typeof content === "string" ? [{ type: "text", text: content }] : content;
}
