/** The checks of a request that come before its body, in their order. Pure: the same for requests and upgrades. */
import { type Route, type RouteName, routes, type Scope } from "../protocol/routes.ts";
import { Refusal } from "./refusal.ts";
import { type Bearer, mayUse, type Tokens, tokenLength } from "./tokens.ts";

export interface RequestHead {
	method: string;
	/** Path and query, as they came. */
	url: string;
	headers: Readonly<Record<string, string | string[] | undefined>>;
	/** Of the other end; empty on a unix socket. */
	address: string;
}

export interface Gate {
	scheme: "http" | "https";
	/** Absent on a unix socket: there any Host is accepted. */
	port: number | undefined;
	/** Names of `--allow-host`. */
	allowed: readonly string[];
	tokens: Tokens;
	/** Only on a unix socket. */
	needsNoToken: boolean;
	/** Whether this token may send one more request. */
	admits: (bearer: Bearer) => boolean;
	onAuthFailure: (why: string) => void;
	/** A token was in an address. `name` is given when it was valid. */
	onExposed: (name: string | undefined) => void;
}

export interface Admitted {
	name: RouteName;
	route: Route;
	params: Readonly<Record<string, string>>;
	query: URLSearchParams;
	/** Absent where none is needed. */
	bearer: Bearer | undefined;
	/** The subprotocol with the ticket was used. */
	hasTicket: boolean;
}

/** A program on a unix socket without tokens. */
const local: Bearer = { name: "local", scope: "admin", sha256: "local" };

/** Throws a Refusal. */
export function admit(head: RequestHead, gate: Gate): Admitted {
	checkHost(head, gate);
	checkOrigin(head, gate);
	checkFetchSite(head);
	const { pathname, query } = splitUrl(head.url);
	// Before the path: what is nowhere is in a log, too.
	refuseTokenInUrl(head.url, query, gate);
	const { name, route, params } = findRoute(head.method, pathname);
	const { bearer, hasTicket } = authenticate(head, gate, route);
	checkScope(route, bearer);
	if (bearer && !gate.admits(bearer))
		throw new Refusal("too_many_requests", "This token sends more than 200 requests a second. Wait a second.", {
			headers: { "Retry-After": "1" },
		});
	return { name, route, params, query, bearer, hasTicket };
}

const loopbackNames = ["127.0.0.1", "localhost", "[::1]"];

/** Whether a `Host` is one of ours. */
function isOwnHost(host: string, { scheme, port, allowed }: Gate): boolean {
	const lower = host.toLowerCase();
	const [, name = "", given] = /^(\[[^\]]*\]|[^:]*)(?::(\d{1,5}))?$/.exec(lower) ?? [];
	if (!name) return false;
	// As it was given: a port that is forwarded to ours, as by ssh -L or docker -p, is another one.
	if (allowed.some((each) => each.toLowerCase() === lower)) return true;
	const isPort = given === undefined ? port === (scheme === "https" ? 443 : 80) : Number(given) === port;
	if (loopbackNames.includes(name)) return isPort;
	// A proxy in front of us is asked under its own port.
	return allowed.some((each) => each.toLowerCase() === name) && (given === undefined || isPort || isUsualPort(given));
}

const isUsualPort = (port: string) => port === "80" || port === "443";

function checkHost({ headers }: RequestHead, gate: Gate): void {
	if (gate.port === undefined) return;
	const { host } = headers;
	if (typeof host === "string" && isOwnHost(host, gate)) return;
	// Only what can be a host is repeated.
	const name = typeof host === "string" && /^[\w.-]{1,253}(?::\d{1,5})?$|^\[[\da-fA-F:.]{2,45}\](?::\d{1,5})?$/.test(host) ? host : undefined;
	const remedy = name === undefined ? "that host name. Add it with --allow-host <name>" : `${name}. If it is yours, add --allow-host ${name}`;
	throw new Refusal("wrong_host", `This server does not answer under ${remedy}.`);
}

