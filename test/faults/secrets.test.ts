/** Canaries in every place where credentials can be: whatever fails, and whichever component prints them, they appear nowhere. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Answer, Loopback, refuse } from "../models/loopback.ts";
import { type ApiKind, askedBy, spoken } from "../models/wire.ts";
import { Agent } from "../wire/support/agent.ts";

const canaries = {
	environment: "canary-environment-Aa0Bb1Cc2Dd3",
	other: "canary-other-Ee4Ff5Gg6Hh7",
	file: "canary-file-Ii8Jj9Kk0Ll1",
	header: "canary-header-Mm2Nn3Oo4Pp5",
	variable: "canary-variable-Qq6Rr7Ss8Tt9",
	command: "canary-command-Uu0Vv1Ww2Xx3",
	password: "canary-password-Yy4Zz5Aa6Bb7",
	proxy: "canary-proxy-Cc8Dd9Ee0Ff1",
	quoted: 'canary-"quoted\\-Gg2Hh3Ii4Jj5',
};
/** The output of a command in the models file is known once the command has run. */
const { command: _, ...known } = canaries;
const all = Object.values(known);
const wholeText = all.join(" ");

let server: Loopback;
let agent: Agent;
/** The user's directory, and one for temporary files. */
let folder: string;
beforeEach(async () => {
	server = await Loopback.start();
	folder = mkdtempSync(join(tmpdir(), "bowline-secrets-"));
	for (const name of ["user", "temp"]) mkdirSync(join(folder, name), { mode: 0o700 });
});
afterEach(async () => {
	await agent.dispose();
	await server.stop();
	rmSync(folder, { recursive: true, force: true });
});

const env = {
	ANTHROPIC_API_KEY: canaries.environment,
	MISTRAL_API_KEY: canaries.other,
	MINE: canaries.variable,
	QUOTED_KEY: canaries.quoted,
	HTTPS_PROXY: `http://user:${canaries.proxy}@127.0.0.1:9`,
};

/** The places that contain the canaries. */
const placed = {
	"leak.txt": wholeText,
	"long.txt": `${"x".repeat(51_000)}${wholeText}`,
	"edit.txt": `zz ${wholeText}\n`,
	"line.txt": all.map((canary) => `${"needle".padEnd(475)}${canary}\n`).join(""),
};

function start(api: ApiKind | "custom", more: Record<string, string> = {}): void {
	const asked = api === "custom" ? { flags: ["--provider", "acme", "--model", "m"], env: {} } : askedBy(api, server.url, canaries.environment);
	writeFileSync(join(folder, "user/models.jsonc"), models(), { mode: 0o600 });
	const flags = [
		...asked.flags,
		"--session-dir",
		join(folder, "sessions"),
		"--tools",
		"read,bash,grep,find,ls,write,edit,task",
		"--set",
		"retry.maxRetries=1",
	];
	const places = { BOWLINE_DIR: join(folder, "user"), TMPDIR: join(folder, "temp") };
	agent = new Agent({ flags, env: { ...env, ...places, ...asked.env, ...more }, files: placed });
}

function models(): string {
	const provider = (extra: object) => ({ baseUrl: server.url, api: "openai-completions", models: [{ id: "m" }], ...extra });
	return JSON.stringify({
		providers: {
			acme: provider({ apiKey: canaries.file, headers: { "x-team-token": canaries.header, "x-mine": "$MINE" } }),
			shell: provider({ apiKey: `!echo ${canaries.command}` }),
			walled: provider({ baseUrl: server.url.replace("//", `//user:${canaries.password}@`), apiKey: "QUOTED_KEY" }),
		},
	});
}

/** Everything that the program leaves, except the places where the canaries were put. */
function everything(): Map<string, string> {
	const texts = new Map([
		["frames", JSON.stringify(agent.frames)],
		["frames, read", agent.frames.map(strings).join("\n")],
		["stderr", agent.stderr],
	]);
	for (const place of [agent.cwd, folder]) {
		for (const name of readdirSync(place, { recursive: true, encoding: "utf8" })) {
			const path = join(place, name);
			if (statSync(path).isFile() && !Object.hasOwn(placed, name) && !name.endsWith("models.jsonc")) texts.set(path, readFileSync(path, "utf8"));
		}
	}
	return texts;
}

