/** What each route does. The checks are over when a handler is called. */

import type { IncomingMessage, ServerResponse } from "node:http";
import type { HttpErrorCode } from "../protocol/errors.ts";
import { commandAccess } from "../protocol/names.generated.ts";
import type { RouteName, Scope } from "../protocol/routes.ts";
import { scopes } from "../protocol/routes.ts";
import type { CreateSession } from "../protocol/serve.ts";
import type { Admitted } from "./checks.ts";
import type { FleetRoutes } from "./fleet/handlers.ts";
import { answer, answerJson, answerText, cursorOf, keyOf, mostLoginBytes, numberOf, parseObject, readBody } from "./http.ts";
import type { PageAssets } from "./page-assets.ts";
import { Refusal } from "./refusal.ts";
import type { Running } from "./server.ts";
import type { Session } from "./session.ts";
import { artifactsOf, entriesOf, sendArtifact, sendExport } from "./stored.ts";
import { streamEvents, streamLines, streamServerEvents } from "./streams.ts";
import { type Bearer, mayUse } from "./tokens.ts";

export interface Call extends Admitted {
	request: IncomingMessage;
	response: ServerResponse;
	server: Running;
}

type FleetRouteName = Exclude<keyof FleetRoutes, "close">;
type Handler = (call: Call) => void | Promise<void>;

const bearerOf = ({ bearer }: Call) => bearer as Bearer;
const sessionOf = ({ server, params }: Call) => server.sessions.get(params.id as string);

/** The body of a route with a shape, checked. A route whose members are all optional takes no body as well. */
async function bodyOf({ request, response, route }: Call, most?: number): Promise<Record<string, unknown>> {
	const isEmpty =
		request.headers["content-type"] === undefined && (request.headers["content-length"] ?? "0") === "0" && !request.headers["transfer-encoding"];
	if (isEmpty && route.body === "StopSession") return {};
	const body = parseObject(await readBody(request, response, most));
	if (route.body !== undefined) (await import("./validate.ts")).checkBody(route.body, body);
	return body;
}

const commandMs = 30_000;
const longCommandMs = 600_000;
const longCommands: ReadonlySet<string> = new Set(["bash", "compact"]);
const longestWait = 600;

/** Rejects with 504 when an answer does not come in time. */
async function within<T>(ms: number, promise: Promise<T>, what: string): Promise<T> {
	let timer: NodeJS.Timeout | undefined;
	const late = new Promise<never>((_, reject) => {
		timer = setTimeout(
			() => reject(new Refusal("timeout", `${what} was not answered within ${ms / 1000} s. It may still be done: its outcome comes as events.`)),
			ms,
		);
	});
	try {
		return await Promise.race([promise, late]);
	} finally {
		clearTimeout(timer);
	}
}

interface ResponseFrame {
	success: boolean;
	error?: string;
	code?: HttpErrorCode;
	data?: Record<string, unknown>;
}

async function prompt(call: Call, session: Session, body: Record<string, unknown>, key: string | undefined): Promise<Record<string, unknown>> {
	const caller = { bearer: bearerOf(call), name: bearerOf(call).name };
	const frame = { type: "prompt", ...body, ...(key !== undefined && { key }) };
	const answered = JSON.parse(await within(commandMs, session.command(caller, JSON.stringify(frame)), "prompt")) as ResponseFrame;
	if (!answered.success) {
		const { code = "internal", error = "The prompt failed without a reason." } = answered;
		throw new Refusal(code, error);
	}
	const { runId, disposition, duplicate } = answered.data ?? {};
	return { ...(runId !== undefined && { runId }), disposition: disposition ?? "started", duplicate: duplicate === true };
}

/** Seconds of `Prefer: wait=<n>`. */
function waitOf({ request }: Call): number {
	const [, seconds] = /(?:^|[,;\s])wait=(\d{1,6})/.exec(String(request.headers.prefer ?? "")) ?? [];
	return Math.min(Number(seconds ?? 0), longestWait);
}

