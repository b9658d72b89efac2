/** How many connections there are: in all, of one token, to one session. */
import { Refusal } from "./refusal.ts";
import type { Bearer } from "./tokens.ts";

export interface Limits {
	all: number;
	perToken: number;
	perSession: number;
}

export const usualLimits: Limits = { all: 1024, perToken: 256, perSession: 256 };

export interface OpenConnection {
	kind: "socket" | "events" | "lines";
	bearer: Bearer;
	close(code: number, reason: string): void;
}

export class Connections {
	#open = new Set<OpenConnection>();
	#limits: Limits;

	constructor(limits: Limits = usualLimits) {
		this.#limits = limits;
	}

	get size(): number {
		return this.#open.size;
	}

	kinds(): Map<string, number> {
		const kinds = new Map([
			["socket", 0],
			["events", 0],
			["lines", 0],
		] as [string, number][]);
		for (const { kind } of this.#open) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
		return kinds;
	}

	/** Throws a Refusal when there are too many. */
	check(bearer: Bearer, readersOfSession: number): void {
		const { all, perToken, perSession } = this.#limits;
		const refuse = (what: string) => {
			throw new Refusal("too_many_connections", `There are too many connections ${what}. Close one first.`, { headers: { "Retry-After": "5" } });
		};
		if (this.#open.size >= all) refuse(`to this server (${all})`);
		if (readersOfSession >= perSession) refuse(`to this session (${perSession})`);
		let own = 0;
		for (const each of this.#open) if (each.bearer.sha256 === bearer.sha256) own++;
		if (own >= perToken) refuse(`with this token (${perToken})`);
	}

	add(connection: OpenConnection): void {
		this.#open.add(connection);
	}

	delete(connection: OpenConnection): void {
		this.#open.delete(connection);
	}

	/** Closes those of a token that is not valid any more. */
	closeOf(sha256: string): void {
		for (const each of [...this.#open]) if (each.bearer.sha256 === sha256) each.close(4403, "the token was revoked");
	}

	closeExpired(isValid: (sha256: string) => boolean): void {
		for (const each of [...this.#open]) if (each.bearer.sha256 !== "local" && !isValid(each.bearer.sha256)) each.close(4403, "the token expired");
	}

	closeAll(code: number, reason: string): void {
		for (const each of [...this.#open]) each.close(code, reason);
	}
}

/** Requests of a token: so many a second, and a burst. */
export class Rates {
	#perSecond: number;
	#burst: number;
	#now: () => number;
	#buckets = new Map<string, { left: number; at: number }>();

	constructor(perSecond = 200, burst = 400, now: () => number = Date.now) {
		this.#perSecond = perSecond;
		this.#burst = burst;
		this.#now = now;
	}

	admits(key: string): boolean {
		const now = this.#now();
		const bucket = this.#buckets.get(key) ?? { left: this.#burst, at: now };
		bucket.left = Math.min(this.#burst, bucket.left + ((now - bucket.at) / 1000) * this.#perSecond);
		bucket.at = now;
		this.#buckets.set(key, bucket);
		if (this.#buckets.size > 10_000) this.#buckets.clear();
		if (bucket.left < 1) return false;
		bucket.left--;
		return true;
	}
}
