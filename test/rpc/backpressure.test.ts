/** A host that stops reading: it costs bounded memory, loses no frame, and abort still acts. */
import { readFileSync } from "node:fs";
import { afterEach, expect, test } from "vitest";
import { Agent } from "../wire/support/agent.ts";

let agent: Agent;
afterEach(() => agent.dispose());

const rssMb = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${agent.child.pid}/status`, "utf8"))?.[1]) / 1024;
/** Resolves when the agent has written more than its reader takes. */
async function blocked(): Promise<void> {
	while (agent.child.stdout.readableLength < 16_000) await settle(20);
	await settle(300);
}

const settle = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** The text of a reply, put together from its deltas. */
function textOf(frames: Agent["frames"]): string {
	return frames.map((frame) => (frame.assistantMessageEvent as { delta?: string } | undefined)?.delta ?? "").join("");
}

for (const [updates, megabytes] of [
	["full", 3],
	["delta", 12],
] as const) {
	test(`a reply of ${megabytes} MB to a host that does not read stays small and arrives whole (${updates})`, async () => {
		const count = megabytes * 1000;
		const piece = "x".repeat(1000);
		agent = new Agent({ flags: ["--updates", updates, "--no-session"], script: { replies: [{ text: "warm" }, { repeat: { text: piece, count } }] } });
		agent.send({ id: "0", type: "prompt", message: "so that everything is loaded" });
		await agent.event("agent_settled");
		agent.forget();
		const before = rssMb();
		agent.child.stdout.pause();
		agent.send({ id: "1", type: "prompt", message: "go" });
		let peak = before;
		for (let look = 0; look < 12; look++) {
			await settle(50);
			peak = Math.max(peak, rssMb());
		}
		expect(peak - before).toBeLessThan(64);
		agent.child.stdout.resume();
		const { message } = (await agent.until(
			(frame) => frame.type === "message_end" && (frame.message as { role: string }).role === "assistant",
		)) as unknown as {
			message: { content: { text: string }[] };
		};
		expect(message.content[0]?.text.length).toBe(count * piece.length);
		expect(textOf(agent.frames).length).toBe(count * piece.length);
	}, 60_000);
}

test("abort acts while stdout is blocked, and its answer comes when the host reads again", async () => {
	const script = { replies: [{ repeat: { text: "x".repeat(1000), count: 30_000 } }] };
	agent = new Agent({ flags: ["--updates", "delta", "--no-session"], script });
	await agent.event("ready");
	agent.child.stdout.pause();
	agent.send({ id: "1", type: "prompt", message: "go" });
	await blocked();
	agent.send({ id: "2", type: "abort" });
	await settle(300);
	agent.child.stdout.resume();
	const end = await agent.until((frame) => frame.type === "message_end" && (frame.message as { role: string }).role === "assistant");
	expect(end.message).toMatchObject({ stopReason: "aborted" });
	await agent.response("2");
	expect(textOf(agent.frames).length).toBeLessThan(20_000_000);
}, 60_000);

test("commands to a host that does not read wait, and each is answered", async () => {
	agent = new Agent({ flags: ["--no-session"], script: { replies: [{ text: "y".repeat(200_000) }] } });
	await agent.event("ready");
	agent.send({ id: "p", type: "prompt", message: "go" });
	await agent.event("agent_settled");
	const before = rssMb();
	agent.child.stdout.pause();
	const count = 200;
	for (let index = 0; index < count; index++) agent.send({ id: `m${index}`, type: "get_messages" });
	await settle(500);
	expect(rssMb() - before).toBeLessThan(64);
	agent.child.stdout.resume();
	await agent.response(`m${count - 1}`);
	expect(agent.frames.filter((frame) => frame.command === "get_messages").length).toBe(count);
}, 60_000);

for (const [what, line] of [
	["lines that are no JSON", "x"],
	["unknown commands", '{"type":"q"}'],
	["aborts", '{"type":"abort"}'],
] as const) {
	test(`a flood of ${what} from a host that does not read stays small, and each is answered`, async () => {
		// On a busy machine it may work on one chunk of short lines for long before it writes again.
		agent = new Agent({ flags: ["--no-session"], patienceMs: 80_000 });
		await agent.event("ready");
		const before = rssMb();
		agent.child.stdout.pause();
		const count = 150_000;
		agent.child.stdin.write(`${line}\n`.repeat(count));
		let peak = before;
		for (let look = 0; look < 8; look++) {
			await settle(100);
			peak = Math.max(peak, rssMb());
		}
		expect(peak - before).toBeLessThan(80);
		agent.child.stdout.resume();
		agent.send({ id: "last", type: "get_last_assistant_text" });
		await agent.response("last");
		expect(agent.frames.length).toBe(count + 2);
	}, 100_000);
}

test("a host that goes away without reading does not keep the process", async () => {
	agent = new Agent({ flags: ["--updates", "delta", "--no-session"], script: { replies: [{ repeat: { text: "x".repeat(1000), count: 20_000 } }] } });
	await agent.event("ready");
	agent.send({ id: "1", type: "prompt", message: "go" });
	await agent.event("agent_start");
	agent.child.stdout.destroy();
	expect(await agent.exited()).toBe(1);
});

test("a host that closes stdin and never reads again is given up after two seconds", async () => {
	agent = new Agent({ flags: ["--updates", "delta", "--no-session"], script: { replies: [{ repeat: { text: "x".repeat(1000), count: 20_000 } }] } });
	await agent.event("ready");
	agent.child.stdout.pause();
	agent.send({ id: "1", type: "prompt", message: "go" });
	await blocked();
	agent.child.stdin.end();
	const began = performance.now();
	await new Promise((resolve) => agent.child.once("exit", resolve));
	expect(performance.now() - began).toBeGreaterThan(1500);
	expect(agent.child.exitCode).toBe(0);
	agent.child.stdout.resume();
}, 30_000);
