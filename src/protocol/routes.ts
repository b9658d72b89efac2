/** What `bowline serve` answers over HTTP: one row per route. The server, its tests and the OpenAPI page derive from it. Shapes are named; `serve.ts` has them. */

/** What a token may do; each one includes those before it. */
export const scopes = ["read", "drive", "admin"] as const;
export type Scope = (typeof scopes)[number];

export interface Route {
	method: "GET" | "POST" | "DELETE";
	/** `{name}` stands for one segment. */
	path: string;
	/** `none`: without a token. `any`: every valid token. `command`: by the class of the command in the body. */
	scope: Scope | "none" | "any" | "command";
	doc: string;
	/** Names and meanings of what may be in the query. */
	query?: Readonly<Record<string, string>>;
	/** Name of the shape of the body. */
	body?: string;
	/** Status of a success, and the name of its shape or its media type. */
	answer: { status: number; shape?: string; type?: string };
	/** `socket`: an upgrade to WebSocket. `stream`: stays open. `file`: a download. `page`: the browser page. */
	kind?: "socket" | "stream" | "file" | "page";
	/** Refused while the server drains. */
	isWork?: true;
	/** A request in a process of its own would make no sense twice: the header `Idempotency-Key` counts. */
	takesKey?: true;
}

const session = "/v1/sessions/{id}";
const run = "/v1/runs/{id}";

