/**
 * The proxy of network `hosts`. It runs in this process and listens inside the cell: a short-lived child enters the cell's network, listens there
 * and hands the socket over. Names are resolved here, once, and the connection goes to the address that was checked.
 */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { lookup } from "node:dns/promises";
import {
	createServer as createHttpServer,
	type Server as HttpServer,
	request as httpRequest,
	type IncomingMessage,
	type ServerResponse,
} from "node:http";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { type Authority, authorityOf, isClosedAddress, targetOf } from "./addresses.ts";
import type { Cell } from "./cell.ts";
import { starterEnvironment } from "./programs.ts";

export interface Verdict {
	isAllowed: boolean;
	/** Addresses that are not public may be reached, too. */
	mayBePrivate: boolean;
}

/** Decides about a connection of a command. `signal` fires when the command has ended. */
export type JudgeConnection = (target: string, callId: string, signal: AbortSignal) => Promise<Verdict>;

export interface ProxyParts {
	/** For a cell. */
	nsenter?: string;
	judge: JudgeConnection;
	/** A program that connects through the proxy, for ssh. */
	relay: string;
	resolve?: (host: string) => Promise<readonly string[]>;
	connect?: (address: { host: string; port: number; allowHalfOpen: boolean }) => Socket;
}

/** What one command may use. */
export interface Pass {
	variables: Record<string, string>;
	/** The command has ended: nothing is asked about it any more. Returns what was refused. */
	end(): string[];
}

interface Holder {
	callId: string;
	over: AbortController;
	denied: Set<string>;
	/** Questions that are open now: a command opens many connections to one host. */
	asking: Map<string, Promise<Verdict>>;
}

export const proxyPort = 3128;
const connectMs = 30_000;
const openMs = 10_000;
const realm = { "Proxy-Authenticate": 'Basic realm="bowline"' };

const listening = `const s=require("net").createServer();s.on("error",(error)=>{throw error});s.listen(${proxyPort},"127.0.0.1",()=>process.send("up",s,()=>process.exit(0)))`;

/** For ssh: connects through the proxy of the environment. */
export const relayProgram = `const [host,port]=process.argv.slice(2);const p=new URL(process.env.HTTPS_PROXY);
const auth=Buffer.from(p.username+":"+p.password).toString("base64"),at=(host.includes(":")?"["+host+"]":host)+":"+port;
const s=require("net").connect(Number(p.port),p.hostname,()=>s.write("CONNECT "+at+" HTTP/1.1\\r\\nHost: "+at+"\\r\\nProxy-Authorization: Basic "+auth+"\\r\\n\\r\\n"));
const fail=(text)=>{process.stderr.write(text+"\\n");process.exit(1)};
let head=Buffer.alloc(0);const read=(chunk)=>{head=Buffer.concat([head,chunk]);const end=head.indexOf("\\r\\n\\r\\n");if(end<0)return;s.off("data",read);
if(!head.toString("latin1").startsWith("HTTP/1.1 200"))fail(head.subarray(end+4).toString("latin1")||head.toString("latin1").split("\\r\\n")[0]);
process.stdout.write(head.subarray(end+4));s.pipe(process.stdout);process.stdin.pipe(s);s.on("close",()=>process.exit())};
s.on("data",read);s.on("error",(error)=>fail(error.message));
`;

export class HostProxy {
	readonly #parts: ProxyParts;
	readonly #holders = new Map<string, Holder>();
	readonly #http: HttpServer;
	readonly #sockets = new Set<Duplex>();
	/** Connections that have had their one request. */
	readonly #used = new WeakSet<Duplex>();
	#opened: { cell: Cell | undefined; ready: Promise<Server> } | undefined;
	#port = proxyPort;

	constructor(parts: ProxyParts) {
		this.#parts = parts;
		this.#http = createHttpServer({ maxHeaderSize: 16 * 1024, insecureHTTPParser: false, requireHostHeader: false });
		this.#http.on("request", (request, response) => void this.#forward(request, response));
		this.#http.on("connect", (request: IncomingMessage, socket: Duplex, head: Buffer) => void this.#tunnel(request, socket, head));
		this.#http.on("clientError", (_, socket) => refuse(socket, "400 Bad Request"));
	}

