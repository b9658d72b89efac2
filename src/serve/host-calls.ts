/** Calls of tools that are in the client that holds the seat. A call waits a while for its client to come back. */

interface HostCallsParts {
	/** To the agent. */
	send(frame: object | string): void;
	/** False when no client holds the seat now. */
	toSeat(line: string): boolean;
}

const waitMs = 30_000;
export const goneText = "RPC client disconnected before host tool execution completed";

export class HostCalls {
	#parts: HostCallsParts;
	/** Open calls by id, as the agent sent them. */
	#open = new Map<string, string>();
	#timer: NodeJS.Timeout | undefined;
	#waitMs: number;
	isRegistered = false;

	constructor(parts: HostCallsParts, ms = waitMs) {
		this.#parts = parts;
		this.#waitMs = ms;
	}

	receive(type: string, line: string): void {
		const { id, targetId } = JSON.parse(line) as { id: string; targetId?: string };
		if (type === "host_tool_cancel") this.#open.delete(targetId ?? "");
		else this.#open.set(id, line);
		if (!this.#parts.toSeat(line)) this.#failLater();
	}

	/** Of the seat's connection. Answers to calls that are over are dropped. */
	answer(frame: { type: string; id: string }, line: string): void {
		if (!this.#open.has(frame.id)) return;
		if (frame.type === "host_tool_result") this.#open.delete(frame.id);
		this.#parts.send(line);
	}

	/** The seat has a connection again: it gets the open calls again, with the same ids. */
	seatBack(): void {
		clearTimeout(this.#timer);
		this.#timer = undefined;
		for (const line of this.#open.values()) this.#parts.toSeat(line);
	}

	seatGone(): void {
		if (this.#open.size > 0) this.#failLater();
	}

	/** The client does not come back. */
	seatEmpty(): void {
		this.isRegistered = false;
	}

	clear(): void {
		clearTimeout(this.#timer);
		this.#timer = undefined;
		this.#open.clear();
		this.isRegistered = false;
	}

	#failLater(): void {
		this.#timer ??= setTimeout(() => {
			this.#timer = undefined;
			for (const id of this.#open.keys())
				this.#parts.send({ type: "host_tool_result", id, result: { content: [{ type: "text", text: goneText }] }, isError: true });
			this.#open.clear();
		}, this.#waitMs);
		this.#timer.unref();
	}
}