/** All texts in a value, as they are meant. */
function strings(value: unknown): string {
	if (typeof value === "string") return value;
	return typeof value === "object" && value !== null ? Object.values(value).map(strings).join("\n") : "";
}

/** Half of a key is a leak too. */
function expectNoCanary(): void {
	const leaks: string[] = [];
	for (const [where, text] of everything()) {
		for (const [kind, canary] of Object.entries(canaries)) {
			const half = Math.max(16, Math.ceil(canary.length / 2));
			const pieces = Array.from({ length: canary.length - half + 1 }, (_, at) => canary.slice(at, at + half));
			const found = pieces.flatMap((piece) => [piece, JSON.stringify(piece).slice(1, -1)]).find((piece) => text.includes(piece));
			if (found !== undefined) leaks.push(`${kind} in ${where}: ${text.slice(Math.max(0, text.indexOf(found) - 200), text.indexOf(found) + 60)}`);
		}
	}
	expect(leaks).toEqual([]);
}

async function run(message = "go"): Promise<void> {
	agent.send({ id: `p${agent.frames.length}`, type: "prompt", message });
	await agent.event("agent_settled");
}

/** Looks at everything that a host can ask for. */
async function askAll(): Promise<void> {
	const types = ["get_state", "get_messages", "get_available_models", "get_session_stats", "get_entries", "get_tree", "get_commands", "export_html"];
	for (const type of types) {
		agent.send({ id: type, type });
		await agent.response(type);
	}
}

const apis: (ApiKind | "custom")[] = ["anthropic", "chat", "responses", "google", "custom"];
const wire = (api: ApiKind | "custom"): ApiKind => (api === "custom" ? "chat" : api);
const says =
	(api: ApiKind | "custom", reply: Parameters<typeof spoken>[1]): Answer =>
	(response) => {
		response.writeHead(200, { "content-type": "text/event-stream" });
		response.end(spoken(wire(api), reply));
	};

describe.each(apis)("%s", (api) => {
	const troubles: [what: string, ...answers: Answer[]][] = [
		["a refusal that repeats the key", refuse(401, JSON.stringify({ error: { message: `invalid api key: ${wholeText}` } }))],
		["an overloaded server that repeats it", refuse(529, wholeText, { "x-key": canaries.environment })],
		["a page that repeats it", refuse(500, `<html><body>Authorization: Bearer ${wholeText}</body></html>`)],
		...[180, 280, 480, 64 * 1024 - 20].map((at): [string, Answer] => [
			"one that is cut",
			refuse(400, `${"x".repeat(at)}${canaries.environment}${"y".repeat(100_000)}`),
		]),
		...[180, 280, 480].map((at): [string, Answer] => [
			"a page that is cut",
			refuse(500, `<html>${"x".repeat(at - 20)}${canaries.environment}${"y".repeat(1000)}</html>`),
		]),
		["a redirect to an address with it", refuse(302, "", { location: `http://127.0.0.1:9/?key=${canaries.environment}` })],
		[
			"an error in the middle of the reply",
			(response) => {
				response.writeHead(200, { "content-type": "text/event-stream" });
				response.write(spoken(wire(api), { text: ["half"] }).slice(0, 150));
				response.end(`\n\nevent: error\ndata: ${JSON.stringify({ type: "error", error: { type: "x", message: wholeText } })}\n\n`);
			},
		],
		["garbage with it in", (response) => void response.end(`data: {"broken": ${JSON.stringify(wholeText)}\n\n`)],
	];
	test("whatever the provider says", async () => {
		start(api);
		for (const [, ...answers] of troubles) {
			server.answer(...answers);
			await run();
		}
		await askAll();
		expectNoCanary();
		expect(server.received.length).toBeGreaterThan(troubles.length);
		expect(agent.frames.some(({ type }) => type === "auto_retry_start")).toBe(true);
	});

	test("whatever a tool prints", async () => {
		const calls = [
			{ id: "c1", name: "read", arguments: ['{"path":"leak.txt"}'] },
			{ id: "c2", name: "read", arguments: ['{"path":"long.txt"}'] },
			{ id: "c3", name: "bash", arguments: ['{"command":"cat leak.txt; cat leak.txt >&2; exit 1"}'] },
			{ id: "c4", name: "bash", arguments: ['{"command":"for n in $(seq 400); do cat leak.txt; echo; done"}'] },
			{ id: "c5", name: "bash", arguments: ["{\"command\":\"env; cat /proc/self/environ; tr '\\\\0' ' ' < /proc/$PPID/environ | cut -c1-0\"}"] },
			{ id: "c6", name: "grep", arguments: ['{"pattern":"canary"}'] },
			{ id: "c8", name: "grep", arguments: ['{"pattern":"needle"}'] },
			{ id: "c7", name: "edit", arguments: ['{"path":"edit.txt","oldText":"zz","newText":"yy"}'] },
		];
		server.answer(says(api, { calls }), says(api, { text: ["done"] }));
		start(api);
		await run();
		agent.send({ id: "b", type: "bash", command: "cat long.txt leak.txt; env" });
		await agent.response("b");
		await askAll();
		expect(agent.frames.filter(({ type }) => type === "tool_execution_end")).toHaveLength(calls.length);
		expectNoCanary();
		// The requests to the provider contain no canary either, except where it belongs.
		for (const { body } of server.received) for (const canary of all) expect(body).not.toContain(canary);
	});
});

