/** The sessions of the server, grouped by what they need. */
import { type Child, h, setAttribute, setText } from "../../page/dom.ts";
import { KeyedList } from "../../page/list.ts";
import { money } from "../../page/stats.ts";
import type { ServedSession } from "../../protocol/serve.ts";

type Group = "needs" | "working" | "idle" | "asleep";

const groups: Record<Group, string> = { needs: "Needs you", working: "Working", idle: "Idle", asleep: "Asleep" };

export function groupOf({ state, pending }: ServedSession): Group {
	if (pending.dialogs > 0 || state === "crashed" || state === "failed") return "needs";
	if (state === "busy" || state === "starting") return "working";
	return state === "idle" ? "idle" : "asleep";
}

/** The state in a word that a person would use. */
export function stateWord({ state, pending }: ServedSession): string {
	if (pending.dialogs > 0) return "asks";
	const words: Partial<Record<ServedSession["state"], string>> = { busy: "working", elsewhere: "open elsewhere" };
	return words[state] ?? state;
}

export const sessionName = ({ name, cwd, id }: Pick<ServedSession, "name" | "cwd" | "id">): string => name || `${lastPart(cwd)} · ${id.slice(-6)}`;
export const lastPart = (path: string) => path.split(/[/\\]/).filter(Boolean).at(-1) ?? path;

export class SessionList {
	readonly element = h("div", { class: "session-groups" });
	#sections = new Map<Group, { section: HTMLElement; list: KeyedList<ServedSession>; count: HTMLElement }>();
	#empty = h("p", { class: "nothing" });
	#current = "";
	#sessions: readonly ServedSession[] = [];
	#query = "";

	constructor(addressOf: (id: string) => string) {
		for (const [group, title] of Object.entries(groups) as [Group, string][]) {
			const rows = h("ul", { class: "session-rows" });
			const count = h("span", { class: "group-count" });
			const section = h("section", { class: `group ${group}` }, h("h2", {}, title, count), rows);
			const list = new KeyedList<ServedSession>(rows, {
				key: ({ id }) => id,
				make: ({ id }) => h("li", {}, h("a", { class: "session-row", href: addressOf(id) })),
				update: (row, session) => drawRow(row.firstElementChild as HTMLElement, session, session.id === this.#current),
			});
			this.#sections.set(group, { section, list, count });
			this.element.append(section);
		}
		this.element.append(this.#empty);
	}

	show(sessions: readonly ServedSession[], current: string, query: string): void {
		this.#sessions = sessions;
		this.#current = current;
		this.#query = query.trim().toLowerCase();
		const found = this.shown;
		const focused = document.activeElement instanceof HTMLAnchorElement ? document.activeElement.getAttribute("href") : null;
		for (const [group, { section, list, count }] of this.#sections) {
			const own = found.filter((session) => groupOf(session) === group);
			section.hidden = own.length === 0;
			setText(count, String(own.length));
			list.show(own);
		}
		// A session that comes into another group takes the focus along.
		if (focused !== null && document.activeElement === document.body) {
			[...this.element.querySelectorAll<HTMLElement>(".session-row")].find((row) => row.getAttribute("href") === focused)?.focus();
		}
		this.#empty.hidden = found.length > 0;
		setText(this.#empty, sessions.length ? "No session has this in its name or directory." : "No sessions yet.");
	}

	/** In the order of the list. */
	get shown(): ServedSession[] {
		const found = this.#sessions.filter((session) => `${sessionName(session)} ${session.cwd} ${session.id}`.toLowerCase().includes(this.#query));
		return (Object.keys(groups) as Group[]).flatMap((group) => found.filter((session) => groupOf(session) === group));
	}

	/** The session before or after the current one. */
	neighbour(step: 1 | -1): string | undefined {
		const ids = this.shown.map(({ id }) => id);
		const at = ids.indexOf(this.#current);
		return ids[at < 0 ? 0 : (at + step + ids.length) % ids.length];
	}

	focus(): void {
		const row = this.element.querySelector<HTMLElement>(".session-row[aria-current]") ?? this.element.querySelector<HTMLElement>(".session-row");
		row?.focus();
	}
}

function drawRow(row: HTMLElement, session: ServedSession, isCurrent: boolean): void {
	const word = stateWord(session);
	const { model, usage, updatedAt, cwd } = session;
	const facts = [lastPart(cwd), model?.id ?? "", usage.costUsd > 0 ? money(usage.costUsd) : ""].filter(Boolean).join(" · ");
	const signature = [sessionName(session), word, facts, age(updatedAt), isCurrent].join("\n");
	if (row.dataset.drawn === signature) return;
	row.dataset.drawn = signature;
	if (isCurrent) setAttribute(row, "aria-current", "page");
	else row.removeAttribute("aria-current");
	row.replaceChildren(
		h(
			"span",
			{ class: "row-first" },
			stateDot(session),
			h("bdi", { class: "row-name" }, sessionName(session)),
			h("span", { class: "row-age" }, age(updatedAt)),
		),
		h("span", { class: "row-second" }, h("span", { class: "row-state" }, word), h("bdi", { class: "row-facts", title: cwd }, facts)),
	);
}

export function stateDot(session: ServedSession): Child {
	return h("span", { class: `dot ${groupOf(session)} ${session.state}`, "aria-hidden": "true" });
}

export function age(time: number): string {
	const minutes = Math.max(0, Date.now() - time) / 60_000;
	if (minutes < 1) return "now";
	if (minutes < 60) return `${Math.floor(minutes)} min`;
	if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h`;
	return `${Math.floor(minutes / 1440)} d`;
}
