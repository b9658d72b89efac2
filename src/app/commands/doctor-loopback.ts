/** Starts our own program and asks it something, as a host would: what breaks here breaks everywhere. */
import { startClient } from "../../client/index.ts";
import type { Finding } from "./doctor.ts";

const flags = ["--mode", "rpc", "--hermetic", "--no-session", "--no-tools", "--provider", "scripted", "--model", "echo"];
const limitMs = 30_000;

export async function loopback(): Promise<Finding[]> {
	const begin = performance.now();
	const agent = await startClient({ command: [process.execPath, process.argv[1] as string, ...flags], waitForReady: true, startTimeoutMs: limitMs });
	try {
		const ready = performance.now();
		const { text } = await agent.promptAndWait("hello", { timeoutMs: limitMs });
		const answered = performance.now();
		if (text !== "hello") return [{ state: "fail", text: `the scripted model answered ${JSON.stringify(text)} to "hello"` }];
		return [{ state: "ok", text: `an agent was ready after ${Math.round(ready - begin)} ms and answered ${Math.round(answered - ready)} ms later` }];
	} finally {
		await agent.close();
	}
}
