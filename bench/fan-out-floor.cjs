// The floor of a fan-out: a relay. What an agent says is written to all who are connected, as it is. No frames, no tokens, no bounds, no replay.
"use strict";
const net = require("node:net");
const { spawn } = require("node:child_process");

const readers = [];
const server = net.createServer((socket) => {
	socket.on("error", () => undefined);
	socket.setNoDelay(true);
	readers.push(socket);
});
const agent = spawn(process.execPath, process.argv.slice(2), { stdio: ["pipe", "pipe", "ignore"] });
agent.stdout.on("data", (chunk) => {
	for (const reader of readers) reader.write(chunk);
});
server.listen(0, "127.0.0.1", () => process.stdout.write(`${server.address().port}\n`));
process.stdin.on("data", () => agent.stdin.write(`${JSON.stringify({ type: "prompt", message: "go" })}\n`));
process.stdin.on("end", () => {
	agent.once("exit", () => process.exit(0));
	agent.stdin.end();
});
