/** A session that requires walls and has none runs nothing. An abort ends everything inside them. */
import type { Halt, Policy } from "../agent/policy.ts";
import type { Sandbox } from "../sandbox/index.ts";

export function sandboxPolicy(sandbox: Sandbox): Policy {
	const refusal = () => sandbox.refusal;
	const halted = new AbortController();
	const look = () => {
		const message = refusal();
		if (message !== undefined && !halted.signal.aborted) halted.abort({ message, code: "no_sandbox", run: "abort" } satisfies Halt);
	};
	look();
	return {
		name: "sandbox",
		get halt() {
			look();
			return halted.signal;
		},
		abort: () => sandbox.abort(),
		admit: async () => {
			const refused = refusal();
			return refused === undefined ? undefined : { refused, code: "no_sandbox" };
		},
		beforeTool: async () => {
			const denied = refusal();
			return denied === undefined ? undefined : { denied };
		},
	};
}
