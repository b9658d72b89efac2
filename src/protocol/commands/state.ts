import Type, { type Static, type TSchema } from "typebox";
import { command, flag, integer, jsonObject, list, number, optional, orNull, shape, text } from "../define.ts";
import { samples } from "../examples.ts";
import { optionalIdentity } from "../identity.ts";
import { AgentMessage } from "../messages.ts";
import { Model, ThinkingLevelWord } from "../model.ts";
import { PermissionMode, SandboxState } from "../permissions.ts";
import { SafetyState } from "../sandbox.ts";
import { TodoPhase } from "../todos.ts";
import { InterruptMode, QueueMode } from "./queue.ts";
import { ContextUsage } from "./session.ts";

const omp = <T extends TSchema>(schema: T, description: string) => optional({ ...schema, description: `Dialect \`omp\`: ${description}` });

export const SessionState = shape("SessionState", "What is going on now.", {
	model: {
		...orNull(Model),
		description: "`null` when there is none; then it is absent in dialect `omp`, and in dialect `pi` an object whose provider and id are `unknown`.",
	},
	thinkingLevel: ThinkingLevelWord,
	isStreaming: flag({ description: "True from the acceptance of a prompt until `agent_settled`." }),
	isCompacting: flag(),
	steeringMode: QueueMode,
	followUpMode: QueueMode,
	interruptMode: InterruptMode,
	sessionFile: optional(text({ description: "Absent when nothing is written to disk." })),
	sessionId: text(),
	sessionName: optional(text()),
	autoCompactionEnabled: flag(),
	messageCount: integer(),
	pendingMessageCount: integer({ description: "Queued steering and follow-up messages." }),
	queuedMessageCount: integer({ description: "The same number under its other name." }),
	todoPhases: list(TodoPhase),
	systemPrompt: optional(text({ description: "With `full`, and always in dialect `omp`: what the model would be told now." })),
	dumpTools: optional({
		...list(Type.Object({ name: text(), description: text(), parameters: jsonObject })),
		description: "The same for its tools.",
	}),
	...optionalIdentity,
	permissionMode: optional(PermissionMode),
	pendingPermissions: optional(integer({ description: "Open questions about tool calls." })),
	sandbox: optional(SandboxState),
	safety: optional(SafetyState),
	isSettled: omp(flag(), "nothing runs, and nothing will start automatically."),
	contextUsage: optional(ContextUsage),
	tokensPerSecond: omp(orNull(number()), "speed of the last measured reply."),
	hasPendingAsyncWork: omp(flag(), "always false."),
	queuedMessages: omp(Type.Object({ steering: list(text()), followUp: list(text()) }), "what waits in the queues."),
	fastModeEnabled: omp(flag(), "what `set_fast_mode` said; without effect."),
	fastModeActive: omp(flag(), "always false."),
});
export type SessionState = Static<typeof SessionState>;

export const stateCommands = {
	get_state: command({
		doc: "The state of the session. `full` adds the system prompt and the tools of the model.",
		lane: "serial",
		access: "read",
		params: { full: optional(flag()) },
		result: SessionState,
		example: {
			send: {},
			data: {
				model: samples.model,
				thinkingLevel: "medium",
				isStreaming: false,
				isCompacting: false,
				steeringMode: "one-at-a-time",
				followUpMode: "one-at-a-time",
				interruptMode: "immediate",
				sessionFile: samples.sessionFile,
				sessionId: samples.sessionId,
				autoCompactionEnabled: true,
				messageCount: 2,
				pendingMessageCount: 0,
				queuedMessageCount: 0,
				todoPhases: [],
				version: "0.1.0",
				protocol: 1,
				cwd: samples.cwd,
				capabilities: {},
			},
		},
	}),
	get_messages: command({
		doc: "The current context. After compaction it starts with a summary.",
		lane: "serial",
		access: "read",
		params: {},
		result: Type.Object({ messages: list(AgentMessage) }),
		example: { send: {}, data: { messages: [samples.user, samples.assistant] } },
	}),
	get_last_assistant_text: command({
		doc: "The text of the last reply, `null` when there is none.",
		lane: "serial",
		access: "read",
		params: {},
		result: Type.Object({ text: orNull(text()) }),
		example: { send: {}, data: { text: "A small web shop." } },
	}),
};