	/** Listens in the cell, once for each. Without one on this machine's loopback, at any free port. */
	async open(cell: Cell | undefined): Promise<void> {
		if (!this.#opened || this.#opened.cell !== cell) {
			this.#forgetCell();
			const ready = cell ? this.#listen(cell.pid) : this.#listenHere();
			this.#opened = { cell, ready };
			void cell?.ended.then(() => {
				if (this.#opened?.cell === cell) this.#forgetCell();
			});
		}
		await this.#opened.ready;
	}

	/** Known once it is open. */
	get port(): number {
		return this.#port;
	}

	/** Every command has a name and a password of its own, so that a connection belongs to a call. They are valid until the cell ends. */
	admit(callId: string): Pass {
		const [user, password] = [randomBytes(8).toString("hex"), randomBytes(16).toString("hex")];
		const holder: Holder = { callId, over: new AbortController(), denied: new Set(), asking: new Map() };
		this.#holders.set(`${user}:${password}`, holder);
		const address = `http://${user}:${password}@127.0.0.1:${this.#port}`;
		const names = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy", "npm_config_proxy", "npm_config_https_proxy"];
		const local = "localhost,127.0.0.1,::1";
		return {
			variables: {
				...Object.fromEntries(names.map((name) => [name, address])),
				NO_PROXY: local,
				no_proxy: local,
				NODE_USE_ENV_PROXY: "1",
				GIT_SSH_COMMAND: sshCommand(this.#parts.relay),
			},
			end: () => {
				holder.over.abort();
				return [...holder.denied];
			},
		};
	}

	close(): void {
		this.#forgetCell();
		this.#http.close();
	}

	/** What was in the cell is gone, and so is every password. */
	#forgetCell(): void {
		// A server that could not be opened was reported to the command that needed it.
		void this.#opened?.ready.then((server) => server.close()).catch(() => undefined);
		this.#opened = undefined;
		for (const { over } of this.#holders.values()) over.abort();
		this.#holders.clear();
		for (const socket of this.#sockets) socket.destroy();
		this.#sockets.clear();
	}

	#listen(pid: number): Promise<Server> {
		const { nsenter = "nsenter" } = this.#parts;
		const args = ["-t", String(pid), "-U", "-n", "--preserve-credentials", "--", process.execPath, "-e", listening];
		const child = spawn(nsenter, args, { cwd: "/", env: starterEnvironment, stdio: ["ignore", "ignore", "pipe", "ipc"] });
		return new Promise<Server>((resolve, reject) => {
			let complaint = "";
			const timer = setTimeout(() => child.kill("SIGKILL"), openMs);
			child.stderr?.on("data", (chunk) => {
				if (complaint.length < 1000) complaint += chunk;
			});
			child.once("error", reject);
			child.once("exit", () => {
				clearTimeout(timer);
				reject(new Error(`The proxy of the sandbox could not be opened: ${complaint.trim() || "it said nothing"}.`));
			});
			child.once("message", (_, server) => {
				(server as Server).unref();
				(server as Server).on("connection", (socket: Socket) => this.take(socket)).on("error", () => undefined);
				resolve(server as Server);
			});
		});
	}

	#listenHere(): Promise<Server> {
		return new Promise((resolve, reject) => {
			const server = createServer((socket) => this.take(socket)).unref();
			server.once("error", reject);
			server.listen(0, "127.0.0.1", () => {
				this.#port = (server.address() as AddressInfo).port;
				resolve(server);
			});
		});
	}

	/** A connection of a command. One end may have said all it has to say while the other still answers. */
	take(socket: Socket): void {
		socket.allowHalfOpen = true;
		this.#track(socket);
		this.#http.emit("connection", socket);
	}

	#track(socket: Duplex): void {
		this.#sockets.add(socket);
		socket.once("close", () => this.#sockets.delete(socket));
		socket.on("error", () => socket.destroy());
	}

	#holderOf({ headers }: IncomingMessage): Holder | undefined {
		const [, encoded = ""] = /^Basic ([A-Za-z0-9+/=]+)$/i.exec(headers["proxy-authorization"] ?? "") ?? [];
		return this.#holders.get(Buffer.from(encoded, "base64").toString("latin1"));
	}

	/** The address to connect to. Nothing when it is refused. */
	async #admitted(authority: Authority, holder: Holder): Promise<string | undefined> {
		const target = targetOf(authority);
		const question = holder.asking.get(target) ?? this.#parts.judge(target, holder.callId, holder.over.signal);
		holder.asking.set(target, question);
		try {
			const { isAllowed, mayBePrivate } = await question;
			if (!isAllowed) throw new Error("it is not allowed");
			const addresses = authority.isAddress ? [authority.host] : await (this.#parts.resolve ?? resolveName)(authority.host);
			const address = addresses.find((each) => mayBePrivate || !isClosedAddress(each));
			if (address === undefined) throw new Error("its address is private");
			return address;
		} catch {
			holder.denied.add(`host ${target}`);
			return undefined;
		} finally {
			if (holder.asking.get(target) === question) holder.asking.delete(target);
		}
	}

	#connect(host: string, port: number): Socket {
		const socket = (this.#parts.connect ?? connect)({ host, port, allowHalfOpen: true });
		this.#track(socket);
		return socket;
	}

