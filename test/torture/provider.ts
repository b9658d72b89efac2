/** Plays the replies of a plan: as a script, or as a server that speaks one of the real formats. */
import type { ServerResponse } from "node:http";
import { type Answer, Loopback, refuse } from "../models/loopback.ts";
import { type ApiKind, spoken } from "../models/wire.ts";
import type { CallPlan, Ending, ReplyPlan } from "./plan.ts";
import { Random } from "./random.ts";

const words = (count: number) => Array.from({ length: count }, (_, index) => `word${index} `);
const lastWord = { text: "All said.", times: "always" };
const submit = { tool: "submit_result", arguments: { result: { data: "done" } } };
const stubborn = "trap '' TERM; sleep 300 & sleep 300";

/** The replies of subagents, by their assignments. */
const ofSubagents = [
	{ when: { depth: 1, tool: "bash" }, blocks: [submit] },
	{ when: { depth: 1, tool: "write" }, blocks: [submit] },
	{ when: { depth: 1, text: "work" }, blocks: [{ tool: "bash", arguments: { command: "echo working" } }] },
	{ when: { depth: 1, text: "change" }, blocks: [{ tool: "write", arguments: { path: "changed.txt", content: "changed" } }] },
	{ when: { depth: 1, text: "stubborn" }, blocks: [{ tool: "bash", arguments: { command: stubborn } }] },
	{ when: { depth: 1, text: "stall" }, stall: true },
	{ when: { depth: 1, text: "fail" }, fail: { status: 401, body: "no" } },
	{ when: { depth: 1, text: "silent" }, text: "nothing to say", times: "always" },
	{ when: { depth: 1 }, blocks: [submit], times: "always" },
];

/** The file of the scripted provider. */
export function scriptOf(replies: readonly ReplyPlan[]): object {
	const own = replies.map((reply) => ({ when: { depth: 0 }, ...scripted(reply) }));
	return { model: { contextWindow: 200_000 }, replies: [...ofSubagents, ...own, lastWord] };
}

function scripted({ words: count, calls, ending, delayMs, inputTokens }: ReplyPlan): object {
	const blocks: object[] = count ? [{ text: words(count).join("") }] : [];
	for (const [index, call] of calls.entries()) blocks.push({ tool: call.tool, arguments: argumentsOf(call, ending, index === calls.length - 1) });
	const usage = inputTokens === undefined ? {} : { usage: { input: inputTokens } };
	return { blocks, ...usage, ...scriptedEnding(ending), ...(delayMs ? { delayMs, pieceDelayMs: count > 50 ? 0 : delayMs } : {}) };
}

function argumentsOf(call: CallPlan, ending: Ending, isLast: boolean): unknown {
	return ending.kind === "broken-json" && isLast ? `${JSON.stringify(call.arguments).slice(0, -1)}, oops` : call.arguments;
}

function scriptedEnding(ending: Ending): object {
	switch (ending.kind) {
		case "length":
			return { stop: "length" };
		case "refuse":
			return { fail: { status: ending.status, body: ending.body } };
		case "stall":
			return { stall: ending.after > 0.5 ? "mid-block" : true };
		case "cut":
			return { cut: ending.after > 0.5 ? "mid-block" : true };
		case "garbage":
			return { fail: { body: "this is no reply" } };
		default:
			return {};
	}
}

export class Provider {
	readonly loopback: Loopback;

	private constructor(loopback: Loopback) {
		this.loopback = loopback;
	}

	static async start(api: ApiKind, replies: readonly ReplyPlan[], seed: number): Promise<Provider> {
		const loopback = await Loopback.start();
		const random = new Random(seed);
		const answers = replies.map((reply, index) => answerOf(api, reply, index, random));
		const last = whole(spoken(api, { text: ["All ", "said."] }));
		loopback.answer((response, received) => {
			const answer = received.body.includes('"submit_result"') ? answerSubagent(api, received.body) : (answers.shift() ?? last);
			return answer(response, received);
		});
		return new Provider(loopback);
	}

	stop(): Promise<void> {
		return this.loopback.stop();
	}
}

/** The tool that only subagents have distinguishes them from the session. */
function answerSubagent(api: ApiKind, body: string): Answer {
	const says = (name: string, args: object) => whole(spoken(api, { call: { name, arguments: [JSON.stringify(args)] } }));
	if (body.includes("stall")) return () => undefined;
	if (body.includes("fail")) return refuse(401, '{"error":{"message":"no"}}');
	if (body.includes("silent")) return whole(spoken(api, { text: ["nothing to say"] }));
	if (body.includes("stubborn") && !body.includes("sleep 300")) return says("bash", { command: stubborn });
	return says("submit_result", submit.arguments);
}

function answerOf(api: ApiKind, reply: ReplyPlan, index: number, random: Random): Answer {
	const { ending, delayMs = 0 } = reply;
	if (ending.kind === "refuse") return refuse(ending.status, ending.body);
	if (ending.kind === "garbage") return garbage(ending.sort, random);
	const calls = reply.calls.map(({ tool, arguments: given }, at) => {
		const json = JSON.stringify(given);
		const isBroken = ending.kind === "broken-json" && at === reply.calls.length - 1 && api !== "google";
		const half = Math.floor(json.length / 2);
		return { id: `call_${index}_${at}`, name: tool, arguments: [json.slice(0, half), isBroken ? ", oops" : json.slice(half)] };
	});
	const bytes = spoken(api, { text: words(reply.words), calls, isCut: ending.kind === "length", inputTokens: reply.inputTokens });
	if (ending.kind === "stall") return broken(bytes, ending.after, () => undefined);
	if (ending.kind === "cut") return broken(bytes, ending.after, (response) => response.destroy());
	return whole(bytes, delayMs);
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

function whole(bytes: string, delayMs = 0): Answer {
	return async (response) => {
		await sleep(delayMs);
		response.writeHead(200, { "content-type": "text/event-stream" });
		const events = delayMs ? bytes.split(/(?<=\n\n)/) : [bytes];
		for (const event of events) {
			if (response.destroyed) return;
			response.write(event);
			if (delayMs) await sleep(events.length > 50 ? 0 : delayMs);
		}
		response.end();
	};
}

/** A part of the reply, and then something else. */
function broken(bytes: string, share: number, then: (response: ServerResponse) => void): Answer {
	return (response) => {
		if (share === 0) return then(response);
		response.writeHead(200, { "content-type": "text/event-stream" });
		response.write(bytes.slice(0, Math.ceil(bytes.length * share)), () => then(response));
	};
}

function garbage(sort: (Ending & { kind: "garbage" })["sort"], random: Random): Answer {
	const bodies: Record<typeof sort, string | Buffer> = {
		html: "<html><body>It works!</body></html>",
		bytes: random.bytes(3000),
		json: 'data: {"choices":7,"candidates":null,"type":["x"],"delta":{"a":[[]]}}\n\nevent: message_stop\ndata: null\n\n',
		nul: Buffer.alloc(2000),
		empty: "",
	};
	const body = bodies[sort];
	return (response) => {
		response.writeHead(200, { "content-type": "text/event-stream" });
		response.end(body);
	};
}
