/** Bytes that no client sends: frames of sockets, cursors and bodies, by seed. The server answers or closes, keeps running, and others do not notice. */
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { mutated } from "../fuzz/mutate.ts";
import { forSeeds } from "../fuzz/seeds.ts";
import { later } from "../later.ts";
import type { Random } from "../torture/random.ts";
import { endServer, serve, type TestServer, type TestSocket, until } from "./support.ts";

let server: TestServer;
let id: string;
beforeAll(async () => {
	server = await serve({ isShared: true });
	({ id } = await server.create());
	await server.prompt(id, "hello");
}, 60_000);
afterAll(() => endServer(server), 60_000);

interface Piece {
	opcode: number;
	body: Buffer;
	isLast?: boolean;
	isMasked?: boolean;
	reserved?: number;
	/** In the head, other than what there is. */
	length?: bigint;
	/** The shortest form is the right one. */
	form?: 7 | 16 | 64;
}

function piece({ opcode, body, isLast = true, isMasked = true, reserved = 0, length = BigInt(body.length), form }: Piece): Buffer {
	const size = form ?? (length < 126n ? 7 : length < 65536n ? 16 : 64);
	const mask = isMasked ? 0x80 : 0;
	const head = Buffer.alloc(2 + (size === 7 ? 0 : size / 8));
	head[0] = (isLast ? 0x80 : 0) | (reserved << 4) | opcode;
	if (size === 7) head[1] = mask | Number(length & 0x7fn);
	else if (size === 16) {
		head[1] = mask | 126;
		head.writeUInt16BE(Number(length & 0xffffn), 2);
	} else {
		head[1] = mask | 127;
		head.writeBigUInt64BE(length & 0xffff_ffff_ffff_ffffn, 2);
	}
	const key = Buffer.from([1, 2, 3, 4]);
	const masked = isMasked ? Buffer.from(body.map((byte, at) => byte ^ (key[at % 4] as number))) : body;
	return Buffer.concat([head, ...(isMasked ? [key] : []), masked]);
}

const ping = (body = "p") => piece({ opcode: 9, body: Buffer.from(body) });

/** A message as fragments, with control frames between them: unusual, and right. */
function fragments(text: string, random: Random): Buffer[] {
	const body = Buffer.from(text);
	const parts: Buffer[] = [];
	let at = 0;
	while (at < body.length || parts.length === 0) {
		const to = Math.min(body.length, at + random.int(0, 12));
		const isLast = to === body.length;
		const form = random.chance(0.3) ? { form: random.pick([16, 64] as const) } : {};
		parts.push(piece({ opcode: parts.length === 0 ? 1 : 0, body: body.subarray(at, to), isLast, ...form }));
		at = to;
		if (isLast) break;
	}
	return parts.flatMap((part) => (random.chance(0.4) ? [part, random.chance(0.5) ? ping() : piece({ opcode: 10, body: Buffer.alloc(0) })] : [part]));
}

/** What the protocol of sockets forbids. */
const wrong: ((random: Random) => Buffer)[] = [
	() => piece({ opcode: 1, body: Buffer.from("{}"), isMasked: false }),
	(random) => piece({ opcode: 1, body: Buffer.from("{}"), reserved: random.int(1, 8) }),
	(random) => piece({ opcode: random.pick([3, 4, 5, 6, 7, 11, 12, 13, 14, 15]), body: Buffer.from("x") }),
	() => piece({ opcode: 0, body: Buffer.from("goes on with nothing") }),
	() => Buffer.concat([piece({ opcode: 1, body: Buffer.from("{"), isLast: false }), piece({ opcode: 1, body: Buffer.from("}") })]),
	() => piece({ opcode: 9, body: Buffer.alloc(126) }),
	() => piece({ opcode: 9, body: Buffer.from("x"), isLast: false }),
	(random) => piece({ opcode: 1, body: Buffer.alloc(4), length: random.pick([1n << 63n, (1n << 53n) + 1n, 33n << 20n]), form: 64 }),
	() => piece({ opcode: 1, body: Buffer.from([0xff, 0xfe, 0xc0]) }),
	() => piece({ opcode: 2, body: Buffer.from("{}") }),
	(random) => piece({ opcode: 8, body: random.pick([Buffer.from([1]), Buffer.from([0, 0]), Buffer.from([3, 0xed]), Buffer.from([3, 0xe8, 0xff])]) }),
];

