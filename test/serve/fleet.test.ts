/** `bowline serve --fleet`: runs and workers over HTTP, in front of a real queue, a real worker and a scripted model. */
import { existsSync } from "node:fs";
import { get } from "node:http";
import { describe, expect, test } from "vitest";
import { initialise } from "../../src/fleet/postgres/queue.ts";
import type { FleetCut, FleetLine, FleetRun } from "../../src/protocol/serve.ts";
import { RunCopy } from "../../src/serve/fleet/run-copy.ts";
import type { Fleet } from "../../src/serve/fleet/source.ts";
import { readEntries } from "../../src/serve/stored.ts";
import { postgresPrograms, startCluster } from "../fleet/cluster.ts";
import { familyOf, makeFixture, signalAll, startWorker } from "../fleet/fixture.ts";
import { later } from "../later.ts";
import { testUnless } from "../unless.ts";
import { serve, spawnServer, type TestServer, until } from "./support.ts";

interface Event {
	id?: number;
	// biome-ignore lint/suspicious/noExplicitAny: tests look into frames of all kinds
	data: any;
}

interface Reading {
	/** Where an earlier reading was cut. */
	lastId?: number;
	/** The connection is cut after this one. */
	isEnough?(event: Event): boolean;
}

/** Reads server-sent events until the server ends them, or there are enough. */
function eventsOf(server: TestServer, path: string, { lastId, isEnough }: Reading = {}): Promise<{ status: number; events: Event[] }> {
	return new Promise((resolve, reject) => {
		const headers = { Authorization: `Bearer ${server.token}`, ...(lastId !== undefined && { "Last-Event-ID": String(lastId) }) };
		const request = get({ host: "127.0.0.1", port: server.port, path, headers }, (response) => {
			let text = "";
			const events: Event[] = [];
			const finish = () => resolve({ status: response.statusCode ?? 0, events });
			response.setEncoding("utf8").on("data", (chunk) => {
				const blocks = (text + chunk).split("\n\n");
				text = blocks.pop() as string;
				for (const block of blocks) {
					const data = /^data: (.*)$/m.exec(block)?.[1];
					const id = /^id: (\d+)$/m.exec(block)?.[1];
					if (data === undefined) continue;
					const event = { data: JSON.parse(data), ...(id !== undefined && { id: Number(id) }) };
					events.push(event);
					if (!isEnough?.(event)) continue;
					finish();
					request.destroy();
					return;
				}
			});
			response.on("error", reject);
			response.on("end", finish);
		}).on("error", reject);
	});
}

function workerFor(server: TestServer) {
	const worker = startWorker(server.at.user, [], {});
	later(async () => {
		if (worker.child.exitCode === null && worker.child.signalCode === null) signalAll(familyOf(worker.child.pid as number), "SIGKILL");
		await worker.exited;
	});
	return worker;
}

