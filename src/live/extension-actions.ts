/** What extensions can do with the session: the same that a host can, through the same commands. */

import type { Tool } from "../agent/tool.ts";
import { type ExtensionActions, execProgram } from "../extensions/index.ts";
import type { SlashCommand } from "../prompting/index.ts";
import { CommandError } from "../protocol/command-error.ts";
import type { UserContent } from "../protocol/content.ts";
import type { CustomMessage } from "../protocol/messages.ts";
import { type SettingName, settings } from "../protocol/settings.ts";
import type { AcceptedPrompt } from "../session/accepted-prompt.ts";
import { compactWhenReady } from "../session/compact-when-ready.ts";
import type { Queued } from "../session/inbox.ts";
import { contextUsageOf } from "../session/queries.ts";
import { asWritten, type SettingsView } from "../settings/settings.ts";
import type { Assembly } from "./assemble.ts";
import type { Dispatch } from "./dispatch.ts";
import type { ExtensionModels } from "./extension-models.ts";
import type { Front } from "./front.ts";
import type { Workspace } from "./workspace.ts";

export interface ActionParts {
	commands: Pick<Dispatch, "perform">;
	assembly: Pick<Assembly, "session" | "compaction" | "models" | "sources" | "shells">;
	/** The models as extensions see them. */
	known: ExtensionModels;
	workspace: Pick<Workspace, "cwd" | "settings" | "options">;
	front: Pick<Front, "ui" | "hasUI" | "sendFailed" | "shutdown">;
	/** Messages that go with the next prompt. */
	prefaces: CustomMessage[];
	/** Slash commands that are not of extensions, as far as they have been looked for. */
	slashCommands: () => SlashCommand[];
	/** A run has ended, and another may follow automatically. */
	isBetweenRuns: () => boolean;
	/** Loads extensions, skills and templates again. */
	reload: () => Promise<void>;
}

const busyText = "Agent is already processing. Specify deliverAs ('steer' or 'followUp') to queue the message.";

export function extensionActions(parts: ActionParts): ExtensionActions {
	const { commands, front, workspace, prefaces } = parts;
	const { session, compaction, models, sources, shells } = parts.assembly;
	const { choice, activity, conversation, inbox, doors } = session;
	/** A message that is sent at the end of a run comes after everything that follows the run automatically. */
	const afterRun = async () => {
		if (session.isBusy && parts.isBetweenRuns()) await session.settled();
	};
	const queue = (deliverAs: "steer" | "followUp", message: Queued) => {
		inbox.add(deliverAs === "steer" ? "steering" : "followUp", message);
		session.announceQueues();
	};
	const begin = async (prompt: AcceptedPrompt) => {
		const refusal = await prompt.acknowledge();
		if (refusal) throw new CommandError(refusal.code, refusal.text);
	};
	const changing = <T>(work: () => T): T => {
		const before = choice.level;
		const result = work();
		if (choice.level !== before) session.emit({ type: "thinking_level_changed", level: choice.level });
		return result;
	};
	const infoOf = ({ name, description, parameters }: Tool) => ({ name, description, parameters });

	return {
		ui: front.ui,
		hasUI: front.hasUI,
		cwd: workspace.cwd,
		async sendMessage(given, { deliverAs, triggerTurn }) {
			const message: CustomMessage = { role: "custom", ...given, timestamp: session.edges.now() };
			if (deliverAs === "nextTurn") return void prefaces.push(message);
			if (deliverAs === undefined) await afterRun();
			// After exclusive work nothing looks into the queues.
			while (activity.exclusiveUntil && !triggerTurn) await activity.exclusiveUntil;
			if (session.isBusy && !activity.exclusiveUntil) return queue(deliverAs ?? "steer", message);
			if (!triggerTurn) return session.say(message);
			return begin(session.accept({ messages: [message] }, deliverAs ?? "steer"));
		},
		async sendUserMessage(content, { deliverAs }) {
			const incoming = { messages: [{ ...session.userMessage("", []), content: blocksOf(content) }], source: "extension" as const };
			if (deliverAs === undefined) await afterRun();
			if (session.isBusy && !activity.exclusiveUntil && deliverAs === undefined) throw new CommandError("busy", busyText);
			return begin(session.accept(incoming, deliverAs));
		},
		sendFailed: front.sendFailed,
		appendEntry: (customType, data) => void conversation.append({ type: "custom", customType, ...(data === undefined ? {} : { data }) }),
		setLabel(targetId, label) {
			if (!session.transcript.find(targetId)) throw new Error(`Entry not found: ${targetId}`);
			conversation.append({ type: "label", targetId, ...(label === undefined ? {} : { label }) });
		},
		getSessionName: () => session.transcript.name,
		setSessionName(name) {
			session.rename(name);
			session.emit({ type: "session_info_changed", name: session.transcript.name ?? "" });
		},
		get model() {
			return choice.model;
		},
		async setModel(wanted) {
			const model = await models.find(wanted.provider, wanted.id);
			if (!model || (await models.problem(model))) return false;
			const previousModel = choice.model;
			changing(() => choice.take({ model }));
			doors.notice({ type: "model_select", model, previousModel, source: "set" });
			return true;
		},
		models: parts.known,
		settings: () => nestedSettings(workspace.settings),
		isProjectTrusted: () => workspace.settings.isTrusted,
		mode: front.hasUI ? "rpc" : workspace.options.mode === "json" ? "json" : "print",
		getThinkingLevel: () => choice.level,
		setThinkingLevel: (level) => changing(() => choice.setLevel(level)),
		getActiveTools: () => sources.active().map(({ name }) => name),
		setActiveTools: (names) => sources.choose(names),
		getAllTools: () => sources.all().map(infoOf),
		getCommands: parts.slashCommands,
		abort: () => void session.abort(),
		isIdle: () => !session.isBusy,
		hasPendingMessages: () => inbox.count > 0,
		waitForIdle: () => session.settled(),
		newSession: (options) => commands.perform("new_session", options),
		fork: (entryId) => commands.perform("fork", { entryId }),
		switchSession: (sessionPath) => commands.perform("switch_session", { sessionPath }),
		navigateTree: async (targetId, options) => (await import("./navigate-tree.ts")).navigateTree(parts, targetId, options),
		reload: parts.reload,
		compact: (instructions) => compactWhenReady(session, (signal) => compaction.compactNow(instructions?.trim() || undefined, signal)),
		contextUsage: () => contextUsageOf(session),
		systemPrompt: () => session.briefing.systemPrompt,
		sessionView: () => session.transcript,
		shutdown: front.shutdown,
		exec: async (file, args, options) => execProgram(await shells.hostShell(), file, args, options),
	};
}

/** As a settings file may hold them. A name that goes on behind the name of another setting keeps its rest in one piece. */
function nestedSettings(view: Pick<SettingsView, "get">): Record<string, unknown> {
	const nested: Record<string, unknown> = {};
	for (const name of Object.keys(settings) as SettingName[]) {
		const parts = name.split(".");
		let place = nested;
		let depth = 0;
		while (depth < parts.length - 1 && !Object.hasOwn(settings, parts.slice(0, depth + 1).join("."))) {
			const part = parts[depth++] as string;
			place[part] ??= {};
			place = place[part] as Record<string, unknown>;
		}
		place[parts.slice(depth).join(".")] = structuredClone(asWritten(view, name));
	}
	return nested;
}

function blocksOf(content: string | UserContent): UserContent {
	return typeof content === "string" ? [{ type: "text", text: content }] : content;
}
