/** Lines for an agent that may not read: beyond a bound they wait, except those that stop or steer it. */

export interface LineTarget {
	/** Bytes that it has not taken yet. */
	readonly behind: number;
	send(line: string): void;
}

const mostBehind = 32 * 1024 * 1024;

export class Outbox {
	#target: () => LineTarget | undefined;
	#most: number;
	#waiting: string[] = [];

	constructor(target: () => LineTarget | undefined, most = mostBehind) {
		this.#target = target;
		this.#most = most;
	}

	/** Whether a connection that sends more should not be read for now. */
	get isFull(): boolean {
		return this.#waiting.length > 0;
	}

	/** `mayPass`: goes ahead of those that wait. Without an agent it is dropped. */
	send(line: string, mayPass: boolean): void {
		const target = this.#target();
		if (!target) return;
		if (!mayPass && (this.isFull || target.behind > this.#most)) this.#waiting.push(line);
		else target.send(line);
	}

	/** The agent took something. */
	drained(): void {
		const target = this.#target();
		let sent = 0;
		while (target && sent < this.#waiting.length && target.behind <= this.#most) target.send(this.#waiting[sent++] as string);
		this.#waiting.splice(0, sent);
	}

	clear(): void {
		this.#waiting = [];
	}
}
