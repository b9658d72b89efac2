/** Keys over a kill: twins of one prompt are one run, whatever of its answers was lost. */
import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { type Frame, place, serve, type TestServer, until } from "./support.ts";

const replies = [{ text: "word ".repeat(5000), pieceDelayMs: 100 }];

/** The run that the session file has accepted under a key: written before any answer. */
function acceptedRun(file: string, key: string): string | undefined {
	if (!existsSync(file)) return undefined; // The first entry makes it.
	for (const line of readFileSync(file, "utf8").split("\n").slice(0, -1)) {
		const entry = JSON.parse(line) as Frame;
		if (entry.type === "custom" && entry.customType === "accepted" && entry.data.key === key) return entry.data.runId;
	}
	return undefined;
}

const runsIn = async (server: TestServer, id: string) => {
	const { text } = await server.ask("GET", `/v1/sessions/${id}/events?after=0`, undefined, { Accept: "application/jsonl" });
	const frames = text
		.split("\n")
		.filter(Boolean)
		.map((line) => JSON.parse(line) as Frame);
	return { started: frames.filter(({ type }) => type === "agent_start"), results: frames.filter(({ type }) => type === "run_result") };
};

test("a hundred twins, the agent killed between acceptance and the answers, then the server too: one run, the same runId", async () => {
	const at = place();
	const server = await serve({ at, replies });
	const { id } = await server.create();
	const file = await server.learnFile(id);
	const driver = await server.attach(id, "?mode=write");
	const twin = { type: "prompt", message: "go", key: "k" };
	for (let count = 0; count < 100; count++) driver.send({ id: `twin${count}`, ...twin });
	const runId = await until("the key is stored", () => acceptedRun(file, "k"));
	process.kill(server.agentPid(id), "SIGKILL");
	const isAnswer = ({ type, id: asked }: Frame) => type === "response" && String(asked).startsWith("twin");
	await until("all are answered", () => driver.frames.filter(isAnswer).length === 100);
	const answers = driver.frames.filter(isAnswer);
	expect(new Set(answers.map((answer) => answer.id)).size).toBe(100);
	// Those that the agent had no time to answer failed; the others say the same.
	for (const { success, code, data } of answers) expect(success ? data.runId : code).toBe(success ? runId : "agent_crashed");
	expect(answers.filter(({ success, data }) => success && !data.duplicate).length).toBeLessThanOrEqual(1);
	// A client that saw a failure asks again: nothing is done twice.
	expect(await driver.ask(twin)).toMatchObject({ success: true, data: { runId, duplicate: true } });
	expect((await runsIn(server, id)).results).toMatchObject([{ runId, status: "interrupted" }]);

	// Over HTTP, and with both killed. The asker gets no answer at all, or the one of the run.
	await driver.close();
	const body = { message: "again" };
	const lost = server.post(`/v1/sessions/${id}/prompts`, body, { "Idempotency-Key": "h" }).catch(() => undefined);
	const second = await until("the key is stored", () => acceptedRun(file, "h"));
	process.kill(server.agentPid(id), "SIGKILL");
	server.child.kill("SIGKILL");
	await server.exited;
	const answered = await lost;
	if (answered)
		expect(answered.status === 202 ? answered.json.runId : answered.json.error.code).toBe(answered.status === 202 ? second : "agent_crashed");
	const next = await serve({ at });
	const twins = await Promise.all(Array.from({ length: 20 }, () => next.post(`/v1/sessions/${id}/prompts`, body, { "Idempotency-Key": "h" })));
	expect(twins.map(({ status, json }) => [status, json.runId, json.duplicate])).toEqual(twins.map(() => [202, second, true]));
	const { started, results } = await runsIn(next, id);
	expect(results.map((result) => result.runId)).toEqual([runId, second]);
	for (const run of started) expect([runId, second]).toContain(run.runId);
	const refused = await next.post(`/v1/sessions/${id}/prompts`, { message: "other" }, { "Idempotency-Key": "h" });
	expect([refused.status, refused.json.error.code]).toEqual([409, "key_reused"]);
});
