import type { Static } from "typebox";
import { ack, command, flag, integer, optional, shape, text } from "../define.ts";
import { SandboxUse } from "../sandbox.ts";

export const BashResult = shape("BashResult", "How a command ended. A non-zero exit code is still a success.", {
	output: text({ description: "stdout and stderr merged, the last 2000 lines or 50 KB." }),
	exitCode: optional(integer({ description: "Absent when the command was killed." })),
	cancelled: flag(),
	truncated: flag(),
	fullOutputPath: optional(text({ description: "Present exactly when the output was truncated." })),
	totalLines: integer(),
	totalBytes: integer(),
	outputLines: integer(),
	outputBytes: integer(),
	artifactId: optional(text()),
	sandboxed: optional(flag({ description: "It ran inside the sandbox." })),
	sandbox: optional(SandboxUse),
});
export type BashResult = Static<typeof BashResult>;

export const bashCommands = {
	bash: command({
		doc: "Run a shell command for the host, also during a run. The model sees it with the next prompt.",
		lane: "background",
		access: "seat",
		params: {
			command: text(),
			sandbox: optional(flag({ description: "Run it inside the session's sandbox. A failure where there is none." })),
			excludeFromContext: optional(flag({ description: "Keep the record, but never show it to the model." })),
		},
		result: BashResult,
		example: {
			send: { command: "git status --short" },
			data: {
				output: " M src/search.ts\n",
				exitCode: 0,
				cancelled: false,
				truncated: false,
				totalLines: 1,
				totalBytes: 17,
				outputLines: 1,
				outputBytes: 17,
			},
		},
	}),
	abort_bash: command({
		doc: "Kill every running `bash` command.",
		lane: "interrupt",
		access: "interject",
		params: {},
		result: ack,
		example: { send: {} },
	}),
};
