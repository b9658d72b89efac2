/** Who is let in: each check alone, together, for every route, over the wire and for upgrades. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { request } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { type Route, type RouteName, routes } from "../../src/protocol/routes.ts";
import { admit, type Gate, type RequestHead } from "../../src/serve/checks.ts";
import type { Refusal } from "../../src/serve/refusal.ts";
import { Tokens } from "../../src/serve/tokens.ts";
import { ask, serve, type TestServer } from "./support.ts";

const directory = mkdtempSync(join(tmpdir(), "bowline-tokens-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const tokens = new Tokens(directory);
const main = tokens.ensureMain() as string;
const reading = tokens.add("reader", "read");
const driving = tokens.add("driver", "drive");
const gate: Gate = {
	scheme: "http",
	port: 7717,
	allowed: [],
	tokens,
	needsNoToken: false,
	admits: () => true,
	onAuthFailure: () => undefined,
	onExposed: () => undefined,
};

let address = 0;
/** A request that passes, but for what is given. */
function head({ headers, ...more }: Partial<RequestHead> = {}): RequestHead {
	return {
		method: "GET",
		url: "/v1/info",
		address: `10.0.0.${address++}`,
		...more,
		headers: { host: "127.0.0.1:7717", authorization: `Bearer ${main}`, ...headers },
	};
}

function outcome(request: RequestHead, with_: Partial<Gate> = {}): number | string {
	try {
		return admit(request, { ...gate, ...with_ }).name;
	} catch (error) {
		return (error as Refusal).status;
	}
}

const all = Object.entries(routes) as [RouteName, Route][];
const pathOf = (path: string) => path.replace(/\{(\w+)\}/g, "x");

