/** Servers over HTTP: both generations, the old transport of 2024, and what goes wrong on the way. */
import { randomUUID } from "node:crypto";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { describe, expect, test } from "vitest";
import { type Answer, events, json, loopback, type Received } from "./loopback.ts";
import { Servers } from "./support.ts";

const tool = { name: "add", description: "Adds.", inputSchema: { type: "object", properties: { a: { type: "number" } } } };
const modernVersion = "2026-07-28";

/** A server of the newer generation. `answers` come first. */
function modern(
	answers: Record<string, (request: Received, ...rest: Parameters<Answer> extends [unknown, ...infer R] ? R : never) => void> = {},
): Answer {
	return (request, response, incoming) => {
		const { id, method = "" } = request.body;
		const own = answers[method];
		if (own) return own(request, response, incoming);
		if (method === "server/discover")
			return json(response, {
				id,
				result: { resultType: "complete", supportedVersions: [modernVersion], capabilities: { tools: {} }, serverInfo: {} },
			});
		if (method === "tools/list") return json(response, { id, result: { resultType: "complete", tools: [tool] } });
		if (method === "tools/call") return json(response, { id, result: { resultType: "complete", content: [{ type: "text", text: "sum" }] } });
		json(response, { id, error: { code: -32601, message: "Method not found" } }, 404);
	};
}

/** A server before 2026, with sessions. */
function legacy(answers: Record<string, Answer> = {}, capabilities: object = { tools: {} }): Answer {
	return (request, response, incoming) => {
		const { id, method = "" } = request.body;
		const own = answers[method] ?? answers[request.method];
		if (own) return own(request, response, incoming);
		if (request.method !== "POST") return void response.writeHead(405).end();
		if (method === "server/discover") return json(response, { id: null, error: { code: -32000, message: "Bad Request: no session" } }, 400);
		if (method === "initialize")
			return json(response, { id, result: { protocolVersion: "2025-06-18", capabilities, serverInfo: {} } }, 200, { "mcp-session-id": "first" });
		if (id === undefined) return void response.writeHead(202).end();
		if (method === "tools/list") return json(response, { id, result: { tools: [tool] } });
		if (method === "tools/call") return json(response, { id, result: { content: [{ type: "text", text: "sum" }] } });
		json(response, { id, error: { code: -32601, message: "Method not found" } });
	};
}

const of = (received: Received[], method: string) => received.filter(({ body }) => body.method === method);

