// What the machine can do without us: reads lines, and answers with frames made by a plain loop.
"use strict";
let rest = "";
process.stdout.write('{"type":"ready"}\n');
process.stdin.on("data", (chunk) => {
	const lines = (rest + chunk).split("\n");
	rest = lines.pop();
	let out = "";
	for (const line of lines) {
		const { id, type, count, text } = JSON.parse(line);
		if (type === "deltas") {
			for (let n = 0; n < count; n++)
				out += `${JSON.stringify({ type: "message_update", assistantMessageEvent: { type: "text_delta", contentIndex: 0, delta: text } })}\n`;
			out += '{"type":"agent_settled"}\n';
		} else
			out += `${JSON.stringify({ id, type: "response", command: type, success: true, data: { model: null, isStreaming: false, messageCount: 0 } })}\n`;
	}
	process.stdout.write(out);
});
process.stdin.on("end", () => process.exit(0));
