/** The problems that the torture test has found, each as short as possible, described from the view of the affected user. */
import type { Plan, Step } from "./plan.ts";

const plan = (steps: Step[], more: Partial<Plan> = {}): Plan => ({ seed: 0, model: "scripted", flags: [], replies: [], steps, ...more });
const prompt: Step = { do: "send", frame: { id: "p", type: "prompt", message: "prompt p" } };

export const found: [what: string, plan: Plan][] = [
	["a disk that turns read-only while the first message is written", plan([{ do: "disk", fault: "EROFS", after: 4 }, prompt])],
	["a disk that turns read-only when the session file has been made", plan([{ do: "disk", fault: "EROFS", after: 3 }, prompt])],
	["a lock that could be made but not written", plan([{ do: "disk", fault: "EIO", after: 1 }, prompt])],
	["a lock of which only a half could be written", plan([{ do: "disk", fault: "half", after: 1 }, prompt])],
	[
		"the result of a call cannot be stored, and then the host runs a command",
		plan(
			[
				{ do: "disk", fault: "EIO", after: 9 },
				prompt,
				{ do: "wait", for: "agent_settled" },
				{ do: "disk", fault: "none", after: 0 },
				{ do: "send", frame: { id: "b", type: "bash", command: "echo hi" } },
				{ do: "wait", for: "quiet" },
			],
			{ replies: [{ words: 1, calls: Array.from({ length: 4 }, () => ({ tool: "read", arguments: { path: "a.txt" } })), ending: { kind: "end" } }] },
		),
	],
];
