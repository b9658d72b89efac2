/** The shapes of `bowline serve`: what requests and answers of its routes contain, and the frames that only connections to a server have. */
import Type, { type Static } from "typebox";
import { ImageInput } from "./content.ts";
import { flag, integer, jsonObject, list, number, optional, orNull, shape, text, words } from "./define.ts";
import { ErrorCode } from "./error-code.ts";
import { thinkingLevels } from "./levels.ts";
import { scopes } from "./routes.ts";

export const sessionStates = ["asleep", "starting", "idle", "busy", "stopping", "crashed", "failed", "elsewhere"] as const;
export type SessionStateName = (typeof sessionStates)[number];

const prompt = { message: text(), images: optional(list(ImageInput)) };

export const CreateSession = shape("CreateSession", "A new session. Members that are not here are refused.", {
	cwd: text({ description: "The working directory. Its real path must be inside a root of the server." }),
	name: optional(text()),
	provider: optional(text()),
	model: optional(text()),
	thinking: optional(words(...thinkingLevels)),
	tools: optional(list(text(), { description: "Only these built-in tools; names with + and - change the default ones." })),
	noTools: optional(flag()),
	appendSystemPrompt: optional(text()),
	settings: optional({ ...jsonObject, description: "Settings of this session by their names." }),
	ephemeral: optional(flag({ description: "Write nothing to disk: the session ends with its process." })),
	onCrash: optional(words("stay", "resume")),
	approve: optional(flag({ description: "Trust the project. Needs scope `admin` and the server's setting `serve.approve`." })),
	prompt: optional(Type.Object(prompt)),
});
export type CreateSession = Static<typeof CreateSession>;

const Exit = Type.Object({
	code: orNull(integer()),
	signal: orNull(text()),
	at: integer(),
	stderr: optional(text({ description: "Its last lines." })),
});
const Seat = Type.Object({ client: text(), name: text(), since: integer() });

export const ServedSession = shape("ServedSession", "A session as the server knows it. Times are milliseconds since 1970.", {
	id: text(),
	name: optional(text()),
	cwd: text(),
	state: words(...sessionStates),
	since: integer({ description: "When it came into this state." }),
	createdAt: integer(),
	updatedAt: integer(),
	model: orNull(Type.Object({ provider: text(), id: text() })),
	asOf: integer({ description: "The highest number of a frame so far." }),
	epoch: integer(),
	run: orNull(Type.Object({ runId: text(), startedAt: integer() })),
	seat: orNull(Seat),
	readers: integer(),
	pending: Type.Object({ dialogs: integer(), queued: integer() }),
	usage: Type.Object({ totalTokens: integer(), costUsd: number() }),
	lastExit: orNull(Exit),
	reason: optional(text({ description: "Why it is in this state, and what to do." })),
	pid: optional(integer({ description: "In state `elsewhere`: the process that has it." })),
	file: optional(text()),
});
export type ServedSession = Static<typeof ServedSession>;

export const SessionPage = shape("SessionPage", "Sessions, newest first.", {
	sessions: list(ServedSession),
	nextCursor: optional(text()),
	truncated: optional(flag({ description: "There are more sessions than the server keeps in mind." })),
});

export const LoginRequest = shape("LoginRequest", "One of both.", { code: optional(text()), token: optional(text()) });
export const LoginAnswer = shape("LoginAnswer", "A page token.", { token: text(), scope: words(...scopes), expiresAt: integer() });
export const TicketAnswer = shape("TicketAnswer", "Open the socket with the subprotocols `bowline.v1` and `ticket.<ticket>`.", {
	ticket: text(),
	expiresAt: integer(),
});

export const ServerInfo = shape("ServerInfo", "What this server is.", {
	version: text(),
	protocol: integer(),
	instance: text({ description: "Changes with every start." }),
	name: text(),
	scope: words(...scopes),
	roots: list(text()),
	limits: jsonObject,
	dialects: list(text()),
	sandbox: text(),
	demo: flag({ description: "Whether `POST /v1/demo` makes a session for a first look." }),
	hasModel: flag({ description: "Whether a model can be used: a key, or another way to a provider, is configured on the server." }),
	fleet: flag({ description: "Whether the server was started with `--fleet`, and answers the routes of runs and workers." }),
	draining: flag(),
});

export const StopSession = shape("StopSession", "How to stop.", { abort: optional(flag()) });
export const PromptRequest = shape("PromptRequest", "A prompt.", {
	...prompt,
	streamingBehavior: optional(words("steer", "followUp")),
	outputSchema: optional(jsonObject),
	key: optional(text()),
});
export const PromptAnswer = shape("PromptAnswer", "What became of a prompt. `result` and `text` come when the request waited for the end.", {
	runId: optional(text()),
	disposition: optional(text()),
	duplicate: flag(),
	result: optional(jsonObject),
	text: optional(text()),
});
export const EntriesPage = shape("EntriesPage", "Entries of a session file, oldest first.", {
	entries: list(jsonObject),
	leafId: orNull(text()),
	total: integer(),
	before: flag({ description: "There are older entries." }),
	after: flag({ description: "There are newer entries." }),
	asOf: integer({ description: "Subscribe after this number: nothing is missing, and nothing comes twice." }),
});
export const ArtifactList = shape("ArtifactList", "Files that subagents left.", {
	artifacts: list(Type.Object({ name: text(), size: integer(), modified: integer() })),
});
export const DrainState = shape("DrainState", "Whether the server drains.", { draining: flag(), deadlineMs: optional(integer()) });
export const ServeError = shape("ServeError", "A refusal. `message` names the remedy.", {
	error: Type.Object({ code: ErrorCode, message: text(), details: optional(jsonObject) }),
});

