/** The tabs of the fleet: the runs in a table, and the workers. What is shown is read again while it is looked at. */
import { type Child, h, option, setText } from "../../page/dom.ts";
import { KeyedList } from "../../page/list.ts";
import { duration, money, shortNumber } from "../../page/stats.ts";
import { oneLine, textOf } from "../../page/values.ts";
import type { FleetRun, FleetWorker } from "../../protocol/serve.ts";
import type { Api } from "./api.ts";
import { lastPart } from "./session-list.ts";

interface RunPage {
	runs: FleetRun[];
	counts: Record<string, number>;
	lanes: { name: string; maxRunning: number; running: number; queued: number; pausedMs: number }[];
	queue: string;
}

export const runAddress = (id: string) => `#/r/${encodeURIComponent(id)}`;

/** How a run is, in a word; how it ended, when it has. */
export const runWord = ({ state, status, isCancelled }: FleetRun): string =>
	state === "done" ? (status ?? "done").replaceAll("_", " ") : isCancelled ? "is being cancelled" : state;

/** A dot next to a word: colour alone says nothing. */
export function runDot({ state, status }: FleetRun): HTMLElement {
	const kind = state === "running" ? "working" : state === "queued" ? "asleep" : status === "completed" ? "done" : "crashed";
	return h("span", { class: `dot ${kind}`, "aria-hidden": "true" });
}

export const placeOf = ({ spec }: FleetRun): string =>
	lastPart(textOf((spec.repo as { url?: unknown } | undefined)?.url).replace(/\.git$/, "")) || "repository";

/** The end of an id tells two of them apart; all of it is in its title. */
const shortId = (id: string) => h("bdi", { title: id }, id.length > 14 ? `${id.slice(0, 2)}…${id.slice(-6)}` : id);

const ago = (ms: number) => (ms < 1000 ? "now" : `${duration(ms)} ago`);
/** Milliseconds since, by the server's clock: only the distance of its own times is known here. */
const took = ({ startedAt, finishedAt }: FleetRun) =>
	startedAt === null || finishedAt === null ? "" : duration(Math.max(0, Date.parse(finishedAt) - Date.parse(startedAt)));

const mostRuns = 200;
const pollMs = 1000;

/** Something that is read now and then, while it is shown and the tab is looked at. */
abstract class Watched {
	readonly element = h("div", { class: "fleet" });
	protected readonly api: Api;
	protected readonly trouble = h("p", { class: "composer-note bad", role: "status" });
	#timer = 0;
	#isShown = false;

	constructor(api: Api) {
		this.api = api;
	}

	open(): void {
		this.#isShown = true;
		void this.#look();
	}

