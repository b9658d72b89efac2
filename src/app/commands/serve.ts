/** `bowline serve`: starts the server, or asks the one that runs. */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, realpathSync } from "node:fs";
import { isIP } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { refusePassword } from "../../fleet/open.ts";
import { exitCodes } from "../../lib/exit-codes.ts";
import { didYouMean } from "../../lib/nearest.ts";
import { printable } from "../../lib/printable.ts";
import { UsageError } from "../../lib/usage-error.ts";
import type { UnknownFlag } from "../../live/arguments.ts";
import { openWorkspace, type Workspace } from "../../live/workspace.ts";
import type { FlagName, Options } from "../../protocol/flags.ts";
import { askServer, type ControlRequest, openControl, removeControl } from "../../serve/control.ts";
import { isScope } from "../../serve/handlers.ts";
import { BowlineServer, type ServeConfig } from "../../serve/server.ts";
import { escapedJson, printValue } from "../json.ts";
import { parseOwnFlags, type ServeOptions, serveFlags } from "../serve-flags.ts";

/** Flags that say which session, or how to talk: requests say that. */
const notDefaults: readonly FlagName[] = [
	"session",
	"continue",
	"resume",
	"fork",
	"session-id",
	"name",
	"no-session",
	"mode",
	"print",
	"updates",
	"dialect",
	"no-ready",
	"seq",
	"seq-after",
	"json",
];
/** Their values are paths, relative to where the server was started. */
const paths: readonly FlagName[] = [
	"config",
	"extension",
	"skill",
	"prompt-template",
	"session-dir",
	"mcp-config",
	"model",
	"system-prompt",
	"append-system-prompt",
];

const usage = "bowline serve [status|stop|link|token add <name>|token list|token revoke <name>]";

export async function serveCommand(given: readonly string[], options: Options, unknown: readonly UnknownFlag[]): Promise<void> {
	const { own, words } = parseOwnFlags(serveFlags, unknown, given);
	const serving = own as ServeOptions;
	const workspace = await openWorkspace({ options, isRpc: false });
	const name = options.name ?? "default";
	if (!/^[\w-][\w.-]{0,63}$/.test(name)) throw new UsageError("--name must be made of letters, digits, dots, dashes and underscores.");
	const directory = join(workspace.userDirectory, "serve", name);
	if (words.length > 0) return control(words, serving, directory, options.json === true);
	const config = configOf(workspace, serving, directory, name);
	if (serving.fleet) {
		await refusePassword(options.set ?? []);
		config.fleet = await (await import("./serve-fleet.ts")).fleetOf(workspace);
	}
	await start(config, serving);
}

// ─── The server ───

async function start(config: ServeConfig, { open: opens, scope = "drive" }: ServeOptions): Promise<void> {
	if (!isScope(scope)) throw new UsageError(`--scope must be read, drive or admin, not ${JSON.stringify(scope)}.`);
	const server = new BowlineServer(config);
	let url: string;
	try {
		url = await server.listen();
	} catch (error) {
		const { code, message } = error as NodeJS.ErrnoException;
		if (code === "EADDRINUSE" && config.socket === undefined)
			throw new Error(`Port ${config.port} of ${config.host} is taken. Choose another one with --port, or any free one with --port 0.`);
		throw new Error(code === undefined ? message : `The server cannot listen: ${message}`);
	}
	const controlSocket = await openControl(server);
	const token = server.tokens.ensureMain();
	process.stdout.write(`${JSON.stringify({ url, pid: process.pid, instance: server.instance, tokenFile: server.tokens.file })}\n`);
	const isNetwork = config.socket === undefined;
	if (token !== undefined && !config.needsNoToken) {
		say(`The token, shown this once: ${token}`);
		if (isNetwork) say(`The page, within two minutes: ${server.newLink(scope)}`);
	} else if (!config.needsNoToken) say(`The token is in ${server.tokens.file}. A link for a browser: bowline serve link`);
	if (opens && isNetwork) openBrowser(server.newLink(scope, url));
	const stop = () => void server.drain();
	process.on("SIGTERM", stop);
	process.on("SIGINT", stop);
	process.on("SIGHUP", stop);
	// Who started the server may be gone, and its pipes with it: a log that no one reads is not a reason to fail.
	for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);
	process.on("uncaughtException", (error) => config.log({ event: "fault", error: error.stack ?? String(error) }));
	process.on("unhandledRejection", (error) => config.log({ event: "fault", error: (error as Error)?.stack ?? String(error) }));
	await server.ended;
	controlSocket.close();
	removeControl(config.directory);
	process.exit(exitCodes.done);
}

