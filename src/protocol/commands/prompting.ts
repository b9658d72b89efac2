import Type from "typebox";
import { ImageInput } from "../content.ts";
import { ack, command, flag, list, optional, orNothing, shape, text, words } from "../define.ts";

const message = text();
const images = optional(list(ImageInput));

const outputSchema = optional(
	Type.Record(text(), Type.Unknown(), {
		description:
			"JSON Schema (draft 7 or 2020-12, at most 64 KB) of a value to answer with. It comes in `output` of the last `agent_end`; `outputError` says why there is none. Such a prompt cannot be queued.",
	}),
);

export const Disposition = shape(
	"Disposition",
	"What became of a message: a run starts, it waits in a queue, or an extension took it (`handled`). What an extension takes has no `agent_settled` unless a run follows, and may still ask with dialogs after the answer.",
	{
		disposition: words("started", "queued", "handled"),
		runId: optional(text({ description: "With `--seq`, of a prompt that starts a run." })),
		duplicate: optional(flag({ description: "The command was accepted before, under the same `key`; nothing was done again." })),
		agentInvoked: optional(flag({ description: "Dialect `omp`, of `prompt`: absent for a command of an extension, whose `prompt_result` says it." })),
	},
);

export const promptingCommands = {
	prompt: command({
		doc: "Ask the agent. Answered at once: accepted for scheduling, not finished; the end is `agent_settled`. While busy, `streamingBehavior` says how to queue it; without it the answer is a failure.",
		lane: "serial",
		access: "seat",
		params: { message, images, streamingBehavior: optional(words("steer", "followUp")), outputSchema },
		result: orNothing(Disposition),
		example: { send: { message: "What is this?" }, data: { disposition: "started" } },
	}),
	steer: command({
		doc: "Queue a message that reaches the model at the next opportunity, in the middle of its work. When idle it waits for the next run.",
		lane: "serial",
		access: "interject",
		params: { message, images },
		result: Disposition,
		example: { send: { message: "Leave the database alone." }, data: { disposition: "queued" } },
	}),
	follow_up: command({
		doc: "Queue a message for when the agent would otherwise stop.",
		lane: "serial",
		access: "interject",
		params: { message, images },
		result: Disposition,
		example: { send: { message: "Then run the tests." }, data: { disposition: "queued" } },
	}),
	abort: command({
		doc: "Stop the run, a retry wait or a compaction. Queues stay. Open host tool calls get `host_tool_cancel`, the reply ends with `stopReason` `aborted`, and after `agent_settled` comes the answer. Idle: answered at once.",
		lane: "interrupt",
		access: "interject",
		params: {},
		result: ack,
		example: { send: {} },
	}),
	abort_and_prompt: command({
		doc: "Abort, wait for idle, then prompt. Answered between the old run's last event and the new run's first.",
		lane: "interrupt",
		access: "seat",
		params: { message, images },
		result: ack,
		example: { send: { message: "Start over, with the tests first." } },
	}),
};