export const routes = {
	page: { method: "GET", path: "/", scope: "none", doc: "The page.", answer: { status: 200, type: "text/html" }, kind: "page" },
	asset: {
		method: "GET",
		path: "/assets/{name}",
		scope: "none",
		doc: "Script and style of the page.",
		answer: { status: 200, type: "text/javascript" },
		kind: "page",
	},
	healthz: { method: "GET", path: "/healthz", scope: "none", doc: "`ok` while the event loop turns.", answer: { status: 200, type: "text/plain" } },
	readyz: {
		method: "GET",
		path: "/readyz",
		scope: "none",
		doc: "`ready`; or 503 with `draining`, or with `disk: ` and why sessions cannot be written.",
		answer: { status: 200, type: "text/plain" },
	},
	metrics: {
		method: "GET",
		path: "/metrics",
		scope: "read",
		doc: "Metrics in the text format of Prometheus.",
		answer: { status: 200, type: "text/plain" },
	},
	login: {
		method: "POST",
		path: "/v1/login",
		scope: "none",
		doc: "Trades a one-time code, or a token, for a page token of 12 hours.",
		body: "LoginRequest",
		answer: { status: 200, shape: "LoginAnswer" },
	},
	tickets: {
		method: "POST",
		path: "/v1/tickets",
		scope: "any",
		doc: "A ticket for one WebSocket of a browser: valid once, for 30 seconds.",
		answer: { status: 200, shape: "TicketAnswer" },
	},
	info: { method: "GET", path: "/v1/info", scope: "read", doc: "What this server is, and its limits.", answer: { status: 200, shape: "ServerInfo" } },
	list: {
		method: "GET",
		path: "/v1/sessions",
		scope: "read",
		doc: "The sessions, the one that was written to last first. Wakes none.",
		query: {
			state: "Only sessions in this state.",
			cwd: "Only sessions of this directory.",
			q: "Only sessions whose name, directory or id contains this text.",
			limit: "At most this many: 100 by default, 1000 at most.",
			cursor: "Where the previous page ended.",
		},
		answer: { status: 200, shape: "SessionPage" },
	},
	create: {
		method: "POST",
		path: "/v1/sessions",
		scope: "drive",
		doc: "Creates a session and starts its agent.",
		body: "CreateSession",
		answer: { status: 201, shape: "ServedSession" },
		isWork: true,
		takesKey: true,
	},
	demo: {
		method: "POST",
		path: "/v1/demo",
		scope: "drive",
		doc: "Creates a session that a scripted model drives, in a small repository made for it, and gives it its first prompt. Needs no key.",
		answer: { status: 201, shape: "ServedSession" },
		isWork: true,
	},
	get: { method: "GET", path: session, scope: "read", doc: "One session.", answer: { status: 200, shape: "ServedSession" } },
	remove: {
		method: "DELETE",
		path: session,
		scope: "admin",
		doc: "Moves the session's files to the trash.",
		answer: { status: 204 },
	},
	start: {
		method: "POST",
		path: `${session}/start`,
		scope: "drive",
		doc: "Starts the session's agent, also after crashes.",
		answer: { status: 202, shape: "ServedSession" },
		isWork: true,
	},
	stop: {
		method: "POST",
		path: `${session}/stop`,
		scope: "drive",
		doc: "Stops the session's agent; while it is busy only with `abort`.",
		body: "StopSession",
		answer: { status: 202, shape: "ServedSession" },
	},
	prompts: {
		method: "POST",
		path: `${session}/prompts`,
		scope: "drive",
		doc: "Sends a prompt. With `Prefer: wait=<seconds>` the answer waits for the end of the run.",
		body: "PromptRequest",
		answer: { status: 202, shape: "PromptAnswer" },
		isWork: true,
		takesKey: true,
	},
	commands: {
		method: "POST",
		path: `${session}/commands`,
		scope: "command",
		doc: "Any command of the protocol; answered with its `response`, also when that is a failure.",
		body: "CommandFrame",
		answer: { status: 200, shape: "Response" },
		takesKey: true,
	},
	events: {
		method: "GET",
		path: `${session}/events`,
		scope: "read",
		doc: "The session's frames as server-sent events, or with `Accept: application/jsonl` as lines.",
		query: {
			after: "Begin after this number; the header `Last-Event-ID` comes first.",
			deltas: "`0`: without frames that are not kept.",
			follow: "Lines only: `1` stays open.",
		},
		answer: { status: 200, type: "text/event-stream" },
		kind: "stream",
	},
	entries: {
		method: "GET",
		path: `${session}/entries`,
		scope: "read",
		doc: "The entries of the session file in pages.",
		query: {
			since: "Entries after this one.",
			tail: "The last so many.",
			before: "Entries before this one, the nearest ones.",
			limit: "At most this many: 1000 by default, 10000 at most.",
		},
		answer: { status: 200, shape: "EntriesPage" },
	},
	export: {
		method: "GET",
		path: `${session}/export`,
		scope: "read",
		doc: "The session as one HTML page, as a download.",
		answer: { status: 200, type: "text/html" },
		kind: "file",
	},
	artifacts: {
		method: "GET",
		path: `${session}/artifacts`,
		scope: "read",
		doc: "Files that subagents left.",
		answer: { status: 200, shape: "ArtifactList" },
	},
	artifact: {
		method: "GET",
		path: `${session}/artifacts/{name}`,
		scope: "read",
		doc: "One of these files, as a download.",
		answer: { status: 200, type: "application/octet-stream" },
		kind: "file",
	},
	socket: {
		method: "GET",
		path: `${session}/socket`,
		scope: "read",
		doc: "A WebSocket with the frames of the session. `mode=write` needs scope `drive` and takes the seat.",
		query: {
			mode: "`read` (default) or `write`.",
			after: "Replay after this number first.",
			client: "A random id of the client's process: its seat is kept for 30 seconds after a lost connection.",
			name: "What to call the client.",
			takeover: "`1`: take the seat from its holder.",
			updates: "`delta` (default), or `full` for clients that need whole messages.",
		},
		answer: { status: 101 },
		kind: "socket",
	},
	manySocket: {
		method: "GET",
		path: "/v1/socket",
		scope: "read",
		doc: "A WebSocket for many sessions: `attach` and `detach`, and `sessionId` in every frame.",
		query: { client: "A random id of the client's process.", name: "What to call the client." },
		answer: { status: 101 },
		kind: "socket",
	},
	serverEvents: {
		method: "GET",
		path: "/v1/events",
		scope: "read",
		doc: "Server-sent events about all sessions: states, seats, sessions that come and go, draining.",
		answer: { status: 200, type: "text/event-stream" },
		kind: "stream",
	},
	runs: {
		method: "GET",
		path: "/v1/runs",
		scope: "read",
		doc: "The runs of the fleet, newest first, with counts and lanes. As all routes of runs and workers: only with `--fleet`.",
		query: {
			state: "`queued`, `running` or `done`.",
			lane: "Only runs of this lane.",
			batch: "Only runs of this batch.",
			limit: "At most this many: 100 by default, 500 at most.",
			before: "Older than this run.",
		},
		answer: { status: 200, shape: "FleetRunPage" },
	},
	submitRun: {
		method: "POST",
		path: "/v1/runs",
		scope: "drive",
		doc: "Submits a run. The key of the body, else the header `Idempotency-Key`, gives the same run again.",
		body: "SubmitRun",
		answer: { status: 201, shape: "SubmittedRun" },
		isWork: true,
		takesKey: true,
	},
	run: {
		method: "GET",
		path: run,
		scope: "read",
		doc: "One run, its takeovers and its result.",
		answer: { status: 200, shape: "FleetRunView" },
	},
	runEntries: {
		method: "GET",
		path: `${run}/entries`,
		scope: "read",
		doc: "The entries of the run's session file in pages, as far as its worker has committed them.",
		query: {
			since: "Entries after this one.",
			tail: "The last so many.",
			before: "Entries before this one, the nearest ones.",
			limit: "At most this many: 1000 by default, 10000 at most.",
		},
		answer: { status: 200, shape: "FleetEntries" },
	},
	runEvents: {
		method: "GET",
		path: `${run}/events`,
		scope: "read",
		doc: "The run's frames as server-sent events, across takeovers, until the run has ended. 204: it has, and there are no more.",
		query: { after: "Begin after this number; the header `Last-Event-ID` comes first." },
		answer: { status: 200, type: "text/event-stream" },
		kind: "stream",
	},
	runPatch: {
		method: "GET",
		path: `${run}/patch`,
		scope: "read",
		doc: "What the run changed, for `git apply`, as a download. 409 while it has no result.",
		answer: { status: 200, type: "text/x-diff" },
		kind: "file",
	},
	runReceipt: {
		method: "GET",
		path: `${run}/receipt`,
		scope: "read",
		doc: "The receipt of the run: what was done, checked and spent. 409 while it has no result.",
		answer: { status: 200, type: "application/json" },
	},
	cancelRun: {
		method: "POST",
		path: `${run}/cancel`,
		scope: "drive",
		doc: "Cancels a run; a worker that holds it ends it soon.",
		answer: { status: 202, shape: "FleetRun" },
	},
	workers: {
		method: "GET",
		path: "/v1/workers",
		scope: "read",
		doc: "The workers of the fleet.",
		answer: { status: 200, shape: "FleetWorkers" },
	},
	drainState: { method: "GET", path: "/v1/drain", scope: "admin", doc: "Whether the server drains.", answer: { status: 200, shape: "DrainState" } },
	drain: {
		method: "POST",
		path: "/v1/drain",
		scope: "admin",
		doc: "Lets runs end, then stops the server.",
		answer: { status: 202, shape: "DrainState" },
	},
} as const satisfies Record<string, Route>;

export type RouteName = keyof typeof routes;
