/** How Postgres is reached: the url without secrets in messages, TLS unless it is this machine. */
import { readFileSync } from "node:fs";
import type { PoolConfig } from "pg";
import { UsageError } from "../../lib/usage-error.ts";

const parse = (url: string): URL => {
	try {
		const parsed = new URL(url);
		if (parsed.protocol === "postgres:" || parsed.protocol === "postgresql:") return parsed;
	} catch {
		// Said below.
	}
	throw new UsageError("fleet.url must be a url of PostgreSQL: postgres://user@host:5432/database. A password belongs into PGPASSWORD or .pgpass.");
};

/** The url as it may be shown and logged. */
export function shownUrl(url: string): string {
	const parsed = parse(url);
	if (parsed.password !== "") parsed.password = "***";
	if (parsed.searchParams.has("password")) parsed.searchParams.set("password", "***");
	return parsed.href;
}

export const holdsPassword = (url: string): boolean => {
	const { password, searchParams } = parse(url);
	return password !== "" || searchParams.has("password");
};

const loopback = /^(localhost|127(\.\d+){3}|\[?::1\]?|)$/i;

/** Certificates are checked, names included, unless Postgres is on this machine or the url says `sslmode=disable`. */
export function connectionConfig(url: string): PoolConfig {
	const parsed = parse(url);
	const mode = parsed.searchParams.get("sslmode") ?? undefined;
	const rootCert = parsed.searchParams.get("sslrootcert") ?? undefined;
	const socket = parsed.searchParams.get("host") ?? undefined;
	parsed.searchParams.delete("sslmode");
	parsed.searchParams.delete("sslrootcert");
	if (mode !== undefined && !["disable", "verify-full"].includes(mode))
		throw new UsageError(
			`fleet.url: sslmode=${mode} is not supported. Use verify-full, which is the default, or disable on a network that you trust.`,
		);
	const host = decodeURIComponent(parsed.hostname);
	const isLocal = (loopback.test(host) && (socket === undefined || socket.startsWith("/"))) || host.startsWith("/");
	const secure = mode === "verify-full" || (mode === undefined && !isLocal);
	return {
		connectionString: parsed.href,
		ssl: secure ? { rejectUnauthorized: true, ...(rootCert === undefined ? {} : { ca: readFileSync(rootCert, "utf8") }) } : false,
		connectionTimeoutMillis: 10_000,
		keepAlive: true,
		application_name: "bowline fleet",
	};
}

/** Failures that pass: the connection is lost, Postgres restarts or has no room, or two transactions were in each other's way. */
const passing = /^(08|53|57P0|40001|40P01)/;
const passingSystem = new Set([
	"ECONNREFUSED",
	"ECONNRESET",
	"EPIPE",
	"ETIMEDOUT",
	"ENOTFOUND",
	"EAI_AGAIN",
	"ENOENT",
	"EHOSTUNREACH",
	"ENETUNREACH",
]);

export function isPassing(error: unknown): boolean {
	const { code, message } = error as { code?: string; message?: string };
	if (code !== undefined) return passing.test(code) || passingSystem.has(code);
	return /connection terminated|connection ended|timeout|not queryable|client was closed|socket/i.test(message ?? "");
}
