/** What hosts of omp 18 expect: a result for every prompt, protocol versions, long frames in parts, more about the state. */
import { CommandError } from "../../lib/command-error.ts";
import { uuid } from "../../lib/ids.ts";
import type { LiveSession } from "../../live/live-session.ts";
import type { OutboundFrame } from "../../protocol/frames.ts";
import type { AgentMessage } from "../../protocol/messages.ts";
import { chunks, maxFrameBytes, maxReassembledFrameBytes } from "./chunks.ts";
import type { Dialect, Voice } from "./dialect.ts";
import { PromptResults } from "./prompt-results.ts";
import { Subagents } from "./subagents.ts";

const versions = [1, 2];

export function ompDialect({ tell, writer }: Voice): Dialect {
	const results = new PromptResults(tell);
	/** Of what is being said: messages follow one another, and the one that began last is the next to end. */
	let messageId = "";
	const subagents = new Subagents();
	let commandsTold = "";
	/** Reports the available slash commands if they have changed. */
	const tellCommands = async (live: LiveSession) => {
		const commands = await live.slashCommands();
		const text = JSON.stringify(commands);
		if (text !== commandsTold) tell({ type: "available_commands_update", commands });
		commandsTold = text;
	};
	let onSettled: () => void = () => undefined;
	/** Kept for the host; it does not change requests to providers. */
	let fastModeEnabled = false;
	let tokensPerSecond: number | null = null;

	return {
		ready: { protocolVersion: 1, supportedProtocolVersions: versions, maxFrameBytes, maxReassembledFrameBytes },
		updates: "full",
		echoesIds: true,
		awaitsCommands: true,
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
				default:
					return [frame, ...subagents.hear(frame)];
			}
		},
		prompt: (id, answer) => results.follow(id, answer),
		handlers: (table, { session }) => ({
			...subagents.handlers(session),
			negotiate_protocol({ protocolVersion }, call) {
				if (!versions.includes(protocolVersion)) {
					throw new CommandError(`Protocol version ${protocolVersion} is not supported; there are ${versions.join(" and ")}`);
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
			set_host_uri_schemes: ({ schemes }) => ({ schemes }),
			async get_state(params, call) {
				const [state, { contextUsageOf }] = await Promise.all([table.get_state({ ...params, full: true }, call), import("../../session/queries.ts")]);
				const contextUsage = contextUsageOf(session);
				// Hosts of omp take no null for a model.
				const model = state.model ?? (undefined as never);
				const more = { model, fastModeEnabled, fastModeActive: false, tokensPerSecond, hasPendingAsyncWork: false, isSettled: !session.isBusy };
				return { ...state, ...more, ...(contextUsage ? { contextUsage } : {}) };
			},
		}),
		async greet(live) {
			const { activity, doors } = live.session;
			results.isAboutToRun = () => activity.period?.prompt !== undefined;
			doors.put({
				name: "prompt-results",
				foresee({ failure }) {
					results.failure = failure;
					return false;
				},
			});
			onSettled = () => void tellCommands(live);
			await tellCommands(live);
		},
	};
}

/** How fast the last reply came, as far as the provider counted it. */
function speedOf(message: AgentMessage): number | undefined {
	if (message.role !== "assistant" || !message.duration || !message.usage.output) return undefined;
	return Math.round((message.usage.output / message.duration) * 10_000) / 10;
}