describe("the newer generation", () => {
	test("is recognised by one question, and every request says what it is in its headers", async () => {
		await using server = await loopback(modern());
		await using servers = await new Servers({ s: { url: server.url, headers: { "X-Own": "mine" } } }).prepare();
		expect(servers.status("s")).toMatchObject({ status: "ready", transport: "http", protocolVersion: modernVersion });
		expect(await servers.say("mcp__s__add", { a: 1 })).toBe("sum");
		expect(server.received.map(({ body }) => body.method)).toEqual(["server/discover", "tools/list", "tools/call"]);
		const [call] = of(server.received, "tools/call");
		expect(call?.headers).toMatchObject({
			"mcp-protocol-version": modernVersion,
			"mcp-method": "tools/call",
			"mcp-name": "add",
			"x-own": "mine",
			accept: "application/json, text/event-stream",
		});
		expect(call?.body.params?._meta).toMatchObject({ "io.modelcontextprotocol/protocolVersion": modernVersion });
		expect(call?.headers["mcp-session-id"]).toBeUndefined();
	});

	test("marked arguments are repeated in headers, in base64 where a header cannot hold them", async () => {
		const property = (header: string, type = "string") => ({ type, "x-mcp-header": header });
		const marked = {
			...tool,
			inputSchema: {
				type: "object",
				properties: {
					region: property("Region"),
					name: property("Name"),
					gap: property("Gap"),
					count: property("Count", "integer"),
					none: property("None"),
				},
			},
		};
		const wrong = [
			{ ...tool, name: "empty", inputSchema: { type: "object", properties: { a: property("") } } },
			{ ...tool, name: "twice", inputSchema: { type: "object", properties: { a: property("X"), b: property("x") } } },
			{ ...tool, name: "object", inputSchema: { type: "object", properties: { a: property("X", "object") } } },
			{ ...tool, name: "inList", inputSchema: { type: "object", properties: { a: { type: "array", items: property("X") } } } },
		];
		await using server = await loopback(
			modern({ "tools/list": ({ body }, response) => json(response, { id: body.id, result: { tools: [marked, ...wrong] } }) }),
		);
		await using servers = await new Servers({ s: { url: server.url } }).prepare();
		expect(servers.status("s")?.tools).toEqual(["mcp__s__add"]);
		expect(servers.warnings).toHaveLength(4);
		await servers.say("mcp__s__add", { region: "eu", name: "Zoë", gap: " x ", count: 3, none: null });
		const [call] = of(server.received, "tools/call");
		const headers = Object.entries(call?.headers ?? {}).filter(([name]) => name.startsWith("mcp-param-"));
		expect(Object.fromEntries(headers)).toEqual({
			"mcp-param-region": "eu",
			"mcp-param-name": "=?base64?Wm/Dqw==?=",
			"mcp-param-gap": "=?base64?IHgg?=",
			"mcp-param-count": "3",
		});
	});

	test("headers that do not fit are made again from a fresh list, once", async () => {
		let lists = 0;
		await using server = await loopback(
			modern({
				"tools/list": ({ body }, response) => {
					lists += 1;
					const properties = { a: { type: "string", ...(lists > 1 ? { "x-mcp-header": "A" } : {}) } };
					json(response, { id: body.id, result: { tools: [{ ...tool, inputSchema: { type: "object", properties } }] } });
				},
				"tools/call": ({ body, headers }, response) =>
					headers["mcp-param-a"] === "x"
						? json(response, { id: body.id, result: { content: [{ type: "text", text: "good" }] } })
						: json(response, { id: body.id, error: { code: -32020, message: "Header mismatch" } }, 400),
			}),
		);
		await using servers = await new Servers({ s: { url: server.url } }).prepare();
		expect(await servers.say("mcp__s__add", { a: "x" })).toBe("good");
		expect(lists).toBe(2);
	});

	test("a request for input is answered by asking again, with the state as it was given", async () => {
		const rounds: Record<string, unknown>[] = [];
		await using server = await loopback(
			modern({
				"tools/call": ({ body }, response) => {
					const { inputResponses, requestState } = body.params ?? {};
					rounds.push({ id: body.id, inputResponses, requestState });
					const elicit = { method: "elicitation/create", params: { message: "which", requestedSchema: { type: "object", properties: {} } } };
					const send = events(response);
					if (rounds.length === 1) send({ id: body.id, result: { resultType: "input_required", inputRequests: { e: elicit }, requestState: "s1" } });
					else if (rounds.length === 2)
						send({ id: body.id, result: { resultType: "input_required", inputRequests: { r: { method: "roots/list" } } } });
					else send({ id: body.id, result: { resultType: "complete", content: [{ type: "text", text: "done" }] } });
					response.end();
				},
			}),
		);
		const elicit = async () => ({ action: "accept", content: { x: 1 } });
		await using servers = await new Servers({ s: { url: server.url } }, { elicit }).prepare();
		expect(await servers.say("mcp__s__add", { a: 1 })).toBe("done");
		expect(rounds.map(({ inputResponses, requestState }) => ({ inputResponses, requestState }))).toEqual([
			{ inputResponses: undefined, requestState: undefined },
			{ inputResponses: { e: { action: "accept", content: { x: 1 } } }, requestState: "s1" },
			{ inputResponses: { r: { roots: [{ name: "folder", uri: expect.stringMatching(/^file:/) }] } }, requestState: undefined },
		]);
		expect(new Set(rounds.map(({ id }) => id)).size).toBe(3);
	});

	test("rounds without end, foreign requests and unknown results fail the call", async () => {
		const result: Record<string, unknown> = {};
		await using server = await loopback(modern({ "tools/call": ({ body }, response) => json(response, { id: body.id, result }) }));
		await using servers = await new Servers({ s: { url: server.url } }).prepare();
		Object.assign(result, { resultType: "input_required", inputRequests: { r: { method: "roots/list" } } });
		expect(await servers.failure("mcp__s__add")).toBe('MCP server "s": the server asked for input more than 8 times');
		Object.assign(result, { inputRequests: { r: { method: "sampling/createMessage" } } });
		expect(await servers.failure("mcp__s__add")).toBe('MCP server "s": the server asked for "sampling/createMessage", which Bowline does not offer');
		Object.assign(result, { resultType: "later" });
		expect(await servers.failure("mcp__s__add")).toBe('MCP server "s": the result has the unknown type "later"');
	});

	test("list changes come over a subscription, and an abort closes the stream of a call", async () => {
		let tell: (message: object) => void = () => undefined;
		let tools = [tool];
		let isClosed = false;
		const listChanged = { tools: { listChanged: true } };
		await using server = await loopback(
			modern({
				"server/discover": ({ body }, response) =>
					json(response, { id: body.id, result: { supportedVersions: [modernVersion], capabilities: listChanged } }),
				"tools/list": ({ body }, response) => json(response, { id: body.id, result: { tools } }),
				"subscriptions/listen": ({ body }, response) => {
					expect(body.params?.notifications).toEqual({ toolsListChanged: true });
					tell = events(response);
				},
				"tools/call": (_, response) => {
					events(response);
					response.on("close", () => {
						isClosed = true;
					});
				},
			}),
		);
		await using servers = await new Servers({ s: { url: server.url } }).prepare();
		await expect.poll(() => of(server.received, "subscriptions/listen").length).toBe(1);
		tools = [tool, { ...tool, name: "more" }];
		tell({ method: "notifications/tools/list_changed", params: {} });
		await expect.poll(() => servers.status("s")?.tools).toEqual(["mcp__s__add", "mcp__s__more"]);
		const controller = new AbortController();
		const call = servers.call("mcp__s__add", {}, controller.signal).catch((error) => error.message);
		await expect.poll(() => of(server.received, "tools/call").length).toBe(1);
		controller.abort();
		expect(await call).toBe('MCP tool add of "s" was aborted');
		await expect.poll(() => isClosed).toBe(true);
		expect(of(server.received, "notifications/cancelled")).toEqual([]);
	});
});