async function asset({ request, response, params, name, server }: Call): Promise<void> {
	server.page ??= new (await import("./page-assets.ts")).PageAssets();
	const { pagePolicy } = await import("./page-assets.ts");
	const found = name === "page" ? (server.page as PageAssets).shell : (server.page as PageAssets).asset(params.name as string);
	if (!found) throw new Refusal("no_route", name === "page" ? "The page is not a part of this build." : "There is no such file.");
	const isGzip = found.gzip && /\bgzip\b/.test(String(request.headers["accept-encoding"] ?? ""));
	answer(
		response,
		200,
		{
			"Content-Type": found.type,
			"Content-Security-Policy": pagePolicy,
			Vary: "Accept-Encoding",
			...(isGzip && { "Content-Encoding": "gzip" }),
			...(name === "asset" && { "Cache-Control": "public, max-age=31536000, immutable" }),
		},
		isGzip ? found.gzip : found.body,
	);
}

const fleetRoute =
	(name: FleetRouteName): Handler =>
	async (call) =>
		(await call.server.fleetRoutes())[name](call);

/** Upgrades have handlers of their own. */
export const handlers: Record<Exclude<RouteName, "socket" | "manySocket">, Handler> = {
	page: asset,
	asset,
	healthz: ({ response }) => answerText(response, 200, "ok"),
	async readyz({ response, server }) {
		const { isReady, text } = await server.readiness();
		answerText(response, isReady ? 200 : 503, text);
	},
	metrics: ({ response, server }) => answer(response, 200, { "Content-Type": "text/plain; version=0.0.4; charset=utf-8" }, server.metricsText()),
	async login(call) {
		const { request, response, server } = call;
		const { tokens } = server;
		const address = request.socket.remoteAddress ?? "";
		const wait = tokens.blockedMs(address);
		if (wait > 0)
			throw new Refusal("too_many_requests", "Too many wrong codes from this address. Wait a minute.", {
				headers: { "Retry-After": String(Math.ceil(wait / 1000)) },
			});
		const body = (await bodyOf(call, mostLoginBytes)) as { code?: string; token?: string };
		const granted = tokens.login(body, String(request.headers["user-agent"] ?? ""));
		if (granted) return answerJson(response, 200, granted);
		tokens.noteFailure(address);
		server.metrics.onAuthFailure("login");
		throw new Refusal(
			"unauthorized",
			body.code === undefined
				? "This token is not valid."
				: "This link was used, or is older than two minutes. Get a new one with bowline serve link.",
			{ headers: { "WWW-Authenticate": "Bearer" } },
		);
	},
	tickets: (call) => answerJson(call.response, 200, call.server.tokens.newTicket(bearerOf(call))),
	info: async (call) => answerJson(call.response, 200, await call.server.info(bearerOf(call).scope)),
	list({ response, query, server }) {
		const limit = Math.max(1, numberOf(query, "limit", 100, 1000));
		const given = Object.fromEntries(["state", "cwd", "q", "cursor"].flatMap((name) => (query.has(name) ? [[name, query.get(name) as string]] : [])));
		answerJson(response, 200, server.sessions.list({ ...given, limit }));
	},
	async create(call) {
		const { response, server } = call;
		const key = keyOf(call.request);
		const body = (await bodyOf(call)) as CreateSession;
		if (body.settings) body.settings = (await import("./validate.ts")).checkSettings(body.settings);
		if (body.approve && !(server.config.mayApprove && bearerOf(call).scope === "admin"))
			throw new Refusal("scope", "approve needs a token of scope admin, and a server with the setting serve.approve.");
		const { session, isNew } = await server.sessions.create(body, key);
		if (body.prompt && isNew) await prompt(call, session, body.prompt, key === undefined ? undefined : `create:${key}`.slice(0, 200));
		answerJson(response, 201, session.view(), { Location: `/v1/sessions/${session.id}` });
	},
	async demo(call) {
		const { session, prompt: message } = await call.server.createDemo();
		await prompt(call, session, { message }, undefined);
		answerJson(call.response, 201, session.view(), { Location: `/v1/sessions/${session.id}` });
	},
	get: (call) => answerJson(call.response, 200, sessionOf(call).view()),
	async remove(call) {
		await call.server.sessions.remove(call.params.id as string);
		answer(call.response, 204, {});
	},
	async start(call) {
		const session = sessionOf(call);
		await session.wake(true);
		answerJson(call.response, 202, session.view());
	},
	async stop(call) {
		const session = sessionOf(call);
		const { abort } = (await bodyOf(call)) as { abort?: boolean };
		await session.stop({ abort });
		answerJson(call.response, 202, session.view());
	},
	async prompts(call) {
		const session = sessionOf(call);
		const { key: given, ...body } = await bodyOf(call);
		const wait = waitOf(call);
		const accepted = await prompt(call, session, body, keyOf(call.request) ?? (given as string | undefined));
		const { runId } = accepted as { runId?: string };
		if (wait === 0 || runId === undefined) return answerJson(call.response, 202, accepted);
		const { line, forget } = session.whenRunEnds(runId);
		let timer: NodeJS.Timeout | undefined;
		const late = new Promise<undefined>((resolve) => {
			timer = setTimeout(() => resolve(undefined), wait * 1000);
			call.response.on("close", () => resolve(undefined));
		});
		const ended = await Promise.race([line, late]);
		clearTimeout(timer);
		forget();
		if (ended === undefined) return answerJson(call.response, 202, accepted);
		const result = JSON.parse(ended) as Record<string, unknown>;
		const text = await lastText(session);
		answerJson(call.response, 200, { ...accepted, result, ...(text !== undefined && { text }) }, { "Preference-Applied": `wait=${wait}` });
	},
	async commands(call) {
		const session = sessionOf(call);
		const body = await bodyOf(call);
		const type = String(body.type);
		const access = Object.hasOwn(commandAccess, type) ? commandAccess[type as keyof typeof commandAccess] : "read";
		if (access !== "read" && !mayUse(bearerOf(call).scope, "drive"))
			throw new Refusal("read_only", `${type} needs a token of scope drive; this one may only read.`);
		const key = keyOf(call.request);
		const caller = { bearer: bearerOf(call), name: bearerOf(call).name };
		const line = JSON.stringify({ ...body, ...(key !== undefined && { key }) });
		const answered = await within(longCommands.has(type) ? longCommandMs : commandMs, session.command(caller, line), type);
		answer(call.response, 200, { "Content-Type": "application/json" }, answered);
	},
	async events(call) {
		const { request, response, query, server } = call;
		const session = sessionOf(call);
		const bearer = bearerOf(call);
		const after = cursorOf(request.headers["last-event-id"] as string | undefined) ?? cursorOf(query.get("after"));
		session.beforeReader(after);
		server.connections.check(bearer, session.feed.readers.size);
		if (/application\/(jsonl|x-ndjson)/.test(String(request.headers.accept ?? "")))
			return streamLines(response, session, { bearer, after, follows: query.get("follow") === "1" }, server.connections);
		streamEvents(response, session, { bearer, after, deltas: query.get("deltas") !== "0" }, server.connections);
	},
	async entries(call) {
		const { query } = call;
		const session = sessionOf(call);
		const limit = Math.max(1, numberOf(query, "limit", 1000, 10_000));
		const page = await entriesOf(session, {
			...(query.has("since") && { since: query.get("since") as string }),
			...(query.has("before") && { before: query.get("before") as string }),
			...(query.has("tail") && { tail: numberOf(query, "tail", 200, 10_000) }),
			limit,
		});
		answerJson(call.response, 200, page);
	},
	export: (call) => sendExport(call.response, sessionOf(call)),
	artifacts: (call) => answerJson(call.response, 200, { artifacts: artifactsOf(sessionOf(call)) }),
	artifact: (call) => sendArtifact(call.response, sessionOf(call), call.params.name as string),
	serverEvents(call) {
		call.server.connections.check(bearerOf(call), 0);
		streamServerEvents(call.response, bearerOf(call), call.server.hub, call.server.connections);
	},
	runs: fleetRoute("runs"),
	submitRun: fleetRoute("submitRun"),
	run: fleetRoute("run"),
	runEntries: fleetRoute("runEntries"),
	runEvents: fleetRoute("runEvents"),
	runPatch: fleetRoute("runPatch"),
	runReceipt: fleetRoute("runReceipt"),
	cancelRun: fleetRoute("cancelRun"),
	workers: fleetRoute("workers"),
	drainState: ({ response, server }) => answerJson(response, 200, server.drainState()),
	drain({ response, server }) {
		void server.drain();
		answerJson(response, 202, server.drainState());
	},
};

async function lastText(session: Session): Promise<string | undefined> {
	try {
		const { data } = (await session.ask({ type: "get_last_assistant_text" })) as { data?: { text?: string | null } };
		return data?.text ?? undefined;
	} catch {
		return undefined; // The agent ended meanwhile.
	}
}

export const isScope = (word: string): word is Scope => (scopes as readonly string[]).includes(word);
