/** A provider on the loopback that speaks Anthropic Messages: it plays replies, keeps every request, and counts what it costs. */
import { type Answer, Loopback, stream } from "../../test/models/loopback.ts";
import { type Reply, spoken } from "../../test/models/wire.ts";
import { type Asked, type Bill, difference, PromptCache, partsOf } from "./prompt-cache.ts";
import type { TokenCounter } from "./tokens.ts";

/** The asker: the session, a subagent, or a session that summarises itself. */
export type Asker = "session" | "subagent" | "summary";

/** Why a request that begins with all blocks of the last one finds nothing of them. */
const sameBlocks = "another thinking or tool choice, or no mark within 20 blocks";

export interface Recorded extends Bill {
	step: string;
	asker: Asker;
	request: Asked;
	/** Tokens that the session's last request had cached, and this one does not find. */
	lost: number;
	/** Why, if so. */
	cause?: string;
	/** Tokens of the request as it was sent, in JSON. */
	sent: number;
}

/** A reply, or what makes one from the request. */
export type Played = Reply | ((request: Asked) => Reply);

/** The scripted replies of one part of a session. */
export interface Scene {
	step: string;
	/** For the session, in this order. */
	replies: readonly Played[];
	/** The session is asked for summaries, not for replies. */
	isSummary?: boolean;
}

export class Recorder {
	readonly cache: PromptCache;
	readonly recorded: Recorded[] = [];
	/** Problems that make the figures meaningless. */
	readonly problems: string[] = [];
	/** For any summary. */
	summary: Reply = { text: ["Nothing has happened yet."] };
	/** For any subagent. */
	subagent: Played = { text: ["done"] };
	#server: Loopback;
	#tokens: TokenCounter;
	#step = "";
	#isSummary = false;
	#replies: Played[] = [];
	#calls = 0;

	private constructor(server: Loopback, tokens: TokenCounter) {
		this.#server = server;
		this.#tokens = tokens;
		this.cache = new PromptCache(tokens);
		server.answer(this.#answer);
	}

	static async start(tokens: TokenCounter): Promise<Recorder> {
		return new Recorder(await Loopback.start(), tokens);
	}

	get url(): string {
		return this.#server.url;
	}

	stop(): Promise<void> {
		return this.#server.stop();
	}

	begin({ step, replies, isSummary = false }: Scene): void {
		this.end();
		this.#step = step;
		this.#isSummary = isSummary;
		this.#replies = [...replies];
	}

	/** Notes replies that nobody asked for. */
	end(): void {
		if (this.#replies.length > 0) this.problems.push(`${this.#step}: ${this.#replies.length} replies were not asked for`);
		this.#replies = [];
	}

	/** Returns the requests of a step: those of the session alone, unless others are meant. */
	of(step: string, asker: Asker = "session"): Recorded[] {
		return this.recorded.filter((one) => one.step === step && one.asker === asker);
	}

	#answer: Answer = (response, received) => {
		const request = JSON.parse(received.body) as Asked;
		const asker = this.#askerOf(request);
		const bill = this.cache.take(request);
		const last = this.recorded.findLast((one) => one.asker === "session");
		const lost = asker === "session" && last ? Math.max(0, last.marked - bill.read) : 0;
		const cause = lost > 0 && last ? (difference(last.blocks, bill.blocks) ?? sameBlocks) : undefined;
		this.recorded.push({ ...bill, step: this.#step, asker, request, lost, cause, sent: this.#tokens.count(received.body) });
		const reply = this.#numbered(this.#replyTo(request, asker));
		const used = { inputTokens: bill.plain, cacheReadTokens: bill.read, cacheWriteTokens: bill.written };
		return stream(Buffer.from(spoken("anthropic", { ...reply, ...used })))(response, received);
	};

	#askerOf({ tools = [] }: Asked): Asker {
		if (tools.some(({ name }) => name === "submit_result")) return "subagent";
		return this.#isSummary ? "summary" : "session";
	}

	#replyTo(request: Asked, asker: Asker): Reply {
		if (asker === "summary") return this.summary;
		const next = asker === "subagent" ? this.subagent : this.#replies.shift();
		if (!next) {
			this.problems.push(`${this.#step}: a request that no reply was written for`);
			return { text: ["I have nothing to say."] };
		}
		const reply = typeof next === "function" ? next(request) : next;
		const thinks = request.thinking !== undefined && request.thinking.type !== "disabled";
		return asker === "session" && thinks ? { thinking: `I think about step ${this.recorded.length}.`, ...reply } : reply;
	}

	/** Gives each call a unique id of the same length. */
	#numbered(reply: Reply): Reply {
		const calls = reply.calls ?? (reply.call ? [reply.call] : []);
		return { ...reply, calls: calls.map((call) => ({ ...call, id: `toolu_${String(++this.#calls).padStart(8, "0")}` })) };
	}
}

export const dollars = (recorded: readonly Recorded[]) => recorded.reduce((sum, { usd }) => sum + usd, 0);

/** Returns the text of the last tool result of a request. */
export function lastResult({ messages }: Asked): string {
	const results = messages.flatMap(({ content }) => partsOf(content)).filter(({ type }) => type === "tool_result");
	return partsOf(results.at(-1)?.content ?? "")
		.map(({ text = "" }) => text)
		.join("\n");
}