/** A connection of bytes whose handshake is done. */
async function handshake(query = ""): Promise<{ socket: Socket; heard: () => Buffer; closed: () => boolean }> {
	const heard: Buffer[] = [];
	let isClosed = false;
	const socket = connect(server.port, "127.0.0.1");
	later(() => socket.destroy());
	socket.on("data", (bytes) => void heard.push(bytes));
	socket.on("error", () => undefined); // `close` follows.
	socket.on("close", () => (isClosed = true));
	socket.write(
		`GET /v1/sessions/${id}/socket${query} HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nAuthorization: Bearer ${server.token}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
	);
	const all = () => Buffer.concat(heard);
	await until("the handshake", () => all().includes('"type":"ready"'));
	return { socket, heard: all, closed: () => isClosed };
}

/** Bytes in pieces of any size, as a network gives them. */
async function trickle(socket: Socket, bytes: Buffer, random: Random): Promise<void> {
	for (let at = 0; at < bytes.length; ) {
		const to = at + random.int(1, random.chance(0.5) ? 8 : 4000);
		socket.write(bytes.subarray(at, to));
		at = to;
		if (random.chance(0.2)) await new Promise((resolve) => setImmediate(resolve));
	}
}

async function expectAlive(witness: TestSocket): Promise<void> {
	expect(await witness.ask({ type: "get_state" })).toMatchObject({ success: true });
	expect(witness.closed).toBeUndefined();
	expect(server.child.exitCode).toBeNull();
	expect(server.err).not.toContain('"event":"fault"');
}

test("messages in fragments with control frames between them are whole messages", async () => {
	await forSeeds(12, async (random, seed) => {
		const { socket, heard, closed } = await handshake();
		const asked = [1, 2, 3].map((count) => `${seed}-${count}`);
		for (const own of asked) {
			const padding = "\u00e4".repeat(random.int(0, 40));
			await trickle(socket, Buffer.concat(fragments(JSON.stringify({ id: own, type: "get_state", padding }), random)), random);
		}
		await until("all are answered", () => asked.every((own) => heard().includes(`"id":"${own}","type":"response"`)));
		expect(closed()).toBe(false);
		socket.destroy();
	});
});

test("frames that are wrong, or were right once, close their own connection at most", async () => {
	const witness = await server.attach(id);
	await forSeeds(60, async (random, seed) => {
		const { socket, heard, closed } = await handshake();
		if (random.chance(0.4)) await trickle(socket, Buffer.concat(fragments('{"id":"1","type":"get_state"}', random)), random);
		const isWrong = seed % 2 === 0;
		const right = Buffer.concat([...fragments('{"id":"2","type":"get_messages"}', random), ping(), piece({ opcode: 1, body: Buffer.from("[]") })]);
		const bytes = isWrong ? (wrong[(seed / 2) % wrong.length] as (random: Random) => Buffer)(random) : mutated(right, random);
		await trickle(socket, bytes, random);
		if (isWrong) await until("the server closes it", () => closed() || heard().includes("text messages only"));
		socket.destroy();
	});
	await expectAlive(witness);
	await witness.close();
	await until("no connection is left", async () => (await server.session(id)).readers === 0);
});

test("cursors and bodies: an answer with words, or the stream", async () => {
	const witness = await server.attach(id);
	const bodies: [path: string, body: object][] = [
		[
			"/v1/sessions",
			{ cwd: server.at.cwd, name: "n", model: "echo", tools: ["read"], settings: { "retry.maxRetries": 1 }, prompt: { message: "x" } },
		],
		[`/v1/sessions/${id}/prompts`, { message: "hello", images: [], streamingBehavior: "followUp" }],
		[`/v1/sessions/${id}/commands`, { type: "set_session_name", name: "n", id: "1", key: "k" }],
	];
	await forSeeds(60, async (random, seed) => {
		const cursor = random.pick([
			"0",
			"-1",
			"1e9",
			"",
			" 1",
			"0x10",
			"NaN",
			"1,2",
			"\u0661",
			String(2 ** 53),
			`${random.int(0, 50)}`,
			"9".repeat(300),
		]);
		const { status, text, json } = await server.ask("GET", `/v1/sessions/${id}/events?after=${encodeURIComponent(cursor)}`, undefined, {
			Accept: "application/jsonl",
		});
		expect([200, 400], `cursor ${cursor}`).toContain(status);
		if (status === 400) expect(json.error.message.length).toBeGreaterThan(10);
		else for (const line of text.split("\n").filter(Boolean)) JSON.parse(line);
		const [path, body] = bodies[seed % bodies.length] as (typeof bodies)[number];
		// Whole sessions are not made here: what is left of the body is not enough for one.
		const { cwd: _, ...rest } = body as { cwd?: string };
		const bytes = mutated(Buffer.from(JSON.stringify(rest)), random);
		const answered = await server.post(path, bytes.toString("latin1"));
		expect([200, 202, 400, 409, 413, 422], `${path} ${bytes}`).toContain(answered.status);
		if (answered.status >= 400) expect(answered.json.error).toMatchObject({ code: expect.any(String), message: expect.stringMatching(/\w+ \w+/) });
	});
	await expectAlive(witness);
});