describe("routes", () => {
	test("a run over HTTP: submitted once, followed to its end, read, its patch and receipt; another one cancelled", async () => {
		const fixture = makeFixture({ waitAt: 2 });
		later(() => fixture.remove());
		const server = await serve({ args: ["--fleet"] });
		expect((await server.get("/v1/info")).json.fleet).toBe(true);
		const body = { repo: { url: fixture.repository }, prompt: "Take all steps.", provider: "scripted", model: fixture.script, batch: "night" };
		const first = await server.post("/v1/runs", body, { "Idempotency-Key": "one" });
		expect(first.status).toBe(201);
		const { runId } = first.json;
		expect(first.headers.location).toBe(`/v1/runs/${runId}`);
		expect((await server.post("/v1/runs", body, { "Idempotency-Key": "one" })).json).toEqual({ runId, fresh: false });
		expect((await server.post("/v1/runs", { ...body, prompt: "Other." }, { "Idempotency-Key": "one" })).json.error.code).toBe("key_reused");

		// Refusals name the member and the remedy.
		const refused = async (more: object) => (await server.post("/v1/runs", { ...body, ...more })).json.error;
		expect((await refused({ settings: { sandbox: { mode: "off" } } })).message).toContain("sandbox.mode is the worker's own setting");
		expect(await refused({ repo: { url: "relative/path" } })).toMatchObject({ code: "bad_field", message: expect.stringContaining("path in full") });
		expect(await refused({ colour: "red" })).toMatchObject({ message: expect.stringContaining("run.colour is unknown") });
		expect(await refused({ lane: "no-such-lane" })).toMatchObject({ code: "unknown_lane" });
		expect((await server.get("/v1/runs?state=odd")).status).toBe(400);
		for (const path of ["", "/entries", "/events", "/patch", "/receipt"]) expect((await server.get(`/v1/runs/r_none${path}`)).status, path).toBe(404);
		expect((await server.get(`/v1/runs/${runId}/patch`)).json.error.code).toBe("no_result");

		const second = (await server.post("/v1/runs", { ...body, batch: "day" })).json.runId;
		expect((await server.post(`/v1/runs/${second}/cancel`)).status).toBe(202);
		await until("it is cancelled", async () => (await server.get(`/v1/runs/${second}`)).json.run.status === "cancelled");

		const following = eventsOf(server, `/v1/runs/${runId}/events`);
		workerFor(server);
		await until("a worker has it", async () =>
			(await server.get("/v1/workers")).json.workers.some((each: { running: number }) => each.running === 1),
		);
		await until("its first step is read", async () => (await server.get(`/v1/runs/${runId}/entries`)).json.entries.length > 2);
		expect((await server.get("/v1/runs?state=running")).json.runs).toMatchObject([{ runId, epoch: 1, batch: "night", lane: "default" }]);
		fixture.go();
		const { status, events } = await following;
		expect(status).toBe(200);
		const ids = events.flatMap(({ id }) => (id === undefined ? [] : [id]));
		expect(ids).toEqual([...new Set(ids)].sort((one, other) => one - other));
		const types = events.map(({ data }) => data.type);
		for (const type of ["run_state", "agent_start", "message_end", "tool_execution_end", "agent_end"]) expect(types, type).toContain(type);
		expect(events.at(-1)?.data).toMatchObject({ type: "run_state", state: "done", status: "completed" });
		expect(events.filter(({ data }) => data.type === "gap").every(({ data }) => data.reason === "ephemeral" && !data.durableLost)).toBe(true);
		// After the last one there is nothing, and in the middle the rest.
		const middle = ids[Math.floor(ids.length / 2)] as number;
		const rest = await eventsOf(server, `/v1/runs/${runId}/events?after=${middle}`);
		expect(rest.events.flatMap(({ id }) => (id === undefined ? [] : [id]))).toEqual(ids.filter((id) => id > middle));
		const { asOf, entries, total } = (await server.get(`/v1/runs/${runId}/entries`)).json;
		expect((await eventsOf(server, `/v1/runs/${runId}/events?after=${asOf}`)).status).toBe(204);
		expect(entries).toHaveLength(total);
		expect((await server.get(`/v1/runs/${runId}/entries?since=${entries.at(-3).id}`)).json.entries).toHaveLength(2);

		const view = (await server.get(`/v1/runs/${runId}`)).json;
		expect(view).toMatchObject({ run: { state: "done", status: "completed" }, takeovers: [], result: { status: "completed" } });
		const patch = await server.get(`/v1/runs/${runId}/patch`);
		expect(patch.headers["content-disposition"]).toContain("attachment");
		expect(patch.text).toContain("+line 4");
		expect(Buffer.byteLength(patch.text)).toBe(view.result.patchBytes);
		expect((await server.get(`/v1/runs/${runId}/receipt`)).json).toEqual(view.result.receipt);
		expect((await server.get("/v1/runs?batch=day")).json.runs.map((run: FleetRun) => run.runId)).toEqual([second]);
	});

	test("a reader that is cut and comes back gets what an uncut one gets, across a takeover", async () => {
		const fixture = makeFixture({ waitAt: 2 });
		later(() => fixture.remove());
		const server = await serve({ args: ["--fleet"] });
		const body = { repo: { url: fixture.repository }, prompt: "Take all steps.", provider: "scripted", model: fixture.script };
		const { runId } = (await server.post("/v1/runs", body)).json;
		const path = `/v1/runs/${runId}/events`;
		const uncut = eventsOf(server, path);
		const worker = workerFor(server);
		// Cut while the first worker is at its second step, after the takeover, and after a later step.
		const cutAt: ((event: Event) => boolean)[] = [
			({ data }) => data.type === "tool_execution_end",
			({ data }) => data.type === "run_takeover",
			({ data }) => data.type === "tool_execution_end",
		];
		const pieces: Event[] = [];
		const readOn = async (isEnough?: Reading["isEnough"]) => {
			const lastId = pieces.findLast(({ id }) => id !== undefined)?.id;
			const { status, events } = await eventsOf(server, path, { ...(lastId !== undefined && { lastId }), ...(isEnough && { isEnough }) });
			expect(status, `after ${lastId}`).toBe(200);
			pieces.push(...events);
		};
		await readOn(cutAt[0]);
		worker.child.kill("SIGKILL");
		await worker.exited;
		workerFor(server);
		fixture.go();
		for (const isEnough of cutAt.slice(1)) await readOn(isEnough);
		await readOn();
		// What a takeover has cut is void: whether a reader saw it before depends on when it looked.
		const durable = (events: readonly Event[]) => {
			const { id: takenAt = 0, data } = events.find((event) => event.id !== undefined && event.data.type === "run_takeover") as Event;
			return events.filter(({ id, data: { type } }) => id !== undefined && type !== "gap" && (id <= data.cutSeq || id >= takenAt));
		};
		const whole = durable((await uncut).events);
		expect(whole.filter(({ data }) => data.type === "tool_execution_end")).toHaveLength(4);
		expect(durable(pieces)).toEqual(whole);
		// As does a reader who comes when all is over.
		expect(durable((await eventsOf(server, path)).events)).toEqual(whole);
	});

	testUnless(!postgresPrograms() && "PostgreSQL is not installed")("the same routes in front of PostgreSQL", async () => {
		const cluster = await startCluster();
		later(() => cluster.remove());
		const url = await cluster.database();
		const args = ["--fleet", "--set", `fleet.url=${url}`];
		const early = spawnServer({ args });
		expect(await early.exited).toBe(1);
		expect(early.err).toContain("bowline fleet init");
		await initialise({ url, schema: "bowline_fleet" });
		const server = await serve({ args });
		const body = { repo: { url: "/nowhere" }, prompt: "Wait.", key: "k" };
		const { runId } = (await server.post("/v1/runs", body)).json;
		expect((await server.post("/v1/runs", body)).json).toEqual({ runId, fresh: false });
		const page = (await server.get("/v1/runs")).json;
		expect(page).toMatchObject({ runs: [{ runId, state: "queued" }], counts: { queued: 1 }, lanes: [{ name: "default", queued: 1 }] });
		expect(JSON.stringify(page)).not.toContain("password");
		expect((await server.get(`/v1/runs/${runId}/entries`)).json).toMatchObject({ entries: [], total: 0, epoch: 0 });
		expect((await server.get("/v1/workers")).json).toEqual({ workers: [] });
		await server.post(`/v1/runs/${runId}/cancel`);
		expect((await eventsOf(server, `/v1/runs/${runId}/events`)).events.at(-1)?.data).toMatchObject({ state: "done", status: "cancelled" });
		// A database that is gone is said, and the server lives on.
		await cluster.crash();
		const gone = await server.get("/v1/runs");
		expect(gone.status).toBe(503);
		expect(gone.json.error.code).toBe("unavailable");
		expect((await server.get("/v1/info")).status).toBe(200);
	});

	test("without --fleet the routes say what to do", async () => {
		const server = await serve();
		expect((await server.get("/v1/info")).json.fleet).toBe(false);
		const { status, json } = await server.get("/v1/runs");
		expect(status).toBe(404);
		expect(json.error).toMatchObject({ code: "no_fleet", message: expect.stringContaining("bowline serve --fleet") });
	});
});

