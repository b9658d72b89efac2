/** What hosts of omp 18 expect: a result for every prompt, protocol versions, long frames in parts, built-in slash commands, more about the state. */

import { uuid } from "../../lib/ids.ts";
import type { Call, Handlers } from "../../live/commands/contract.ts";
import type { LiveSession } from "../../live/live-session.ts";
import { ownCommandIn, ownCommands, runOwnCommand } from "../../live/own-commands.ts";
import { CommandError } from "../../protocol/command-error.ts";
import type { CommandName, CommandParams, CommandResult } from "../../protocol/commands/index.ts";
import type { OutboundFrame } from "../../protocol/frames.ts";
import type { AgentMessage } from "../../protocol/messages.ts";
import { chunks, maxFrameBytes, maxReassembledFrameBytes } from "./chunks.ts";
import type { Dialect, Voice } from "./dialect.ts";
import { withKnownCode } from "./known-codes.ts";
import { PromptResults } from "./prompt-results.ts";
import { Subagents } from "./subagents.ts";

const versions = [1, 2];

export function ompDialect({ tell, writer }: Voice): Dialect {
	const results = new PromptResults(tell);
	/** Of what is being said: messages follow one another, and the one that began last is the next to end. */
	let messageId = "";
	const subagents = new Subagents(tell);
	let commandsTold = "";
	/** Reports the available slash commands if they have changed. */
	const tellCommands = async (live: LiveSession) => {
		const commands = await commandsOf(live);
		const text = JSON.stringify(commands);
		if (text !== commandsTold) tell({ type: "available_commands_update", commands });
		commandsTold = text;
	};
	let onSettled: () => void = () => undefined;
	/** Absent until the host has been greeted, and where the session is elsewhere. */
	let session: LiveSession["session"] | undefined;
	let isConfigDue = false;
	/** Reports model and level once, after the events that changed them. */
	const tellConfig = () => {
		if (!session || isConfigDue) return;
		const { choice } = session;
		isConfigDue = true;
		queueMicrotask(() => {
			isConfigDue = false;
			tell({ type: "config_update", ...(choice.model && { model: choice.model }), thinkingLevel: choice.level });
		});
	};
	/** Kept for the host; it does not change requests to providers. */
	let fastModeEnabled = false;
	let tokensPerSecond: number | null = null;

	return {
		ready: { protocolVersion: 1, supportedProtocolVersions: versions, maxFrameBytes, maxReassembledFrameBytes },
		updates: "full",
		echoesIds: true,
		awaitsCommands: true,
		opensUrls: true,
		withdrawsLateDialogs: true,
		subagents,
		frames(frame): OutboundFrame[] {
			results.hear(frame);
			switch (frame.type) {
				case "message_start":
					messageId = uuid(Date.now());
					return [{ ...frame, messageId }];
				case "message_update":
					return [{ ...frame, messageId }];
				case "message_end":
					tokensPerSecond = speedOf(frame.message) ?? tokensPerSecond;
					return [{ ...frame, messageId }];
				case "agent_end":
					return [{ ...frame, isTerminal: !frame.willRetry, yielded: !frame.willRetry }];
				case "compaction_start":
				case "compaction_end":
					// Hosts of omp know automatic compactions only.
					return [];
				case "agent_settled":
					onSettled();
					return [frame, ...results.settled(frame.aborted), { type: "session_settled" }];
				case "thinking_level_changed":
					tellConfig();
					return [{ ...frame, thinkingLevel: frame.level }];
				case "session_info_changed": {
					const title = frame.name ? { title: frame.name } : {};
					return [frame, ...(session ? [{ type: "session_info_update" as const, ...title, sessionId: session.transcript.sessionId }] : [])];
				}
				case "response":
				case "run_result":
					return [withKnownCode(frame)];
				default:
					return [frame, ...subagents.hear(frame)];
			}
		},
		prompt: (id, answer) => results.follow(id, answer),
		handlers: (table, live) => ({
			...subagents.handlers(live.session),
			prompt: (params, call) => runHere(params, { table, live, call, tell }) ?? table.prompt(params, call),
			get_available_commands: async () => ({ commands: await commandsOf(live) }),
			negotiate_protocol({ protocolVersion }, call) {
				if (!versions.includes(protocolVersion)) {
					throw new CommandError("unsupported", `Protocol version ${protocolVersion} is not supported; there are ${versions.join(" and ")}`);
				}
				call.afterResponse(() => {
					writer.split = protocolVersion === 1 ? undefined : chunks;
				});
				return { protocolVersion };
			},
			set_fast_mode({ enabled }) {
				fastModeEnabled = enabled;
				return { enabled, active: false };
			},
			set_host_uri_schemes({ schemes }) {
				const bad = schemes.findIndex((each: unknown) => typeof each !== "object" || each === null);
				if (bad >= 0) throw new CommandError("bad_field", `set_host_uri_schemes: schemes[${bad}] must be object`);
				return { schemes: schemes.map(({ scheme }) => String(scheme).trim().toLowerCase()) };
			},
			async get_state(params, call) {
				const [state, { contextUsageOf }] = await Promise.all([table.get_state({ ...params, full: true }, call), import("../../session/queries.ts")]);
				const contextUsage = contextUsageOf(live.session);
				// Hosts of omp take no null for a model.
				const model = state.model ?? (undefined as never);
				const isSettled = !live.session.isBusy;
				const queuedMessages = live.session.inbox.texts;
				const more = { model, queuedMessages, fastModeEnabled, fastModeActive: false, tokensPerSecond, hasPendingAsyncWork: false, isSettled };
				return { ...state, ...more, ...(contextUsage ? { contextUsage } : {}) };
			},
		}),
		async greet(live) {
			session = live.session;
			const { activity, doors } = session;
			results.isAboutToRun = () => activity.period?.prompt !== undefined;
			doors.put({
				name: "dialect",
				foresee({ failure }) {
					results.failure = failure;
					return false;
				},
				notice(fact) {
					if (fact.type !== "model_select") return;
					tell({ type: "model_changed" });
					tellConfig();
				},
			});
			onSettled = () => void tellCommands(live);
			await tellCommands(live);
		},
	};
}

