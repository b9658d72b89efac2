// The floor of an attach: answers the upgrade and writes one frame, and does nothing else. No checks, no token, no session.
"use strict";
const server = require("node:http").createServer();
const frame = Buffer.from(`\x81\x7e\x00\xff${'{"type":"ready"}'.padEnd(255)}`, "latin1");
server.on("upgrade", (_request, socket) => {
	socket.on("error", () => undefined);
	socket.cork();
	socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n");
	socket.write(frame);
	socket.uncork();
});
server.listen(0, "127.0.0.1", () => process.stdout.write(`${server.address().port}\n`));
process.on("SIGTERM", () => process.exit(0));