	close(): void {
		this.#isShown = false;
		clearTimeout(this.#timer);
	}

	protected readAgain(): void {
		clearTimeout(this.#timer);
		void this.#look();
	}

	protected abstract read(): Promise<void>;

	async #look(): Promise<void> {
		try {
			if (document.visibilityState === "visible") await this.read();
			setText(this.trouble, "");
		} catch (error) {
			setText(this.trouble, error instanceof Error ? error.message : String(error));
		}
		clearTimeout(this.#timer);
		if (this.#isShown) this.#timer = window.setTimeout(() => void this.#look(), pollMs);
	}
}

export class RunTable extends Watched {
	#state = choice("State");
	#lane = choice("Lane");
	#batch = choice("Batch");
	#counts = h("p", { class: "fleet-counts", role: "status" });
	#empty = h("p", { class: "nothing" });
	#rows: KeyedList<FleetRun>;

	constructor(api: Api) {
		super(api);
		const body = h("tbody");
		this.#rows = new KeyedList<FleetRun>(body, {
			key: ({ runId }) => runId,
			make: ({ runId }) => h("tr", { "data-run": runId }),
			update: drawRun,
		});
		fillChoice(this.#state.select, ["queued", "running", "done"]);
		for (const { select } of [this.#state, this.#lane, this.#batch]) select.addEventListener("change", () => this.readAgain());
		const columns = ["Run", "State", "Lane", "Batch", "Epoch", "Attempts", "Worker", "Tokens", "Cost", "Time"];
		const table = h("table", { class: "runs", "aria-label": "Runs" }, h("thead", {}, h("tr", {}, ...columns.map((name) => column(name)))), body);
		this.element.append(
			h(
				"div",
				{ class: "fleet-head" },
				this.#counts,
				h("div", { class: "fleet-filters" }, this.#state.element, this.#lane.element, this.#batch.element),
			),
			this.trouble,
			h("div", { class: "table-room", tabindex: "0", role: "region", "aria-label": "Table of runs" }, table),
			this.#empty,
		);
	}

	protected async read(): Promise<void> {
		const query = new URLSearchParams({ limit: String(mostRuns) });
		for (const [name, { select }] of [
			["state", this.#state],
			["lane", this.#lane],
			["batch", this.#batch],
		] as const)
			if (select.value) query.set(name, select.value);
		const { runs, counts, lanes } = await this.api.get<RunPage>(`/v1/runs?${query}`);
		fillChoice(this.#lane.select, [...new Set([...lanes.map(({ name }) => name), ...runs.map(({ lane }) => lane)])].sort());
		fillChoice(this.#batch.select, [...new Set(runs.flatMap(({ batch }) => (batch === null ? [] : [batch])))].sort());
		const words = Object.entries(counts)
			.filter(([name, count]) => count > 0 && name !== "done")
			.map(([name, count]) => `${count} ${name.replaceAll("_", " ")}`);
		const text = words.join(" · ");
		setText(this.#counts, text);
		this.#rows.show(byLaneAndBatch(runs));
		const isFiltered = [this.#state, this.#lane, this.#batch].some(({ select }) => select.value !== "");
		setText(
			this.#empty,
			runs.length > 0
				? runs.length === mostRuns
					? `The newest ${mostRuns}. Choose a batch or a lane to see others.`
					: ""
				: isFiltered
					? "No run fits."
					: "No runs yet. Submit one with: bowline fleet submit",
		);
	}
}

/** Runs of a lane are together, in it those of a batch; the newest first in each. */
function byLaneAndBatch(runs: readonly FleetRun[]): FleetRun[] {
	const groups = new Map<string, FleetRun[]>();
	for (const run of runs) {
		const key = JSON.stringify([run.lane, run.batch]);
		groups.set(key, [...(groups.get(key) ?? []), run]);
	}
	const lanes = [...new Set(runs.map(({ lane }) => lane))];
	return lanes.flatMap((lane) => [...groups.values()].filter(([first]) => first?.lane === lane).flat());
}

function drawRun(row: HTMLElement, run: FleetRun): void {
	const cells: Child[][] = [
		[
			h("a", { href: runAddress(run.runId), title: run.runId }, h("bdi", {}, oneLine(textOf(run.spec.prompt), 80) || run.runId)),
			h("bdi", { class: "row-facts" }, placeOf(run)),
		],
		[runDot(run), h("span", {}, runWord(run))],
		[h("bdi", {}, run.lane)],
		[h("bdi", {}, run.batch ?? "")],
		[String(run.epoch)],
		[String(run.attempts)],
		[run.worker !== null && shortId(run.worker)],
		[run.tokens ? shortNumber(run.tokens) : ""],
		[run.usd ? money(run.usd) : ""],
		[run.state === "done" ? took(run) : ago(run.ageMs)],
	];
	replaceCells(row, cells);
}

export class WorkerTable extends Watched {
	#empty = h("p", { class: "nothing" });
	#rows: KeyedList<FleetWorker>;

	constructor(api: Api) {
		super(api);
		const body = h("tbody");
		this.#rows = new KeyedList<FleetWorker>(body, { key: ({ id }) => id, make: () => h("tr"), update: drawWorker });
		const columns = ["Worker", "State", "Host", "Runs", "Labels", "Version", "Seen", "Started"];
		const table = h("table", { class: "runs", "aria-label": "Workers" }, h("thead", {}, h("tr", {}, ...columns.map((name) => column(name)))), body);
		this.element.append(
			this.trouble,
			h("div", { class: "table-room", tabindex: "0", role: "region", "aria-label": "Table of workers" }, table),
			this.#empty,
		);
	}

	protected async read(): Promise<void> {
		const { workers } = await this.api.get<{ workers: FleetWorker[] }>("/v1/workers");
		this.#rows.show(workers);
		setText(this.#empty, workers.length ? "" : "No worker has been here. Start one with: bowline fleet work");
	}
}

function drawWorker(row: HTMLElement, worker: FleetWorker): void {
	const word = worker.gone ? "gone" : worker.draining ? "draining" : worker.running > 0 ? "working" : "idle";
	const kind = worker.gone ? "asleep" : worker.draining ? "needs" : worker.running > 0 ? "working" : "idle";
	replaceCells(row, [
		[shortId(worker.id)],
		[h("span", { class: `dot ${kind}`, "aria-hidden": "true" }), h("span", {}, word)],
		[h("bdi", {}, worker.host)],
		[`${worker.running} of ${worker.slots}`],
		[h("bdi", {}, worker.labels.join(", "))],
		[worker.version],
		[ago(worker.seenMs)],
		[new Date(worker.startedAt).toLocaleString()],
	]);
}

const column = (name: string) => {
	const cell = h("th", {}, name);
	cell.scope = "col";
	return cell;
};

/** Cells whose text is the same stay: a link keeps the focus, and nothing is drawn. */
function replaceCells(row: HTMLElement, cells: readonly Child[][]): void {
	for (const [index, children] of cells.entries()) {
		const cell = h("td", {}, ...children);
		const known = row.children[index];
		if (!known) row.append(cell);
		else if (!known.isEqualNode(cell)) known.replaceWith(cell);
	}
}

interface Choice {
	element: HTMLElement;
	select: HTMLSelectElement;
}

function choice(name: string): Choice {
	const select = h("select", { class: "picker", "aria-label": name });
	select.append(option("", `Every ${name.toLowerCase()}`));
	return { select, element: h("span", { class: "fleet-filter" }, select) };
}

function fillChoice(select: HTMLSelectElement, values: readonly string[]): void {
	const chosen = select.value;
	const wanted = chosen && !values.includes(chosen) ? [...values, chosen] : values;
	const known = [...select.options].slice(1).map(({ value }) => value);
	if (known.length === wanted.length && known.every((value, index) => value === wanted[index])) return;
	for (const option of [...select.options].slice(1)) option.remove();
	for (const value of wanted) select.append(option(value, value));
	select.value = chosen;
}
