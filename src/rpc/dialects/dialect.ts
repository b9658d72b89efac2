/** What a dialect decides about the wire. A mapping at the edge: the session does not know which one is spoken. Types only. */

import type { Replies } from "../../live/dispatch.ts";
import type { Variations } from "../../live/front.ts";
import type { LiveSession, Override } from "../../live/live-session.ts";
import type { ErrorCode } from "../../protocol/errors.ts";
import type { EventOf } from "../../protocol/events.ts";
import type { OutboundFrame, RequestId } from "../../protocol/frames.ts";
import type { Identity } from "../../protocol/identity.ts";
import type { UpdateMode } from "../event-writer.ts";
import type { FrameWriter } from "../stdio.ts";

export interface Dialect extends Variations {
	/** What the frame that announces readiness has in addition to the agent's identity. Without it no such frame is sent. */
	readonly ready?: Readonly<Omit<EventOf<"ready">, "type" | keyof Identity>>;
	/** How replies grow on the wire, unless the host says otherwise. */
	readonly updates: UpdateMode;
	/** Whether `setTitle` is sent to hosts that did not ask for it. */
	readonly emitsTitle?: true;
	/** Whether the host opens addresses (`open_url`). */
	readonly opensUrls?: true;
	/** Whether a dialog whose time is over is withdrawn with a frame. */
	readonly withdrawsLateDialogs?: true;
	/** Whether failures of unknown commands, and of bugs, carry the id and the command. */
	readonly echoesIds?: true;
	/** Whether `--mode json` ends with 0 after a reply that failed, which is in its events. */
	readonly endsWellAfterFailedReplies?: true;
	/** Maps a frame to the frames that are sent. Without it every frame is sent unchanged. */
	readonly frames?: (frame: OutboundFrame) => readonly OutboundFrame[];
	/** How a host learns the outcome of one prompt. Without it: accepted at once, a refusal after that. */
	readonly prompt?: (id: RequestId | undefined, answer: Answer) => PromptReplies;
	/** Commands that are served here otherwise, or only here. */
	readonly handlers?: Override;
	/** Frames that a host receives unasked, before its first command is served. */
	readonly greet?: (live: LiveSession) => Promise<void>;
}

/** How a dialect sends its own frames. */
export interface Voice {
	/** Sent in order, if the host wants such events. */
	tell: (frame: OutboundFrame) => void;
	readonly writer: Pick<FrameWriter, "split">;
	/** How replies grow, where the host says it. */
	readonly updates?: UpdateMode;
}

export type Answer = (outcome: { data?: unknown } | { error: string; code: ErrorCode; hint?: string }) => void;

/** What a host receives while its prompt is processed. */
export type PromptReplies = Pick<Replies, "accept" | "onDisposition" | "refuse">;
