/** `bowline attach`: a session of a server on stdin and stdout, as if it were this process. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { SessionLink } from "../../client/link.ts";
import { ServerAddress } from "../../client/server-address.ts";
import { serverClient } from "../../client/server-client.ts";
import { RecordReader } from "../../lib/jsonl.ts";
import { UsageError } from "../../lib/usage-error.ts";
import type { UnknownFlag } from "../../live/arguments.ts";
import { openWorkspace } from "../../live/workspace.ts";
import type { Options } from "../../protocol/flags.ts";
import type { CreateSession } from "../../protocol/types.generated.ts";
import { claimStdout } from "../../rpc/stdio.ts";
import { attachFlags } from "../attach-flags.ts";
import { AttachedHost } from "../attached-host.ts";
import { parseOwnFlags } from "../serve-flags.ts";

interface Own {
	url?: string;
	server?: string;
	"token-file"?: string;
	new?: true;
	read?: true;
	takeover?: true;
}

const maxLineBytes = 32 * 1024 * 1024;

export async function attachCommand(words: readonly string[], options: Options, unknown: readonly UnknownFlag[]): Promise<void> {
	const parsed = parseOwnFlags(attachFlags, unknown, words, "attach");
	const own = parsed.own as Own;
	const [session = options.session, tooMuch] = parsed.words;
	if (tooMuch !== undefined) throw new UsageError(`Unexpected argument: ${tooMuch}. bowline attach [session]`);
	if (own.new && session !== undefined) throw new UsageError("--new creates a session: name none, or leave --new out.");
	if (own.new && own.read) throw new UsageError("--read watches a session that there is: it cannot be combined with --new.");
	const workspace = await openWorkspace({ options, isRpc: false });
	const server = serverOf(own, join(workspace.userDirectory, "serve", own.server ?? "default"));
	const id = own.new ? await create(server, options, workspace.cwd) : (session ?? (await newest(server, workspace.cwd)));
	// The command line's own listener ends the process as a shell tool; a host expects another code.
	process.stdout.removeAllListeners("error");
	const host = await AttachedHost.open(claimStdout(), options, (code) => process.exit(code));
	const link = new SessionLink(
		{
			address: new ServerAddress(server),
			session: id,
			mode: own.read ? "read" : "write",
			name: options.name ?? "bowline attach",
			...(own.takeover && { takeover: true }),
			updates: host.updates,
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

/** By flags, or the server of this user that runs. */
function serverOf(own: Own, directory: string): { url: string; token?: string } {
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

async function create(server: { url: string; token?: string }, options: Options, cwd: string): Promise<string> {
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
	};
	return (await serverClient(server).create(body)).id;
}

/** The session of this directory that was written to last. */
async function newest(server: { url: string; token?: string }, cwd: string): Promise<string> {
	const { sessions } = await serverClient(server).sessions({ cwd, limit: 1 });
	const [session] = sessions;
	if (!session) throw new Error(`The server has no session of ${cwd}. Create one with --new, or name one.`);
	return session.id;
}
