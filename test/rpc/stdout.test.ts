/** stdout carries frames and nothing else, whatever a module prints. */
import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Agent } from "../wire/support/agent.ts";

const noisy = `
const fs = require("node:fs");
const shout = () => {
	console.log("log"); console.info("info"); console.debug("debug"); console.dir({ a: 1 }); console.table([1]);
	process.stdout.write("written\\n");
	fs.writeSync(1, "sync\\n");
	fs.write(1, "async\\n", () => undefined);
};
setImmediate(() => setInterval(shout, 3).unref());
`;

test("what modules print goes to stderr", async () => {
	const module = join(tmpdir(), `noisy-${process.pid}.cjs`);
	writeFileSync(module, noisy);
	const script = { replies: [{ text: "a long reply in many words", pieceDelayMs: 10 }] };
	const agent = new Agent({ script, env: { NODE_OPTIONS: `--require ${module}` } });
	try {
		agent.send({ id: "1", type: "prompt", message: "hi" });
		await agent.event("agent_settled");
		expect(agent.frames.filter((frame) => frame.type === "not a frame")).toEqual([]);
		for (const word of ["log", "info", "debug", "written", "sync", "async"]) expect(agent.stderr).toContain(word);
	} finally {
		await agent.dispose();
	}
});
