/** Requests and answers over HTTP: bodies within bounds, and the headers that every answer has. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { isNestedDeeperThan, maxNesting } from "../protocol/nesting.ts";
import { Refusal } from "./refusal.ts";

export const mostBodyBytes = 32 * 1024 * 1024;

export const commonHeaders: Readonly<Record<string, string>> = {
	"X-Content-Type-Options": "nosniff",
	"Referrer-Policy": "no-referrer",
	"Cross-Origin-Opener-Policy": "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Cache-Control": "no-store",
};

export function answer(response: ServerResponse, status: number, headers: Record<string, string>, body?: string | Buffer): void {
	if (response.headersSent || response.destroyed) return;
	const bytes = typeof body === "string" ? Buffer.from(body) : body;
	response.writeHead(status, { ...commonHeaders, ...(bytes && { "Content-Length": String(bytes.length) }), ...headers });
	response.end(bytes);
}

export function answerJson(response: ServerResponse, status: number, value: unknown, headers: Record<string, string> = {}): void {
	answer(response, status, { "Content-Type": "application/json", ...headers }, JSON.stringify(value));
}

export const answerText = (response: ServerResponse, status: number, text: string) =>
	answer(response, status, { "Content-Type": "text/plain; charset=utf-8" }, text);

export function answerRefusal(response: ServerResponse, refusal: Refusal): void {
	answerJson(response, refusal.status, refusal.body, refusal.headers);
}

/** Bodies that come before a token was checked. */
export const mostLoginBytes = 16 * 1024;

/** The text of a JSON body, checked before it is read. Throws a Refusal. */
export async function readBody(request: IncomingMessage, response: ServerResponse, most = mostBodyBytes): Promise<string> {
	const { "content-type": type, "content-length": length, "content-encoding": encoding } = request.headers;
	if (!/^application\/json\s*(;|$)/i.test(type ?? ""))
		throw new Refusal("bad_json", "Send JSON with Content-Type: application/json.", { status: 415 });
	if (encoding !== undefined && encoding !== "identity") throw new Refusal("bad_json", "Send the body without Content-Encoding.", { status: 415 });
	const limit = most < 1024 * 1024 ? `${most / 1024} KiB` : `${most / 1024 / 1024} MiB`;
	const tooLarge = () => new Refusal("bad_json", `The body is larger than ${limit}.`, { status: 413, headers: { Connection: "close" } });
	if (Number(length ?? 0) > most) throw tooLarge();
	// The client waits until it knows that its body is wanted.
	if (/^100-continue$/i.test(request.headers.expect ?? "")) response.writeContinue();
	const parts: Buffer[] = [];
	let size = 0;
	for await (const chunk of request as AsyncIterable<Buffer>) {
		size += chunk.length;
		if (size > most) throw tooLarge();
		parts.push(chunk);
	}
	return Buffer.concat(parts).toString("utf8");
}

/** An object, or a Refusal. */
export function parseObject(text: string): Record<string, unknown> {
	if (text.length > 2 * maxNesting && isNestedDeeperThan(maxNesting, text))
		throw new Refusal("bad_json", `The body is nested deeper than ${maxNesting}.`);
	let value: unknown;
	try {
		value = JSON.parse(text);
	} catch (error) {
		throw new Refusal("bad_json", `The body is not JSON: ${(error as Error).message}`);
	}
	if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Refusal("bad_json", "The body must be a JSON object.");
	return value as Record<string, unknown>;
}

/** A number of a query. */
export function numberOf(query: URLSearchParams, name: string, fallback: number, most: number): number {
	const text = query.get(name);
	if (text === null) return fallback;
	const value = Number(text);
	if (!/^\d{1,16}$/.test(text) || !Number.isSafeInteger(value))
		throw new Refusal("bad_field", `${name} must be a whole number, not ${JSON.stringify(text.slice(0, 40))}.`);
	return Math.min(value, most);
}

/** The header `Idempotency-Key`. */
export function keyOf({ headers }: IncomingMessage): string | undefined {
	const key = headers["idempotency-key"];
	if (key === undefined) return undefined;
	if (typeof key !== "string" || key === "" || key.length > 200) throw new Refusal("bad_field", "Idempotency-Key must have 1 to 200 characters.");
	return key;
}

/** A cursor of a query or of `Last-Event-ID`. */
export function cursorOf(text: string | null | undefined): number | undefined {
	if (text === null || text === undefined || text === "") return undefined;
	const value = Number(text);
	if (!/^\d{1,16}$/.test(text) || !Number.isSafeInteger(value))
		throw new Refusal("bad_field", `A cursor is a number, not ${JSON.stringify(text.slice(0, 40))}.`);
	return value;
}
