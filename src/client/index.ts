/** The client for agents that speak the protocol: ours, started as a child process, or any other command line. */
import { type Client, type ConversationOptions, converse } from "./client.ts";
import { ownProgram } from "./own-program.ts";
import { AgentProcess, type ClosePatience, type Spawn } from "./process.ts";

export type { ErrorCode } from "../protocol/types.generated.ts";
export type { Exit } from "./channel.ts";
export type { Client } from "./client.ts";
export type { CustomTool, CustomToolCall, CustomToolResult } from "./custom-tools.ts";
export type { Dialog, DialogAnswer, DialogHandler } from "./dialogs.ts";
export { ExitError, RequestError, TimeoutError } from "./errors.ts";
export type { GateAnswer, GateHandler } from "./gates.ts";
export type { ListenerTypes, SeatChange, SessionStateChange } from "./listeners.ts";
export type { PermissionAnswer, PermissionHandler } from "./permissions.ts";
export type { ClosePatience, Spawn } from "./process.ts";
export { type ReplayOptions, recordArgs, replayArgs } from "./replay.ts";
export type { RequestOptions } from "./requests.ts";
export type { PromptOptions, PromptOutcome, WaitOptions } from "./runs.ts";
export type { FromSchema, JsonSchema } from "./schema-types.ts";
export { ServerError, type ServerOptions } from "./server-address.ts";
export { type ListSessions, type ServerClient, serverClient } from "./server-client.ts";
export { type ConnectOptions, connectClient } from "./socket.ts";

export interface ClientOptions extends ConversationOptions {
	/** The program and its first arguments, with everything that makes it speak the protocol. Default: our own, in its RPC mode, sending deltas only. */
	command?: readonly string[];
	/** Further arguments. */
	args?: readonly string[];
	cwd?: string;
	/** Its whole environment. Default: ours. */
	env?: NodeJS.ProcessEnv;
	/** Whether to wait for `ready`. Default: for our own program yes; for others `ready` or the first answer, whichever comes. */
	waitForReady?: boolean;
	/** Called instead of `spawn` of `node:child_process`, with the same arguments: to guard the child, or to give it more descriptors. */
	spawn?: Spawn;
	/** Receives the agent's stderr output as it arrives. */
	onStderr?: (text: string) => void;
	/** How long `close` waits before SIGTERM and SIGKILL. */
	closePatience?: ClosePatience;
	/** A longer frame is dropped, and the requests that wait then fail. Default: 256 MiB. */
	maxFrameBytes?: number;
}

const defaultMaxFrameBytes = 256 * 1024 * 1024;

/** Starts an agent; resolves when it is ready. Rejects, and leaves no process running, when it does not get ready. */
export async function startClient(options: ClientOptions = {}): Promise<Client> {
	const { command, args = [], cwd, env, spawn, onStderr, closePatience: patience, maxFrameBytes = defaultMaxFrameBytes, waitForReady } = options;
	const program = command ?? [process.execPath, ownProgram(), "--mode", "rpc", "--updates", "delta"];
	const readiness = (waitForReady ?? !command) ? "ready" : waitForReady === undefined ? "answer" : "none";
	const process_ = { command: [...program, ...args], cwd, env, spawn, onStderr, patience, maxFrameBytes };
	return converse((listener) => new AgentProcess(process_, listener), readiness, options);
}
