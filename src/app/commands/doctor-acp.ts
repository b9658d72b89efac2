/** Drives `bowline acp` as an editor does: the handshake, a session, a turn with a question, and the end. */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { RpcError } from "../../acp/errors.ts";
import { Peer } from "../../acp/peer.ts";
import { RecordReader } from "../../lib/jsonl.ts";
import type { Finding } from "./doctor.ts";

/** A command that is asked about, and a text. */
const script = { replies: [{ blocks: [{ tool: "bash", arguments: { command: "true" } }] }, { text: "done" }] };
const flags = ["acp", "--hermetic", "--no-session", "--permission-mode", "ask", "--provider", "scripted", "--model"];
const limitMs = 30_000;
const permission = "session/request_permission";

export async function acp(): Promise<Finding[]> {
	const folder = mkdtempSync(join(tmpdir(), "bowline-doctor-"));
	const file = join(folder, "script.json");
	writeFileSync(file, JSON.stringify(script));
	const program = process.argv[1] as string;
	const child = spawn(process.execPath, [program, ...flags, file], { cwd: folder });
	const timer = setTimeout(() => child.kill("SIGKILL"), limitMs);
	try {
		const findings = await drive(child, folder);
		return [...findings, { state: "ok", text: `editors start it with: ${[process.execPath, program, "acp"].map(quoted).join(" ")}` }];
	} finally {
		clearTimeout(timer);
		child.kill("SIGKILL");
		rmSync(folder, { recursive: true, force: true });
	}
}

async function drive(child: ChildProcessWithoutNullStreams, cwd: string): Promise<Finding[]> {
	let stderr = "";
	child.stderr.on("data", (chunk) => {
		stderr += chunk;
	});
	// The end of the process says more than a pipe that broke.
	child.stdin.on("error", () => undefined);
	const ended = new Promise<number | null>((resolve) => {
		child.once("close", resolve);
		child.once("error", (error) => {
			stderr += error.message;
			resolve(null);
		});
	});
	const calls = new Map<string, string>();
	let questions = 0;
	let text = "";
	const peer = new Peer({
		send: (line) => void child.stdin.write(`${line}\n`),
		async request(method, params) {
			if (method !== permission) throw new RpcError(-32601, `Unknown method: ${method}`);
			questions++;
			const { options } = params as { options: { optionId: string; kind: string }[] };
			return { outcome: { outcome: "selected", optionId: options.find(({ kind }) => kind === "allow_once")?.optionId } };
		},
		notification(_, params) {
			const { update } = params as { update: { toolCallId?: string; status?: string; content?: { text?: string }; sessionUpdate: string } };
			if (update.toolCallId !== undefined && update.status) calls.set(update.toolCallId, update.status);
			if (update.sessionUpdate === "agent_message_chunk") text += update.content?.text ?? "";
		},
		onBug: () => undefined,
	});
	const reader = new RecordReader({ record: (line) => peer.receive(line), tooLong: () => undefined }, 32 * 1024 * 1024);
	child.stdout.on("data", (chunk: Buffer) => reader.push(chunk));
	const ask = async <Result>(method: string, params: object): Promise<Result> => {
		const gone = ended.then((code): never => {
			throw new Error(`bowline acp ended with code ${code} before it answered ${method}${stderr ? `: ${stderr.trim()}` : ""}`);
		});
		return await Promise.race([peer.request<Result>(method, params), gone]);
	};

	const began = performance.now();
	const hello = await ask<{ protocolVersion: number }>("initialize", {
		protocolVersion: 1,
		clientCapabilities: {},
		clientInfo: { name: "bowline-doctor", version: "1" },
	});
	const greeted = performance.now();
	const { sessionId } = await ask<{ sessionId: string }>("session/new", { cwd, mcpServers: [] });
	const opened = performance.now();
	const { stopReason } = await ask<{ stopReason: string }>("session/prompt", { sessionId, prompt: [{ type: "text", text: "go" }] });
	const answered = performance.now();
	child.stdin.end();
	const code = await ended;

	const ms = (from: number, to: number) => `${Math.round(to - from)} ms`;
	const seen = `stop reason ${stopReason}, ${questions} questions, calls ${[...calls.values()].join(", ") || "none"}, text ${JSON.stringify(text)}`;
	const isRight = stopReason === "end_turn" && questions === 1 && [...calls.values()].join() === "completed" && text === "done";
	return [
		{ state: "ok", text: `version ${hello.protocolVersion} of the Agent Client Protocol; the handshake took ${ms(began, greeted)}` },
		{ state: "ok", text: `a session was open ${ms(greeted, opened)} later` },
		isRight
			? { state: "ok", text: `a turn with a command and a question about it took ${ms(opened, answered)}` }
			: { state: "fail", text: `the scripted turn went wrong: ${seen}` },
		code === 0 && stderr === ""
			? { state: "ok", text: "it ended with its input, and wrote nothing to stderr" }
			: { state: "fail", text: `it ended with code ${code}${stderr ? ` and wrote to stderr: ${stderr.trim()}` : ""}` },
	];
}

const quoted = (word: string) => (/^[\w./:@+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
