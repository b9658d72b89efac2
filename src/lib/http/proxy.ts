/** Finds the proxy for an address, and opens tunnels through it. */
import { connect as connectTcp, isIP, type Socket } from "node:net";

export type Environment = Readonly<Record<string, string | undefined>>;

/** A variable in either case; the lower-case spelling wins, as it does for curl. */
function variable(env: Environment, name: string): string | undefined {
	return env[name.toLowerCase()] || env[name] || undefined;
}

function isLoopback(host: string): boolean {
	return host === "localhost" || host.endsWith(".localhost") || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}

/** Whether one entry of NO_PROXY (`host`, `.domain`, `*.domain`, `host:port`, `*`) covers the address. */
function covers(entry: string, host: string, port: string): boolean {
	if (entry === "*") return true;
	const match = /^(\[[^\]]*\]|[^:]*|[0-9a-f:]*)(?::(\d+))?$/i.exec(entry);
	if (!match) return false;
	if (match[2] !== undefined && match[2] !== port) return false;
	const name = (match[1] ?? "").replace(/^\[|\]$/g, "").replace(/^\*?\./, "");
	return name !== "" && (host === name || host.endsWith(`.${name}`));
}

/** The proxy for an address, or nothing. Loopback addresses are always reached directly. */
export function proxyFor(target: URL, env: Environment): URL | undefined {
	const host = target.hostname.toLowerCase().replace(/^\[|\]$/g, "");
	if (isLoopback(host)) return undefined;
	const isSecure = target.protocol === "https:";
	const port = target.port || (isSecure ? "443" : "80");
	const exceptions = (variable(env, "NO_PROXY") ?? "").toLowerCase().split(/[\s,]+/);
	if (exceptions.some((entry) => entry !== "" && covers(entry, host, port))) return undefined;
	const address = variable(env, isSecure ? "HTTPS_PROXY" : "HTTP_PROXY") ?? variable(env, "ALL_PROXY");
	if (address === undefined) return undefined;
	const text = address.includes("://") ? address : `http://${address}`;
	if (!URL.canParse(text)) throw new Error("The proxy variable is not a valid address");
	const proxy = new URL(text);
	if (proxy.protocol !== "http:" && proxy.protocol !== "https:")
		throw new Error(`Proxies of kind ${proxy.protocol} are not supported; use http or https`);
	return proxy;
}

/** The header that a proxy needs when its address contains a user name. */
export function proxyAuthorization(proxy: URL): Record<string, string> {
	if (proxy.username === "") return {};
	const pair = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
	return { "proxy-authorization": `Basic ${Buffer.from(pair).toString("base64")}` };
}

async function reach(proxy: URL): Promise<Socket> {
	const host = proxy.hostname.replace(/^\[|\]$/g, "");
	const port = Number(proxy.port || (proxy.protocol === "https:" ? 443 : 80));
	if (proxy.protocol === "http:") return connectTcp({ host, port });
	const { connect } = await import("node:tls");
	return connect({ host, port, ...(isIP(host) === 0 ? { servername: host } : {}) });
}

/** How long a proxy may take to open a tunnel. */
const tunnelMs = 30_000;

function problem(message: string, code: string): Error {
	return Object.assign(new Error(message), { code });
}

/** Opens a raw connection to `host:port` through the proxy, unless the signal fires first. */
export async function tunnel(proxy: URL, host: string, port: number, signal?: AbortSignal): Promise<Socket> {
	const socket = await reach(proxy);
	const target = `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
	const headers = { host: target, ...proxyAuthorization(proxy) };
	const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
	return new Promise((resolve, reject) => {
		let answer = "";
		const fail = (error: Error) => {
			signal?.removeEventListener("abort", onAbort);
			socket.destroy();
			reject(error);
		};
		const onAbort = () => fail(problem("The request was given up", "ECONNABORTED"));
		const onClose = () => fail(problem("The proxy closed the connection", "ECONNRESET"));
		const onTimeout = () => fail(problem(`The proxy opened no tunnel within ${tunnelMs / 1000} s`, "ETIMEDOUT"));
		const onData = (chunk: Buffer) => {
			answer += chunk.toString("latin1");
			const end = answer.indexOf("\r\n\r\n");
			if (end === -1) {
				if (answer.length > 16384) fail(problem("The proxy does not speak HTTP", "ERR_PROXY"));
				return;
			}
			socket.off("data", onData).off("error", fail).off("close", onClose).off("timeout", onTimeout);
			socket.setTimeout(0);
			signal?.removeEventListener("abort", onAbort);
			const status = /^HTTP\/1\.\d (\d{3})[^\r]*/.exec(answer);
			if (status?.[1] !== "200") {
				const isPassing = Number(status?.[1]) >= 500;
				fail(problem(`The proxy refused the connection: ${status?.[0] ?? "no HTTP answer"}`, isPassing ? "ECONNREFUSED" : "ERR_PROXY"));
				return;
			}
			socket.pause();
			if (answer.length > end + 4) socket.unshift(Buffer.from(answer.slice(end + 4), "latin1"));
			resolve(socket);
		};
		socket.setTimeout(tunnelMs);
		socket.on("data", onData).on("error", fail).on("close", onClose).on("timeout", onTimeout);
		signal?.addEventListener("abort", onAbort, { once: true });
		if (signal?.aborted) return onAbort();
		socket.write(`CONNECT ${target} HTTP/1.1\r\n${lines.join("")}\r\n`);
	});
}
