/** The one stream function. It reports every failure of a provider as its last event. */
import type { IncomingHttpHeaders } from "node:http";
import type { ModelProblem, ModelRequest, RequestDoors, StreamFunction, StreamOptions, Turn } from "../agent/contracts.ts";
import type { HttpClient, Outcome } from "../lib/http/client.ts";
import { SseReader } from "../lib/sse.ts";
import { cacheRetention, marksCache } from "../protocol/cache.ts";
import type { Image } from "../protocol/content.ts";
import type { Model } from "../protocol/model.ts";
import type { SettingName, SettingValue } from "../protocol/settings.ts";
import { type Api, type ApiModule, type Call, type Decoder, type Ending, type EventReader, type Extra, thinks, type WireRequest } from "./api.ts";
import { Blocks } from "./blocks.ts";
import { ReplyBuilder } from "./builder.ts";
import { bindsThinking } from "./claude.ts";
import type { CloudAccess } from "./clouds/index.ts";
import type { Compat } from "./compat.ts";
import { dated } from "./dated.ts";
import { oneLine, readError, refusedText } from "./error-body.ts";
import { isHtml, pageLine } from "./error-page.ts";
import { classify, retryAfter } from "./errors.ts";
import { handoff, type Target } from "./handoff.ts";
import { suspectImages } from "./images.ts";
import { wire } from "./json.ts";
import { estimateInput, newestBefore, outputLimit } from "./limits.ts";
import { type Environment, loadApi } from "./routes.ts";
import { askedLevel } from "./thinking.ts";

/** How a model is reached, with credentials. A cloud may sign each request, and may have new credentials after a refusal. */
export interface Access extends CloudAccess {
	model: Model;
	modelId: string;
	compat: Compat;
}

export interface NoAccess extends ModelProblem {
	/** A later try may go better. */
	isTransient?: boolean;
}

export interface StreamParts {
	access: (model: Model, signal: AbortSignal) => Promise<Access | NoAccess>;
	client: Pick<HttpClient, "post">;
	setting: <Name extends SettingName>(name: Name) => SettingValue<Name>;
	env: Environment;
	doors?: RequestDoors;
	now: () => number;
	/** Removes credentials from a text. */
	clean: (text: string) => string;
}

export function streamFunction(parts: StreamParts): StreamFunction {
	const refused: Refused = { images: new WeakSet(), thinking: new Set(), extras: new Map() };
	return async (request, options) => {
		const reply = new Reply(parts, request, options, refused);
		try {
			await reply.run();
		} catch (error) {
			reply.fail(`Could not ask the model: ${(error as Error).message}`);
		}
	};
}

/** Parts of requests that providers refused. Later requests omit them. */
interface Refused {
	/** Images that could not be read. */
	images: WeakSet<Image>;
	/** Replies, by the time at which they began: their thinking is bound to another conversation. */
	thinking: Set<number>;
	/** Members of requests that a host does not know, by provider and model. */
	extras: Map<string, Set<Extra>>;
}

function defaultLimit({ defaultMaxTokens }: Compat): number {
	return typeof defaultMaxTokens === "number" && defaultMaxTokens > 0 ? defaultMaxTokens : Number.POSITIVE_INFINITY;
}

/** How often a request is tried with fewer images; the last time with none. */
const imageTries = 2;

class Reply {
	#parts: StreamParts;
	#request: ModelRequest;
	#options: StreamOptions;
	#refused: Refused;
	#turn: Turn;
	/** Repairs that were tried, each once. */
	#repaired = new Set<string>();
	/** Images that this reply is tried without. */
	#leftOut = new Set<Image>();
	#tries = 0;
	#sent: WireRequest | undefined;
	#builder: ReplyBuilder;
	#blocks: Blocks;
	#began: number;

	constructor(parts: StreamParts, request: ModelRequest, options: StreamOptions, refused: Refused) {
		this.#parts = parts;
		this.#request = request;
		this.#options = options;
		this.#refused = refused;
		this.#turn = request.turn ?? {};
		this.#began = parts.now();
		this.#builder = new ReplyBuilder(request.model, this.#began, options.onEvent);
		this.#blocks = new Blocks(this.#builder, () => this.#builder.set({ ttft: parts.now() - this.#began }));
	}

