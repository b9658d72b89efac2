/** What a run did, from the lines of its session: commands, models, costs, and a chain of hashes by which the receipt can be checked. */
import { createHash } from "node:crypto";
import { factsOf } from "../lib/tool-facts.ts";
import type { FleetSandbox } from "../protocol/serve.ts";
import type { SandboxState } from "../protocol/types.generated.ts";

interface ModelUse {
	provider: string;
	id: string;
	tokens: number;
	usd: number;
}

interface CommandUse {
	command: string;
	exitCode: number | null;
	ms: number;
	/** The mode of the sandbox that it ran in. Absent: it ran in none of Bowline's. */
	sandbox?: string;
}

export interface ReceiptSandbox extends FleetSandbox {
	/** The program that makes it. */
	backend?: string;
	network?: string;
}

/** Returns what the agent of a run says about its sandbox, for the receipt. */
export function sandboxOf(state: SandboxState | undefined): ReceiptSandbox {
	if (!state) return { mode: "off", reason: "the agent did not report one" };
	const { mode, active, reason, backend, network } = state;
	if (!active || mode === "off") return { mode: "off", ...(reason === undefined ? {} : { reason }) };
	return { mode, ...(backend === undefined ? {} : { backend }), ...(network === undefined ? {} : { network }) };
}

const mostCommands = 500;
const mostApprovals = 200;
const longestCommand = 400;

type Json = Record<string, unknown>;
const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value);
const parse = (line: string): Json | undefined => {
	try {
		const value: unknown = JSON.parse(line);
		return isObject(value) ? value : undefined;
	} catch {
		return undefined;
	}
};

/** `h(n) = sha256(h(n-1) + line)`, as hexadecimal text; the first follows an empty one. */
export function chain(head: string, lines: Iterable<string>): string {
	let at = head;
	for (const line of lines) at = createHash("sha256").update(at).update(line).digest("hex");
	return at;
}

export interface Spent {
	usd: number;
	tokens: number;
}

/** The part of a task call's total use that was not reported before. */
export type Settle = (toolCallId: string, used: Spent) => Spent;

/** Follows the lines as they are committed. */
export class RunAccount {
	readonly #settle: Settle;
	#head = "";
	readonly #models = new Map<string, ModelUse>();
	readonly #calls = new Map<string, { command: string; at: number }>();
	readonly #commands: CommandUse[] = [];
	readonly #approvals: Json[] = [];
	#commandCount = 0;
	toolCalls = 0;

	constructor(settle: Settle = (_, used) => used) {
		this.#settle = settle;
	}

	/** Gives what these lines have cost. */
	add(session: readonly string[], events: readonly string[]): Spent {
		this.#head = chain(this.#head, session);
		const spent = { usd: 0, tokens: 0 };
		for (const line of session) {
			const entry = parse(line);
			if (!entry) continue;
			const at = Date.parse(String(entry.timestamp)) || 0;
			if (entry.type === "message" && isObject(entry.message)) this.#message(entry.message, at, spent);
			else if (isObject(entry.usage)) this.#use("", "", entry.usage, spent);
		}
		for (const line of events) {
			const frame = parse(line)?.f;
			if (!isObject(frame)) continue;
			if (frame.type === "permission_resolved" && this.#approvals.length < mostApprovals) this.#approvals.push(frame);
		}
		return spent;
	}

	get facts() {
		const left = this.#commandCount - this.#commands.length;
		return {
			commands: this.#commands,
			...(left > 0 ? { commandsLeftOut: left } : {}),
			models: [...this.#models.values()],
			approvals: this.#approvals,
			logHead: this.#head,
		};
	}

	#message(message: Json, at: number, spent: Spent): void {
		if (message.role === "assistant") {
			if (isObject(message.usage)) this.#use(String(message.provider ?? ""), String(message.model ?? ""), message.usage, spent);
			for (const block of Array.isArray(message.content) ? message.content : []) {
				if (!isObject(block) || block.type !== "toolCall") continue;
				this.toolCalls += 1;
				const args = isObject(block.arguments) ? block.arguments : {};
				if (factsOf(String(block.name))?.hasCommand && typeof args.command === "string")
					this.#calls.set(String(block.id), { command: args.command, at });
			}
		}
		if (message.role === "toolResult") this.#result(message, at, spent);
	}

	#result(message: Json, at: number, spent: Spent): void {
		const details = isObject(message.details) ? message.details : {};
		// What subagents used is in the result of the task tool.
		if (message.toolName === "task") {
			const used = { usd: 0, tokens: 0 };
			if (isObject(details.usage)) this.#use("", "subagents", details.usage, used);
			const more = this.#settle(String(message.toolCallId), used);
			spent.usd += more.usd;
			spent.tokens += more.tokens;
		}
		const call = this.#calls.get(String(message.toolCallId));
		if (!call) return;
		this.#calls.delete(String(message.toolCallId));
		this.#commandCount += 1;
		if (this.#commands.length >= mostCommands) return;
		const exitCode = typeof details.exitCode === "number" ? details.exitCode : message.isError === true ? null : 0;
		const inside = isObject(details.sandbox) && details.sandbox.applied === true ? { sandbox: String(details.sandbox.mode) } : {};
		this.#commands.push({ command: call.command.slice(0, longestCommand), exitCode, ms: Math.max(0, at - call.at), ...inside });
	}

	#use(provider: string, id: string, usage: Json, spent: Spent): void {
		const number = (value: unknown) => (typeof value === "number" && Number.isFinite(value) ? value : 0);
		const parts = ["input", "output", "cacheRead", "cacheWrite"].reduce((sum, name) => sum + number(usage[name]), 0);
		const tokens = number(usage.totalTokens) || parts;
		const usd = isObject(usage.cost) ? number(usage.cost.total) : 0;
		spent.tokens += tokens;
		spent.usd += usd;
		const known = this.#models.get(`${provider}/${id}`) ?? { provider, id, tokens: 0, usd: 0 };
		this.#models.set(`${provider}/${id}`, { ...known, tokens: known.tokens + tokens, usd: known.usd + usd });
	}
}