// ─── The fleet: with `bowline serve --fleet` ───

export const FleetSandbox = shape("FleetSandbox", "The sandbox of a run, as its agent reported it.", {
	mode: text({ description: "`off`: its commands ran outside." }),
	reason: optional(text({ description: "Why it was off, where it was not asked for." })),
});
export type FleetSandbox = Static<typeof FleetSandbox>;

export const FleetRun = shape("FleetRun", "A run of the fleet. Times are ISO 8601.", {
	runId: text(),
	key: text(),
	batch: orNull(text()),
	lane: text(),
	priority: integer(),
	state: words("queued", "running", "done"),
	status: orNull(text({ description: "How it ended, when `state` is `done`." })),
	epoch: integer({ description: "Grows each time the run is given to a worker." }),
	attempts: integer(),
	worker: orNull(text()),
	sandbox: orNull(FleetSandbox),
	needs: list(text()),
	budget: orNull(text()),
	isCancelled: flag({ description: "It was cancelled, or will be." }),
	usd: number(),
	tokens: integer(),
	sessionLines: integer(),
	eventLines: integer(),
	createdAt: text(),
	startedAt: orNull(text()),
	finishedAt: orNull(text()),
	ageMs: integer(),
	spec: { ...jsonObject, description: "What was submitted. Pictures are left out; in lists a long prompt is shortened." },
});
export type FleetRun = Static<typeof FleetRun>;

/** Which runs of a queue. */
export interface FleetRunFilter {
	ids?: readonly string[];
	state?: FleetRun["state"];
	lane?: string;
	batch?: string;
	/** Newest first. */
	limit?: number;
	/** Older than this one. */
	before?: string;
}

/** A line of a run's session file or event log, as a queue keeps it. */
export interface FleetLine {
	line: number;
	epoch: number;
	body: string;
}

/** What a takeover cut: lines after `…Cut` up to `…From` were undone, because another worker went on from the last checkpoint. */
export interface FleetCut {
	epoch: number;
	worker: string;
	sessionCut: number;
	eventCut: number;
	sessionFrom: number;
	eventFrom: number;
	at: string;
}

export const FleetTakeover = shape("FleetTakeover", "A worker went on where another one was lost.", {
	epoch: integer(),
	worker: text(),
	at: text(),
	after: orNull(text({ description: "The last entry of the session file that was kept." })),
});
export type FleetTakeover = Static<typeof FleetTakeover>;

export const FleetRunPage = shape("FleetRunPage", "Runs, newest first; how many there are in each state; and the lanes.", {
	runs: list(FleetRun),
	counts: { ...jsonObject, description: "By state and by how they ended." },
	lanes: list(Type.Object({ name: text(), maxRunning: integer(), running: integer(), queued: integer(), pausedMs: integer() })),
	queue: text({ description: "Which queue this is, without secrets." }),
});
export const FleetRunView = shape("FleetRunView", "One run, and what is known of its result.", {
	run: FleetRun,
	takeovers: list(FleetTakeover),
	result: orNull(Type.Object({ status: text(), finishedAt: text(), patchBytes: integer(), receipt: jsonObject })),
});
export const FleetEntries = shape("FleetEntries", "Entries of a run's session file in pages, without those that a takeover has cut.", {
	entries: list(jsonObject),
	leafId: orNull(text()),
	total: integer(),
	before: flag({ description: "There are older entries." }),
	after: flag({ description: "There are newer entries." }),
	asOf: integer({ description: "Ask for events after this number." }),
	epoch: integer({ description: "Another epoch than the last time: read from the beginning, a takeover may have cut entries." }),
});
export const SubmitRun = shape("SubmitRun", "A run as a line of `fleet submit --from` has it. The repository is a url, or a path in full.", {
	repo: jsonObject,
	prompt: text(),
	images: optional(list(ImageInput)),
	model: optional(text()),
	provider: optional(text()),
	thinking: optional(text()),
	settings: optional(jsonObject),
	verify: optional(Type.Unknown()),
	deliver: optional(words("patch", "branch")),
	limits: optional(jsonObject),
	env: optional(list(text())),
	setup: optional(list(text())),
	parent: optional(text()),
	key: optional(text()),
	lane: optional(text()),
	priority: optional(integer()),
	batch: optional(text()),
	budget: optional(text()),
	needs: optional(list(text())),
});
export const SubmittedRun = shape("SubmittedRun", "The run of a submission.", {
	runId: text(),
	fresh: flag({ description: "False: the key was known, and this is its run." }),
});
export const FleetWorker = shape("FleetWorker", "A worker of the fleet.", {
	id: text(),
	host: text(),
	labels: list(text()),
	slots: integer(),
	running: integer(),
	version: text(),
	startedAt: text(),
	seenMs: integer({ description: "Milliseconds since it was last heard of." }),
	draining: flag(),
	gone: flag(),
});
export type FleetWorker = Static<typeof FleetWorker>;
export const FleetWorkers = shape("FleetWorkers", "The workers of the fleet.", { workers: list(FleetWorker) });

/** Shapes by the names that the rows of routes use. */
export const serveShapes = {
	CreateSession,
	ServedSession,
	SessionPage,
	LoginRequest,
	LoginAnswer,
	TicketAnswer,
	ServerInfo,
	StopSession,
	PromptRequest,
	PromptAnswer,
	EntriesPage,
	ArtifactList,
	DrainState,
	ServeError,
	FleetSandbox,
	FleetRun,
	FleetTakeover,
	FleetRunPage,
	FleetRunView,
	FleetEntries,
	SubmitRun,
	SubmittedRun,
	FleetWorker,
	FleetWorkers,
};
