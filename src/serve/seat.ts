/** The right to drive a session: one client at a time, kept for a while after its connection was lost. */

export interface SeatHolder {
	/** The client's process, as it named itself. */
	client: string;
	name: string;
	since: number;
}

export interface SeatConnection {
	readonly client: string;
	readonly name: string;
}

/** How long a client that lost its connection is waited for. */
export const graceMs = 30_000;

export class Seat<C extends SeatConnection> {
	#holder: SeatHolder | undefined;
	#connection: C | undefined;
	#grace: NodeJS.Timeout | undefined;
	#onChange: (holder: SeatHolder | undefined) => void;
	#graceMs: number;

	constructor(onChange: (holder: SeatHolder | undefined) => void, ms = graceMs) {
		this.#onChange = onChange;
		this.#graceMs = ms;
	}

	get holder(): SeatHolder | undefined {
		return this.#holder;
	}

	/** Absent while the holder is disconnected. */
	get connection(): C | undefined {
		return this.#connection;
	}

	isHeldBy(connection: C): boolean {
		return this.#connection === connection;
	}

	/** Whether this client may take it without asking. */
	isFreeFor(client: string): boolean {
		return !this.#holder || this.#holder.client === client;
	}

	take(connection: C, now: number): void {
		const isSame = this.#holder?.client === connection.client;
		clearTimeout(this.#grace);
		this.#grace = undefined;
		this.#connection = connection;
		if (!isSame || !this.#holder) {
			this.#holder = { client: connection.client, name: connection.name, since: now };
			this.#onChange(this.#holder);
		}
	}

	/** The connection is gone. The seat is kept for the same client for a while. */
	lose(connection: C): void {
		if (this.#connection !== connection) return;
		this.#connection = undefined;
		this.#wait();
	}

	/** For a holder that is away and drove another session, which went on as this one. */
	keepFor(holder: SeatHolder): void {
		if (this.#holder) return;
		this.#holder = holder;
		this.#wait();
		this.#onChange(holder);
	}

	#wait(): void {
		this.#grace = setTimeout(() => this.free(), this.#graceMs);
		this.#grace.unref();
	}

	free(): void {
		clearTimeout(this.#grace);
		this.#grace = undefined;
		this.#connection = undefined;
		if (!this.#holder) return;
		this.#holder = undefined;
		this.#onChange(undefined);
	}

	/** Ends without telling. */
	close(): void {
		clearTimeout(this.#grace);
		this.#grace = undefined;
		this.#connection = undefined;
		this.#holder = undefined;
	}
}
