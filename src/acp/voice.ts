/** Everything that is written about one session, in order: not before the client knows the session, and nothing after it is closed. */
import type { SessionUpdate } from "@agentclientprotocol/sdk";
import { toLine } from "../lib/jsonl.ts";
import type { TextFilter } from "../lib/redact.ts";
import type { FrameWriter } from "../rpc/stdio.ts";
import { Chunks } from "./chunks.ts";

export interface VoiceParts {
	sessionId: string;
	writer: FrameWriter;
	send: Send;
	/** A filter that removes credentials from a text that comes in pieces. */
	filter: () => TextFilter | undefined;
	/** Questions may be asked from here on. */
	onKnown: () => void;
}

/** `isClean`: there are no credentials in it. `alone`: in a write of its own. */
export type Send = (line: string, how?: { isClean?: boolean; alone?: boolean }) => void;

export class Voice {
	readonly chunks: Chunks;
	#parts: VoiceParts;
	/** What was said before the client knew the session. */
	#early: (() => void)[] | undefined = [];
	#isOver = false;

	constructor(parts: VoiceParts) {
		this.#parts = parts;
		const { sessionId, writer, send, filter } = parts;
		this.chunks = new Chunks({
			sessionId,
			write: (line) => this.#say(() => send(line, { isClean: true })),
			isAccepting: () => writer.isAccepting,
			hold: (bytes) => writer.hold(bytes),
			filter,
			now: () => performance.now(),
		});
	}

	update = (update: SessionUpdate, alone = false): void => {
		if (this.#isOver) return;
		this.chunks.flush();
		const { sessionId, send } = this.#parts;
		const line = toLine({ jsonrpc: "2.0", method: "session/update", params: { sessionId, update } });
		this.#say((isAlone) => send(line, { alone: alone || isAlone }));
	};

	#say(write: (isAlone?: true) => void): void {
		if (this.#early) this.#early.push(() => write(true));
		else write();
	}

	/** The client knows the session from now on. */
	begin(): void {
		const early = this.#early ?? [];
		this.#early = undefined;
		for (const write of early) write();
		this.#parts.onKnown();
	}

	/** Nothing more is written. */
	end(): void {
		this.chunks.flush();
		this.#isOver = true;
	}
}