test("addresses that cannot be reached, and commands that print keys", async () => {
	server.answer(refuse(401, `no: ${wholeText} ${canaries.command}`));
	start("custom", { ANTHROPIC_API_KEY: canaries.environment });
	for (const [provider, modelId] of [
		["anthropic", "claude-opus-4-6"],
		["shell", "m"],
		["walled", "m"],
	] as const) {
		agent.send({ id: provider, type: "set_model", provider, modelId });
		await agent.response(provider);
		await run();
	}
	await askAll();
	expect(server.received.map(({ headers }) => JSON.stringify(headers)).join()).toContain(canaries.command);
	expectNoCanary();
});

test("subagents: their conversations, results and environments", async () => {
	const task = { agent: "task", tasks: [{ id: "A", description: "d", assignment: "look" }] };
	server.answer((response, received) => {
		const isChild = received.body.includes('"submit_result"');
		const hasLooked = received.body.includes("[redacted]");
		const call = isChild
			? hasLooked
				? { name: "submit_result", arguments: [JSON.stringify({ result: { data: wholeText } })] }
				: { name: "bash", arguments: ["{\"command\":\"cat leak.txt; env; tr '\\\\0' ' ' < /proc/$PPID/cmdline\"}"] }
			: undefined;
		if (isChild) return says("anthropic", { call })(response, received);
		const isOver = received.body.includes("tool_result");
		return says("anthropic", isOver ? { text: ["done"] } : { call: { name: "task", arguments: [JSON.stringify(task)] } })(response, received);
	});
	start("anthropic");
	await run();
	await askAll();
	expect(agent.frames.find(({ type }) => type === "subagent_end")).toMatchObject({ exitCode: 0 });
	expectNoCanary();
});

test("no one else may read what is written", async () => {
	server.answer(
		says("anthropic", { call: { name: "bash", arguments: ['{"command":"yes | head -c 200000"}'] } }),
		says("anthropic", { text: ["done"] }),
	);
	start("anthropic");
	await run();
	await askAll();
	const written = [...everything().keys()].filter((path) => path.startsWith("/"));
	expect(
		written.some((path) => path.endsWith(".log")) &&
			written.some((path) => path.endsWith(".jsonl")) &&
			written.some((path) => path.endsWith(".html")),
	).toBe(true);
	for (const path of written) expect([path, (statSync(path).mode & 0o077).toString(8)]).toEqual([path, "0"]);
});
