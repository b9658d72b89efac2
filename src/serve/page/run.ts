/** One run of the fleet: its conversation, read-only, as far as its workers have committed it, and its result. */

import { readFiles } from "../../lib/read-diff.ts";
import { colouring } from "../../page/code.ts";
import { Conversation } from "../../page/conversation.ts";
import { diffView } from "../../page/diff.ts";
import { type Child, h, setText } from "../../page/dom.ts";
import { Folds } from "../../page/folds.ts";
import { itemsOf } from "../../page/items.ts";
import { code, type Pen } from "../../page/parts.ts";
import { duration, money, shortNumber } from "../../page/stats.ts";
import { type Node as Entry, growTree, type Tree, treeOf } from "../../page/tree.ts";
import { fieldsOf, listOf, numberOf, pretty, textOf } from "../../page/values.ts";
import type { FleetRun, FleetTakeover } from "../../protocol/serve.ts";
import type { Api } from "./api.ts";
import { placeOf, runDot, runWord } from "./fleet.ts";
import { agreed, shown } from "./modal.ts";

export interface RunFacts {
	run: FleetRun;
	takeovers: FleetTakeover[];
	result: { status: string; finishedAt: string; patchBytes: number; receipt: Record<string, unknown> } | null;
}

interface EntriesPage {
	entries: unknown[];
	after: boolean;
	epoch: number;
}

export interface RunInput {
	api: Api;
	mayDrive(): boolean;
	/** The name and the state are known, or have changed. */
	onChange(facts: RunFacts): void;
	onMissing(message: string): void;
}

const pollMs = 1000;
/** A larger patch is only for download. */
const mostPatch = 4 * 1024 * 1024;

export class RunView {
	readonly element = h("div", { class: "chat run" });
	readonly side = h("div", { class: "panels" });
	#input: RunInput;
	#id = "";
	#facts: RunFacts | undefined;
	#tree: Tree = treeOf([]);
	#epoch = 0;
	#read = -1;
	#timer = 0;
	#note = h("p", { class: "composer-note", role: "status" });
	#log = h("div", { class: "log", role: "log", "aria-live": "off", "aria-label": "Conversation of the run" });
	#conversation: Conversation;
	#pen: Pen;
	#marks = new Map<string, FleetTakeover>();

	constructor(input: RunInput) {
		this.#input = input;
		this.#pen = {
			folds: new Folds(),
			colour: colouring(),
			register: () => undefined,
			addressOf: () => undefined,
			labelOf: (entry) => this.#markOf(entry),
			visit: () => undefined,
			conversationOf: () => undefined,
			drawConversation: () => h("div"),
		};
		this.#conversation = new Conversation(this.#pen);
		this.#log.append(this.#conversation.element);
		this.element.append(this.#log, h("div", { class: "log-end" }), h("div", { class: "dock run-dock" }, this.#note));
	}