/** For a first look at the page without any key. */
async function makeDemo(): Promise<{ directory: string; prompt: string }> {
	const { makeDemoRepository } = await import("../demo-repository.ts");
	const directory = join(mkdtempSync(join(tmpdir(), "bowline-demo-")), "shop");
	makeDemoRepository(directory);
	return { directory, prompt: "The test in this repository fails. Find out why, repair it, and prove it." };
}

const mostLogBytes = 1024 * 1024;

/** Lines that a stopped reader of stderr does not take are dropped, so that they do not fill the memory. */
function writeLog(line: Record<string, unknown>): void {
	if (process.stderr.writableLength > mostLogBytes) return;
	process.stderr.write(`${escapedJson(JSON.stringify({ time: new Date().toISOString(), ...line }))}\n`);
}

/** Keys come and go with files and the environment of the server: it is looked up when asked. */
async function hasModel({ env, userDirectory, settings }: Workspace): Promise<boolean> {
	const { ModelRegistry } = await import("../../models/registry.ts");
	const registry = new ModelRegistry({ env, userDir: userDirectory, setting: (name) => settings.get(name), now: Date.now });
	try {
		return (await registry.available()).some(({ provider }) => provider !== "scripted");
	} finally {
		await registry.close();
	}
}

function say(text: string): void {
	process.stderr.write(`${printable(text)}\n`);
}

function configOf(workspace: Workspace, own: ServeOptions, directory: string, name: string): ServeConfig {
	const { settings, cwd, options, env } = workspace;
	const host = own.host ?? settings.get("serve.host");
	const port = wholeNumber("port", own.port ?? String(settings.get("serve.port")), 65535);
	const publicUrl = publicUrlOf(own.url);
	const allowedHosts = [...(own["allow-host"] ?? []), ...(publicUrl === undefined ? [] : [new URL(publicUrl).host])];
	const tls = tlsOf(own);
	const isLoopback = host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
	if (own["no-token"] && own.socket === undefined)
		throw new UsageError("--no-token needs --socket: on a port every program of this machine could drive the server.");
	if (own.socket === undefined && !isLoopback) {
		if (!tls && !own["insecure-http"])
			throw new UsageError(
				`--host ${host} can be reached from other machines: add --tls-cert and --tls-key, or --insecure-http when a proxy in front speaks TLS.`,
			);
		if (allowedHosts.length === 0)
			throw new UsageError(`--host ${host} needs at least one --allow-host <name>: the names under which the server is asked.`);
	}
	const fromSettings = settings.get("serve.roots");
	const roots = own.root ?? (fromSettings.length > 0 ? fromSettings : [cwd]);
	for (const root of roots) if (!existsSync(resolve(cwd, root))) throw new UsageError(`--root ${root}: there is no such directory.`);
	const userDirectory = realpathIfThere(workspace.userDirectory);
	return {
		makeDemo,
		hasModel: () => hasModel(workspace),
		directory,
		name,
		host,
		port,
		...(own.socket !== undefined && { socket: resolve(cwd, own.socket) }),
		needsNoToken: own["no-token"] === true,
		...(tls && { tls }),
		allowedHosts,
		...(publicUrl !== undefined && { publicUrl }),
		roots: roots.map((root) => resolve(cwd, root)),
		sessionsDirectory: options["session-dir"] !== undefined ? resolve(cwd, options["session-dir"], "..") : join(userDirectory, "sessions"),
		program: [process.execPath, process.argv[1] as string],
		defaults: defaultFlags(options, cwd),
		env,
		idleMs: wholeNumber("idle", own.idle ?? String(settings.get("serve.idleMs"))),
		maxAwake: wholeNumber("max-awake", own["max-awake"] ?? String(settings.get("serve.maxAwake"))),
		maxStarting: Math.max(1, settings.get("serve.maxStarting")),
		drainMs: wholeNumber("drain", own.drain ?? String(settings.get("serve.drainMs"))),
		mayApprove: settings.get("serve.approve"),
		sandbox: settings.get("sandbox.mode"),
		log: writeLog,
	};
}

function publicUrlOf(given: string | undefined): string | undefined {
	if (given === undefined) return undefined;
	const url = URL.canParse(given) ? new URL(given) : undefined;
	const isBare = url && (url.protocol === "http:" || url.protocol === "https:") && given.replace(/\/$/, "").toLowerCase() === url.origin;
	if (!isBare)
		throw new UsageError(`--url must be the address of a server without a path, such as https://agents.example.com, not ${JSON.stringify(given)}.`);
	return url.origin;
}

function realpathIfThere(path: string): string {
	return existsSync(path) ? realpathSync(path) : path;
}

function wholeNumber(name: string, text: string, most = Number.MAX_SAFE_INTEGER): number {
	const value = Number(text);
	if (!/^\d+$/.test(text) || value > most)
		throw new UsageError(`--${name} must be a whole number${most < 1e6 ? ` up to ${most}` : ""}, not ${JSON.stringify(text)}.`);
	return value;
}

