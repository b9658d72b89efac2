import Type from "typebox";
import { command, flag, integer, list, optional, shape, text, words } from "../define.ts";
import { LivePhase, runResultSample } from "../sequence.ts";

const Resumption = shape("Resumption", "What became of `resume_run`.", {
	disposition: words("started", "nothing"),
	runId: optional(text()),
});

export const sequenceCommands = {
	subscribe: command({
		doc: "Number all frames from now on, and send again what this reader missed: one `gap` if anything is missing, the kept frames after `afterSeq`, one `snapshot`, then new frames. Fails with code `cursor_ahead` when `afterSeq` is beyond the last number.",
		lane: "serial",
		access: "read",
		params: {
			afterSeq: optional(integer({ description: "The last number that the reader has seen. Without it: from now on." })),
			filter: optional(list(text(), { description: "Send only these events; a `*` at the end stands for any characters. Without it: all." })),
			deltas: optional(flag({ description: "false: no frames that are not kept, such as `message_update`." })),
		},
		result: Type.Object({
			replayTo: integer({ description: "The number up to which frames are sent again." }),
			firstSeq: integer({ description: "The first number that the log may have." }),
			epoch: integer(),
		}),
		example: {
			send: { afterSeq: 4712, filter: ["message_end", "tool_execution_*"], deltas: false },
			data: { replayTo: 4790, firstSeq: 1, epoch: 3 },
		},
	}),
	ping: command({
		doc: "Whether the agent is there. Answered at once.",
		lane: "interrupt",
		access: "read",
		params: {},
		result: Type.Object({ asOf: optional(integer({ description: "With `--seq`." })), phase: LivePhase }),
		example: { send: {}, data: { asOf: 4790, phase: "idle" } },
	}),
	resume_run: command({
		doc: "Go on from the conversation as it is, after a crash, an abort or a failure: calls without results get one that says so, and the model is asked. `nothing` when the last message is a finished reply and no message waits.",
		lane: "serial",
		access: "seat",
		params: { note: optional(text({ description: "A message to the model before it goes on." })) },
		result: Resumption,
		example: { send: { note: "The worker was replaced." }, data: { disposition: "started", runId: runResultSample.runId } },
	}),
};
