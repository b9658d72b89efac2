/** The agent of a run: a child process of our own program, driven over the protocol, that asks before each step. */
import { type Client, type Exit, type GateAnswer, startClient } from "../client/index.ts";
import type { Program, Shell } from "../lib/shell/index.ts";
import type { AgentEvent, EventOf, GateRequest } from "../protocol/types.generated.ts";

export interface AgentInput {
	/** What it starts dies with us. */
	shell: Shell;
	program: readonly string[];
	flags: readonly string[];
	cwd: string;
	environment: Record<string, string | undefined>;
	/** Any sign of life. */
	onFrame(frame: AgentEvent): void;
	/** Undefined: no answer; the agent is being killed. */
	onGate(request: GateRequest): Promise<GateAnswer | undefined>;
	onResult(result: EventOf<"run_result">): void;
	onExit(): void;
}

export interface Agent {
	client: Client;
	/** Set when it has ended. */
	readonly exit: Exit | undefined;
	/** At once, with everything it started. */
	kill(): void;
	/** Asks it to end, and waits. */
	close(): Promise<void>;
}

/** An agent that is being killed gets no answer. */
const never = new Promise<GateAnswer>(() => undefined);

export async function startAgent(input: AgentInput): Promise<Agent> {
	const { shell, program: command, flags, cwd, environment } = input;
	const [file, ...args] = [...command, "--mode", "rpc", "--updates", "delta", "--seq", "--gate", "host", ...flags] as [string, ...string[]];
	const program: Program = await shell.start(file, args, cwd, { stdin: "pipe", environment });
	let exit: Exit | undefined;
	const client = await startClient({
		command: [file],
		spawn: () => program.child,
		waitForReady: false,
		requestTimeoutMs: 0,
		closePatience: { endMs: 3000, termMs: 500 },
		onGate: async (request) => (await input.onGate(request)) ?? never,
	});
	client.on("event", (frame) => input.onFrame(frame));
	client.on("run_result", input.onResult);
	client.on("exit", (how) => {
		exit = how;
		input.onExit();
	});

	return {
		client,
		get exit() {
			return exit;
		},
		kill: () => program.kill(),
		async close() {
			await client.close();
			program.kill();
		},
	};
}