/** The slash commands of the session, and those that are built in and not replaced. */
async function commandsOf(live: LiveSession): Promise<CommandResult<"get_available_commands">["commands"]> {
	const commands = await live.slashCommands();
	const names = new Set(commands.map(({ name }) => name));
	return [...commands, ...ownCommands.filter(({ name }) => !names.has(name)).map((own) => ({ ...own, source: "builtin" as const }))];
}

interface RunParts {
	table: Handlers;
	live: LiveSession;
	call: Call;
	tell: Voice["tell"];
}

/** Runs the built-in slash command that a prompt names; undefined if it names none. The host reads its answer before the acknowledgement. */
function runHere(params: CommandParams<"prompt">, { table, live, call, tell }: RunParts): Promise<CommandResult<"prompt">> | undefined {
	const own = ownCommandIn(params.message);
	if (!own) return undefined;
	// Takes the place of the prompt among the commands, which continues when this has ended.
	const perform = async <Name extends CommandName>(name: Name, params: CommandParams<Name>): Promise<CommandResult<Name>> =>
		table[name](params as never, call) as CommandResult<Name>;
	return (async () => {
		if ((await live.slashCommands()).some(({ name }) => name === own.name)) return table.prompt(params, call);
		tell({ type: "command_output", text: await runOwnCommand(perform, own) });
		return { disposition: "handled", agentInvoked: false };
	})();
}

/** How fast the last reply came, as far as the provider counted it. */
function speedOf(message: AgentMessage): number | undefined {
	if (message.role !== "assistant" || !message.duration || !message.usage.output) return undefined;
	return Math.round((message.usage.output / message.duration) * 10_000) / 10;
}