	async run(): Promise<void> {
		const { signal } = this.#options;
		if (signal.aborted) return this.#abort();
		let access = await this.#parts.access(this.#request.model, signal);
		if (signal.aborted) return this.#abort();
		if ("problem" in access) return this.#onNoAccess(access);
		const module = await loadApi(access.model.api);
		if (!module) return this.fail(`Models of the API ${access.model.api} are not supported`, { kind: "permanent" });
		if (signal.aborted) return this.#abort();
		let outcome = await this.#ask(access, module);
		if (outcome.type === "refused" && access.renew?.(outcome)) {
			access = await this.#parts.access(this.#request.model, signal);
			if (signal.aborted) return this.#abort();
			if ("problem" in access) return this.#onNoAccess(access);
			outcome = await this.#ask(access, module);
		}
		// Without the image that the error names; when that does not help, without any.
		while (outcome.type === "refused" && (this.#leaveOutImages(outcome) || this.#repair(outcome, module))) outcome = await this.#ask(access, module);
		if (outcome.type === "refused") this.#onRefused(outcome);
		// Remembered only when it helped: the images may not have been the cause.
		else if (outcome.type === "ended") for (const image of this.#leftOut) this.#refused.images.add(image);
	}

	/** Ends the reply with an error. Its class comes from the words unless the caller gives it. */
	fail(text: string, failure = classify(text, undefined, undefined, this.#request.model.provider)): void {
		this.#finish(() => this.#builder.fail(this.#parts.clean(text), failure));
	}

	#abort(): void {
		this.#finish(() => this.#builder.abort());
	}

	#finish(end: () => void): void {
		if (this.#builder.hasEnded) return;
		this.#blocks.cut();
		this.#builder.set({ duration: this.#parts.now() - this.#began });
		end();
	}

	/** One exchange. It returns a refusal to the caller, who may try again. */
	async #ask(access: Access, module: ApiModule): Promise<Outcome> {
		const { client, setting, doors } = this.#parts;
		const { signal, flow } = this.#options;
		const call = this.#call(access, module);
		const sent = module.api.request(call);
		this.#sent = sent;
		const { provider, id } = access.model;
		const onEvent = doors?.raw && ((data: unknown) => doors.raw?.({ provider, model: id, data }));
		const reading = new Reading(module.api.decoder(call, this.#builder, this.#blocks), this.#blocks, module.api.reader, onEvent);
		const onHead = doors?.answered && ((status: number, given: IncomingHttpHeaders) => doors.answered?.({ status, headers: plainHeaders(given) }));
		const json = wire(sent.body);
		// The extension gets a copy: the body shares objects with the conversation.
		const body = doors?.payload ? JSON.stringify(await doors.payload(JSON.parse(json), signal)) : json;
		const plain = headersOf(sent, access);
		const headers = doors?.headers ? await doors.headers(plain, signal) : plain;
		const outcome = await client.post({
			url: sent.url,
			headers: access.sign ? access.sign({ method: "POST", url: sent.url, headers, body }) : headers,
			body,
			signal,
			flow,
			firstEventTimeoutMs: setting("stream.firstEventTimeoutMs"),
			idleTimeoutMs: setting("stream.idleTimeoutMs"),
			onData: (chunk) => reading.push(chunk),
			...(onHead && { onHead }),
		});
		if (outcome.type === "refused") onHead?.(outcome.status, outcome.headers);
		if (outcome.type !== "refused") this.#onOutcome(outcome, reading);
		return outcome;
	}

	#call(access: Access, module: ApiModule): Call {
		const { systemPrompt, tools, sessionId, thinkingLevel, keep } = this.#request;
		const { setting, env, now } = this.#parts;
		const { model } = access;
		const target: Target = {
			provider: model.provider,
			api: model.api,
			model: model.id,
			acceptsImages: model.input.includes("image") && !setting("images.blockImages"),
			callId: module.callId,
			isRefused: (image) => this.#refused.images.has(image) || this.#leftOut.has(image),
			isThinkingLost: this.#lostThinking(model),
		};
		const messages = handoff(dated(this.#request), target);
		const budgets = {
			minimal: setting("thinkingBudgets.minimal"),
			low: setting("thinkingBudgets.low"),
			medium: setting("thinkingBudgets.medium"),
			high: setting("thinkingBudgets.high"),
		};
		this.#turn.thinks ??= module.api.mayThink?.({ model, compat: access.compat, messages }) ?? true;
		return {
			...askedLevel(model, thinkingLevel),
			modelId: access.modelId,
			compat: access.compat,
			baseUrl: access.baseUrl,
			systemPrompt,
			messages,
			tools,
			toolChoice: tools.find(({ name }) => name === this.#request.toolChoice)?.name,
			sessionId,
			maxTokens: Math.min(outputLimit(model, estimateInput(systemPrompt, tools, messages)), this.#request.maxTokens ?? defaultLimit(access.compat)),
			retention: keep === "nothing" && (marksCache(model) || access.compat.supportsCacheControl) ? "none" : cacheRetention(env),
			isLast: keep === "earlier",
			budgets,
			mayThink: this.#turn.thinks,
			without: this.#extras(model),
			now,
		};
	}

	/** Members that this host has refused. */
	#extras({ provider, id }: Model): Set<Extra> {
		const { extras } = this.#refused;
		const key = `${provider}/${id}`;
		const known = extras.get(key) ?? new Set();
		extras.set(key, known);
		return known;
	}

	/** Models that bind their thinking do not take it back behind other messages, another system prompt or other tools. */
	#lostThinking(model: Model): Target["isThinkingLost"] {
		const { thinking } = this.#refused;
		const { messages, prefixSince = Number.NEGATIVE_INFINITY } = this.#request;
		if (!bindsThinking(model.id)) return ({ timestamp }) => thinking.has(timestamp);
		const isOff = !thinks({ model, level: askedLevel(model, this.#request.thinkingLevel).level }) || this.#turn.thinks === false;
		const newest = newestBefore(messages);
		return ({ timestamp }, index) => isOff || timestamp < Math.max(prefixSince, newest[index] as number) || thinking.has(timestamp);
	}

	/** Notes what to leave out after a refusal. Returns whether to ask again. */
	#repair({ status, body }: Extract<Outcome, { type: "refused" }>, { api }: ApiModule): boolean {
		if ((status !== 400 && status !== 422) || !this.#sent || !/thinking|context.management|prompt_cache/i.test(body)) return false;
		const { model, messages } = this.#request;
		const repair = repairFor(body, JSON.stringify(this.#sent.body), this.#repaired, api.mayThink !== undefined);
		if (repair === undefined) return false;
		this.#repaired.add(repair);
		if (repair === "toThink") this.#turn.thinks = false;
		else if (repair !== "thinking") this.#extras(model).add(repair);
		else for (const { role, timestamp } of messages) if (role === "assistant") this.#refused.thinking.add(timestamp);
		return true;
	}

	/** Whether there are images to try without. */
	#leaveOutImages({ status, body }: Extract<Outcome, { type: "refused" }>): boolean {
		if (status !== 400 || !this.#sent || this.#tries === imageTries) return false;
		this.#tries += 1;
		const error = this.#tries === imageTries ? "image" : body;
		const images = /\bimage/i.test(body) ? suspectImages(error, this.#sent.body, this.#request.messages) : [];
		for (const image of images) this.#leftOut.add(image);
		return images.length > 0;
	}

	#onNoAccess({ problem, isTransient }: NoAccess): void {
		this.fail(problem, { kind: isTransient ? "transient" : "permanent" });
	}

	#onRefused({ status, headers, body }: Extract<Outcome, { type: "refused" }>): void {
		const type = errorType(headers);
		const text = refusedText(status, body, type);
		const wait = retryAfter(headers, body, this.#parts.now());
		const failure = classify(`${status} ${type ? `${type}: ` : ""}${body.trim()}`.trimEnd(), status, wait, this.#request.model.provider);
		const advice = headers["x-should-retry"];
		if (advice === "true" && failure.kind === "permanent") failure.kind = "transient";
		if (advice === "false" && failure.kind === "transient") failure.kind = "permanent";
		this.fail(text, failure);
	}

	#onOutcome(outcome: Exclude<Outcome, { type: "refused" }>, reading: Reading): void {
		const provider = this.#request.model.provider;
		// A connection that fails after a complete reply does not undo it.
		if ((outcome.type === "failed" || outcome.type === "timedOut") && reading.isComplete) {
			this.#onEnded(reading);
			return;
		}
		switch (outcome.type) {
			case "aborted":
				return this.#abort();
			case "timedOut": {
				const seconds = Math.round(outcome.afterMs / 100) / 10;
				const what =
					outcome.phase === "first" ? `${provider} did not begin to answer within ${seconds} s` : `${provider} fell silent for ${seconds} s`;
				return this.fail(`Stream timed out: ${what}; see the setting stream.${outcome.phase === "first" ? "firstEvent" : "idle"}TimeoutMs`, {
					kind: "transient",
				});
			}
			case "failed":
				return this.#onFailed(outcome);
			case "broken":
				return this.#onBroken(outcome.error);
			case "ended":
				return this.#onEnded(reading);
		}
	}

	#onFailed({ message, code, status }: Extract<Outcome, { type: "failed" }>): void {
		// A bad address, a bad certificate or a proxy that refuses stays so; a failure of the network may not.
		const isFinal = status === undefined && (code === undefined || /^ERR_|CERT|SELF_SIGNED|UNABLE_TO/.test(code));
		const text = status === undefined ? `Connection error: ${message}` : `Connection lost in the middle of the reply: ${message}`;
		const kind = isFinal ? "permanent" : "transient";
		this.fail(code && !message.includes(code) ? `${text} (${code})` : text, { kind });
	}

	#onBroken(error: unknown): void {
		const isGarbage = error instanceof SyntaxError || error instanceof RangeError;
		const text = `${isGarbage ? "The provider sent a broken event" : "Could not read the reply"}: ${(error as Error).message}`;
		this.fail(text, { kind: isGarbage ? "transient" : "permanent" });
	}

	#onEnded(reading: Reading): void {
		const ending = reading.finish();
		if ("done" in ending) {
			this.#builder.set({ duration: this.#parts.now() - this.#began });
			this.#builder.done(ending.done);
		} else if ("cut" in ending) this.fail(ending.cut, { kind: "transient" });
		else this.fail(ending.error, ending.failure ?? classify(ending.raw ?? ending.error, ending.status, undefined, this.#request.model.provider));
	}
}

/** Returns what to leave out after a refusal, if that can help: a member that the host does not know, the thinking of earlier replies, or thinking as such. */
function repairFor(error: string, sent: string, tried: ReadonlySet<string>, knowsThinking: boolean): Extra | "thinking" | "toThink" | undefined {
	const isLost = /bound to a different|signature/i.test(error);
	const candidates = [
		["thinking", knowsThinking && isLost && /"thinking":|"reasoningContent":|"redacted_thinking"/.test(sent)],
		["blockBinding", !isLost && /block_binding|thinking-binding/.test(error) && sent.includes('"block_binding"')],
		["contextManagement", /context.management|clear_thinking/i.test(error) && sent.includes('"context_management"')],
		["promptCacheKey", /prompt_cache/.test(error) && sent.includes('"prompt_cache_key"')],
		["toThink", knowsThinking && /thinking/i.test(error) && /"thinking":\{"type":"(?:enabled|adaptive)"/.test(sent)],
	] as const;
	return candidates.find(([name, fits]) => fits && !tried.has(name))?.[0];
}

function headersOf({ headers }: WireRequest, access: Access): Record<string, string> {
	return { "content-type": "application/json", accept: "text/event-stream", "user-agent": "bowline", ...headers, ...access.headers };
}

function plainHeaders(headers: IncomingHttpHeaders): Record<string, string> {
	return Object.fromEntries(Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])));
}

/** Amazon names the kind of an error in a header. */
function errorType(headers: Readonly<Record<string, string | string[] | undefined>>): string | undefined {
	return /^\w+/.exec(String(headers["x-amzn-errortype"] ?? ""))?.[0];
}

const headLimit = 4096;

/** The bytes of one answer on their way through the event reader into the decoder. */
class Reading {
	#decoder: Decoder;
	#blocks: Blocks;
	#reader: EventReader;
	/** The beginning of an answer that may turn out not to be an event stream. */
	#head: Buffer[] = [];
	#headSize = 0;
	#isEnding = false;
	#wasCut = false;
	/** An error that the stream reported outside the format that its API defines. */
	#error: Ending | undefined;

	/** Receives every event before it is decoded. */
	#listener: ((data: unknown) => void) | undefined;

	constructor(decoder: Decoder, blocks: Blocks, reader: Api["reader"], listener?: (data: unknown) => void) {
		this.#listener = listener;
		this.#decoder = decoder;
		this.#blocks = blocks;
		this.#reader = reader ? reader((data) => this.#onEvent(data, "")) : new SseReader(this.#onEvent, undefined, (text) => this.#onError(text));
	}

	push(chunk: Buffer): "waiting" | "reading" | "enough" {
		if (this.#reader.events === 0 && this.#headSize < headLimit) {
			this.#head.push(chunk);
			this.#headSize += chunk.length;
		}
		this.#reader.push(chunk);
		this.#blocks.flush();
		if (this.#decoder.isOver || this.#error) return "enough";
		return this.#reader.events === 0 ? "waiting" : "reading";
	}

	/** Whether the provider has said how the reply ended. */
	get isComplete(): boolean {
		return this.#decoder.isComplete;
	}

	finish(): Ending {
		this.#isEnding = true;
		this.#reader.end();
		if (this.#error) return this.#error;
		if (this.#reader.events > 0) {
			const ending = this.#decoder.finish();
			// A reply is whole when only what follows it, such as its usage, was cut.
			return this.#wasCut && "cut" in ending ? { cut: "The stream ended in the middle of an event" } : ending;
		}
		return withoutEvents(Buffer.concat(this.#head).toString("utf8").slice(0, headLimit));
	}

	#onEvent = (data: string, name: string): void => {
		if (this.#listener) tellParsed(data, this.#listener);
		try {
			this.#decoder.event(data);
		} catch (error) {
			if (!(error instanceof SyntaxError)) throw error;
			if (name === "error") this.#onError(data);
			else if (!this.#isEnding) throw new SyntaxError(data.slice(0, 200));
			this.#wasCut = true;
		}
		// Hosts of the chat API send error events whose data has no member `error`.
		if (name === "error" && !this.#decoder.isOver) this.#onError(data);
	};

	/** The first error counts, and none that follows a complete reply. */
	#onError(data: string): void {
		if (this.#error || this.#decoder.isWhole || data.trim() === "") return;
		const { text, raw, status } = readError(data);
		this.#error = { error: text, raw, ...(status === undefined ? {} : { status }) };
	}
}

/** What is not JSON, such as a mark at the end, is left out. */
function tellParsed(data: string, listener: (data: unknown) => void): void {
	let parsed: unknown;
	try {
		parsed = JSON.parse(data);
	} catch {
		return;
	}
	listener(parsed);
}

const notStreamed = "The provider answered with a whole reply instead of an event stream; its address or a proxy in front of it does not stream";

/** What a response with status 200 and no events means. */
function withoutEvents(body: string): Ending {
	if (body.trim() === "") return { cut: "The stream ended without any event" };
	if (isHtml(body)) {
		const page = pageLine(body);
		return { error: `The provider answered with a web page instead of an event stream; check its address: ${page}`, failure: { kind: "permanent" } };
	}
	const isReply = /^\s*\[?\s*\{/.test(body) && /"(?:choices|candidates|output|stop_reason)"\s*:/.test(body);
	if (isReply && !/"error"\s*:\s*["{]/.test(body)) return { error: `${notStreamed}: ${body.trim().slice(0, 200)}`, failure: { kind: "permanent" } };
	if (!/^\s*\[?\s*\{[\s\S]*"(?:error|message|detail|msg|error_msg|status_msg)"/.test(body)) {
		return { cut: `The provider answered without an event stream: ${oneLine(body).slice(0, 500)}` };
	}
	const { text, raw, status } = readError(body);
	return { error: text, raw, ...(status === undefined ? {} : { status }) };
}
