import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer as createHttp, type IncomingMessage } from "node:http";
import { createServer as createHttps } from "node:https";
import { type AddressInfo, connect, createServer as createTcp, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { HttpClient, type Post } from "../../../src/lib/http/client.ts";
import { proxyFor } from "../../../src/lib/http/proxy.ts";
import { Loopback, refuse, stream } from "../../models/loopback.ts";

let server: Loopback;
let client: HttpClient;
beforeEach(async () => {
	server = await Loopback.start();
	client = new HttpClient({ env: {} });
});
afterEach(async () => {
	await client.close();
	await server.stop();
});

function post(changes: Partial<Post> = {}): Post {
	return {
		url: `${server.url}/x`,
		headers: { "x-test": "1" },
		body: "{}",
		signal: new AbortController().signal,
		firstEventTimeoutMs: 5000,
		idleTimeoutMs: 5000,
		onData: () => "reading",
		...changes,
	};
}

test("posts a body and streams the answer, over one kept connection", async () => {
	server.answer(stream(Buffer.from("hello"), [2]));
	const pieces: string[] = [];
	const onData = (chunk: Buffer) => {
		pieces.push(chunk.toString());
		return "reading" as const;
	};
	expect(await client.post(post({ body: '{"é":1}', onData }))).toMatchObject({ type: "ended", status: 200 });
	await client.post(post());
	await client.post(post());
	expect(pieces.join("")).toBe("hello");
	expect(server.received[0]).toMatchObject({ method: "POST", url: "/x", body: '{"é":1}', headers: { "content-length": "8", "x-test": "1" } });
	expect(server.connections).toBe(1);
});

test("a body of several megabytes arrives whole", async () => {
	server.answer(stream(Buffer.from("x")));
	const body = `${"a".repeat(40_000)}${"é".repeat(10_000)}`.repeat(100);
	expect(await client.post(post({ body }))).toMatchObject({ type: "ended" });
	expect(server.received[0]?.body).toBe(body);
});

test("a refusal brings at most 64 KB of its body, and is not tried again", async () => {
	server.answer(refuse(529, "x".repeat(200_000), { "retry-after": "3" }));
	const outcome = await client.post(post());
	expect(outcome).toMatchObject({ type: "refused", status: 529, headers: { "retry-after": "3" } });
	expect(outcome.type === "refused" && outcome.body.length).toBe(65536);
	expect(server.received.length).toBe(1);
});

test("a refusal whose body breaks off or stalls is a refusal with what came of it", async () => {
	server.answer((response) => {
		response.writeHead(401, { "content-length": "100" }).write("bad k");
		setTimeout(() => response.destroy(), 20);
	});
	expect(await client.post(post())).toMatchObject({ type: "refused", status: 401, body: "bad k" });
	server.torn = 0;
	server.answer((response) => void response.writeHead(429, { "retry-after": "7" }).write("slow d"));
	const asked = client.post(post({ firstEventTimeoutMs: 60_000 }));
	expect(await asked).toMatchObject({ type: "refused", status: 429, body: "slow d", headers: { "retry-after": "7" } });
	await server.whenTorn();
	const controller = new AbortController();
	setTimeout(() => controller.abort(), 50);
	expect(await client.post(post({ signal: controller.signal }))).toEqual({ type: "aborted" });
});

test("abort closes the connection before the answer, and in the middle of it", async () => {
	for (const isMiddle of [false, true]) {
		server.torn = 0;
		const controller = new AbortController();
		// Not before the request is there: a slow machine may take its time to connect.
		server.answer((response) => {
			if (isMiddle) response.writeHead(200).write("data: x\n\n");
			else controller.abort();
		});
		const onData = () => {
			controller.abort();
			return "reading" as const;
		};
		const asked = client.post(post({ signal: controller.signal, onData }));
		expect(await asked).toEqual({ type: "aborted" });
		await server.whenTorn();
	}
	const aborted = AbortSignal.abort();
	expect(await client.post(post({ signal: aborted }))).toEqual({ type: "aborted" });
});

test("silence before the first event and in the middle end in a timeout that closes the connection", async () => {
	server.answer(() => undefined);
	expect(await client.post(post({ firstEventTimeoutMs: 500 }))).toEqual({ type: "timedOut", phase: "first", afterMs: 500 });
	await server.whenTorn();
	server.answer((response) => {
		response.writeHead(200).write("data: x\n\n");
	});
	expect(await client.post(post({ idleTimeoutMs: 40 }))).toEqual({ type: "timedOut", phase: "idle", afterMs: 40 });
});

test("keep-alive bytes count as life, under the patience for the first event", async () => {
	server.answer(async (response) => {
		response.writeHead(200);
		for (let count = 0; count < 6; count += 1) {
			response.write(": still here\n\n");
			await new Promise((resolve) => setTimeout(resolve, 150));
		}
		response.end();
	});
	expect(await client.post(post({ firstEventTimeoutMs: 700, idleTimeoutMs: 5, onData: () => "waiting" }))).toMatchObject({ type: "ended" });
});

test("a refusal that trickles for ever has a deadline", async () => {
	server.answer((response) => {
		response.writeHead(500);
		const timer = setInterval(() => response.write("."), 300);
		response.on("close", () => clearInterval(timer));
	});
	const outcome = await client.post(post());
	expect(outcome).toMatchObject({ type: "refused", status: 500, body: expect.stringMatching(/^\.+$/) });
});

test("a broken connection, a refused one and a bad address are failures with words", async () => {
	server.answer((response) => {
		response.writeHead(200, { "content-length": "100" }).write("data");
		setTimeout(() => response.destroy(), 10);
	});
	expect(await client.post(post())).toMatchObject({ type: "failed", code: "ECONNRESET", status: 200 });
	expect(await client.post(post({ url: "http://127.0.0.1:1/x" }))).toMatchObject({ type: "failed", code: "ECONNREFUSED" });
	expect(await client.post(post({ url: "nowhere" }))).toEqual({ type: "failed", message: "Not a valid address: nowhere", code: undefined });
	const bad = await client.post(post({ headers: { authorization: "Bearer se\ncret" } }));
	expect(bad).toMatchObject({ type: "failed" });
	expect(JSON.stringify(bad)).not.toContain("cret");
});

test("when nothing more is wanted the outcome comes at once, though the server never ends", async () => {
	server.answer((response) => {
		response.writeHead(200).write("data: x\n\n");
	});
	expect(await client.post(post({ onData: () => "enough" }))).toMatchObject({ type: "ended", status: 200 });
});

test("what onData throws is handed back", async () => {
	server.answer(stream(Buffer.from("x")));
	const error = new SyntaxError("no");
	const onData = () => {
		throw error;
	};
	expect(await client.post(post({ onData }))).toEqual({ type: "broken", error });
});

test("reading waits while the gate is closed, and the clock stands still", async () => {
	const piece = Buffer.alloc(64 * 1024, "x");
	server.answer(stream(Buffer.concat(Array(64).fill(piece)), [piece.length]));
	let wake: () => void = () => undefined;
	const flow = { isOpen: true, whenOpen: () => new Promise<void>((resolve) => (wake = resolve)) };
	let seen = 0;
	const asked = client.post(
		post({
			flow,
			idleTimeoutMs: 500,
			onData: (chunk) => {
				seen += chunk.length;
				if (seen === chunk.length) flow.isOpen = false;
				return "reading";
			},
		}),
	);
	await new Promise((resolve) => setTimeout(resolve, 1000));
	expect(seen).toBeLessThanOrEqual(piece.length);
	flow.isOpen = true;
	wake();
	expect(await asked).toMatchObject({ type: "ended" });
	expect(seen).toBe(64 * piece.length);
});

describe("proxies", () => {
	test.each([
		["http://api.test/", { HTTP_PROXY: "http://p:1" }, "http://p:1/"],
		["http://api.test/", { http_proxy: "p:2", HTTP_PROXY: "http://p:1" }, "http://p:2/"],
		["https://api.test/", { HTTP_PROXY: "http://p:1" }, undefined],
		["https://api.test/", { https_proxy: "http://p:1" }, "http://p:1/"],
		["https://api.test/", { ALL_PROXY: "http://p:1" }, "http://p:1/"],
		["https://api.test/", { HTTPS_PROXY: "http://p:1", NO_PROXY: "other.test, api.test" }, undefined],
		["https://api.test/", { HTTPS_PROXY: "http://p:1", no_proxy: ".test" }, undefined],
		["https://api.test/", { HTTPS_PROXY: "http://p:1", no_proxy: "*.test" }, undefined],
		["https://api.test/", { HTTPS_PROXY: "http://p:1", no_proxy: "pi.test" }, "http://p:1/"],
		["https://api.test/", { HTTPS_PROXY: "http://p:1", no_proxy: "api.test:8443" }, "http://p:1/"],
		["https://api.test:8443/", { HTTPS_PROXY: "http://p:1", no_proxy: "api.test:8443" }, undefined],
		["https://api.test/", { HTTPS_PROXY: "http://p:1", no_proxy: "*" }, undefined],
		["http://127.0.0.1:11434/", { HTTP_PROXY: "http://p:1" }, undefined],
		["http://localhost:11434/", { HTTP_PROXY: "http://p:1" }, undefined],
		["http://[::1]:11434/", { HTTP_PROXY: "http://p:1" }, undefined],
	])("%s with %j goes through %s", (target, env, proxy) => {
		expect(proxyFor(new URL(target), env)?.href).toBe(proxy);
	});

	test("a plain address is asked for in its absolute form, with the proxy's credentials", async () => {
		const asked: IncomingMessage[] = [];
		const proxy = createHttp((request, response) => {
			asked.push(request);
			response.end("ok");
		});
		await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
		const own = new HttpClient({ env: { HTTP_PROXY: `http://me:p%40ss@127.0.0.1:${(proxy.address() as AddressInfo).port}` } });
		expect(await own.post(post({ url: "http://model.test/v1/x?y=1" }))).toMatchObject({ type: "ended" });
		expect(asked[0]?.url).toBe("http://model.test/v1/x?y=1");
		expect(asked[0]?.headers).toMatchObject({ host: "model.test", "proxy-authorization": `Basic ${Buffer.from("me:p@ss").toString("base64")}` });
		await own.close();
		proxy.close();
	});

	test("a proxy that never answers is left at an abort and at the deadline", async () => {
		let closed = 0;
		const proxy = createTcp((socket) => {
			socket.resume();
			socket.on("error", () => undefined);
			socket.on("close", () => {
				closed += 1;
			});
		});
		await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
		const own = new HttpClient({ env: { HTTPS_PROXY: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` } });
		const url = "https://model.test/x";
		const controller = new AbortController();
		setTimeout(() => controller.abort(), 100);
		expect(await own.post(post({ url, signal: controller.signal }))).toEqual({ type: "aborted" });
		await expect.poll(() => closed).toBe(1);
		expect(await own.post(post({ url, firstEventTimeoutMs: 100 }))).toMatchObject({ type: "timedOut" });
		await expect.poll(() => closed).toBe(2);
		await own.close();
		proxy.close();
	});

	test("a proxy that refuses, or is of another kind, is reported", async () => {
		const proxy = createTcp((socket) => socket.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n"));
		await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
		const own = new HttpClient({ env: { HTTPS_PROXY: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` } });
		const outcome = await own.post(post({ url: "https://model.test/x" }));
		expect(outcome).toMatchObject({
			type: "failed",
			code: "ERR_PROXY",
			message: "The proxy refused the connection: HTTP/1.1 407 Proxy Authentication Required",
		});
		proxy.close();
		const socks = new HttpClient({ env: { HTTPS_PROXY: "socks5://127.0.0.1:1080" } });
		expect(await socks.post(post({ url: "https://model.test/x" }))).toMatchObject({ type: "failed", message: expect.stringContaining("socks5:") });
	});

	test("an encrypted address is reached through a tunnel, which is kept", async () => {
		const dir = mkdtempSync(join(tmpdir(), "bowline-tls-"));
		const [key, cert] = [join(dir, "key.pem"), join(dir, "cert.pem")];
		const subject = ["-subj", "/CN=model.test", "-addext", "subjectAltName=DNS:model.test"];
		try {
			execFileSync("openssl", ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", key, "-out", cert, ...subject], {
				stdio: "ignore",
			});
		} catch (error) {
			if ((error as NodeJS.ErrnoException).code === "ENOENT") return; // A machine without openssl cannot make a certificate.
			throw error;
		}
		const secure = createHttps({ key: readFileSync(key), cert: readFileSync(cert) }, (_, response) => response.end("data: x\n\n"));
		await new Promise<void>((resolve) => secure.listen(0, "127.0.0.1", resolve));
		const lines: string[] = [];
		const tunnels = new Set<Socket>();
		const proxy = createTcp((socket) => {
			tunnels.add(socket);
			socket.once("data", (head) => {
				lines.push(head.toString().split("\r\n")[0] ?? "");
				const inner = connect((secure.address() as AddressInfo).port, "127.0.0.1", () => {
					socket.write("HTTP/1.1 200 OK\r\n\r\n");
					socket.pipe(inner).pipe(socket);
				});
			});
		});
		await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
		const own = new HttpClient({ env: { HTTPS_PROXY: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` }, ca: readFileSync(cert, "utf8") });
		for (let count = 0; count < 2; count += 1)
			expect(await own.post(post({ url: "https://model.test/x" }))).toMatchObject({ type: "ended", status: 200 });
		expect(lines).toEqual(["CONNECT model.test:443 HTTP/1.1"]);
		const distrusting = new HttpClient({ env: { HTTPS_PROXY: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` } });
		expect(await distrusting.post(post({ url: "https://model.test/x" }))).toMatchObject({
			type: "failed",
			code: expect.stringMatching(/SELF_SIGNED|CERT/),
		});
		await own.close();
		for (const socket of tunnels) socket.destroy();
		proxy.close();
		secure.close();
		rmSync(dir, { recursive: true });
	});
});
