// The floor: speaks the protocol, takes the same flags, and does nothing else. No checks, no lock, no policies, no limits.
"use strict";
const fs = require("node:fs");

const flag = (name) => {
	const at = process.argv.indexOf(name);
	return at < 0 ? undefined : process.argv[at + 1];
};
const out = (frame) => process.stdout.write(`${JSON.stringify(frame)}\n`);
const delta = (type, piece) => `${JSON.stringify({ type: "message_update", assistantMessageEvent: { type, contentIndex: 0, delta: piece } })}\n`;

const session = flag("--session");
const branch = session ? openSession(session) : [];
const replies = flag("--provider") === "scripted" ? JSON.parse(fs.readFileSync(flag("--model"), "utf8")).replies : undefined;
const descriptor = session ? fs.openSync(session, "a") : undefined;
let count = branch.length;

/** The messages of the last branch. */
function openSession(path) {
	const entries = new Map();
	let last;
	for (const line of fs.readFileSync(path, "utf8").split("\n")) {
		if (!line) continue;
		const entry = JSON.parse(line);
		if (entry.type === "session") continue;
		entries.set(entry.id, entry);
		last = entry;
	}
	const found = [];
	for (let entry = last; entry; entry = entries.get(entry.parentId)) if (entry.type === "message") found.push(entry.message);
	return found.reverse();
}

function keep(message) {
	branch.push(message);
	const line = { type: "message", id: String(++count), parentId: String(count - 1), timestamp: new Date().toISOString(), message };
	if (descriptor !== undefined) fs.writeSync(descriptor, `${JSON.stringify(line)}\n`);
}

function bash(command) {
	return new Promise((resolve) => {
		const child = require("node:child_process").spawn("bash", ["-c", command], { stdio: ["ignore", "pipe", "pipe"] });
		let output = "";
		const take = (chunk) => {
			output = (output + chunk.toString("latin1")).slice(-50_000);
		};
		child.stdout.on("data", take);
		child.stderr.on("data", take);
		child.on("close", (exitCode) => resolve({ output, exitCode }));
	});
}

/** The next reply of the script, or of the server. */
async function reply() {
	if (replies) {
		const next = replies[0] ?? { text: "" };
		if (next.times === undefined || (next.times !== "always" && --next.times <= 0)) replies.shift();
		let text = next.text ?? "";
		if (next.repeat) {
			let frames = "";
			for (let n = 0; n < next.repeat.count; n++) {
				text += next.repeat.text;
				frames += delta("text_delta", next.repeat.text);
			}
			process.stdout.write(frames);
		} else if (text) process.stdout.write(delta("text_delta", text));
		const calls = (next.blocks ?? []).filter((block) => block.tool).map((block) => ({ name: block.tool, arguments: block.arguments }));
		return { text, calls };
	}
	return asked();
}

let agent;
function asked() {
	const http = require("node:http");
	agent ??= new http.Agent({ keepAlive: true });
	const url = process.env.ANTHROPIC_BASE_URL ?? process.env.GROQ_BASE_URL ?? process.env.OPENAI_BASE_URL ?? process.env.GEMINI_BASE_URL;
	return new Promise((resolve) => {
		const request = http.request(url, { method: "POST", agent, headers: { "content-type": "application/json" } }, (response) => {
			const found = { text: "", calls: [] };
			let rest = "";
			let json = "";
			response.setEncoding("utf8");
			response.on("data", (chunk) => {
				const lines = (rest + chunk).split("\n");
				rest = lines.pop();
				let frames = "";
				for (const line of lines) {
					if (!line.startsWith("data: {")) continue;
					const event = JSON.parse(line.slice(6));
					if (event.content_block?.name) {
						found.calls.push({ name: event.content_block.name });
						json = "";
					}
					const piece = event.delta?.partial_json;
					if (piece !== undefined) {
						json += piece;
						frames += delta("toolcall_delta", piece);
					} else if (event.type === "content_block_stop") {
						if (found.calls.length) found.calls.at(-1).arguments = JSON.parse(json);
					} else {
						const text =
							event.delta?.text ??
							(typeof event.delta === "string" ? event.delta : undefined) ??
							event.choices?.[0]?.delta?.content ??
							event.candidates?.[0]?.content.parts[0]?.text;
						if (text) {
							found.text += text;
							frames += delta("text_delta", text);
						}
					}
				}
				if (frames) process.stdout.write(frames);
			});
			response.on("end", () => resolve(found));
		});
		request.end(JSON.stringify({ model: "floor", stream: true, messages: sent(branch) }));
	});
}

