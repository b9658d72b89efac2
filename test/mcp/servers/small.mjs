// A small MCP server over stdio, without a library. Words on its command line choose its habits.
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";

const habits = new Set(process.argv.slice(2));
const has = (habit) => habits.has(habit);
const option = (name) => [...habits].find((word) => word.startsWith(`${name}=`))?.slice(name.length + 1);
const version = option("version") ?? "2025-11-25";
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const answer = (id, result) => send({ id, result });
const fail = (id, code, message, data) => send({ id, error: { code, message, data } });
const text = (value) => ({ content: [{ type: "text", text: value }] });
const schema = (properties = {}, required = []) => ({ type: "object", properties, required });
const asked = new Map();
let nextId = 1;
const ask = (method, params) =>
	new Promise((resolve) => {
		const id = `s${nextId++}`;
		asked.set(id, resolve);
		send({ id, method, params });
	});

const tools = [
	{ name: "echo", description: "Says it again.", inputSchema: schema({ text: { type: "string" } }, ["text"]), annotations: { readOnlyHint: true } },
	{ name: "environment", description: "Its variables.", inputSchema: schema() },
	{ name: "pid", description: "Its process.", inputSchema: schema() },
	{ name: "die", description: "Ends.", inputSchema: schema() },
	{ name: "wait", description: "Never answers.", inputSchema: schema() },
	{ name: "progress", description: "Reports.", inputSchema: schema({ steps: { type: "number" } }) },
	{ name: "lines", description: "Many lines.", inputSchema: schema({ count: { type: "number" } }) },
	{ name: "fail", description: "Fails.", inputSchema: schema() },
	{ name: "refuse", description: "An error of the protocol.", inputSchema: schema() },
	{ name: "structured", description: "Data.", inputSchema: schema() },
	{ name: "mixed", description: "Every kind of block.", inputSchema: schema() },
	{ name: "roots", description: "Asks for roots.", inputSchema: schema() },
	{ name: "elicit", description: "Asks a person.", inputSchema: schema({ request: { type: "object" } }) },
	{ name: "grow", description: "One more tool from now on.", inputSchema: schema() },
	{ name: "capabilities", description: "What the client announced.", inputSchema: schema() },
];
if (has("badTools")) {
	tools.push({ name: "far", inputSchema: { type: "object", properties: { a: { $ref: "http://localhost:9/schema" } } } });
	tools.push({ name: "list", inputSchema: { type: "array" } });
	tools.push({ name: "huge", inputSchema: { type: "object", description: "x".repeat(70_000) } });
}
if (option("many"))
	for (let index = 0; index < Number(option("many")); index++)
		tools.push({ name: `t${index}`, description: `Tool ${index}.`, inputSchema: schema({ a: { type: "string" } }) });

