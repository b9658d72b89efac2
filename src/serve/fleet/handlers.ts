/** The routes of runs and workers. Loaded with their first request. */
import type { FleetRun, FleetTakeover } from "../../protocol/serve.ts";
import type { OpenConnection } from "../connections.ts";
import { encoded } from "../frames.ts";
import type { Call } from "../handlers.ts";
import { answer, answerJson, commonHeaders, cursorOf, keyOf, numberOf, parseObject, readBody } from "../http.ts";
import { Refusal } from "../refusal.ts";
import { cursorAheadText } from "../session.ts";
import { readEntries } from "../stored.ts";
import type { Bearer } from "../tokens.ts";
import { RunCopies, type RunCopy } from "./run-copy.ts";
import type { Fleet, RunResult } from "./source.ts";

const pollMs = 500;
const aliveMs = 15_000;
/** A reader that does not read is cut off; it comes back after its last number. */
const mostPending = 8 * 1024 * 1024;
const states: readonly string[] = ["queued", "running", "done"];

export class FleetRoutes {
	#fleet: Fleet;
	#copies: RunCopies;

	constructor(fleet: Fleet) {
		this.#fleet = fleet;
		this.#copies = new RunCopies(fleet);
	}

	close(): void {
		this.#copies.close();
	}

	async runs({ query, response }: Call): Promise<void> {
		const state = query.get("state") ?? undefined;
		if (state !== undefined && !states.includes(state))
			throw new Refusal("bad_field", `state must be ${states.join(", ")}, not ${JSON.stringify(state.slice(0, 40))}.`);
		const given = Object.fromEntries(["lane", "batch", "before"].flatMap((name) => (query.get(name) ? [[name, query.get(name) as string]] : [])));
		const filter = { ...given, ...(state !== undefined && { state: state as FleetRun["state"] }) };
		const limit = Math.max(1, numberOf(query, "limit", 100, 500));
		const [runs, counts, lanes] = await Promise.all([this.#fleet.list({ ...filter, limit }), this.#fleet.count(given), this.#fleet.lanes()]);
		answerJson(response, 200, { runs: runs.map(shortened), counts, lanes, queue: this.#fleet.name });
	}

	async submitRun(call: Call): Promise<void> {
		const body = parseObject(await readBody(call.request, call.response));
		const submitted = await this.#fleet.submit(body, keyOf(call.request));
		answerJson(call.response, 201, submitted, { Location: `/v1/runs/${submitted.runId}` });
	}

	async run(call: Call): Promise<void> {
		const view = await this.#copies.use(idOf(call), async (copy) => {
			const result = copy.run?.state === "done" ? await this.#fleet.result(copy.id) : undefined;
			return {
				run: withoutPictures(copy.run as FleetRun),
				takeovers: takeoversOf(copy),
				result: result
					? { status: result.status, finishedAt: result.finishedAt, patchBytes: result.patch?.length ?? 0, receipt: result.receipt }
					: null,
			};
		});
		answerJson(call.response, 200, view);
	}

	async runEntries(call: Call): Promise<void> {
		const { query } = call;
		const page = await this.#copies.use(idOf(call), (copy) => ({
			...readEntries(copy.file, {
				...(query.has("since") && { since: query.get("since") as string }),
				...(query.has("before") && { before: query.get("before") as string }),
				...(query.has("tail") && { tail: numberOf(query, "tail", 200, 10_000) }),
				limit: Math.max(1, numberOf(query, "limit", 1000, 10_000)),
			}),
			asOf: copy.lastSeq,
			epoch: copy.run?.epoch ?? 0,
		}));
		answerJson(call.response, 200, page);
	}

	async runPatch(call: Call): Promise<void> {
		const { patch = Buffer.alloc(0) } = await this.#resultOf(idOf(call));
		answer(call.response, 200, { ...download, "Content-Type": "text/x-diff; charset=utf-8", ...named(`${idOf(call)}.patch`) }, patch);
	}

	async runReceipt(call: Call): Promise<void> {
		answerJson(call.response, 200, (await this.#resultOf(idOf(call))).receipt);
	}

	async cancelRun(call: Call): Promise<void> {
		await this.#fleet.cancel(idOf(call));
		const [run] = await this.#fleet.list({ ids: [idOf(call)] });
		if (!run) throw unknownRun(idOf(call));
		answerJson(call.response, 202, withoutPictures(run));
	}

	async workers({ response }: Call): Promise<void> {
		answerJson(response, 200, { workers: await this.#fleet.workers() });
	}

	/** Until the run has ended, or the reader disconnects. */
	async runEvents(call: Call): Promise<void> {
		const { request, response, query, server } = call;
		const bearer = call.bearer as Bearer;
		const given = cursorOf(request.headers["last-event-id"] as string | undefined) ?? cursorOf(query.get("after"));
		server.connections.check(bearer, 0);
		await this.#copies.use(idOf(call), async (copy) => {
			const highest = Math.max(copy.lastSeq, copy.highestSeq);
			if (given !== undefined && given > highest) throw new Refusal("cursor_ahead", cursorAheadText(given, highest));
			if (copy.run?.state === "done" && given !== undefined && given >= copy.lastSeq) return answer(response, 204, {});
			let isOver = false;
			const open: OpenConnection = {
				kind: "events",
				bearer,
				close() {
					isOver = true;
					response.end();
				},
			};
			const alive = setInterval(() => response.writableLength === 0 && response.write(": alive\n\n"), aliveMs);
			response.on("close", () => {
				isOver = true;
				clearInterval(alive);
				server.connections.delete(open);
			});
			server.connections.add(open);
			response.writeHead(200, { ...commonHeaders, "Content-Type": "text/event-stream", "X-Accel-Buffering": "no" });
			response.write("retry: 1000\n\n");
			const tell = (json: string, seq?: number) => response.write(encoded(json, "events", "", seq));
			await this.#follow(copy, given ?? 0, tell, () => {
				if (response.writableLength > mostPending) response.destroy();
				return isOver || response.destroyed;
			});
			if (!isOver) response.end();
		});
	}

	async #follow(copy: RunCopy, from: number, tell: (json: string, seq?: number) => void, isOver: () => boolean): Promise<void> {
		let after = from;
		let told = "";
		let isFirst = true;
		let known = copy.takeovers.length;
		for (;;) {
			const run = copy.run as FleetRun;
			for (const takeover of takeoversOf(copy).slice(known)) tell(JSON.stringify({ type: "run_takeover", runId: copy.id, ...takeover }));
			known = copy.takeovers.length;
			for (const { type, json, seq } of copy.lastSeq > after || isFirst ? copy.framesAfter(after, run.epoch) : []) {
				// The first frame reports what is going on; the frames after it report each change.
				if (type !== "snapshot" || isFirst) tell(json, seq);
				if (seq !== undefined) after = Math.max(after, seq);
			}
			isFirst = false;
			const { state, status, epoch, worker, attempts } = run;
			const news = JSON.stringify({ type: "run_state", runId: copy.id, state, status, epoch, worker, attempts });
			if (news !== told) tell(news);
			told = news;
			if (state === "done" || isOver()) return;
			await new Promise((resolve) => setTimeout(resolve, pollMs));
			if (isOver()) return;
			await copy.refresh();
		}
	}

	async #resultOf(id: string): Promise<RunResult> {
		const result = await this.#fleet.result(id);
		if (result) return result;
		const [run] = await this.#fleet.list({ ids: [id] });
		throw run ? new Refusal("no_result", `The run has no result yet: it is ${run.state}.`) : unknownRun(id);
	}
}

const idOf = ({ params }: Call) => params.id as string;
const unknownRun = (id: string) => new Refusal("not_found", `There is no run ${JSON.stringify(id.slice(0, 80))}.`);
const download = { "Content-Security-Policy": "sandbox" };
const named = (name: string) => ({ "Content-Disposition": `attachment; filename*=UTF-8''${encodeURIComponent(name)}` });

function takeoversOf({ takeovers, lastKept }: RunCopy): FleetTakeover[] {
	return takeovers.map(({ epoch, worker, at }) => ({ epoch, worker, at, after: lastKept.get(epoch) ?? null }));
}

/** Pictures are large, and the entries have them. */
function withoutPictures(run: FleetRun): FleetRun {
	const { images: _, ...spec } = run.spec;
	return { ...run, spec };
}

const mostPrompt = 500;

function shortened(run: FleetRun): FleetRun {
	const { spec } = withoutPictures(run);
	const prompt = String(spec.prompt ?? "");
	return { ...run, spec: { ...spec, prompt: prompt.length > mostPrompt ? `${prompt.slice(0, mostPrompt)}…` : prompt } };
}