describe("pure", () => {
	test.each(["127.0.0.1:7717", "localhost:7717", "LOCALHOST:7717", "[::1]:7717"])("our host %s is accepted", (host) => {
		expect(outcome(head({ headers: { host } }))).toBe("info");
	});

	test.each([
		"evil.example",
		"evil.example:7717",
		"127.0.0.1",
		"127.0.0.1:80",
		"127.0.0.1:77170",
		"127.0.0.1.evil.example:7717",
		"localhost:7717@evil",
		"",
		"[::1]evil:7717",
	])("another host %s is refused first", (host) => {
		expect(outcome(head({ headers: { host, origin: "http://evil.example", authorization: "Bearer wrong" }, url: "/nowhere", method: "PUT" }))).toBe(
			421,
		);
	});

	test("a missing Host is refused; on a unix socket any is accepted", () => {
		const { host: _, ...headers } = head().headers;
		expect(outcome({ ...head(), headers })).toBe(421);
		expect(outcome({ ...head(), headers }, { port: undefined })).toBe("info");
	});

	test.each(["http://127.0.0.1:7717", "http://localhost:7717", "http://[::1]:7717"])("our origin %s is accepted", (origin) => {
		expect(outcome(head({ headers: { origin } }))).toBe("info");
	});

	test.each([
		"null",
		"http://evil.example",
		"https://127.0.0.1:7717",
		"http://127.0.0.1:7718",
		"http://127.0.0.1",
		"http://127.0.0.1:7717/",
		"file://",
		"http://user@127.0.0.1:7717",
		"http://localhost:7717.evil.example",
	])("another origin %s is refused before path and token", (origin) => {
		expect(outcome(head({ headers: { origin, authorization: undefined }, url: "/nowhere" }))).toBe(403);
	});

	test("names of --allow-host are hosts and origins, also over a proxy's TLS", () => {
		const allowed = { allowed: ["agents.example.com"] };
		for (const host of ["agents.example.com", "agents.example.com:7717", "agents.example.com:443"])
			expect(outcome(head({ headers: { host } }), allowed)).toBe("info");
		expect(outcome(head({ headers: { host: "agents.example.com:1" } }), allowed)).toBe(421);
		expect(outcome(head({ headers: { host: "agents.example.com", origin: "https://agents.example.com" } }), allowed)).toBe("info");
		expect(outcome(head({ headers: { host: "agents.example.com", origin: "https://other.example.com" } }), allowed)).toBe(403);
	});

	test("a forwarded port is allowed as it was given, also of this machine; the refusal says what to add", () => {
		const allowed = { allowed: ["127.0.0.1:8080", "[::1]:8080"] };
		for (const host of ["127.0.0.1:8080", "[::1]:8080", "127.0.0.1:7717"])
			expect(outcome(head({ headers: { host, origin: `http://${host}` } }), allowed)).toBe("info");
		for (const host of ["127.0.0.1:8081", "localhost:8080"]) {
			expect(outcome(head({ headers: { host } }), allowed)).toBe(421);
			expect(() => admit(head({ headers: { host } }), { ...gate, ...allowed })).toThrow(`add --allow-host ${host}.`);
		}
		expect(() => admit(head({ headers: { host: "a b<script>" } }), gate)).toThrow("Add it with --allow-host <name>.");
	});

	test.each([
		["same-origin", "info"],
		["none", "info"],
		["same-site", 403],
		["cross-site", 403],
	])("Sec-Fetch-Site %s", (site, expected) => {
		expect(outcome(head({ headers: { "sec-fetch-site": site } }))).toBe(expected);
	});

	test("paths and methods", () => {
		expect(outcome(head({ url: "/v1/nothing" }))).toBe(404);
		expect(outcome(head({ url: "/v1/sessions/" }))).toBe(404);
		expect(outcome(head({ url: "/v1/sessions/%zz" }))).toBe(404);
		expect(outcome(head({ method: "PUT" }))).toBe(405);
		for (const [, { path }] of all) expect(outcome(head({ method: "OPTIONS", url: pathOf(path) })), path).toBe(405);
	});

	test("every route of /v1 but login needs a token, and those without one are the four that hold no data, and login", () => {
		const open = all.filter(
			([, { method, path }]) => typeof outcome(head({ method, url: pathOf(path), headers: { authorization: undefined } })) === "string",
		);
		expect(open.map(([name]) => name).sort()).toEqual(["asset", "healthz", "login", "page", "readyz"]);
		for (const [name, { method, path, scope }] of all)
			if (scope !== "none") expect(outcome(head({ method, url: pathOf(path), headers: { authorization: "Bearer wrong" } })), name).toBe(401);
	});

	test("every route asks for its scope", () => {
		const least = { read: reading, drive: driving, admin: main };
		for (const [name, { method, path, scope }] of all) {
			if (scope === "none" || scope === "any" || scope === "command") continue;
			const order = ["read", "drive", "admin"] as const;
			for (const [index, each] of order.entries()) {
				const found = outcome(head({ method, url: pathOf(path), headers: { authorization: `Bearer ${least[each]}` } }));
				expect(found, `${name} with ${each}`).toBe(index >= order.indexOf(scope) ? name : 403);
			}
		}
	});

	test("a token in an address is refused and burnt", () => {
		const exposed: (string | undefined)[] = [];
		const onExposed = (name: string | undefined) => void exposed.push(name);
		for (const [index, name] of ["token", "access_token", "auth"].entries()) {
			const token = tokens.add(`exposed-${index}`, "drive");
			expect(outcome(head({ url: `/v1/info?${name}=${token}` }), { onExposed })).toBe(400);
			expect(tokens.verify(token)).toBeUndefined();
		}
		expect(exposed).toEqual(["exposed-0", "exposed-1", "exposed-2"]);
		const spellings: ((token: string) => string)[] = [
			(token) => `/nowhere?token=${token}`,
			(token) => `/${token}`,
			(token) => `/v1/sessions/${token}`,
			(token) => `/v1/info?token=x&token=${token}`,
			(token) => `/v1/info?Token=Bearer%20${token}`,
			(token) => `/v1/info?key=${token}`,
			(token) => `/v1/info?${token}`,
			(token) => `/v1/info?a=${encodeURIComponent(`Bearer ${token}`)}`,
			(token) => `/v1/info?a=%25${[...token].map((character) => character.charCodeAt(0).toString(16)).join("%25")}`,
		];
		for (const [index, spell] of spellings.entries()) {
			const token = tokens.add(`spelled-${index}`, "drive");
			expect(outcome(head({ url: spell(token) }), { onExposed }), spell("<token>")).toBe(400);
			expect(tokens.verify(token), spell("<token>")).toBeUndefined();
			expect(exposed.at(-1)).toBe(`spelled-${index}`);
		}
		expect(outcome(head({ url: `/v1/info?client=${"x".repeat(43)}` }))).toBe("info");
		const own = new Tokens(directory);
		const before = readFileSync(own.file, "utf8").trim();
		expect(own.burn(before)).toBe("main");
		expect(readFileSync(own.file, "utf8").trim()).not.toBe(before);
		expect(own.verify(readFileSync(own.file, "utf8").trim())?.scope).toBe("admin");
	});

	test("twenty wrong tokens block an address for a minute, not others", () => {
		let now = 0;
		const timed = new Tokens(directory, () => now);
		const valid = timed.add(`timed-${Date.now()}`, "read");
		const from = (where: string, token: string) =>
			outcome(head({ address: where, headers: { authorization: `Bearer ${token}` } }), { tokens: timed });
		for (let count = 0; count < 20; count++) expect(from("a", "wrong")).toBe(401);
		expect(from("a", valid)).toBe(429);
		expect(from("b", valid)).toBe("info");
		now = 60_001;
		expect(from("a", valid)).toBe("info");
	});

	test("tickets open a socket once, and nothing else", () => {
		const bearer = tokens.verify(driving);
		if (!bearer) throw new Error("no token");
		const { ticket } = tokens.newTicket(bearer);
		const protocols = { authorization: undefined, "sec-websocket-protocol": `bowline.v1, ticket.${ticket}` };
		expect(outcome(head({ headers: protocols }))).toBe(401);
		expect(outcome(head({ url: "/v1/socket", headers: protocols }))).toBe("manySocket");
		expect(outcome(head({ url: "/v1/socket", headers: protocols }))).toBe(401);
	});

	test("codes and tokens expire", () => {
		let now = 1000;
		const timed = new Tokens(directory, () => now);
		const code = timed.newCode("drive");
		const late = timed.newCode("drive");
		const page = timed.login({ code }, "a browser");
		expect(page?.scope).toBe("drive");
		expect(timed.login({ code }, "a browser")).toBeUndefined();
		now += 120_001;
		expect(timed.login({ code: late }, "a browser")).toBeUndefined();
		expect(timed.verify(page?.token ?? "")?.name).toBe("page: a browser");
		now += 12 * 60 * 60 * 1000;
		expect(timed.verify(page?.token ?? "")).toBeUndefined();
	});
});