/** The messages in the words of a provider, which are not those of a session file. No provider takes the latter. */
function sent(messages) {
	const found = [];
	for (const { role, content, toolCallId, isError } of messages) {
		if (role === "toolResult") {
			const result = {
				type: "tool_result",
				tool_use_id: toolCallId,
				content: content.map(({ text }) => text).join("\n"),
				is_error: isError || undefined,
			};
			// The results of one turn are one message.
			if (found.at(-1)?.content[0].type === "tool_result") found.at(-1).content.push(result);
			else found.push({ role: "user", content: [result] });
		} else found.push({ role, content: content.map(block) });
	}
	return found;
}

function block({ type, text, id, name, arguments: input }) {
	return type === "toolCall" ? { type: "tool_use", id, name, input } : { type, text };
}

async function prompt(text) {
	out({ type: "agent_start" });
	keep({ role: "user", content: [{ type: "text", text }], timestamp: Date.now() });
	for (;;) {
		out({ type: "turn_start" });
		const { text, calls } = await reply();
		const message = {
			role: "assistant",
			content: [{ type: "text", text }, ...calls.map((call) => ({ type: "toolCall", ...call }))],
			stopReason: "stop",
		};
		keep(message);
		out({ type: "message_end", message });
		for (const call of calls) {
			out({ type: "tool_execution_start", toolName: call.name, args: call.arguments });
			const result =
				call.name === "bash" ? await bash(call.arguments.command) : call.name === "ls" ? { output: fs.readdirSync(".").join("\n") } : { output: "" };
			const told = { role: "toolResult", toolName: call.name, content: [{ type: "text", text: result.output }], isError: false };
			keep(told);
			out({ type: "tool_execution_end", toolName: call.name, result: told });
		}
		out({ type: "turn_end" });
		if (calls.length === 0) break;
	}
	out({ type: "agent_end", messages: [] });
	out({ type: "agent_settled" });
}

const state = () => ({
	model: null,
	thinkingLevel: "off",
	isStreaming: false,
	isCompacting: false,
	steeringMode: "one-at-a-time",
	followUpMode: "one-at-a-time",
	interruptMode: "immediate",
	sessionFile: session,
	sessionId: "00000000-0000-7000-8000-000000000000",
	autoCompactionEnabled: true,
	messageCount: branch.length,
	pendingMessageCount: 0,
	queuedMessageCount: 0,
	todoPhases: [],
	version: "0.0.0",
	protocol: 1,
	cwd: process.cwd(),
	capabilities: {},
});

function handle({ id, type, ...rest }) {
	const answer = (data) => JSON.stringify({ id, type: "response", command: type, success: true, data });
	switch (type) {
		case "get_state":
			return answer(state());
		case "get_messages":
			return answer({ messages: branch });
		case "set_session_name":
			if (descriptor !== undefined) fs.writeSync(descriptor, `${JSON.stringify({ type: "session_info", id: String(++count), name: rest.name })}\n`);
			return answer();
		case "bash":
			bash(rest.command).then((result) => process.stdout.write(`${answer(result)}\n`));
			return undefined;
		case "prompt":
			setImmediate(prompt, rest.message);
			return answer();
		default:
			return answer();
	}
}

let rest = "";
out({ type: "ready" });
process.stdin.on("data", (chunk) => {
	const lines = (rest + chunk).split("\n");
	rest = lines.pop();
	let answers = "";
	for (const line of lines) {
		const answer = handle(JSON.parse(line));
		if (answer) answers += `${answer}\n`;
	}
	if (answers) process.stdout.write(answers);
});
process.stdin.on("end", () => process.exit(0));
