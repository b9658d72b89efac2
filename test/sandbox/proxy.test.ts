/** Network `hosts`: what the proxy reads, whom it asks, and where it connects. */
import { createServer as createHttpServer } from "node:http";
import { createServer, type Server } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { authorityOf, isClosedAddress } from "../../src/sandbox/addresses.ts";
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

describe.skipIf(missing)(`the proxy${missing ? ` (left out: ${missing})` : ""}`, () => {
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

	async function listen<Kind extends Server>(server: Kind): Promise<number> {
		closing.push(server);
		await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
		return (server.address() as { port: number }).port;
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

	test("tunnels and requests reach allowed hosts alone, by their exact address", async () => {
		const machine = machineOf();
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
		];
		const { results, ready } = await machine.run(commands, flags([allowed, `127.0.0.1:${http}`]));
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
		]);
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