describe("the copy of a run", () => {
	const header = { type: "session", version: 3, id: "s1", timestamp: "2026-03-05T00:00:00.000Z", cwd: "/work" };
	const message = (id: string, parentId: string | null, content: string) => ({
		type: "message",
		id,
		parentId,
		timestamp: "2026-03-05T00:00:00.000Z",
		message: { role: "user", content, timestamp: 1 },
	});
	const lines = (values: readonly object[], epoch = 1, from = 1): FleetLine[] =>
		values.map((value, index) => ({ line: from + index, epoch, body: JSON.stringify(value) }));

	test("what a takeover has cut is in it no more, and the last entry that was kept is known", async () => {
		let session = lines([header, message("a", null, "kept"), message("b", "a", "void")]);
		const events = lines([{ s: 7, t: 1, f: { type: "agent_start" } }]);
		let takeovers: FleetCut[] = [];
		const run = { runId: "r1", state: "running", epoch: 1 } as FleetRun;
		const fleet = {
			name: "test",
			list: async () => [run],
			takeovers: async () => takeovers,
			lines: async (_: string, file: string, after: number) => (file === "session" ? session : events).filter(({ line }) => line > after),
		} as unknown as Fleet;
		const copy = new RunCopy(fleet, "r1", 0);
		const texts = () =>
			(readEntries(copy.file, { limit: 100 }).entries as { message: { content: string } }[]).map(({ message: { content } }) => content);
		await copy.refresh();
		expect(texts()).toEqual(["kept", "void"]);
		takeovers = [{ epoch: 2, worker: "w2", sessionCut: 2, sessionFrom: 3, eventCut: 0, eventFrom: 1, at: "2026-03-05T00:01:00.000Z" }];
		session = [...session, ...lines([message("c", "a", "again")], 2, 4)];
		await copy.refresh();
		expect(texts()).toEqual(["kept", "again"]);
		expect(copy.lastKept.get(2)).toBe("a");
		// A reader may come back with the number of a frame that was cut.
		expect(copy.lastSeq).toBe(0);
		expect(copy.highestSeq).toBe(7);
		copy.remove();
		expect(existsSync(copy.file)).toBe(false);
	});

	test("a run that is not there leaves no files", async () => {
		const fleet = { list: async () => [] } as unknown as Fleet;
		const copy = new RunCopy(fleet, "r_none", 0);
		await expect(copy.refresh()).rejects.toMatchObject({ status: 404 });
		copy.remove();
		expect(existsSync(copy.file)).toBe(false);
	});
});
