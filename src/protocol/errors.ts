/** Every code that a failure can have: the rows of docs/errors.md, and of the type `ErrorCode` of both clients. */

export interface ErrorRow {
	/** Who gives it. The server passes on what agents give, and gives some of their codes itself. */
	from: "agent" | "server" | "client";
	/** When it comes, and what to do. */
	doc: string;
	/** The status of an answer over HTTP, or several: the first one unless the place that refuses says otherwise. */
	http?: number | readonly [number, ...number[]];
	/** How the command line ends, where that is not with 1. */
	exit?: number;
	/** Of an agent: dialects `pi` and `omp` give it too, because their hosts know it. */
	inDialects?: true;
}

export const errors = {
	// ─── The request ───

	bad_json: {
		from: "agent",
		doc: "The line or the body is not a JSON object, or it is too long or nested too deeply. Repair the program that writes it.",
		http: [400, 413, 415],
	},
	unknown_command: {
		from: "agent",
		doc: "There is no command of this name. `hint` may name the one that was meant. The agent may also be older than the host: look at `version` in `ready`.",
		http: 422,
	},
	bad_field: {
		from: "agent",
		doc: "A member is missing, of the wrong type, unknown, or has a value that cannot be used; or flags contradict one another. The text names it. Sent again, the request fails again.",
		http: [400, 409, 422],
		exit: 2,
	},
	unsupported: {
		from: "agent",
		doc: "Not possible in this session or this dialect, for example a checkpoint where they are off. The text says why, and what would make it possible.",
		http: 422,
	},
	not_found: {
		from: "agent",
		doc: "What the request names is not there: an entry, a subagent, a permission, an MCP server, a run. Ask for the list again.",
		http: 404,
	},
	nothing_to_do: {
		from: "agent",
		doc: "The request is right, and there is nothing that it could do: nothing to compact, to export or to clone. Nothing is wrong.",
		http: 422,
	},
	key_reused: {
		from: "agent",
		doc: "This `key` came before, with another command, request or run. Use a new key for each.",
		http: 409,
		inDialects: true,
	},
	frame_too_large: {
		from: "agent",
		doc: "The answer does not fit into one line. Ask for less of it, as with `get_messages_page`, or `get_entries` since an entry.",
		http: 422,
		inDialects: true,
	},
	unknown_since: {
		from: "agent",
		doc: "`get_entries`: the session has no such entry. Read it from the beginning.",
		http: 404,
		inDialects: true,
	},
	stale_cursor: {
		from: "agent",
		doc: "`get_messages_page`: the conversation has changed since the cursor was given. Begin again without one.",
		http: 409,
		inDialects: true,
	},
	cursor_ahead: {
		from: "agent",
		doc: "`afterSeq` or `after` is beyond the last number: it belongs to another session, or the log was lost. Read `get_entries`, and subscribe again without it.",
		http: 400,
		inDialects: true,
	},

	// ─── The moment ───

	busy: {
		from: "agent",
		doc: "The session is working. Wait for `agent_settled`, send `abort`, or let a prompt wait with `streamingBehavior`.",
		http: 409,
	},
	session_busy: {
		from: "agent",
		doc: "`get_messages_page`: messages are being added. Ask again after `agent_settled`.",
		http: 409,
		inDialects: true,
	},
	aborted: {
		from: "agent",
		doc: "An abort, or the end of the session, came before it was done. Send it again if it is still wanted.",
		http: 409,
	},
	interrupted: {
		from: "agent",
		doc: "A command with this `key` had begun when an earlier agent ended, and its outcome is not known. Look at its effects, then send it with another key.",
		http: 422,
		inDialects: true,
	},
	conflict: {
		from: "agent",
		doc: "Another program changes the same files or holds a lock on them. Nothing was done: try again.",
		http: 409,
	},

	// ─── Models ───

	no_model: { from: "agent", doc: "No model is chosen, or none can be used. The text says how to give a key; or send `set_model`.", http: 422 },
	unknown_model: {
		from: "agent",
		doc: "There is no such model. `hint` may name the one that was meant; `get_available_models` lists those that can be used.",
		http: 422,
	},
	unknown_provider: {
		from: "agent",
		doc: "There is no such provider, here or in `models.jsonc`. [Providers](providers.md) lists those that are built in.",
		http: 422,
	},
	no_key: { from: "agent", doc: "There is no key for the provider. The text names the variable or the file for it.", http: 422 },
	key_failed: {
		from: "agent",
		doc: "The credentials of the provider could not be read, for example because a command of `models.jsonc` failed. The text says why. It may pass.",
		http: 422,
	},
	no_address: { from: "agent", doc: "The address of the provider needs variables that are not set. The text names them.", http: 422 },
	price_unknown: {
		from: "agent",
		doc: "There is a ceiling in dollars, and the model has no known price. Give it one in `models.jsonc`, or take another model.",
		http: 422,
	},
	model_failed: {
		from: "agent",
		doc: "The provider failed while it made a summary, for `compact` or on the way to another entry. The text has its words. Nothing was changed: try again.",
		http: 502,
	},

	// ─── Limits of the session ───

	budget_exceeded: {
		from: "agent",
		doc: "A ceiling of `task.budget.*` is reached. Raise the one that the text names, or begin a new session. See [budgets](budgets.md).",
		http: 422,
		exit: 3,
	},
	no_sandbox: {
		from: "agent",
		doc: "The session requires [the sandbox](sandbox.md), and it cannot be had here. The text says what is missing. Nothing runs without it.",
		http: 422,
	},
	refused: {
		from: "agent",
		doc: "Something that guards the session refused the prompt: a settings file that cannot be read, or checkpoints that are required and impossible. The text says what to repair. A client says it when a server opens no WebSocket and gives no reason.",
		http: 409,
	},

	// ─── Sessions and files ───

	no_session: { from: "agent", doc: "There is no such session. `bowline sessions`, or `GET /v1/sessions`, lists them.", http: 404 },
	bad_session: {
		from: "agent",
		doc: "The file is not a session that can be continued: another kind of file, a newer format, or a file with several names. It is left as it is.",
		http: 422,
	},
	elsewhere: {
		from: "agent",
		doc: "Another process has the session open. Close it there first, or watch it: a session has one writer.",
		http: 409,
	},
	not_stored: {
		from: "agent",
		doc: "The session's file could not be written: the disk is full, or another program changed the file. What cannot be kept is not begun. Make room, or open the file again.",
		http: 503,
	},
	io: {
		from: "agent",
		doc: "The system refused to read, write or start something else. The text names the file or the program, and the system's reason.",
		http: 500,
	},

	// ─── Faults ───

	failed: {
		from: "agent",
		doc: "Something that Bowline depends on failed: an extension, an MCP server, a scripted model. The text has its words.",
		http: 422,
	},
	internal: { from: "agent", doc: "A fault of Bowline. The log, or stderr, has the details; please report it.", http: 500 },

	// ─── The server ───

	agent_crashed: {
		from: "server",
		doc: "The agent of the session crashed or did not start. The text has its last line. Start it with `POST /v1/sessions/{id}/start`.",
		http: 502,
	},
	stopped: {
		from: "server",
		doc: "The session ended before this was done. Send it again: a server wakes the session.",
		http: 503,
	},
	session_deleted: { from: "server", doc: "The session was deleted. It can be taken from the trash for 30 days.", http: 410 },
	seat_taken: {
		from: "server",
		doc: "The command needs the seat, which another client holds; `details` says which. Connect with `mode=write`, or with `takeover=1`.",
		http: 409,
	},
	not_attached: { from: "server", doc: "This socket is not attached to the session. Send `attach` first.", http: 409 },
	unauthorized: { from: "server", doc: "There is no token, or it is not valid. See `bowline serve token add`.", http: 401 },
	scope: { from: "server", doc: "The route needs a token of a higher scope. The text names it.", http: 403 },
	read_only: { from: "server", doc: "The command needs a token of scope `drive`.", http: 403 },
	token_in_url: {
		from: "server",
		doc: "A token was in the address, where logs keep it. It is revoked: make a new one, and send it as `Authorization: Bearer`.",
		http: 400,
	},
	wrong_host: { from: "server", doc: "The server does not answer under this name. The text says how to add it.", http: 421 },
	wrong_origin: { from: "server", doc: "A page of another origin asked. Only the server's own page is served.", http: 403 },
	cross_site: { from: "server", doc: "A page of another site asked. Only the server's own page is served.", http: 403 },
	no_route: { from: "server", doc: "There is nothing at this path. [The routes](serve.md)", http: 404 },
	wrong_method: { from: "server", doc: "The path takes other methods. `Allow` names them.", http: 405 },
	upgrade: { from: "server", doc: "The path is a WebSocket's.", http: 426 },
	too_many_requests: {
		from: "server",
		doc: "Too many requests, or too many wrong tokens, in a short time. Wait as long as `Retry-After` says.",
		http: 429,
	},
	too_many_connections: { from: "server", doc: "There are too many connections, or too many sessions on one socket. Close one first.", http: 429 },
	not_settable: { from: "server", doc: "A request may not set this setting. Set it where the server is started.", http: 422 },
	outside_roots: {
		from: "server",
		doc: "The directory is not inside a root of the server. See [directories](serve.md#directories).",
		http: 422,
	},
	directory_moved: {
		from: "server",
		doc: "The session's directory leads to another place now. See [directories](serve.md#directories).",
		http: 409,
	},
	directory_missing: {
		from: "server",
		doc: "The session's directory is missing, or cannot be opened. See [directories](serve.md#directories).",
		http: 409,
	},
	no_room: { from: "server", doc: "As many sessions are awake as may be, and none may sleep. Wait, stop one, or raise `--max-awake`.", http: 503 },
	draining: { from: "server", doc: "The server is about to end and takes no new work. Try again when it is back.", http: 503 },
	timeout: { from: "server", doc: "The agent did not answer in time. The command may still be done: its outcome comes as events.", http: 504 },
	no_artifact: { from: "server", doc: "The session has no artifact of this name. `GET /v1/sessions/{id}/artifacts` lists them.", http: 404 },

	// ─── The fleet ───

	no_fleet: { from: "server", doc: "The server does not show the fleet. Start it with `bowline serve --fleet`.", http: 404 },
	no_result: { from: "server", doc: "The run has no result yet. Ask again when its state is `done`.", http: 409 },
	unknown_run: { from: "server", doc: "There is no such run in the queue.", http: 404 },
	unknown_lane: { from: "server", doc: "There is no such lane. Make it with `bowline fleet lanes set`.", http: 422 },
	unknown_budget: { from: "server", doc: "There is no such budget. Make it with `bowline fleet budgets set`.", http: 422 },
	not_initialised: { from: "server", doc: "The queue is not set up. Run `bowline fleet init`.", http: 503 },
	other_version: { from: "server", doc: "The queue belongs to another version. The text says which side to update.", http: 503 },
	owned: { from: "server", doc: "Another process owns the queue's directory, so this one can take no part in it.", http: 503 },
	unavailable: { from: "server", doc: "The queue cannot be reached now. Try again later.", http: 503 },

	// ─── The clients ───

	unreachable: { from: "client", doc: "There is no server at the address, or the connection did not come back in time." },
	token: { from: "client", doc: "The server closed the connection because the token is revoked or too old." },
	http: { from: "client", doc: "Something between client and server answered, such as a proxy. `status` and the text are its own." },
	too_long: { from: "client", doc: "The command is longer than a server takes as one message. Send images in several prompts, or smaller ones." },
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof errors;
export const errorCodes = Object.keys(errors) as ErrorCode[];

type Rows = typeof errors;
/** Codes that an answer over HTTP can have. */
export type HttpErrorCode = { [Code in ErrorCode]: Rows[Code] extends { http: unknown } ? Code : never }[ErrorCode];
/** The statuses of a code. */
export type HttpStatus<Code extends HttpErrorCode> = Rows[Code]["http"] extends readonly (infer Status extends number)[]
	? Status
	: Rows[Code]["http"] & number;

/** Returns the status of an answer with this code. */
export function httpStatusOf(code: HttpErrorCode): number {
	const { http } = errors[code] as ErrorRow;
	return typeof http === "number" ? http : (http?.[0] as number);
}

/** Returns the exit code of a command line that this failure ends. */
export function exitCodeOf(code: ErrorCode): number {
	return (errors[code] as ErrorRow).exit ?? 1;
}