describe("servers before 2026", () => {
	test("are greeted the older way, keep their session and the agreed revision, and it ends", async () => {
		await using server = await loopback(legacy());
		const servers = await new Servers({ s: { url: server.url } }).prepare();
		expect(servers.status("s")).toMatchObject({ status: "ready", protocolVersion: "2025-06-18" });
		expect(await servers.say("mcp__s__add")).toBe("sum");
		for (const method of ["notifications/initialized", "tools/list", "tools/call"])
			expect(of(server.received, method)[0]?.headers).toMatchObject({ "mcp-session-id": "first", "mcp-protocol-version": "2025-06-18" });
		await servers.close();
		expect(server.received.at(-1)).toMatchObject({ method: "DELETE", headers: { "mcp-session-id": "first" } });
	});

	test("a lost session is begun again, and the request sent once more", async () => {
		let session = "first";
		await using server = await loopback((request, response, incoming) => {
			const { method, id } = request.body;
			if (method === "tools/call" && request.headers["mcp-session-id"] !== session)
				return json(response, { id, error: { code: -32001, message: "no session" } }, 404);
			if (method === "initialize")
				return json(response, { id, result: { protocolVersion: "2025-06-18", capabilities: { tools: {} } } }, 200, { "mcp-session-id": session });
			return legacy()(request, response, incoming);
		});
		await using servers = await new Servers({ s: { url: server.url } }).prepare();
		session = "second";
		expect(await servers.say("mcp__s__add")).toBe("sum");
		expect(of(server.received, "tools/call").map(({ headers }) => headers["mcp-session-id"])).toEqual(["first", "second"]);
	});

	test("a stream that breaks off is resumed where it ended, after the wait the server asks for", async () => {
		const resumed: unknown[] = [];
		let callId: number | undefined;
		await using server = await loopback(
			legacy({
				"tools/call": ({ body }, response) => {
					callId = body.id;
					const send = events(response);
					response.write("retry: 50\n");
					send("", "e1");
					response.end();
				},
				GET: ({ headers }, response) => {
					resumed.push(headers["last-event-id"]);
					const send = events(response);
					if (resumed.length === 1) send({ method: "notifications/progress", params: { progressToken: callId, progress: 1 } }, "e2");
					else send({ id: callId, result: { content: [{ type: "text", text: "resumed" }] } }, "e3");
					response.end();
				},
			}),
		);
		await using servers = await new Servers({ s: { url: server.url } }).prepare();
		expect(await servers.say("mcp__s__add")).toBe("resumed");
		expect(resumed).toEqual(["e1", "e2"]);
	});

	test("the official SDK's servers: streamable HTTP, and the transport of 2024", async () => {
		const make = () => {
			const server = new McpServer({ name: "sdk", version: "1" }, { capabilities: { logging: {} } });
			server.registerTool("greet", { description: "Greets." }, async (extra) => {
				await extra.sendNotification({ method: "notifications/message", params: { level: "info", data: "hello log" } });
				const { roots } = await server.server.listRoots();
				return { content: [{ type: "text", text: `hello ${roots[0]?.name}` }] };
			});
			return server;
		};
		const transports = new Map<string, StreamableHTTPServerTransport>();
		await using http = await loopback(async ({ body, headers }, response, incoming) => {
			const known = transports.get(String(headers["mcp-session-id"]));
			const transport =
				known ??
				new StreamableHTTPServerTransport({ sessionIdGenerator: randomUUID, onsessioninitialized: (id) => void transports.set(id, transport) });
			if (!known) await make().connect(transport);
			await transport.handleRequest(incoming, response, body);
		});
		const streams = new Map<string, SSEServerTransport>();
		await using old = await loopback(async ({ method, body }, response, incoming) => {
			if (method === "GET") {
				const transport = new SSEServerTransport("/messages", response);
				streams.set(transport.sessionId, transport);
				return make().connect(transport);
			}
			const id = new URL(incoming.url ?? "", "http://x").searchParams.get("sessionId");
			if (id === null) return void response.writeHead(405).end();
			await streams.get(id)?.handlePostMessage(incoming, response, body);
		});
		await using servers = await new Servers({ http: { url: http.url }, fallback: { url: old.url }, sse: { type: "sse", url: old.url } }).prepare();
		for (const name of ["http", "fallback", "sse"]) {
			expect(servers.status(name), servers.warnings.join()).toMatchObject({ status: "ready", protocolVersion: "2025-11-25" });
			expect(await servers.say(`mcp__${name}__greet`)).toBe("hello folder");
		}
		expect(servers.log()).toContain("info: hello log");
	});
});

