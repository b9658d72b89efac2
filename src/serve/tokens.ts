/** Access rights: tokens by their digests, one-time codes for the page, tickets for sockets of browsers. Plain tokens are in one file only. */

import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Scope, scopes } from "../protocol/routes.ts";

export interface TokenRow {
	name: string;
	scope: Scope;
	sha256: string;
	createdAt: number;
	/** Absent: never. */
	expiresAt?: number;
	/** Issued to a page by a login. */
	isPage?: true;
}

/** A token that was presented and is valid. */
export interface Bearer {
	name: string;
	scope: Scope;
	/** Distinguishes tokens whose names are the same, such as those of pages. */
	sha256: string;
}

export const mainToken = "main";
const pageTokenMs = 12 * 60 * 60 * 1000;
const codeMs = 120_000;
const ticketMs = 30_000;
/** Failures of one address within a minute, after which it has to wait for a minute. */
const mostFailures = 20;
const minute = 60_000;
const settleMs = 1000;
/** Pages whose tokens are kept; older ones are forgotten. */
const mostPages = 1000;

export const mayUse = (scope: Scope, needed: Scope) => scopes.indexOf(scope) >= scopes.indexOf(needed);

const digestOf = (secret: string) => createHash("sha256").update(secret).digest();
/** Of 32 bytes as base64url. */
export const tokenLength = 43;
const newSecret = () => randomBytes(32).toString("base64url");

export class Tokens {
	readonly file: string;
	#listFile: string;
	#now: () => number;
	#known: TokenRow[] = [];
	/** A main token whose digest is not known yet. */
	#newMain: { token: string; createdAt: number } | undefined;
	/** Codes that were not used, in plain: they live for two minutes, in memory alone. */
	#codes = new Map<string, { scope: Scope; expiresAt: number }>();
	#tickets = new Map<string, { bearer: Bearer; expiresAt: number }>();
	#failures = new Map<string, { count: number; since: number }>();
	#onRevoked: (sha256: string) => void = () => undefined;

	constructor(directory: string, now: () => number = Date.now) {
		this.file = join(directory, "token");
		this.#listFile = join(directory, "tokens.json");
		this.#now = now;
		if (existsSync(this.#listFile)) this.#known = JSON.parse(readFileSync(this.#listFile, "utf8")) as TokenRow[];
	}

	/** All of them, with their digests. */
	get #rows(): TokenRow[] {
		const main = this.#newMain;
		if (main) {
			this.#newMain = undefined;
			this.#known.unshift({ name: mainToken, scope: "admin", sha256: digestOf(main.token).toString("hex"), createdAt: main.createdAt });
			this.#save();
		}
		return this.#known;
	}

	set #rows(rows: TokenRow[]) {
		this.#known = rows;
	}

	/** Stores what is not stored yet. */
	settle(): void {
		void this.#rows;
	}

	/** Receives the digest of each token that is no longer valid. */
	set onRevoked(listener: (sha256: string) => void) {
		this.#onRevoked = listener;
	}

	/** Makes the first token if there is none. Returns it, or nothing when it existed. */
	ensureMain(): string | undefined {
		if (this.#known.some(({ name }) => name === mainToken) && existsSync(this.file)) return undefined;
		const isFirst = this.#known.length === 0;
		const token = this.#replaceMain();
		// The first start needs no digest to answer; an older list must not outlive its token.
		if (isFirst) setTimeout(() => this.settle(), settleMs).unref();
		else this.settle();
		return token;
	}

	#replaceMain(): string {
		const token = newSecret();
		this.#forget(({ name }) => name === mainToken);
		this.#newMain = { token, createdAt: this.#now() };
		writeWhole(this.file, `${token}\n`);
		return token;
	}

	/** The valid token that this text is. Compares digests in constant time. */
	verify(token: string): Bearer | undefined {
		const digest = digestOf(token);
		const now = this.#now();
		let found: TokenRow | undefined;
		for (const row of this.#rows) {
			if (timingSafeEqual(digest, Buffer.from(row.sha256, "hex")) && (row.expiresAt === undefined || row.expiresAt > now)) found = row;
		}
		return found && { name: found.name, scope: found.scope, sha256: found.sha256 };
	}