function tlsOf({ "tls-cert": cert, "tls-key": key }: ServeOptions): { cert: Buffer; key: Buffer } | undefined {
	if (cert === undefined && key === undefined) return undefined;
	if (cert === undefined || key === undefined) throw new UsageError("--tls-cert and --tls-key belong together: pass both.");
	const read = (flag: string, path: string) => {
		try {
			return readFileSync(path);
		} catch (error) {
			throw new UsageError(
				`--${flag} ${path}: ${(error as NodeJS.ErrnoException).code === "ENOENT" ? "there is no such file" : "it cannot be read"}.`,
			);
		}
	};
	return { cert: read("tls-cert", cert), key: read("tls-key", key) };
}

/** Flags of sessions on the server's command line hold for all of its sessions. */
function defaultFlags(options: Options, cwd: string): string[] {
	return Object.entries(options).flatMap(([name, value]) => {
		if (notDefaults.includes(name as FlagName)) return [];
		const located = (text: string) => (paths.includes(name as FlagName) && existsSync(resolve(cwd, text)) ? resolve(cwd, text) : text);
		return [value].flat().map((each) => (each === true ? `--${name}` : `--${name}=${located(String(each))}`));
	});
}

function openBrowser(url: string): void {
	const program = process.platform === "darwin" ? "open" : process.platform === "win32" ? "explorer" : "xdg-open";
	const child = spawn(program, [url], { stdio: "ignore", detached: true });
	child.on("error", () => say(`No browser could be opened. Open this within two minutes: ${url}`));
	child.unref();
}

// ─── The one that runs ───

async function control(words: readonly string[], own: ServeOptions, directory: string, isJson: boolean): Promise<void> {
	const request = requestOf(words, own);
	const data = (await askServer(directory, request)) as Record<string, unknown>;
	if (isJson) return void process.stdout.write(`${escapedJson(JSON.stringify(data))}\n`);
	printValue(`${textOf(request, data)}\n`);
}

const verbs = ["status", "stop", "link", "token", "token add", "token list", "token revoke"];

function requestOf(words: readonly string[], { scope, days, now, url: given }: ServeOptions): ControlRequest {
	const [verb, action, name, tooMuch] = words;
	const fits = (count: number) => {
		if (words.length !== count) throw new UsageError(`Unexpected arguments: ${words.join(" ")}. ${usage}`);
	};
	if (verb === "status" || verb === "stop" || verb === "link") {
		fits(1);
		const url = verb === "link" ? publicUrlOf(given) : undefined;
		return { do: verb, ...(scope !== undefined && { scope }), ...(now && { now }), ...(url !== undefined && { url }) };
	}
	if (verb === "token" && action === "list") {
		fits(2);
		return { do: "token-list" };
	}
	if (verb === "token" && (action === "add" || action === "revoke") && tooMuch === undefined) {
		if (name === undefined) throw new UsageError(`Which token? bowline serve token ${action} <name>`);
		if (action === "add" && scope === undefined) throw new UsageError("What may it do? Pass --scope read, drive or admin.");
		return { do: `token-${action}`, name, ...(scope !== undefined && { scope }), ...(days !== undefined && { days: Number(days) }) };
	}
	const meant = didYouMean(words.slice(0, verb === "token" ? 2 : 1).join(" "), verbs);
	throw new UsageError(`Unknown: ${words.join(" ")}.${meant} ${usage}`);
}

function textOf(request: ControlRequest, data: Record<string, unknown>): string {
	switch (request.do) {
		case "status": {
			const sessions = Object.entries(data.sessions as Record<string, number>)
				.filter(([, count]) => count > 0)
				.map(([state, count]) => `${count} ${state}`);
			return [
				`${data.url} (process ${data.pid}, version ${data.version})${data.draining ? ", draining" : ""}`,
				`sessions: ${sessions.join(", ") || "none"}`,
				`connections: ${data.connections}`,
				`token: ${data.tokenFile}`,
			].join("\n");
		}
		case "stop":
			return `Stopping: runs may go on for ${Math.round(Number(data.deadlineMs) / 1000)} s.`;
		case "link":
			return String(data.url);
		case "token-add":
			return String(data.token);
		case "token-list":
			return (data.tokens as { name: string; scope: string; createdAt: number; expiresAt?: number }[])
				.map(
					({ name, scope, createdAt, expiresAt }) =>
						`${name}  ${scope}  since ${day(createdAt)}${expiresAt === undefined ? "" : `, until ${day(expiresAt)}`}`,
				)
				.join("\n");
		case "token-revoke":
			return data.tokenFile === undefined ? `Revoked ${data.name}.` : `Revoked. A new main token is in ${data.tokenFile}.`;
	}
}

const day = (time: number) => new Date(time).toISOString().slice(0, 16).replace("T", " ");
