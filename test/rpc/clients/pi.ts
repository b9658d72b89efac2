/** The clients that came with pi, and the one for Emacs. */
import { Client } from "./client.ts";
import type { Frame } from "./process.ts";

/** pi 0.47 to 0.58: exact id echo, `agent_end` is the end, and every frame that is not a response to it goes to listeners. */
export class PiClient extends Client {
	protected read(frame: Frame): void {
		if (frame.type === "response" && frame.id && this.settle(frame)) return;
		this.tell(frame);
	}

	protected isEnd(frame: Frame): boolean {
		return frame.type === "agent_end";
	}
}

/** pi 1.5: waits for `agent_settled`, and throws when an acknowledgement does not contain the disposition. */
export class Pi15Client extends PiClient {
	protected override isEnd(frame: Frame): boolean {
		return frame.type === "agent_settled";
	}

	override async request(type: string, params: object = {}): Promise<unknown> {
		const data = await super.request(type, params);
		const { disposition } = (data ?? {}) as { disposition?: string };
		const isPrompt = type === "prompt" || type === "steer" || type === "follow_up";
		if (isPrompt && !["started", "queued", "handled"].includes(String(disposition))) throw new Error(`${type} was answered without a disposition`);
		return data;
	}
}

/** Emacs, for pi of mid-2026: reads `message` in updates of tool calls, `willRetry`, names of compaction, counters. */
export class EmacsClient extends PiClient {
	readonly compactions: string[] = [];

	protected override read(frame: Frame): void {
		if (frame.type === "message_update") {
			const step = frame.assistantMessageEvent as { type: string };
			const { content } = (frame.message ?? {}) as { content?: unknown[] };
			if (step.type.startsWith("toolcall") && !Array.isArray(content)) throw new Error("no message in an update of a tool call");
		}
		if (frame.type === "compaction_start" || frame.type === "compaction_end") this.compactions.push(frame.type);
		super.read(frame);
	}

	protected override isEnd(frame: Frame): boolean {
		return frame.type === "agent_end" && frame.willRetry !== true;
	}

	override async request(type: string, params: object = {}): Promise<unknown> {
		const data = (await super.request(type, params)) as Record<string, unknown> | undefined;
		if (type === "get_state" && !Number.isInteger(data?.pendingMessageCount)) throw new Error("no pendingMessageCount");
		if (type === "get_session_stats" && typeof (data?.contextUsage as { contextWindow?: number })?.contextWindow !== "number")
			throw new Error("no contextUsage");
		return data;
	}
}