	/** One request for each connection: whatever comes after it would have been read by another parser than ours. */
	#isFirst(socket: Duplex): boolean {
		const isFirst = !this.#used.has(socket);
		this.#used.add(socket);
		return isFirst;
	}

	async #tunnel(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
		socket.on("error", () => socket.destroy());
		if (!this.#isFirst(socket)) return void socket.destroy();
		if (isTwofold(request)) return refuse(socket, "400 Bad Request");
		const authority = authorityOf(request.url ?? "");
		if (!authority) return refuse(socket, "400 Bad Request");
		const holder = this.#holderOf(request);
		if (!holder) return refuse(socket, "407 Proxy Authentication Required", realm);
		const address = await this.#admitted(authority, holder);
		if (address === undefined) return refuse(socket, "403 Forbidden", {}, refusalText(authority));
		const upstream = this.#connect(address, authority.port);
		upstream.setTimeout(connectMs);
		upstream.once("timeout", () => upstream.destroy());
		upstream.once("error", () => refuse(socket, "502 Bad Gateway"));
		upstream.once("connect", () => {
			upstream.setTimeout(0);
			socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
			if (head.length > 0) upstream.write(head);
			upstream.pipe(socket);
			socket.pipe(upstream);
		});
		upstream.once("close", () => closeAfter(upstream, socket));
		socket.once("close", () => closeAfter(socket, upstream));
	}

	async #forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
		// The answer to the first one ends the connection.
		if (!this.#isFirst(request.socket)) return void request.resume();
		const answer = (status: number, headers: Record<string, string> = {}, text = "") => {
			response.writeHead(status, { Connection: "close", ...headers }).end(text);
			request.resume();
		};
		const [, named = "", digits = "80", path = "/"] =
			/^http:\/\/([^\s/:?#@\\]+|\[[^\]]*\])(?::([0-9]+))?([/?][\x21-\x7e]*)?$/i.exec(request.url ?? "") ?? [];
		const authority = isTwofold(request) ? undefined : authorityOf(`${named}:${digits}`);
		if (!authority || path.includes("#")) return answer(400);
		const holder = this.#holderOf(request);
		if (!holder) return answer(407, realm);
		const address = await this.#admitted(authority, holder);
		if (address === undefined) return answer(403, {}, `${refusalText(authority)}\n`);
		const dropped = /^(proxy-.*|connection|keep-alive|host|te|trailer|upgrade)$/;
		const kept = Object.entries(request.headers).filter(([name]) => !dropped.test(name));
		const host = authority.port === 80 ? named : `${named}:${digits}`;
		const upstream = httpRequest({
			method: request.method ?? "GET",
			path: path.startsWith("?") ? `/${path}` : path,
			headers: { ...Object.fromEntries(kept), host, connection: "close" },
			createConnection: () => this.#connect(address, authority.port),
			setHost: false,
		});
		upstream.once("response", (incoming) => {
			const { connection: _, "keep-alive": __, ...headers } = incoming.headers;
			response.writeHead(incoming.statusCode ?? 502, { ...headers, connection: "close" });
			incoming.pipe(response);
		});
		upstream.once("error", () => (response.headersSent ? response.destroy() : answer(502)));
		response.once("close", () => upstream.destroy());
		request.pipe(upstream);
	}
}

/** One end is closed: the other one still gets what came before a proper end. */
function closeAfter(closed: Duplex, other: Duplex): void {
	if (!closed.readableEnded) return void other.destroy();
	if (other.writableFinished) other.destroy();
	else other.end(() => other.destroy());
}

/** Two shells read it: git's, and the one in which ssh starts the program. Percent signs mean something to ssh. */
function sshCommand(relay: string): string {
	const program = [process.execPath, relay].map((path) => quoted(path.replaceAll("%", "%%"))).join(" ");
	return `ssh -o ${quoted(`ProxyCommand=${program} %h %p`)}`;
}

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

async function resolveName(host: string): Promise<string[]> {
	return (await lookup(host, { all: true })).map(({ address }) => address);
}

const refusalText = (authority: Authority) => `The sandbox does not let this command connect to ${targetOf(authority)}.`;

/** A header that must be there once and is there twice: two readers would choose differently. */
function isTwofold({ rawHeaders }: IncomingMessage): boolean {
	const names = rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
	return ["host", "content-length", "transfer-encoding", "proxy-authorization"].some((name) => names.indexOf(name) !== names.lastIndexOf(name));
}

function refuse(socket: Duplex, status: string, headers: Record<string, string> = {}, text = ""): void {
	if (socket.destroyed || !socket.writable) return void socket.destroy();
	const lines = [`HTTP/1.1 ${status}`, "Connection: close", ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`)];
	socket.end(`${lines.join("\r\n")}\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
}
