// The least a program can do between a prompt and a first delta: a POST with node:http, and the first data line written out.
"use strict";
const http = require("node:http");
const agent = new http.Agent({ keepAlive: true });
process.stdout.write('{"type":"ready"}\n');
process.stdin.on("data", () => {
	const request = http.request(process.argv[2], { method: "POST", agent, headers: { "content-type": "application/json" } }, (response) => {
		let rest = "";
		let hasTold = false;
		response.setEncoding("utf8");
		response.on("data", (chunk) => {
			rest += chunk;
			if (hasTold || !rest.includes("text_delta")) return;
			hasTold = true;
			process.stdout.write('{"type":"text_delta"}\n');
		});
		response.on("end", () => process.stdout.write('{"type":"agent_settled"}\n'));
	});
	request.end("{}");
});
process.stdin.on("end", () => process.exit(0));
