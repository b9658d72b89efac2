/** `bowline attach`: a session of a server on stdin and stdout, as if it were this process. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { SessionLink } from "../../client/link.ts";
import { ServerAddress, ServerError, type ServerOptions } from "../../client/server-address.ts";
import { serverClient } from "../../client/server-client.ts";
import { RecordReader } from "../../lib/jsonl.ts";
import { UsageError } from "../../lib/usage-error.ts";
import type { UnknownFlag } from "../../live/arguments.ts";
import { openWorkspace, type Workspace } from "../../live/workspace.ts";
import type { Options } from "../../protocol/flags.ts";
import { addressOf as settingOf } from "../../protocol/setting-names.ts";
import type { CreateSession } from "../../protocol/types.generated.ts";
import { claimStdout } from "../../rpc/stdio.ts";
import { asWritten } from "../../settings/settings.ts";
import { attachFlags } from "../attach-flags.ts";
import { AttachedHost, wordsOf } from "../attached-host.ts";
import { parseOwnFlags } from "../serve-flags.ts";

interface Own {
	url?: string;
	server?: string;
	"token-file"?: string;
	new?: true;
	read?: true;
	takeover?: true;
}

/** How a session is made. One that there is keeps its own. */
const ofNewSessions = ["tools", "no-tools", "append-system-prompt", "no-session", "set", "interrupt-mode", "approve"] as const;
/** Hosts give them to every process that they start. */
const ofHosts = ["provider", "model", "thinking"] as const;
/** The server's own flags decide about these, for all its sessions. */
const ofServers = [
	...["api-key", "models", "config", "extension", "skill", "prompt-template", "mcp-config", "no-mcp", "system-prompt", "exclude-tools"],
	...["permission-mode", "sandbox", "no-sandbox", "hermetic", "no-extensions", "no-skills", "no-prompt-templates", "no-context-files", "no-rules"],
] as (keyof Options)[];
const ofProcesses = ["print", "fork", "session-dir", "session-id", "record", "replay", "output-schema", "gate", "seq-after"] as const;

const maxLineBytes = 32 * 1024 * 1024;

export async function attachCommand(words: readonly string[], options: Options, unknown: readonly UnknownFlag[]): Promise<void> {
	const parsed = parseOwnFlags(attachFlags, unknown, words, "attach");
	const own = parsed.own as Own;
	const [session = options.session, tooMuch] = parsed.words;
	if (tooMuch !== undefined) throw new UsageError(`Unexpected argument: ${tooMuch}. bowline attach [session]`);
	if (own.new && session !== undefined) throw new UsageError("--new creates a session: name none, or leave --new out.");
	checkFlags(options, own);
	if (own.new && own.read) throw new UsageError("--read watches a session that there is: it cannot be combined with --new.");
	const workspace = await openWorkspace({ options, isRpc: false });
	const server = serverOf(own, join(workspace.userDirectory, "serve", own.server ?? "default"));
	const address = addressOf(server);
	const id = await chosen(server, own, session, options, workspace);
	// The command line's own listener ends the process as a shell tool; a host expects another code.
	process.stdout.removeAllListeners("error");
	const host = await AttachedHost.open(claimStdout(), options, (code) => process.exit(code));
	const link = new SessionLink(
		{
			address,
			session: id,
			mode: own.read ? "read" : "write",
			name: options.name ?? "bowline attach",
			...(own.takeover && { takeover: true }),
			updates: host.updates,
			asksAgain: true,
		},
		host,
	);
	host.start(link);
	const input = new RecordReader({ record: (line) => host.receive(line), tooLong: (limit) => host.receiveTooLong(limit) }, maxLineBytes);
	const { stdin } = process;
	stdin.on("data", (chunk: Buffer) => input.push(chunk));
	const end = () => {
		input.end();
		void host.detach();
	};
	stdin.on("end", end);
	stdin.on("error", end);
	process.on("SIGTERM", () => void host.leave(143));
	process.on("SIGHUP", () => void host.leave(129));
	// Ctrl+C reaches the whole foreground group; the host answers it with abort.
	process.on("SIGINT", () => undefined);
}

/** The session to attach to. */
async function chosen(server: ServerOptions, own: Own, session: string | undefined, options: Options, workspace: Workspace): Promise<string> {
	try {
		if (own.new) return await create(server, options, workspace);
		return session ?? (await newest(server, workspace.cwd));
	} catch (error) {
		throw error instanceof ServerError ? new Error(wordsOf(error)) : error;
	}
}

