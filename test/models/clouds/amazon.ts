/** Amazon's side of the wire, written from its documentation: frames of an event stream, and a second opinion on signatures. */
import { createHash, createHmac } from "node:crypto";
import { crc32 } from "node:zlib";
import type { Received } from "../loopback.ts";

/** One message, with text headers. */
export function frame(headers: Record<string, string>, payload: string | Buffer): Buffer {
	const parts = Object.entries(headers).map(([name, value]) => {
		const [head, size, body] = [Buffer.from(name), Buffer.alloc(2), Buffer.from(value)];
		size.writeUInt16BE(body.length);
		return Buffer.concat([Buffer.from([head.length]), head, Buffer.from([7]), size, body]);
	});
	return message(Buffer.concat(parts), Buffer.from(payload));
}

/** One message from its raw headers and its payload. */
export function message(headers: Buffer, payload: Buffer): Buffer {
	const whole = Buffer.concat([prelude(16 + headers.length + payload.length, headers.length), headers, payload]);
	const sum = Buffer.alloc(4);
	sum.writeUInt32BE(crc32(whole));
	return Buffer.concat([whole, sum]);
}

/** How a message begins: its length, that of its headers, and their checksum. */
export function prelude(length: number, headersLength: number): Buffer {
	const bytes = Buffer.alloc(12);
	bytes.writeUInt32BE(length, 0);
	bytes.writeUInt32BE(headersLength, 4);
	bytes.writeUInt32BE(crc32(bytes.subarray(0, 8)), 8);
	return bytes;
}

export function event(type: string, payload: object): Buffer {
	return frame({ ":event-type": type, ":content-type": "application/json", ":message-type": "event" }, JSON.stringify(payload));
}

export function exception(type: string, payload: object): Buffer {
	return frame({ ":exception-type": type, ":content-type": "application/json", ":message-type": "exception" }, JSON.stringify(payload));
}

/** The signature that a request should have, computed step by step as the documentation describes it. Nothing when it carries none. */
export function rightSignature(received: Received, secret: string): { stated: string; right: string } | undefined {
	const { headers, url, method, body } = received;
	const found = /^AWS4-HMAC-SHA256 Credential=[^/]+\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/.exec(
		headers.authorization ?? "",
	);
	if (!found) return undefined;
	const [, day = "", region = "", service = "", names = "", stated = ""] = found;
	const [path = "", query = ""] = url.split("?");
	// The path as it came over the wire, each reserved character encoded a second time.
	const uri = path.replace(/[^A-Za-z0-9\-._~/]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`);
	const sorted = query.split("&").filter(Boolean).sort().join("&");
	const lines = names.split(";").map((name) => `${name}:${String(headers[name]).trim()}\n`);
	const hash = (text: string) => createHash("sha256").update(text).digest("hex");
	const canonical = `${method}\n${uri}\n${sorted}\n${lines.join("")}\n${names}\n${hash(body)}`;
	const toSign = `AWS4-HMAC-SHA256\n${headers["x-amz-date"]}\n${day}/${region}/${service}/aws4_request\n${hash(canonical)}`;
	let key: Buffer = Buffer.from(`AWS4${secret}`);
	for (const part of [day, region, service, "aws4_request"]) key = createHmac("sha256", key).update(part).digest();
	return { stated, right: createHmac("sha256", key).update(toSign).digest("hex") };
}
