/** Signature Version 4 of Amazon: proves who asks without sending the secret. Pure. */
import { createHash, createHmac } from "node:crypto";

export interface AwsKeys {
	accessKeyId: string;
	secretAccessKey: string;
	sessionToken?: string;
}

export interface ToSign {
	method: string;
	url: string;
	headers: Readonly<Record<string, string>>;
	body: string;
}

export interface Signer {
	keys: AwsKeys;
	region: string;
	service: string;
	now: number;
}

/** Headers that proxies and the transport may change in transit. */
const unsigned = new Set(["authorization", "user-agent", "accept", "accept-encoding", "connection", "content-length", "expect", "x-amzn-trace-id"]);

/** The headers of a request with its date, its session token and its signature. */
export function signed(request: ToSign, { keys, region, service, now }: Signer): Record<string, string> {
	const time = new Date(now).toISOString().replace(/[-:]|\.\d{3}/g, "");
	const url = new URL(request.url);
	const headers: Record<string, string> = { ...request.headers, "x-amz-date": time };
	if (keys.sessionToken) headers["x-amz-security-token"] = keys.sessionToken;
	const covered = Object.entries({ ...headers, host: url.host })
		.map(([name, value]) => [name.toLowerCase(), value.trim().replace(/\s+/g, " ")] as const)
		.filter(([name]) => !unsigned.has(name))
		.sort(([a], [b]) => (a < b ? -1 : 1));
	const names = covered.map(([name]) => name).join(";");
	const canonical = [
		request.method,
		canonicalPath(url.pathname),
		canonicalQuery(url.searchParams),
		...covered.map(([name, value]) => `${name}:${value}`),
		"",
		names,
		hashOf(request.body),
	].join("\n");
	const scope = `${time.slice(0, 8)}/${region}/${service}/aws4_request`;
	const toSign = ["AWS4-HMAC-SHA256", time, scope, hashOf(canonical)].join("\n");
	const signature = hmac(signingKey(keys.secretAccessKey, time.slice(0, 8), region, service), toSign).toString("hex");
	headers.authorization = `AWS4-HMAC-SHA256 Credential=${keys.accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`;
	return headers;
}

export function signingKey(secret: string, day: string, region: string, service: string): Buffer {
	return [region, service, "aws4_request"].reduce((key, part) => hmac(key, part), hmac(`AWS4${secret}`, day));
}

/** Every segment of the path as it is sent, encoded once more: only S3 differs. */
function canonicalPath(path: string): string {
	return path.split("/").map(encoded).join("/") || "/";
}

function canonicalQuery(query: URLSearchParams): string {
	const pairs = [...query].map(([name, value]) => [encoded(name), encoded(value)] as const);
	pairs.sort(([a, x], [b, y]) => (a === b ? (x < y ? -1 : 1) : a < b ? -1 : 1));
	return pairs.map(([name, value]) => `${name}=${value}`).join("&");
}

/** All but letters, digits and `-._~`. */
function encoded(value: string): string {
	return encodeURIComponent(value).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}

function hmac(key: string | Buffer, value: string): Buffer {
	return createHmac("sha256", key).update(value, "utf8").digest();
}

function hashOf(text: string): string {
	return createHash("sha256").update(text, "utf8").digest("hex");
}