	isValid(sha256: string): boolean {
		const row = this.#rows.find((each) => each.sha256 === sha256);
		return row !== undefined && (row.expiresAt === undefined || row.expiresAt > this.#now());
	}

	/** Returns the new token, which is not kept. */
	add(name: string, scope: Scope, days?: number): string {
		const token = newSecret();
		const now = this.#now();
		this.#rows.push({
			name,
			scope,
			sha256: digestOf(token).toString("hex"),
			createdAt: now,
			...(days !== undefined && { expiresAt: now + days * 24 * 60 * minute }),
		});
		this.#save();
		return token;
	}

	has(name: string): boolean {
		return this.#rows.some((row) => row.name === name);
	}

	list(): Omit<TokenRow, "sha256">[] {
		return this.#rows.map(({ sha256: _, ...row }) => row);
	}

	/** False when there is no token of this name. The main token is replaced, because there must be one. */
	revoke(name: string): boolean {
		if (!this.has(name)) return false;
		if (name === mainToken) this.#replaceMain();
		else this.#forget((row) => row.name === name);
		this.#save();
		return true;
	}

	/** A token was seen where it may be logged. Its name, if it was valid; it is not valid any more. */
	burn(token: string): string | undefined {
		const bearer = this.verify(token);
		if (!bearer) return undefined;
		if (bearer.name === mainToken) this.#replaceMain();
		else this.#forget(({ sha256 }) => sha256 === bearer.sha256);
		this.#save();
		return bearer.name;
	}

	/** A code for one login within two minutes. */
	newCode(scope: Scope): string {
		this.#expire(this.#codes);
		const code = newSecret();
		this.#codes.set(code, { scope, expiresAt: this.#now() + codeMs });
		return code;
	}

	/** What a login gets for a code or a token: a token of its own. Page tokens do not live on by logging in again. */
	login(secret: { code?: string; token?: string }, userAgent: string): { token: string; scope: Scope; expiresAt: number } | undefined {
		this.#expire(this.#codes);
		const scope = secret.code === undefined ? this.#scopeOf(secret.token ?? "") : this.#takeCode(secret.code);
		if (!scope) return undefined;
		const token = newSecret();
		const now = this.#now();
		const expiresAt = now + pageTokenMs;
		const pages = this.#rows.filter(({ isPage }) => isPage);
		const dropped = new Set([...pages.filter((row) => (row.expiresAt ?? 0) <= now), ...pages.slice(0, Math.max(0, pages.length - mostPages + 1))]);
		this.#forget((row) => dropped.has(row));
		const name = `page: ${userAgent.replace(/[^\x20-\x7e]/g, "").slice(0, 120) || "unknown browser"}`;
		this.#rows.push({ name, scope, sha256: digestOf(token).toString("hex"), createdAt: now, expiresAt, isPage: true });
		this.#save();
		return { token, scope, expiresAt };
	}

	#scopeOf(token: string): Scope | undefined {
		return this.verify(token)?.scope;
	}

	#takeCode(code: string): Scope | undefined {
		const digest = digestOf(code);
		for (const [known, { scope }] of this.#codes) {
			if (!timingSafeEqual(digestOf(known), digest)) continue;
			this.#codes.delete(known);
			return scope;
		}
		return undefined;
	}

	newTicket(bearer: Bearer): { ticket: string; expiresAt: number } {
		this.#expire(this.#tickets);
		const ticket = newSecret();
		const expiresAt = this.#now() + ticketMs;
		this.#tickets.set(digestOf(ticket).toString("hex"), { bearer, expiresAt });
		return { ticket, expiresAt };
	}

	/** The token that this ticket was issued for. A ticket is valid once. */
	takeTicket(ticket: string): Bearer | undefined {
		this.#expire(this.#tickets);
		const key = digestOf(ticket).toString("hex");
		const found = this.#tickets.get(key);
		this.#tickets.delete(key);
		return found && this.isValid(found.bearer.sha256) ? found.bearer : undefined;
	}

	noteFailure(address: string): void {
		const now = this.#now();
		const known = this.#failures.get(address);
		if (known && now - known.since < minute) known.count++;
		else this.#failures.set(address, { count: 1, since: now });
		if (this.#failures.size > 10_000) for (const [key, { since }] of this.#failures) if (now - since >= minute) this.#failures.delete(key);
	}

	/** Milliseconds until this address may try again; 0: now. */
	blockedMs(address: string): number {
		const known = this.#failures.get(address);
		if (!known || known.count < mostFailures) return 0;
		return Math.max(0, known.since + minute - this.#now());
	}

	#expire(map: Map<string, { expiresAt: number }>): void {
		const now = this.#now();
		for (const [key, { expiresAt }] of map) if (expiresAt <= now) map.delete(key);
	}

	#forget(isGone: (row: TokenRow) => boolean): void {
		const gone = this.#rows.filter(isGone);
		this.#rows = this.#rows.filter((row) => !gone.includes(row));
		for (const { sha256 } of gone) this.#onRevoked(sha256);
	}

	#save(): void {
		writeWhole(this.#listFile, `${JSON.stringify(this.#rows, null, "\t")}\n`);
	}
}

/** The old file or the new one, never half of it. */
export function writeWhole(path: string, text: string): void {
	const next = `${path}.${process.pid}.new`;
	writeFileSync(next, text, { mode: 0o600 });
	renameSync(next, path);
}