function checkOrigin({ headers }: RequestHead, gate: Gate): void {
	const { origin } = headers;
	if (origin === undefined) return;
	const [, scheme, host = ""] = (typeof origin === "string" && /^(https?):\/\/([^/?#@\s]+)$/.exec(origin)) || [];
	// A proxy that speaks TLS for us: its pages come over https.
	const isScheme = scheme === gate.scheme || (scheme === "https" && gate.allowed.length > 0 && !loopbackNames.includes(host.replace(/:\d+$/, "")));
	const isOurs = gate.port !== undefined && isScheme && isOwnHost(host, scheme === gate.scheme ? gate : { ...gate, scheme: "https" });
	if (!isOurs) throw new Refusal("wrong_origin", "Requests of other origins are not served.");
}

function checkFetchSite({ headers }: RequestHead): void {
	const site = headers["sec-fetch-site"];
	if (site !== undefined && site !== "same-origin" && site !== "none") throw new Refusal("cross_site", "Requests of other sites are not served.");
}

function splitUrl(url: string): { pathname: string; query: URLSearchParams } {
	const at = url.indexOf("?");
	return at < 0 ? { pathname: url, query: new URLSearchParams() } : { pathname: url.slice(0, at), query: new URLSearchParams(url.slice(at + 1)) };
}

const table = (Object.entries(routes) as [RouteName, Route][]).map(([name, route]) => ({
	name,
	route,
	segments: route.path.split("/"),
}));

/** Parameters of a path that fits a template. */
function match(segments: readonly string[], given: readonly string[]): Record<string, string> | undefined {
	if (segments.length !== given.length) return undefined;
	const params: Record<string, string> = {};
	for (const [index, segment] of segments.entries()) {
		const text = given[index] as string;
		if (!segment.startsWith("{")) {
			if (segment !== text) return undefined;
			continue;
		}
		try {
			params[segment.slice(1, -1)] = decodeURIComponent(text);
		} catch {
			return undefined; // A percent sign that encodes nothing.
		}
		if (text === "") return undefined;
	}
	return params;
}

function findRoute(method: string, pathname: string): { name: RouteName; route: Route; params: Record<string, string> } {
	const given = pathname.split("/");
	const methods: string[] = [];
	for (const { name, route, segments } of table) {
		const params = match(segments, given);
		if (!params) continue;
		if (route.method === method) return { name, route, params };
		methods.push(route.method);
	}
	if (methods.length === 0) throw new Refusal("no_route", "There is nothing at this path. See docs/serve.md for the routes.");
	throw new Refusal("wrong_method", `This path takes ${methods.join(" and ")}.`, { headers: { Allow: methods.join(", ") } });
}

/** Nowhere is a token accepted in an address. Each valid one in it is revoked, whatever it is called and wherever it is. */
function refuseTokenInUrl(url: string, query: URLSearchParams, gate: Gate): void {
	const valid = [...candidates(url)].flatMap((text) => gate.tokens.burn(text) ?? []);
	const isNamed = [...query.keys()].some((name) => tokenNames.has(name.toLowerCase()));
	if (valid.length === 0 && !isNamed) return;
	if (valid.length === 0) gate.onExposed(undefined);
	for (const name of valid) gate.onExposed(name);
	throw new Refusal(
		"token_in_url",
		"A token does not belong into an address, where logs keep it: send Authorization: Bearer <token>. If it was valid, it is revoked now.",
	);
}

const tokenNames: ReadonlySet<string> = new Set(["token", "access_token", "auth", "authorization", "bearer"]);

/** What may be a token, as it came and decoded. */
function candidates(url: string): Set<string> {
	const found = new Set<string>();
	let text = url;
	for (let depth = 0; depth < mostDecoded; depth++) {
		for (const [word] of text.matchAll(/[\w-]+/g)) if (word.length === tokenLength) found.add(word);
		const decoded = text.replace(/%([0-9a-fA-F]{2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
		if (decoded === text) break;
		text = decoded;
	}
	return found;
}

const mostDecoded = 3;

function authenticate(head: RequestHead, gate: Gate, route: Route): { bearer: Bearer | undefined; hasTicket: boolean } {
	if (route.scope === "none") return { bearer: undefined, hasTicket: false };
	const { tokens } = gate;
	if (gate.needsNoToken) return { bearer: local, hasTicket: false };
	const wait = tokens.blockedMs(head.address);
	if (wait > 0)
		throw new Refusal("too_many_requests", "Too many wrong tokens from this address. Wait a minute.", {
			headers: { "Retry-After": String(Math.ceil(wait / 1000)) },
		});
	const ticket = route.kind === "socket" ? ticketOf(head) : undefined;
	const given = ticket === undefined ? bearerOf(head) : ticket;
	if (given === undefined) {
		gate.onAuthFailure("missing");
		throw unauthorized("Send Authorization: Bearer <token>. The token is in the file that the server named when it started.");
	}
	const bearer = ticket === undefined ? tokens.verify(given) : tokens.takeTicket(given);
	if (bearer) return { bearer, hasTicket: ticket !== undefined };
	tokens.noteFailure(head.address);
	gate.onAuthFailure(ticket === undefined ? "token" : "ticket");
	throw unauthorized(ticket === undefined ? "This token is not valid, or not any more." : "This ticket was used, or is too old. Ask for a new one.");
}

const unauthorized = (text: string) => new Refusal("unauthorized", text, { headers: { "WWW-Authenticate": "Bearer" } });

function bearerOf({ headers }: RequestHead): string | undefined {
	const { authorization } = headers;
	return typeof authorization === "string" ? /^Bearer +([\w~+/.=-]{1,512})$/i.exec(authorization)?.[1] : undefined;
}

function ticketOf({ headers }: RequestHead): string | undefined {
	const protocols = headers["sec-websocket-protocol"];
	if (typeof protocols !== "string") return undefined;
	return protocols
		.split(",")
		.map((each) => each.trim())
		.find((each) => each.startsWith("ticket."))
		?.slice("ticket.".length);
}

function checkScope({ scope, path }: Route, bearer: Bearer | undefined): void {
	if (!bearer || scope === "none" || scope === "any") return;
	// The class of the command decides, once it is known.
	const needed: Scope = scope === "command" ? "read" : scope;
	if (!mayUse(bearer.scope, needed))
		throw new Refusal("scope", `${path} needs a token of scope ${needed}; this one has ${bearer.scope}. See bowline serve token add.`);
}