	open(id: string): void {
		this.#id = id;
		this.#facts = undefined;
		this.#begin(0);
		this.side.replaceChildren();
		setText(this.#note, "");
		void this.#look(id);
	}

	close(): void {
		this.#id = "";
		clearTimeout(this.#timer);
	}

	/** A takeover may have cut entries: all is read again. */
	#begin(epoch: number): void {
		this.#epoch = epoch;
		this.#tree = treeOf([]);
		this.#read = -1;
		this.#conversation.show([]);
	}

	async #look(id: string): Promise<void> {
		try {
			if (document.visibilityState === "visible") await this.#readNew(id);
		} catch (error) {
			const message = error instanceof Error ? error.message : String(error);
			if (id === this.#id && !this.#facts) return this.#input.onMissing(message);
			if (id === this.#id) setText(this.#note, message);
		}
		if (id !== this.#id || this.#facts?.run.state === "done") return;
		clearTimeout(this.#timer);
		this.#timer = window.setTimeout(() => void this.#look(id), pollMs);
	}

	async #readNew(id: string): Promise<void> {
		const path = `/v1/runs/${encodeURIComponent(id)}`;
		const facts = await this.#input.api.get<RunFacts>(path);
		if (id !== this.#id) return;
		this.#facts = facts;
		this.#marks = new Map(facts.takeovers.flatMap((takeover) => (takeover.after === null ? [] : [[takeover.after, takeover] as const])));
		this.#input.onChange(facts);
		this.#drawSide(facts);
		if (facts.run.epoch !== this.#epoch) this.#begin(facts.run.epoch);
		if (facts.run.sessionLines === this.#read) return;
		for (let isMore = true; isMore; ) {
			const last = this.#tree.nodes.at(-1)?.id;
			const page = await this.#input.api.get<EntriesPage>(`${path}/entries?${last ? `since=${encodeURIComponent(last)}` : "limit=1000"}`);
			if (id !== this.#id) return;
			growTree(this.#tree, listOf(page.entries), "end");
			isMore = page.after && page.entries.length > 0;
		}
		this.#read = facts.run.sessionLines;
		this.#drawConversation();
		setText(this.#note, noteOf(facts.run));
	}

	#drawConversation(): void {
		const items = itemsOf(this.#tree, this.#tree.nodes.at(-1));
		const { documentElement: root } = document;
		const isAtEnd = window.scrollY + window.innerHeight >= root.scrollHeight - 80;
		if (this.#conversation.items.length === 0) this.#conversation.show(items);
		else this.#conversation.update(items);
		if (isAtEnd) window.scrollTo({ top: root.scrollHeight, behavior: "instant" });
	}

	/** The first entry after what a takeover has kept. */
	#markOf(entry: Entry): string | undefined {
		const takeover = entry.parent && this.#marks.get(entry.parent.id);
		return takeover && `taken over · epoch ${takeover.epoch}`;
	}

	#drawSide(facts: RunFacts): void {
		const { run, takeovers, result } = facts;
		const sections: Child[] = [
			panel("Run", pairs(pairsOf(run)), this.#cancelButton(run)),
			takeovers.length > 0 &&
				panel(
					"Takeovers",
					h(
						"ul",
						{ class: "takeovers" },
						...takeovers.map(({ epoch, worker, at }) =>
							h("li", {}, `Epoch ${epoch}: `, h("bdi", {}, worker), ` went on at ${new Date(at).toLocaleTimeString()}`),
						),
					),
				),
			result !== null && panel("Result", ...this.#resultOf(facts)),
		];
		const made = h("div", { class: "panels" }, ...sections.filter((section): section is HTMLElement => section instanceof HTMLElement));
		// Drawn again only when it says something else: what has the focus keeps it.
		if (this.side.isEqualNode(made)) return;
		const focused = this.side.contains(document.activeElement) ? (document.activeElement as HTMLElement).textContent : undefined;
		this.side.replaceChildren(...made.childNodes);
		if (focused !== undefined) for (const each of this.side.querySelectorAll("button")) if (each.textContent === focused) each.focus();
	}

	#cancelButton({ state, isCancelled }: FleetRun): Child {
		if (state === "done" || isCancelled || !this.#input.mayDrive()) return undefined;
		return h("button", { class: "choice", type: "button", onclick: () => void this.#cancel() }, "Cancel the run");
	}

	async #cancel(): Promise<void> {
		const id = this.#id;
		if (!(await agreed("Cancel this run?", "Its worker ends it soon. What it has spent is spent.", "Cancel the run", "Keep it"))) return;
		try {
			await this.#input.api.post(`/v1/runs/${encodeURIComponent(id)}/cancel`);
		} catch (error) {
			setText(this.#note, `Not cancelled: ${error instanceof Error ? error.message : String(error)}`);
			return;
		}
		if (id === this.#id) void this.#look(id);
	}

	#resultOf({ run, result }: RunFacts): Child[] {
		if (!result) return [];
		const { receipt, patchBytes, status } = result;
		const verification = fieldsOf(receipt.verification);
		const checks = listOf(verification.commands ?? verification.results ?? verification.checks).map(fieldsOf);
		return [
			pairs([
				["Ended", status.replaceAll("_", " ")],
				["Because", textOf(receipt.reason)],
				["Checks", textOf(verification.status)],
				["Branch", textOf(receipt.branch)],
				["Patch", patchBytes ? `${shortNumber(patchBytes)} bytes` : "nothing was changed"],
			]),
			checks.length > 0 &&
				h(
					"ul",
					{ class: "takeovers" },
					...checks.map((check) => h("li", {}, h("bdi", {}, textOf(check.name) || textOf(check.command)), ` · exit ${textOf(check.exitCode)}`)),
				),
			h(
				"div",
				{ class: "choices" },
				patchBytes > 0 && h("button", { class: "choice", type: "button", onclick: () => void this.#showPatch(run, patchBytes) }, "Show the patch"),
				patchBytes > 0 &&
					h("button", { class: "choice", type: "button", onclick: () => void this.#download("patch", `${run.runId}.patch`) }, "Download"),
				h("button", { class: "choice", type: "button", onclick: () => void this.#showReceipt(receipt) }, "Receipt"),
			),
		];
	}

	async #showPatch({ runId }: FleetRun, bytes: number): Promise<void> {
		const title = "What the run changed";
		if (bytes > mostPatch) return shown(title, h("p", {}, "This patch is larger than 4 MiB. Download it."));
		try {
			const blob = await this.#input.api.download(`/v1/runs/${encodeURIComponent(runId)}/patch`);
			await shown(title, diffView(this.#pen, readFiles(await blob.text())));
		} catch (error) {
			await shown(title, h("p", {}, `The patch cannot be read: ${error instanceof Error ? error.message : String(error)}`));
		}
	}

	async #showReceipt(receipt: Record<string, unknown>): Promise<void> {
		await shown("Receipt", h("div", {}, code(this.#pen, pretty(receipt), "json", { lines: 2000, characters: 200_000 })));
	}

	async #download(what: string, name: string): Promise<void> {
		const blob = await this.#input.api.download(`/v1/runs/${encodeURIComponent(this.#id)}/${what}`);
		const address = URL.createObjectURL(blob);
		const link = h("a", { href: address });
		link.download = name;
		link.click();
		window.setTimeout(() => URL.revokeObjectURL(address), 10_000);
	}
}

const noteOf = ({ state, worker }: FleetRun): string =>
	state === "queued"
		? "This run waits for a worker."
		: state === "running"
			? `Worker ${worker ?? ""} is at work. You watch; what it does appears after each of its steps.`
			: "";

function pairsOf(run: FleetRun): [string, Child | string][] {
	const { lane, batch, worker, epoch, attempts, tokens, usd, startedAt, finishedAt, budget, priority, runId, spec } = run;
	const commit = textOf(fieldsOf(spec.repo).commit).slice(0, 12);
	const ms = startedAt === null ? 0 : (finishedAt === null ? Date.parse(startedAt) + run.ageMs : Date.parse(finishedAt)) - Date.parse(startedAt);
	return [
		["State", h("span", {}, runDot(run), runWord(run))],
		["Repository", [placeOf(run), commit].filter(Boolean).join(" · ")],
		["Lane", lane],
		["Batch", batch ?? ""],
		["Budget", budget ?? ""],
		["Priority", numberOf(priority) === 0 ? "" : String(priority)],
		["Worker", worker ?? ""],
		["Epoch", String(epoch)],
		["Attempts", String(attempts)],
		["Sandbox", run.sandbox ? [run.sandbox.mode, textOf(run.sandbox.reason)].filter(Boolean).join(": ") : ""],
		["Used", tokens || usd ? `${shortNumber(tokens)} tokens · ${money(usd)}` : ""],
		["Took", finishedAt !== null && ms > 0 ? duration(ms) : ""],
		["Id", runId],
	];
}

const panel = (title: string, ...body: Child[]) => h("section", { class: "panel" }, h("h2", {}, title), ...body);

function pairs(list: readonly (readonly [string, Child | string])[]): HTMLElement {
	const filled = list.filter(([, value]) => value !== "" && value !== undefined);
	return h(
		"dl",
		{ class: "pairs" },
		...filled.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, typeof value === "string" ? h("bdi", {}, value) : value))),
	);
}
