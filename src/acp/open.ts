/** Opens a session of ours for the editor, and puts together what shows it. */

import { deferred } from "../lib/deferred.ts";
import type { UnknownFlag } from "../live/arguments.ts";
import type { Front } from "../live/front.ts";
import type { LiveSession } from "../live/live-session.ts";
import type { checkFlags, loadExtensions, openSession } from "../live/open-session.ts";
import type { openWorkspace } from "../live/workspace.ts";
import { isCommandError } from "../protocol/command-error.ts";
import type { Options } from "../protocol/flags.ts";
import type { FrameWriter } from "../rpc/stdio.ts";
import { Approvals, type Asking } from "./approvals.ts";
import type { Client } from "./capabilities.ts";
import { Dialogs } from "./dialogs.ts";
import { invalid } from "./errors.ts";
import { EditorFiles } from "./files.ts";
import { ConfigOptions } from "./options.ts";
import type { Peer } from "./peer.ts";
import { Projection } from "./projection.ts";
import { AcpSession } from "./session.ts";
import { ToolView } from "./tool-view.ts";
import { UsageReport } from "./usage.ts";
import { Voice, type VoiceParts } from "./voice.ts";
import { within } from "./within.ts";

/** How sessions are opened. The core of the program has these functions loaded; a copy of them would double what a first session costs. */
export interface Opening {
	openWorkspace: typeof openWorkspace;
	loadExtensions: typeof loadExtensions;
	checkFlags: typeof checkFlags;
	openSession: typeof openSession;
}

export interface Connection {
	opening: Opening;
	client: Client;
	peer: Peer;
	writer: FrameWriter;
	send: VoiceParts["send"];
	env: NodeJS.ProcessEnv;
	/** The flags of the process are the defaults of each session. */
	options: Options;
	unknown: readonly UnknownFlag[];
	asking: Asking;
	/** Calls back when the process ends, for whatever reason. Returns how to undo that. */
	atExit: (then: () => void) => () => void;
}

export interface Wanted {
	cwd: string;
	/** The additional directories of the client. */
	roots: readonly string[];
	/** Servers that the client brings for this session. */
	mcpServers: readonly object[];
	/** Flags of this session: the one to open, its system prompt. */
	flags: Options;
	filter: VoiceParts["filter"];
	/** The session exists; its credentials are known from here on. */
	onLive: (live: LiveSession) => void;
	/** An extension asks for the end of the session. */
	onShutdown: (session: AcpSession) => void;
}

/** The answer to a new session does not wait longer for extensions that start. */
const startPatienceMs = 2000;

export async function openAcpSession(
	connection: Connection,
	{ cwd, roots, mcpServers, flags, filter, onLive, onShutdown }: Wanted,
): Promise<AcpSession> {
	const { opening, client, peer, writer, send, env, options, unknown, asking, atExit } = connection;
	const workspace = await opening.openWorkspace({ options: { ...options, ...flags }, isRpc: true, cwd, env, unknown, roots });
	/** Warnings of the time before there is a projection. */
	const early: string[] = [];
	let projection: Projection | undefined;
	let session: AcpSession | undefined;
	const warn = (text: string) => (projection ? projection.notice("warning", text) : void early.push(text));
	const loading = opening.loadExtensions(workspace, warn);
	await opening.checkFlags(workspace, loading, warn);
	const releases: (() => void)[] = [];
	const known = deferred<void>();
	const dialogs = new Dialogs({ peer, client, sessionId: () => session?.id ?? "", projection: () => projection, asking, known: known.promise });
	const files = new EditorFiles({
		peer,
		isOffered: client.hasFiles,
		sessionId: () => session?.id ?? "",
		roots: [cwd, ...roots],
		notice: (title) => projection?.notice("warning", title),
	});
	const front: Front = {
		flow: writer,
		ui: dialogs,
		hasUI: true,
		elicit: client.hasForms || client.hasUrls ? dialogs.elicit : null,
		files,
		warn,
		atExit: (then) => void releases.push(atExit(then)),
		sendFailed: (_, error) => projection?.notice("error", "A message of an extension could not be sent", error),
		shutdown: () => session && onShutdown(session),
		disconnect: () => dialogs.withdraw(),
		variations: { awaitsCommands: true },
	};
	const { live, ready } = await opening.openSession(workspace, front, loading);
	onLive(live);
	if (mcpServers.length) await bringServers(live, mcpServers);
	const voice = new Voice({ sessionId: live.session.transcript.sessionId, writer, send, filter, onKnown: () => known.resolve() });
	const view = new ToolView({
		cwd,
		toolOf: (name) => live.assembly.sources.find(name)?.tool,
	});
	const shown = new Projection({
		client,
		cwd,
		chunks: voice.chunks,
		view,
		send: voice.update,
		isOpen: () => writer.isOpen,
		changeOf: (toolCallId) => files.changeOf(toolCallId),
		todos: () => live.session.state.todoPhases ?? [],
		now: () => performance.now(),
	});
	projection = shown;
	for (const text of early) warn(text);
	const approvals = new Approvals({ live, peer, sessionId: live.session.transcript.sessionId, projection: shown, asking, known: known.promise });
	approvals.hello();
	const tell: Voice["update"] = (update) => voice.update(update, true);
	session = new AcpSession({
		live,
		cwd,
		voice,
		projection: shown,
		approvals,
		options: new ConfigOptions(live),
		usage: new UsageReport(live, tell),
		busy: () => workspace.settings.get("acp.busy"),
		tell,
		withdraw: () => dialogs.withdraw(),
		release: () => {
			for (const release of releases) release();
		},
	});
	await within(ready, startPatienceMs);
	await session.options.refresh();
	return session;
}

/** Servers of this session alone. They start in the background. Throws an RpcError when an entry is wrong. */
async function bringServers(live: LiveSession, servers: readonly object[]): Promise<void> {
	try {
		await live.assembly.mcp.set(servers, setImmediate);
	} catch (error) {
		await live.close("finish");
		throw isCommandError(error) ? invalid(error.message) : error;
	}
}