let announced;
const calls = {
	echo: ({ text: value }) => text(value),
	environment: () => text(JSON.stringify(process.env)),
	pid: () => text(String(process.pid)),
	die: () => {
		console.error("I have had enough");
		process.exit(7);
	},
	wait: () => new Promise(() => undefined),
	async progress({ steps = 3 }, { progressToken }) {
		for (let step = 1; step <= steps; step++) {
			send({ method: "notifications/progress", params: { progressToken, progress: step, total: steps, message: "working" } });
			await new Promise((resolve) => setTimeout(resolve, Number(option("pace") ?? 20)));
		}
		return text("done");
	},
	lines: ({ count = 5000 }) => text(Array.from({ length: count }, (_, index) => `line ${index + 1}`).join("\n")),
	fail: () => ({ ...text("it went wrong"), isError: true }),
	structured: () => ({ content: [], structuredContent: { answer: 42 } }),
	mixed: () => ({
		content: [
			{ type: "text", text: "words" },
			{ type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" },
			{ type: "audio", data: "AAAA", mimeType: "audio/wav" },
			{ type: "resource_link", uri: "file:///a", name: "a", mimeType: "text/plain", description: "A file" },
			{ type: "resource", resource: { uri: "mem://b", text: "inside" } },
			{ type: "resource", resource: { uri: "mem://c", blob: "AAAA", mimeType: "application/zip" } },
			{ type: "text", text: "for the person", annotations: { audience: ["user"] } },
		],
	}),
	roots: async () => text(JSON.stringify(await ask("roots/list", {}))),
	elicit: async ({ request }) => text(JSON.stringify(await ask("elicitation/create", request))),
	grow() {
		tools.push({ name: "late", description: "A late tool.", inputSchema: schema() });
		send({ method: "notifications/tools/list_changed" });
		return text("grown");
	},
	late: () => text("here"),
	capabilities: () => text(JSON.stringify(announced)),
};

async function receive({ id, method, params = {}, result, error }) {
	if (method === undefined) {
		asked.get(id)?.(result ?? { error });
		asked.delete(id);
		return;
	}
	if (has("modernOnly") && method === "initialize") return fail(id, -32022, "Unsupported protocol version", { supported: ["2026-07-28"] });
	switch (method) {
		case "initialize":
			announced = params;
			if (has("silent")) return;
			while (option("slowUntil") && !existsSync(option("slowUntil"))) await new Promise((resolve) => setTimeout(resolve, 20));
			return answer(id, {
				protocolVersion: version === "asked" ? params.protocolVersion : version,
				capabilities: { tools: { listChanged: true }, prompts: {}, resources: {} },
				serverInfo: { name: "small", version: "1" },
				...(option("instructions") ? { instructions: option("instructions") } : {}),
			});
		case "server/discover":
			announced = params;
			return answer(id, {
				resultType: "complete",
				supportedVersions: ["2026-07-28"],
				capabilities: { tools: {} },
				serverInfo: { name: "small", version: "1" },
			});
		case "tools/list": {
			if (has("loop")) return answer(id, { tools: tools.slice(0, 1), nextCursor: "again" });
			if (!has("pages")) return answer(id, { tools });
			const at = Number(params.cursor ?? 0);
			return answer(id, { tools: tools.slice(at, at + 5), ...(at + 5 < tools.length ? { nextCursor: String(at + 5) } : {}) });
		}
		case "tools/call": {
			if (params.name === "refuse") return fail(id, -32050, "not today");
			const call = calls[params.name] ?? (() => text(params.name));
			return answer(id, await call(params.arguments ?? {}, params._meta ?? {}));
		}
		case "prompts/list":
			return answer(id, {
				prompts: [{ name: "greet", description: "Greets.", arguments: [{ name: "who", required: true }, { name: "how" }] }],
			});
		case "prompts/get": {
			const { who, how } = params.arguments ?? {};
			return answer(id, {
				messages: [
					{ role: "user", content: { type: "text", text: `Greet ${who}${how ? ` ${how}` : ""}.` } },
					{ role: "assistant", content: { type: "text", text: "Gladly." } },
				],
			});
		}
		case "resources/list":
			return answer(id, { resources: [{ uri: "mem://one", name: "one", mimeType: "text/plain" }] });
		case "resources/read":
			return answer(id, { contents: [{ uri: params.uri, text: `content of ${params.uri}` }] });
		default:
			if (id !== undefined) fail(id, -32601, "Method not found");
			else if (has("reports")) console.error(`got ${method} ${JSON.stringify(params)}`);
	}
}

if (has("noise")) for (let index = 0; index < Number(option("noiseLines") ?? 20); index++) console.log(`not JSON ${index}`);
// It answers once all of it is written, so a test that has an answer has the noise before it.
if (has("loud")) await new Promise((resolve) => process.stderr.write(`${"x".repeat(1023)}\n`.repeat(4 * 1024), resolve));
if (has("exit")) {
	console.error("no licence");
	process.exit(3);
}
if (has("stubborn")) {
	process.on("SIGTERM", () => undefined);
	setInterval(() => undefined, 1000);
}
const lines = createInterface({ input: process.stdin });
lines.on("line", (line) => void receive(JSON.parse(line)));
lines.on("close", () => has("stubborn") || process.exit(0));