/** The status of an upgrade. */
function upgrade(server: TestServer, path: string, headers: Record<string, string>): Promise<number> {
	return new Promise((resolve, reject) => {
		const sent = request({
			host: "127.0.0.1",
			port: server.port,
			path,
			headers: {
				Connection: "Upgrade",
				Upgrade: "websocket",
				"Sec-WebSocket-Version": "13",
				"Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
				...headers,
			},
		});
		sent.on("upgrade", (_response, socket) => {
			socket.destroy();
			resolve(101);
		});
		sent.on("response", (response) => {
			response.resume();
			resolve(response.statusCode ?? 0);
		});
		sent.on("error", reject);
		sent.end();
	});
}

test("the same over the wire, for every route and for upgrades", async () => {
	const server = await serve();
	const { id } = await server.create();
	const own = `127.0.0.1:${server.port}`;
	const authorization = `Bearer ${server.token}`;
	for (const [name, { method, path, scope }] of all) {
		const url = path.replace("{id}", id).replace(/\{\w+\}/g, "x");
		const send = (headers: Record<string, string | undefined>) =>
			ask({ host: "127.0.0.1", port: server.port, method, path: url }, method === "POST" ? {} : undefined, {
				Authorization: authorization,
				...headers,
			});
		expect((await send({ Host: "evil.example" })).status, `${name}: host`).toBe(421);
		expect((await send({ Origin: "http://evil.example" })).status, `${name}: origin`).toBe(403);
		expect((await send({ Origin: "null" })).status, `${name}: null`).toBe(403);
		expect((await send({ "Sec-Fetch-Site": "cross-site" })).status, `${name}: site`).toBe(403);
		if (scope !== "none") {
			const refused = await send({ Authorization: undefined });
			expect(refused.status, `${name}: token`).toBe(401);
			expect(refused.headers["www-authenticate"]).toBe("Bearer");
			expect(refused.json.error.code).toBe("unauthorized");
		}
		const options = await ask({ host: "127.0.0.1", port: server.port, method: "OPTIONS", path: url }, undefined, { Authorization: authorization });
		expect(options.status, `${name}: OPTIONS`).toBe(405);
		const shown = Object.keys(options.headers);
		expect(shown.filter((each) => each.startsWith("access-control"))).toEqual([]);
		expect(options.headers).toMatchObject({
			"x-content-type-options": "nosniff",
			"referrer-policy": "no-referrer",
			"cross-origin-opener-policy": "same-origin",
			"cross-origin-resource-policy": "same-origin",
			"cache-control": "no-store",
		});
	}
	for (const path of [`/v1/sessions/${id}/socket`, "/v1/socket"]) {
		const good = { Authorization: authorization };
		expect(await upgrade(server, path, good)).toBe(101);
		expect(await upgrade(server, path, { ...good, Origin: `http://${own}` })).toBe(101);
		expect(await upgrade(server, path, { ...good, Host: "evil.example" })).toBe(421);
		expect(await upgrade(server, path, { ...good, Origin: "http://evil.example" })).toBe(403);
		expect(await upgrade(server, path, { ...good, "Sec-Fetch-Site": "cross-site" })).toBe(403);
		expect(await upgrade(server, path, {})).toBe(401);
	}
	expect(await upgrade(server, "/v1/info", { Authorization: authorization })).toBe(400);
	const json = { Authorization: authorization };
	const create = { host: "127.0.0.1", port: server.port, method: "POST", path: "/v1/sessions" };
	expect((await ask(create, "{}", { ...json, "Content-Type": "text/plain" })).status).toBe(415);
	expect((await ask(create, "{", json)).json.error.code).toBe("bad_json");
	expect((await ask(create, `{"cwd":${"[".repeat(300)}${"]".repeat(300)}}`, json)).json.error.code).toBe("bad_json");
	expect((await ask(create, undefined, { ...json, "Content-Type": "application/json", "Content-Length": String(33 * 1024 * 1024) })).status).toBe(
		413,
	);
	const raw = (lines: string[]) =>
		new Promise<string>((resolve, reject) => {
			const socket = connect(server.port, "127.0.0.1", () => socket.write([...lines, "", ""].join("\r\n")));
			let text = "";
			socket.on("data", (chunk) => (text += chunk));
			socket.on("end", () => resolve(text.split("\r\n")[0] ?? ""));
			socket.on("error", reject);
		});
	const once = [`Host: ${own}`, `Authorization: ${authorization}`];
	expect(await raw(["GET /v1/info HTTP/1.1", ...once, "Connection: close"])).toContain("200");
	// A host and a proxy may both have added it.
	expect(await raw(["GET /v1/info HTTP/1.1", ...once, `Authorization: ${authorization}`, "Connection: close"])).toContain("200");
	for (const [more, extra] of [
		["GET", "Authorization: Bearer wrong"],
		["GET", `Host: ${own}`],
		["POST", "Idempotency-Key: a\r\nIdempotency-Key: b"],
		["POST", "Content-Length: 2\r\nContent-Length: 3"],
		["POST", "Content-Type: application/json\r\nContent-Type: text/plain"],
	] as const)
		expect(await raw([`${more} ${more === "GET" ? "/v1/info" : "/v1/sessions"} HTTP/1.1`, ...once, extra, "Connection: close"]), extra).toContain(
			"400",
		);
	const burnt = await server.get(`/v1/info?token=${server.token}`);
	expect(burnt.json.error.code).toBe("token_in_url");
	expect((await server.get("/v1/info")).status).toBe(401);
	expect(server.err).toContain("the token main was in an address and is revoked");
});
