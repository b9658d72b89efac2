/** What a client talks through: one agent, from its first frame to its end. A child process, or a session in this one. */
import type { AgentEvent, ExtensionUiRequest, HostToolCall, HostToolCancel, Response } from "../protocol/types.generated.ts";

/** A JSON object on a line of its own. Nobody has checked that it is what it says; of events there may be others. */
export type Frame = AgentEvent | Response | ExtensionUiRequest | HostToolCall | HostToolCancel;

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
	/** Says one line. Never throws: what cannot be said any more is followed by the exit. */
	send(line: string): void;
	/** The last lines of diagnostics. */
	readonly stderr: string;
	/** Asks the agent to end, and sees to it that it does. Asked again, it gives the same answer. */
	close(): Promise<void>;
}

export type OpenChannel = (listener: ChannelListener) => Channel;