describe("what goes wrong", () => {
	const failing = async (entry: object) => {
		await using servers = await new Servers({ s: entry }).prepare();
		return servers.status("s")?.error;
	};

	test("a login is wanted, or the token is refused", async () => {
		await using server = await loopback((_, response) => void response.writeHead(401).end());
		expect(await failing({ url: server.url })).toBe(
			// biome-ignore lint/suspicious/noTemplateCurlyInString: what people are told to write
			'MCP server "s" wants a login (OAuth), which Bowline does not do. Put a token into its headers, such as "Authorization": "Bearer ${NAME}", or start it through a local bridge (mcp-remote).',
		);
		expect(await failing({ url: server.url, headers: { Authorization: "Bearer not-this-one" } })).toBe(
			'MCP server "s" refused the token of its headers (401)',
		);
	});

	test("nobody is there, or only an error page", async () => {
		expect(await failing({ url: "http://127.0.0.1:9/mcp" })).toMatch(/^MCP server "s": 127\.0\.0\.1:9 could not be reached: .*ECONNREFUSED/);
		await using page = await loopback((_, response) => void response.writeHead(502, { "content-type": "text/html" }).end("<h1>Bad gateway</h1>"));
		expect(await failing({ url: page.url })).toBe('MCP server "s": the server answered with status 502: Bad gateway');
		await using silent = await loopback(() => undefined);
		expect(await failing({ url: silent.url, startTimeout: 0.2 })).toBe('MCP server "s" has not answered for 1 s.');
	});

	test("redirects are followed within the origin, and headers never leave it", async () => {
		await using other = await loopback(modern());
		await using server = await loopback((request, response, incoming) => {
			if (incoming.url === "/new") return modern()(request, response, incoming);
			response.writeHead(308, { location: incoming.url === "/away" ? other.url : "/new" }).end();
		});
		await using servers = await new Servers({ s: { url: server.url, headers: { "X-Secret": "1" } } }).prepare();
		expect(servers.status("s")?.status).toBe("ready");
		const away = new URL("/away", server.url).href;
		expect(await failing({ url: away, headers: { "X-Secret": "1" } })).toContain("status 308");
		expect(other.received).toEqual([]);
	});

	test("a stream of the newer generation that breaks off fails the call, and the next one works", async () => {
		let calls = 0;
		await using server = await loopback(
			modern({
				"tools/call": ({ body }, response) => {
					calls += 1;
					const send = events(response);
					if (calls > 1) send({ id: body.id, result: { content: [{ type: "text", text: "fine" }] } });
					response.end();
				},
			}),
		);
		await using servers = await new Servers({ s: { url: server.url } }).prepare();
		expect(await servers.failure("mcp__s__add")).toMatch(/^MCP server "s": 127\.0\.0\.1:\d+ ended its answer before it was complete$/);
		expect(await servers.say("mcp__s__add")).toBe("fine");
		expect(calls).toBe(2);
	});
});
