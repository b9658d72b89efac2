/** The connection of a client to one agent, from its first frame to its end. A child process, or a session in this process. */
import type { AgentEvent, ExtensionUiRequest, GateRequest, HostToolCall, HostToolCancel, Response } from "../protocol/types.generated.ts";

/** A JSON object on a line of its own. Its content is not validated; there may be unknown events. */
export type Frame = AgentEvent | Response | ExtensionUiRequest | HostToolCall | HostToolCancel | GateRequest;

/** How an agent ended. */
export interface Exit {
	code: number | null;
	signal: NodeJS.Signals | null;
	/** The last lines of its stderr. */
	stderr: string;
	/** Why it could not be started at all. */
	cause?: Error;
}

export interface ChannelListener {
	frame(frame: Frame): void;
	/** A frame was too long to be read. */
	tooLong(limit: number): void;
	/** Once, after the last frame. */
	exit(exit: Exit): void;
}

export interface Channel {
	/** Sends one line. Never throws: if the line cannot be sent, the exit follows. */
	send(line: string): void;
	/** The last lines of diagnostics. */
	readonly stderr: string;
	/** Asks the agent to end, and ensures that it does. A second call returns the same promise. */
	close(): Promise<void>;
}

export type OpenChannel = (listener: ChannelListener) => Channel;