function addressOf(server: ServerOptions): ServerAddress {
	try {
		return new ServerAddress(server);
	} catch (error) {
		throw new UsageError(`--url: ${(error as Error).message}`);
	}
}

/** A flag that is accepted has an effect. */
function checkFlags(options: Options, own: Own): void {
	const given = (names: readonly (keyof Options)[]) => names.find((name) => options[name] !== undefined);
	const { seq, dialect } = options;
	if (seq && dialect === "strict")
		throw new UsageError("--seq adds members to every frame, which --dialect strict does not allow: choose one of them.");
	const ofServer = given(ofServers);
	if (ofServer !== undefined) throw new UsageError(`--${ofServer} is decided by the server, for all its sessions: give it to bowline serve.`);
	const ofProcess = given(ofProcesses);
	if (ofProcess !== undefined) throw new UsageError(`--${ofProcess} needs a process of its own: start bowline --mode rpc with it.`);
	if (own.new) return;
	const ofNew = given(ofNewSessions);
	if (ofNew !== undefined) throw new UsageError(`--${ofNew} says how a new session is made: add --new, or leave it out.`);
	const unused = given(ofHosts);
	if (unused !== undefined) process.stderr.write(`--${unused} is for new sessions (--new): this one keeps its own.\n`);
}

/** By flags, or the server of this user that runs. */
function serverOf(own: Own, directory: string): ServerOptions {
	const tokenFile = own["token-file"];
	const fromEnv = process.env.BOWLINE_SERVE_TOKEN;
	if (own.url !== undefined) {
		const token = tokenFile === undefined ? fromEnv : tokenOf(tokenFile);
		return { url: own.url, ...(token !== undefined && { token }) };
	}
	const file = join(directory, "server.json");
	if (!existsSync(file)) throw new Error(`No server of this name runs here (${directory}). Start one with bowline serve, or name one with --url.`);
	const { url, socket } = JSON.parse(readFileSync(file, "utf8")) as { url: string; socket?: string };
	const own_ = join(directory, "token");
	const token = tokenFile !== undefined ? tokenOf(tokenFile) : (fromEnv ?? (existsSync(own_) ? tokenOf(own_) : undefined));
	return { url: socket === undefined ? url : `unix:${socket}`, ...(token !== undefined && { token }) };
}

function tokenOf(file: string): string {
	try {
		return readFileSync(file, "utf8").trim();
	} catch (error) {
		throw new UsageError(
			`--token-file ${file}: ${(error as NodeJS.ErrnoException).code === "ENOENT" ? "there is no such file" : "it cannot be read"}.`,
		);
	}
}

async function create(server: ServerOptions, options: Options, { cwd, settings }: Workspace): Promise<string> {
	// An assignment may name one member of a setting: the server gets the whole of it.
	const names = (options.set ?? []).flatMap((assignment) => settingOf(assignment.slice(0, assignment.indexOf("=")))?.name ?? []);
	const assigned: Record<string, unknown> = Object.fromEntries(names.map((name) => [name, asWritten(settings, name)]));
	if (options["interrupt-mode"] !== undefined) assigned.interruptMode = options["interrupt-mode"];
	const { name, provider, model, thinking, tools, "no-tools": noTools, "append-system-prompt": append, "no-session": noSession } = options;
	const body: CreateSession = {
		cwd,
		...(name !== undefined && { name }),
		...(provider !== undefined && { provider }),
		...(model !== undefined && { model }),
		...(thinking !== undefined && { thinking: thinking as NonNullable<CreateSession["thinking"]> }),
		...(tools !== undefined && { tools: tools.split(",").map((each) => each.trim()) }),
		...(noTools && { noTools }),
		...(append !== undefined && { appendSystemPrompt: [append].flat().join("\n\n") }),
		...(noSession && { ephemeral: true }),
		...(Object.keys(assigned).length > 0 && { settings: assigned }),
		...(options.approve && { approve: true }),
	};
	return (await serverClient(server).create(body)).id;
}

/** The session of this directory that was written to last. */
async function newest(server: ServerOptions, cwd: string): Promise<string> {
	const { sessions } = await serverClient(server).sessions({ cwd, limit: 1 });
	const [session] = sessions;
	if (!session) throw new Error(`The server has no session of ${cwd}. Create one with --new, or name one.`);
	return session.id;
}
