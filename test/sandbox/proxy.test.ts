/** Network `hosts`: what the proxy reads, whom it asks, and where it connects. */
import { spawn } from "node:child_process";
import { chmodSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { connect, createServer, type Server } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { authorityOf, isClosedAddress } from "../../src/sandbox/addresses.ts";
import { HostProxy } from "../../src/sandbox/proxy.ts";
import { describeUnless } from "../unless.ts";
import { type Frame, Machine, missing, resultOf } from "./support.ts";

const closing: { close(): unknown }[] = [];
afterEach(async () => {
	await Promise.all(closing.splice(0).map((each) => each.close()));
});

test.each<[string, string | undefined]>([
	["Example.COM:443", "example.com"],
	["example.com.:443", "example.com"],
	["1.2.3.4:80", "1.2.3.4"],
	["[2606:4700::1]:443", "2606:4700::1"],
	["example.com", undefined],
	["example.com:0", undefined],
	["example.com:65536", undefined],
	["example.com:0443", undefined],
	["user@example.com:443", undefined],
	["example.com\0.evil.org:443", undefined],
	["example.com%00.evil.org:443", undefined],
	["127.1:80", undefined],
	["0x7f.1:80", undefined],
	["0x7f000001:80", undefined],
	["2130706433:80", undefined],
	["127.0.0.1.:80", undefined],
	["010.0.0.1:80", undefined],
	["１２７.0.0.1:80", undefined],
	["example。com:80", undefined],
	["[::FFFF:127.0.0.1]:80", undefined],
	["[0:0:0:0:0:0:0:1]:80", undefined],
	["[::1%eth0]:80", undefined],
	["exa mple.com:80", undefined],
	["exa\\mple.com:80", undefined],
	["-a.com:80", undefined],
	["a..com:80", undefined],
	["a_b.com:80", undefined],
	[`${"a".repeat(64)}.com:80`, undefined],
])("the authority %j", (text, host) => {
	expect(authorityOf(text)?.host).toBe(host);
});

test("addresses that are not on the public network", () => {
	const shut = ["127.0.0.1", "10.1.2.3", "172.31.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1", "255.255.255.255"];
	const shutV6 = ["::1", "::", "fc00::1", "fd12::1", "fe80::1", "ff02::1", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "64:ff9b::7f00:1", "2002:7f00:1::"];
	expect([...shut, ...shutV6].filter((address) => !isClosedAddress(address))).toEqual([]);
	expect(["8.8.8.8", "172.32.0.1", "2606:4700::1111"].filter(isClosedAddress)).toEqual([]);
});

async function listen<Kind extends Server>(server: Kind): Promise<number> {
	closing.push(server);
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	return (server.address() as { port: number }).port;
}

describe("the proxy alone", () => {
	/** Every connection that the proxy makes arrives at one server here, whose answer is `served` and how often it was asked. */
	async function scene(
		allowed: readonly string[],
		answers: Record<string, string[][]> = {},
		answer = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nserved",
	) {
		const requests: string[] = [];
		const upstream = await listen(
			createServer((socket) => {
				socket
					.on("error", () => undefined)
					.on("data", (chunk) => {
						requests.push(String(chunk).split("\r\n")[0] as string);
						socket.end(answer);
					});
			}),
		);
		const judged: string[] = [];
		const connected: string[] = [];
		const proxy = new HostProxy({
			nsenter: "",
			relay: "",
			async judge(target) {
				judged.push(target);
				return { isAllowed: allowed.includes(target), mayBePrivate: false };
			},
			resolve: async (host) => answers[host]?.shift() ?? ["203.0.113.1"],
			connect({ host, port }) {
				connected.push(`${host} ${port}`);
				return connect(upstream, "127.0.0.1");
			},
		});
		closing.push(proxy);
		const port = await listen(createServer((socket) => proxy.take(socket)));
		const pass = proxy.admit("call");
		const { username, password } = new URL(pass.variables.HTTP_PROXY as string);
		const key = `Proxy-Authorization: Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
		/** Sends the bytes at once and resolves with everything that comes back. */
		const send = (text: string) =>
			new Promise<string>((resolve) => {
				let said = "";
				const socket = connect(port, "127.0.0.1", () => socket.write(text.replaceAll("KEY", key)));
				socket.on("data", (chunk) => {
					said += chunk;
					if (said.startsWith("HTTP/1.1 200 Connection Established") && !said.includes("served")) socket.write("hello\r\n");
				});
				socket.on("error", () => undefined).on("close", () => resolve(said));
			});
		return { send, judged, connected, requests, denied: () => pass.end() };
	}
	const get = (url: string) => `GET ${url} HTTP/1.1\r\nHost: x\r\nKEY\r\n\r\n`;
	const tunnel = (target: string) => `CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\nKEY\r\n\r\n`;

	test("a name is resolved once, and the connection goes to the address that was checked, whatever the name means a moment later", async () => {
		const names = { "a.example": [["203.0.113.7"], ["127.0.0.1"]], "b.example": [["127.0.0.1"]], "c.example": [["10.0.0.1", "203.0.113.9"]] };
		const { send, connected, denied } = await scene(["a.example:443", "a.example:80", "b.example:443", "c.example:443"], names);
		expect(await send(tunnel("a.example:443"))).toContain("served");
		expect(connected).toEqual(["203.0.113.7 443"]);
		expect(await send(get("http://a.example/"))).toMatch(/^HTTP\/1.1 403/);
		expect(await send(tunnel("b.example:443"))).toMatch(/^HTTP\/1.1 403/);
		expect(await send(tunnel("c.example:443"))).toContain("served");
		expect(connected).toEqual(["203.0.113.7 443", "203.0.113.9 443"]);
		expect(denied()).toEqual(["host a.example:80", "host b.example:443"]);
	});

	test("a redirect is handed on and not followed, and its target is judged like any other", async () => {
		const moved = "HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/latest\r\nContent-Length: 0\r\n\r\n";
		const { send, judged, connected } = await scene(["a.example:80", "169.254.169.254:80"], {}, moved);
		expect(await send(get("http://a.example/"))).toContain("302 Found");
		expect(judged).toEqual(["a.example:80"]);
		expect(await send(get("http://169.254.169.254/latest"))).toMatch(/^HTTP\/1.1 403/);
		expect(connected).toEqual(["203.0.113.1 80"]);
	});

	test("a connection carries one request: a second one to another host is not even judged", async () => {
		const { send, judged, connected, requests } = await scene(["a.example:80", "b.example:80", "b.example:443"]);
		const said = await send(get("http://a.example/one") + get("http://b.example/"));
		expect(said.match(/HTTP\/1.1/g)).toHaveLength(1);
		expect(said).toContain("served");
		expect([judged, connected, requests]).toEqual([["a.example:80"], ["203.0.113.1 80"], ["GET /one HTTP/1.1"]]);
		// A tunnel as the second one ends the connection.
		expect(await send(get("http://a.example/two") + tunnel("b.example:443"))).not.toContain("Connection Established");
		expect(judged).toEqual(["a.example:80", "a.example:80"]);
	});

	test("a tunnel carries what one side says after the other has ended, and nothing of it is lost", async () => {
		const size = 3_000_000;
		const upstream = await listen(
			createServer({ allowHalfOpen: true }, (socket) => {
				let received = 0;
				socket
					.on("error", () => undefined)
					.on("data", (chunk) => {
						received += chunk.length;
					});
				socket.on("end", () => socket.end(Buffer.alloc(received, "x")));
			}),
		);
		const proxy = new HostProxy({
			relay: "",
			judge: async () => ({ isAllowed: true, mayBePrivate: true }),
			connect: (address) => connect({ ...address, host: "127.0.0.1", port: upstream }),
		});
		closing.push(proxy);
		await proxy.open(undefined);
		const { username, password, port } = new URL(proxy.admit("call").variables.HTTP_PROXY as string);
		const key = Buffer.from(`${username}:${password}`).toString("base64");
		const answer = await new Promise<Buffer>((resolve) => {
			const chunks: Buffer[] = [];
			const socket = connect({ host: "127.0.0.1", port: Number(port), allowHalfOpen: true });
			socket.write(`CONNECT 203.0.113.1:443 HTTP/1.1\r\nHost: x\r\nProxy-Authorization: Basic ${key}\r\n\r\n`);
			socket.once("data", () => socket.end(Buffer.alloc(size)));
			socket.on("data", (chunk) => chunks.push(chunk)).on("close", () => resolve(Buffer.concat(chunks)));
		});
		const established = "HTTP/1.1 200 Connection Established\r\n\r\n";
		expect([answer.length, answer.indexOf(established)]).toEqual([established.length + size, 0]);
	});

	test("ports belong to the question: what is allowed at one is not allowed at another", async () => {
		const { send, judged, connected } = await scene(["git.example:22", "203.0.113.5:8443"]);
		expect(await send(tunnel("git.example:22"))).toContain("served");
		expect(await send(tunnel("203.0.113.5:8443"))).toContain("served");
		for (const target of ["git.example:25", "git.example:443", "203.0.113.5:443", "203.0.113.6:8443", "192.168.0.1:80", "[::1]:80"])
			expect(await send(tunnel(target))).toMatch(/^HTTP\/1.1 403/);
		expect(judged.slice(0, 3)).toEqual(["git.example:22", "203.0.113.5:8443", "git.example:25"]);
		expect(connected).toEqual(["203.0.113.1 22", "203.0.113.5 8443"]);
	});

	test.each([
		"GET http://a.example/ HTTP/1.1\rHost: x\r\nKEY\r\n\r\n",
		"GET http://a.example/ HTTP/1.1\r\nHost : x\r\nKEY\r\n\r\n",
		"GET http://a.example/ HTTP/1.1\r\nHost: x\0y\r\nKEY\r\n\r\n",
		"GET http://a.example/ HTTP/1.1\r\nHost: x\r\nKEY\r\n folded: y\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n",
		"POST http://a.example/ HTTP/1.1\r\nHost: x\r\nKEY\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n",
		"GET http://a.example\\@b.example/ HTTP/1.1\r\nHost: x\r\nKEY\r\n\r\n",
		"GET http://a.example/ b HTTP/1.1\r\nHost: x\r\nKEY\r\n\r\n",
		"GET https://a.example/ HTTP/1.1\r\nHost: x\r\nKEY\r\n\r\n",
		"CONNECT a.example:443/ HTTP/1.1\r\nHost: x\r\nKEY\r\n\r\n",
		"CONNECT a.example\0:443 HTTP/1.1\r\nHost: x\r\nKEY\r\n\r\n",
		"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
	])("bytes that are not exactly a request end the connection: %j", async (bytes) => {
		const { send, judged, connected } = await scene(["a.example:80", "a.example:443"]);
		expect((await send(bytes)).slice(0, 12)).toBe("HTTP/1.1 400");
		expect([judged, connected]).toEqual([[], []]);
	});
});

describeUnless(missing)("the proxy", () => {
	const flags = (hosts: string[]) => [
		"--sandbox",
		"workspace-write",
		"--set",
		"sandbox.network=hosts",
		"--set",
		`sandbox.hosts=${JSON.stringify(hosts)}`,
	];

	function machineOf(): Machine {
		const machine = new Machine();
		closing.push(machine);
		return machine;
	}

	/** Sends raw bytes to the proxy from inside, and prints the first line of the answer. */
	const raw = (lines: string[]) =>
		`node -e '${`const p=new URL(process.env.HTTPS_PROXY);const a=Buffer.from(p.username+":"+p.password).toString("base64");const s=require("net").connect(p.port,p.hostname,()=>s.write(process.argv[1].split("|").join("\\r\\n").replaceAll("AUTH",a)));let t="";s.on("data",(d)=>t+=d);s.on("close",()=>console.log(t.split("\\r\\n")[0]))`}' '${lines.join("|")}'`;
	const connectLines = (target: string) => [
		`CONNECT ${target} HTTP/1.1`,
		`Host: ${target}`,
		"Proxy-Authorization: Basic AUTH",
		"Connection: close",
		"",
		"",
	];

	/** Starts the proxy's program as ssh does, without keys and encryption: what git says goes through as it is. */
	const plainSsh = `#!/bin/bash
port=22
while [ $# -gt 0 ]; do
  case $1 in
    -o) case $2 in ProxyCommand=*) proxy=\${2#ProxyCommand=} ;; esac; shift 2 ;;
    -p) port=$2; shift 2 ;;
    -*) shift ;;
    *) host=\${1#*@}; break ;;
  esac
done
proxy=\${proxy//%%/|}; proxy=\${proxy//%h/$host}; proxy=\${proxy//%p/$port}; proxy=\${proxy//|/%}
exec sh -c "exec $proxy"
`;

	test("tunnels, requests and git over ssh reach allowed hosts alone, by their exact address", async () => {
		const machine = machineOf();
		machine.repository();
		const git = await listen(
			createServer({ allowHalfOpen: true }, (socket) => {
				const served = spawn("git", ["upload-pack", machine.work], { stdio: ["pipe", "pipe", "inherit"] });
				served.stdin.on("error", () => undefined);
				socket.on("error", () => undefined).pipe(served.stdin);
				served.stdout.pipe(socket);
			}),
		);
		const greetings: string[] = [];
		const ssh = await listen(
			createServer((socket) => {
				socket.on("error", () => undefined).write("SSH-2.0-test\r\n");
				socket.once("data", (chunk) => {
					greetings.push(String(chunk).slice(0, 8));
					socket.end();
				});
			}),
		);
		chmodSync(machine.write("outside/bin/ssh", plainSsh), 0o755);
		const program = join(machine.outside, "bin");
		const echo = await listen(createServer((socket) => void socket.on("error", () => undefined).end("hello\r\n")));
		const seen: string[] = [];
		const http = await listen(
			createHttpServer((request, response) => {
				seen.push(`${request.method} ${request.url} ${request.headers.host} ${request.headers["proxy-authorization"]}`);
				request.resume().on("end", () => response.end("served"));
			}),
		);
		const allowed = `127.0.0.1:${echo}`;
		const commands = [
			raw(connectLines(allowed)),
			raw(connectLines(`127.0.0.1:9`)),
			raw(connectLines(`localhost:${echo}`)),
			raw(connectLines("127.1:80")),
			raw([`CONNECT ${allowed} HTTP/1.1`, `Host: ${allowed}`, "", ""]),
			raw([`CONNECT ${allowed} HTTP/1.1`, "Host: a", "Host: b", "Proxy-Authorization: Basic AUTH", "", ""]),
			raw([`GET http://127.0.0.1:${http}/page?x=1 HTTP/1.1`, "Host: other.example", "Proxy-Authorization: Basic AUTH", "", ""]),
			raw([`GET http://u@127.0.0.1:${http}/ HTTP/1.1`, "Host: x", "Proxy-Authorization: Basic AUTH", "", ""]),
			raw(["GET /page HTTP/1.1", "Host: x", "Proxy-Authorization: Basic AUTH", "", ""]),
			raw(["POST http://a.example/ HTTP/1.1", "Host: a.example", "Content-Length: 3", "Content-Length: 4", "", "abcd"]),
			`exec 3<>/dev/tcp/127.0.0.1/${echo}`,
			`PATH=${program}:$PATH git clone -q ssh://git@127.0.0.1:${git}/any cloned && git -C cloned log --format=%s`,
			`PATH=${program}:$PATH git ls-remote ssh://git@127.0.0.1:9/any`,
			// The program of the system ends when the other side does. Where there is none, a plain one shows the same.
			`if ssh -G localhost > /dev/null 2>&1; then eval "$GIT_SSH_COMMAND -o BatchMode=yes -p ${ssh} x@127.0.0.1 true"; else ssh() { ${program}/ssh "$@"; }; echo SSH-2.0- | eval "$GIT_SSH_COMMAND -p ${ssh} 127.0.0.1"; fi; echo ended`,
		];
		// Two shells and ssh itself read the path of the relay.
		const { results, ready } = await machine.run(commands, flags([allowed, ...[http, git, ssh].map((port) => `127.0.0.1:${port}`)]), {
			BOWLINE_DIR: machine.directory('it\'s 100%h "user" $HOME'),
		});
		expect(ready.sandbox).toMatchObject({ active: true, verified: true, network: "hosts" });
		expect(results.map(({ text, isError }) => (isError ? "failed" : (text.split("\n")[0] as string).slice(0, 12)))).toEqual([
			"HTTP/1.1 200",
			"HTTP/1.1 403",
			"HTTP/1.1 403",
			"HTTP/1.1 400",
			"HTTP/1.1 407",
			"HTTP/1.1 400",
			"HTTP/1.1 200",
			"HTTP/1.1 400",
			"HTTP/1.1 400",
			"HTTP/1.1 400",
			"failed",
			"Beginning",
			"failed",
			expect.any(String),
		]);
		expect(results[12]?.text).toContain("The sandbox does not let this command connect to 127.0.0.1:9.");
		expect(results[12]?.details.sandbox?.denied).toEqual(["host 127.0.0.1:9"]);
		expect([greetings, results[13]?.text]).toEqual([["SSH-2.0-"], expect.stringMatching(/^ended$/m)]);
		expect(seen).toEqual([`GET /page?x=1 127.0.0.1:${http} undefined`]);
		expect(results[1]?.details.sandbox?.denied).toEqual([`host 127.0.0.1:9`]);
		expect(results[0]?.details.sandbox?.denied).toEqual([]);
	});

	test("a host that no rule names is asked about while the command waits", async () => {
		const machine = machineOf();
		const port = await listen(createServer((socket) => void socket.on("error", () => undefined).end("hello\r\n")));
		const target = `127.0.0.1:${port}`;
		const calls = [raw(connectLines(target)), raw(connectLines(target)), raw(connectLines(target))];
		const agent = machine.start(calls, [...flags([]), "--permission-mode", "edit"]);
		agent.send({ id: "h", type: "hello", capabilities: { permissions: 1 } });
		agent.send({ id: "1", type: "prompt", message: "go" });
		const questions: Frame[] = [];
		const answers = [{ decision: "deny" }, { decision: "allow", scope: "session" }];
		for (const answer of answers) {
			const isNew = (frame: Frame) => frame.type === "permission_request" && !questions.includes(frame);
			const question = (await agent.until(isNew)).find(isNew) as Frame;
			questions.push(question);
			agent.send({ type: "permission_response", id: question.id, digest: question.digest, ...answer });
		}
		const frames = await agent.until(({ type }) => type === "agent_settled");
		agent.child.stdin.end();
		await agent.gone;
		expect(questions[0]).toMatchObject({
			subject: { kind: "network", targets: [target], sandbox: "workspace-write" },
			text: target,
			timeoutMs: 120000,
			proposal: { action: "allow", host: target },
		});
		const results = frames.filter(({ type }) => type === "tool_execution_end").map(resultOf);
		expect(results.map(({ text }) => text.slice(0, 12))).toEqual(["HTTP/1.1 403", "HTTP/1.1 200", "HTTP/1.1 200"]);
		expect(questions).toHaveLength(2);
	});
});
