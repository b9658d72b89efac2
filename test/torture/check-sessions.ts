/** Rules that session files and the requests to the provider must keep, whatever happened. */
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentMessage } from "../../src/protocol/messages.ts";
import { openTranscript } from "../../src/transcript/open.ts";
import { contextMessages } from "../../src/transcript/projection.ts";
import type { Received } from "../models/loopback.ts";
import type { Life } from "./host.ts";
import type { Played } from "./play.ts";
import type { World } from "./world.ts";

export function checkSessions({ lives, requests }: Played, world: World): string[] {
	const problems: string[] = [];
	const stored = new Set<string>();
	const mayBeTorn = lives.some(({ hadTrouble, ending }) => hadTrouble || ending?.how === "SIGKILL");
	const contexts = new Map<string, AgentMessage[]>();
	for (const path of world.sessionFiles()) {
		const lines = readFileSync(path, "utf8").split("\n");
		if (lines.at(-1) !== "" && !mayBeTorn) problems.push(`${path} ends in the middle of a line`);
		for (const line of lines.filter((each) => each !== "")) {
			try {
				const { message } = JSON.parse(line) as { message?: object };
				if (message) stored.add(JSON.stringify(message));
			} catch {
				if (!mayBeTorn) problems.push(`${path} has a line that is no JSON: ${line.slice(0, 200)}`);
			}
		}
		try {
			const transcript = openTranscript(path, {
				mode: "read",
				cwd: "/",
				now: Date.now,
				redact: (text) => text,
				newId: () => randomBytes(4).toString("hex"),
			});
			const messages = transcript ? contextMessages(transcript.branch) : [];
			contexts.set(path, messages);
			problems.push(...pairing(messages).map((problem) => `${path}: ${problem}`));
		} catch (error) {
			problems.push(`${path} cannot be opened: ${error}`);
		}
	}
	if (world.sessionFiles().length) for (const life of lives) problems.push(...told(life, stored));
	const last = lives.at(-1);
	if (last?.wasCalmed) problems.push(...sameContext(last, contexts));
	if (readFileSync(join(world.root, "no-session"), "utf8") !== "precious\n") problems.push("a file that is no session was changed");
	return [...problems, ...requests.flatMap(asked)];
}

/** Every message that was reported is in a file, except the one that says that it could not be stored. */
function told(life: Life, stored: Set<string>): string[] {
	return life.trace.flatMap(({ way, frame }) => {
		if (way !== "<" || frame.type !== "message_end") return [];
		const message = frame.message as { role: string; errorMessage?: string };
		// Kept as an entry of its own kind.
		if (message.role === "custom" || message.errorMessage?.startsWith("Session file could not be written")) return [];
		return stored.has(JSON.stringify(message)) ? [] : [`a message was told and is in no file: ${JSON.stringify(message).slice(0, 300)}`];
	});
}

/** The file matches the last state the program reported. Opening adds results that a crash left out, and the next entry stores them. */
function sameContext(life: Life, contexts: Map<string, AgentMessage[]>): string[] {
	const data = (id: string) =>
		life.trace.findLast(({ way, frame }) => way === "<" && frame.id === id)?.frame.data as Record<string, unknown> | undefined;
	const file = data("calm state")?.sessionFile as string | undefined;
	const live = data("calm messages")?.messages as AgentMessage[] | undefined;
	const kept = file === undefined ? undefined : contexts.get(file);
	if (!live || !kept) return [];
	const problems = pairing(live).map((problem) => `live context: ${problem}`);
	const count = kept.length;
	const isSame = JSON.stringify(live.slice(0, count)) === JSON.stringify(kept) && live.slice(count).every(({ role }) => role === "toolResult");
	return isSame
		? problems
		: [...problems, `the file holds another context: ${JSON.stringify(kept.map(short))} for ${JSON.stringify(live.map(short))}`];
}

const short = (message: AgentMessage) => `${message.role} ${JSON.stringify((message as { content?: unknown }).content ?? "").slice(0, 60)}`;

/** Results follow their calls, in the order of the calls, before any other message. A last reply may wait for its results. */
export function pairing(messages: readonly AgentMessage[]): string[] {
	const problems: string[] = [];
	let owed: string[] = [];
	for (const message of messages) {
		if (message.role === "toolResult") {
			if (owed[0] !== message.toolCallId) problems.push(`a result of ${message.toolCallId} where ${owed[0] ?? "nothing"} is due`);
			owed = owed.filter((id) => id !== message.toolCallId);
			continue;
		}
		if (owed.length) problems.push(`no result of ${owed} before a message of ${message.role}`);
		owed = message.role === "assistant" ? message.content.flatMap((block) => (block.type === "toolCall" ? [block.id] : [])) : [];
	}
	return problems;
}

/** No request holds a call without its result, or a result without its call. */
function asked({ body, url }: Received): string[] {
	const { calls, results } = pairsOf(JSON.parse(body));
	const same = calls.length === results.length && calls.every((call) => results.includes(call));
	return same ? [] : [`a request to ${url} has the calls ${calls} and the results ${results}`];
}

// biome-ignore lint/suspicious/noExplicitAny: the bodies of four formats
function pairsOf(body: any): { calls: string[]; results: string[] } {
	const calls: string[] = [];
	const results: string[] = [];
	for (const item of body.messages ?? body.input ?? body.contents ?? []) {
		for (const call of item.tool_calls ?? []) calls.push(call.id);
		if (item.role === "tool") results.push(item.tool_call_id);
		if (item.type === "function_call") calls.push(item.call_id);
		if (item.type === "function_call_output") results.push(item.call_id);
		for (const part of Array.isArray(item.content) ? item.content : []) {
			if (part.type === "tool_use") calls.push(part.id);
			if (part.type === "tool_result") results.push(part.tool_use_id);
		}
		for (const part of item.parts ?? []) {
			if (part.functionCall) calls.push(part.functionCall.name);
			if (part.functionResponse) results.push(part.functionResponse.name);
		}
	}
	return { calls, results };
}
