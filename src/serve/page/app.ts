/** Puts the page together: the bar, the sessions, the conversation, the side; and knows which session is open. */

import type { RunsLater } from "../../lib/runs-later.ts";
import { visible } from "../../lib/visible.ts";
import { button, type Child, fill, h, icon, setAttribute, setText, setTitle } from "../../page/dom.ts";
import { duration, money, shortNumber } from "../../page/stats.ts";
import { themeSwitch } from "../../page/theme.ts";
import { type Node as Entry, pathTo } from "../../page/tree.ts";
import { fieldsOf, listOf, numberOf, oneLine, plainText, textOf } from "../../page/values.ts";
import type { ServedSession } from "../../protocol/serve.ts";
import { Announcer } from "./announce.ts";
import { Api, Refused } from "./api.ts";
import { Chat } from "./chat.ts";
import type { Picture, SendAs } from "./composer.ts";
import { RunTable, runDot, runWord, WorkerTable } from "./fleet.ts";
import { type Action, Keyboard, keyMap } from "./keyboard.ts";
import { type Answer, type Frame, Link, type LinkState } from "./link.ts";
import { codeInAddress, loginView } from "./login.ts";
import { cacheFactsOf } from "./meter.ts";
import { agreed, asked, help, type NewSession, newSession, shown } from "./modal.ts";
import { SessionModel } from "./model.ts";
import { type Facts, Panels } from "./panels.ts";
import { Pickers } from "./pickers.ts";
import { type RunFacts, RunView } from "./run.ts";
import { groupOf, lastPart, SessionList, sessionName, stateDot, stateWord } from "./session-list.ts";

interface ServerInfo {
	version: string;
	scope: "read" | "drive" | "admin";
	roots: string[];
	/** A scripted session for a first look can be made. */
	demo?: boolean;
	/** A model can be used, as far as is known without asking one. */
	hasModel?: boolean;
	/** Runs and workers can be shown. */
	fleet?: boolean;
}

const notStored = "This message is not stored yet. Try again in a moment.";
const prefix = "#/s/";
const runPrefix = "#/r/";
/** The tabs, where the server shows a fleet. */
const tabs = { "#/": "Sessions", "#/runs": "Runs", "#/workers": "Workers" } as const;
const addressOf = (id: string) => `${prefix}${encodeURIComponent(id)}`;
/** A lost connection is worth a word after this time. */
const patienceMs = 2000;
/** States and questions of sessions that are not open. */
const pollMs = 10_000;
const refreshMs = 200;

export class App {
	#root: HTMLElement;
	#api = new Api();
	#link = new Link(this.#api);
	#announcer = new Announcer();
	#info: ServerInfo | undefined;
	#sessions: ServedSession[] = [];
	#list = new SessionList(addressOf);
	#filter = h("input", { class: "search", type: "search", "aria-label": "Search the sessions", placeholder: "Search sessions" });
	#chat: Chat;
	#panels: Panels;
	#pickers = new Pickers({
		ask: (command) => this.#link.ask((this.#model as SessionModel).id, command),
		drive: async (command, complaint) => {
			const { success, error } = await this.#command(command);
			if (!success) this.#complain(complaint, error ?? "");
			this.#readFactsSoon();
			return success;
		},
	});
	#model: SessionModel | undefined;
	#facts: Facts = {};
	#keyboard: Keyboard | undefined;
	#title = h("h1", { class: "title" });
	#state = h("span", { class: "bar-state" });
	#line = h("p", { class: "link-line", role: "status" });
	#middle = h("main", { class: "middle", id: "main" });
	#tabs = h("nav", { class: "tabs", "aria-label": "Views" });
	#side = h("aside", { class: "right", "aria-label": "Details of the session" });
	/** The view of the fleet that is open. */
	#fleetView: { close(): void } | undefined;
	#runTable = new RunTable(this.#api);
	#workerTable = new WorkerTable(this.#api);
	#runView = new RunView({
		api: this.#api,
		mayDrive: () => this.#mayDrive,
		onChange: (facts) => this.#drawRunHead(facts),
		onMissing: (message) => this.#showMissing(message, "This run cannot be shown"),
	});
	#theme = themeSwitch();
	#frame = 0;
	#refreshTimer = 0;
	#factsTimer = 0;
	#lineTimer = 0;
	#linkState: LinkState = { isOpen: true };
	#lostAt = 0;
	#demo = "";
	/** A fork that was asked for, and the prompt to write again in what it makes. */
	#forking: { from: string; text: string } | undefined;
	#complaint: HTMLElement | undefined;
	#suggestion: { id: string; text: string } | undefined;
	#hasSeat = false;
	#hasSaidHello = false;
	/** Announces only new events: replayed ones are old. */
	#isLive = false;

	constructor(root: HTMLElement) {
		this.#root = root;
		this.#chat = new Chat({
			mayDrive: () => this.#mayDrive,
			send: (how, text, pictures) => this.#send(how, text, pictures),
			stop: () => this.#stop(),
			answer: (id, frame) => this.#answer(id, frame),
			fork: (prompt) => void this.#fork(prompt),
			openSubagent: (id) => void this.#openSubagent(id),
			readAll: () => this.#readAll(),
			schedule: () => this.#schedule(),
		});
		this.#panels = new Panels({
			onBranch: (leaf) => this.#showBranch(leaf),
			onFork: (prompt) => void this.#fork(prompt),
			onAsk: () => {
				closeDrawers();
				this.#chat.asks.focusNext();
			},
			onSubagent: ({ id }) => void this.#openSubagent(id),
			onReadAll: () => void this.#readAll(),
			onShowChanges: () => this.#showChanges(),
			onPutBack: () => this.#putBack(),
			mayDrive: () => this.#mayDrive,
		});
	}

	async start(): Promise<void> {
		const code = codeInAddress();
		this.#api.onSignedOut = (reason) => this.#showLogin(reason);
		if (code !== undefined) {
			try {
				await this.#api.login({ code });
			} catch (error) {
				return this.#showLogin(sentence(error));
			}
		}
		if (!this.#api.hasToken) return this.#showLogin("");
		await this.#enter();
	}

	#showLogin(message: string): void {
		this.#leave();
		this.#link.close();
		setTitle("Sign in · Bowline");
		this.#root.replaceChildren(loginView(this.#api, message, () => void this.#enter()));
		document.body.classList.add("ready");
	}

	async #enter(): Promise<void> {
		try {
			this.#info = await this.#api.get<ServerInfo>("/v1/info");
			await this.#readSessions();
		} catch (error) {
			if (error instanceof Refused && error.status === 401) return;
			return this.#showTrouble(sentence(error));
		}
		this.#layOut();
		this.#link.onNews = (frame) => this.#onNews(frame);
		this.#link.onState = (state) => this.#onLink(state);
		this.#link.onLateFailure = (sessionId, prompt, error) => this.#onLateFailure(sessionId, prompt, error);
		this.#link.open();
		if (!this.#keyboard) {
			this.#keyboard = new Keyboard((action) => this.#act(action));
			window.addEventListener("hashchange", () => this.#follow());
			window.setInterval(() => this.#tick(), 1000);
			window.setInterval(() => document.visibilityState === "visible" && this.#refresh(), pollMs);
		}
		this.#follow();
		document.body.classList.add("ready");
	}

	#showTrouble(message: string): void {
		const again = h("button", { class: "choice primary", type: "button", onclick: () => void this.start() }, "Try again");
		this.#root.replaceChildren(h("main", { class: "login" }, h("h1", {}, "Bowline"), h("p", {}, message), again));
	}

	get #mayDrive(): boolean {
		return this.#info !== undefined && this.#info.scope !== "read";
	}

	#layOut(): void {
		this.#filter.addEventListener("input", () => this.#drawList());
		this.#filter.autocomplete = "off";
		const make = h(
			"button",
			{ class: "choice primary new-session", type: "button", onclick: () => void this.#newSession() },
			icon("plus"),
			"New session",
		);
		make.hidden = !this.#mayDrive;
		const sessions = h(
			"nav",
			{ class: "left", "aria-label": "Sessions" },
			h("div", { class: "left-head" }, h("div", { class: "search-box", role: "search" }, icon("search"), this.#filter), make),
			this.#list.element,
		);
		this.#side.replaceChildren(this.#panels.element);
		this.#tabs.hidden = this.#info?.fleet !== true;
		this.#tabs.replaceChildren(...Object.entries(tabs).map(([href, name]) => h("a", { href }, name)));
		const bar = h(
			"header",
			{ class: "bar" },
			button("tool-button left-toggle", "Sessions", () => toggleDrawer("left"), icon("menu")),
			h("a", { class: "brand", href: "#/", title: "All sessions" }, "Bowline"),
			this.#tabs,
			h("div", { class: "bar-middle" }, this.#title, this.#state),
			h("div", { class: "bar-pickers" }, this.#pickers.element),
			button("tool-button find-button", "Search this conversation", () => this.#chat.find.open(), icon("search")),
			button("tool-button more-actions", "More about this session", () => void this.#menu(), icon("dots")),
			button("tool-button help-button", "Keyboard", () => void this.#help(), icon("keys")),
			this.#theme,
			button("tool-button right-toggle", "Details", () => toggleDrawer("right"), icon("panel")),
		);
		const backdrop = h("div", { class: "backdrop", onclick: closeDrawers });
		const skip = h("a", { class: "skip", href: "#main", onclick: (event) => this.#skip(event) }, "Skip to the conversation");
		this.#root.replaceChildren(
			skip,
			bar,
			this.#line,
			h("div", { class: "columns" }, sessions, this.#middle, this.#side, backdrop),
			this.#announcer.element,
		);
	}

	#skip(event: MouseEvent): void {
		event.preventDefault();
		this.#middle.tabIndex = -1;
		this.#middle.focus();
	}

	// ─── Which session ───

	#follow(): void {
		const id = location.hash.startsWith(prefix) ? decodeURIComponent(location.hash.slice(prefix.length)) : undefined;
		if (id === this.#model?.id && id !== undefined) return;
		this.#leave();
		closeDrawers();
		this.#drawTabs();
		if (id !== undefined) void this.#open(id);
		else if (!this.#openFleet()) this.#showWelcome();
	}

	#drawTabs(): void {
		const { hash } = location;
		const current = hash.startsWith(runPrefix) ? "#/runs" : hash in tabs && hash !== "#/" ? hash : "#/";
		for (const link of this.#tabs.querySelectorAll("a")) {
			if (link.getAttribute("href") === current) setAttribute(link, "aria-current", "page");
			else link.removeAttribute("aria-current");
		}
		document.body.classList.toggle("fleet-tab", current !== "#/");
	}

	/** Whether the address is one of the fleet. */
	#openFleet(): boolean {
		const { hash } = location;
		if (this.#info?.fleet !== true) return false;
		if (hash.startsWith(runPrefix)) this.#openRun(decodeURIComponent(hash.slice(runPrefix.length)));
		else if (hash === "#/runs") this.#openTable("Runs", this.#runTable);
		else if (hash === "#/workers") this.#openTable("Workers", this.#workerTable);
		else return false;
		return true;
	}

	#openTable(title: string, table: RunTable | WorkerTable): void {
		document.body.classList.add("no-session");
		setTitle(`${title} · Bowline`);
		setText(this.#title, title);
		this.#state.replaceChildren();
		this.#middle.replaceChildren(table.element);
		this.#fleetView = table;
		table.open();
		this.#drawList();
	}

	#openRun(id: string): void {
		const view = this.#runView;
		document.body.classList.remove("no-session");
		document.body.classList.add("is-run");
		setText(this.#title, "Run");
		this.#state.replaceChildren();
		this.#middle.replaceChildren(view.element);
		this.#side.replaceChildren(view.side);
		setAttribute(this.#side, "aria-label", "Details of the run");
		this.#fleetView = view;
		view.open(id);
		this.#drawList();
	}

	#drawRunHead({ run }: RunFacts): void {
		const name = oneLine(textOf(run.spec.prompt), 70) || run.runId;
		setTitle(`${name} · Bowline`);
		if (this.#title.textContent !== visible(name)) fill(this.#title, h("bdi", {}, name));
		this.#state.replaceChildren(runDot(run), h("span", {}, runWord(run)));
	}

	#leaveFleet(): void {
		this.#fleetView?.close();
		this.#fleetView = undefined;
		if (!document.body.classList.contains("is-run")) return;
		document.body.classList.remove("is-run");
		this.#side.replaceChildren(this.#panels.element);
		setAttribute(this.#side, "aria-label", "Details of the session");
	}

	#leave(): void {
		this.#leaveFleet();
		if (!this.#model) return;
		this.#link.detach(this.#model.id);
		this.#model.close();
		this.#model = undefined;
		this.#hasSeat = false;
		this.#hasSaidHello = false;
		this.#isLive = false;
		this.#complaint = undefined;
		this.#facts = {};
		this.#pickers.hide();
		clearTimeout(this.#factsTimer);
	}

	#showWelcome(): void {
		setTitle("Bowline");
		setText(this.#title, "Sessions");
		this.#state.replaceChildren();
		document.body.classList.add("no-session");
		const isFirst = this.#sessions.length === 0;
		// With a model at hand the demo is only an aside.
		const hasModel = this.#info?.hasModel === true;
		const start = this.#mayDrive && h("button", { class: "choice primary", type: "button", onclick: () => void this.#newSession() }, "New session");
		const demo =
			this.#mayDrive &&
			this.#info?.demo === true &&
			h("button", { class: hasModel ? "link-button" : "choice", type: "button", onclick: () => void this.#startDemo() }, "Watch the demo");
		this.#middle.replaceChildren(
			h(
				"div",
				{ class: "welcome" },
				h("p", { class: "welcome-title" }, isFirst ? "No sessions yet" : "Choose a session"),
				h(
					"p",
					{},
					isFirst
						? "A session is one agent at work in a directory. It runs on this server; close this page and it goes on."
						: "Sessions go on while this page is closed. Those that wait for you are at the top of the list.",
				),
				h("div", { class: "choices" }, start, !hasModel && demo),
				hasModel && demo && h("p", { class: "said" }, demo),
				!hasModel &&
					demo &&
					h(
						"p",
						{ class: "said" },
						"No key of a provider is configured. The demo needs none: a scripted model repairs a small repository, with real tools and a subagent whose work is checked.",
					),
			),
		);
		this.#drawList();
	}

	async #open(id: string): Promise<void> {
		document.body.classList.remove("no-session");
		let session = this.#sessions.find((each) => each.id === id);
		try {
			session ??= await this.#api.get<ServedSession>(`/v1/sessions/${encodeURIComponent(id)}`);
		} catch (error) {
			return this.#showMissing(sentence(error));
		}
		const model = new SessionModel(this.#api, session);
		this.#model = model;
		model.onChange = (change) => this.#model === model && this.#chat.changed(change);
		model.onFrame = (frame) => this.#model === model && this.#onFrame(frame);
		this.#middle.replaceChildren(this.#chat.element);
		this.#chat.open(model);
		if (this.#suggestion?.id === id) this.#chat.composer.suggest(this.#suggestion.text);
		this.#drawSession();
		this.#drawList();
		await this.#attach(model);
	}

	async #attach(model: SessionModel): Promise<void> {
		let asOf: number;
		try {
			asOf = await model.open();
		} catch (error) {
			if (this.#model === model) this.#showMissing(sentence(error));
			return;
		}
		if (this.#model !== model) return;
		this.#link.attach(model.id, asOf, (frame) => this.#model === model && model.take(frame));
	}

	#showMissing(message: string, title = "This session cannot be shown"): void {
		this.#leave();
		document.body.classList.add("no-session");
		setText(this.#title, "Sessions");
		this.#middle.replaceChildren(h("div", { class: "welcome" }, h("p", { class: "welcome-title" }, title), h("p", {}, message)));
	}

	// ─── Frames ───

	#onFrame(frame: Frame): void {
		const model = this.#model as SessionModel;
		switch (frame.type) {
			case "ready":
				this.#hasSeat = frame.seat === true;
				this.#hasSaidHello = false;
				this.#setState(textOf(frame.state) as ServedSession["state"], {});
				this.#sayHello();
				if (!isAwake(model.session)) this.#isLive = true;
				break;
			case "snapshot":
				this.#isLive = true;
				this.#readFactsSoon();
				break;
			case "session_state":
				this.#setState(textOf(frame.state) as ServedSession["state"], frame);
				this.#sayHello();
				break;
			case "seat":
				this.#onSeat(frame);
				break;
			case "attach_failed":
				if (frame.code === "cursor_ahead") void this.#attach(model);
				else this.#complain("This session cannot be followed", textOf(frame.error));
				break;
			case "gap":
				if (frame.durableLost === true) this.#announce("Some events were lost. The conversation was read again.", false);
				break;
			case "session_info_changed":
				model.session = { ...model.session, name: textOf(frame.name) || undefined };
				this.#drawSession();
				break;
			case "permission_request":
			case "extension_ui_request":
				if (frame.type === "permission_request" || ["select", "confirm", "input", "editor"].includes(textOf(frame.method))) {
					this.#announce(`${frame.type === "permission_request" ? "Approval needed" : "Question"}: ${textOf(frame.title)}`, true);
					this.#refresh();
				} else if (frame.method === "notify") this.#announce(textOf(frame.message), false);
				else if (frame.method === "set_editor_text") this.#chat.composer.replace(textOf(frame.text));
				break;
			case "permission_resolved":
				this.#refresh();
				break;
			case "tool_execution_end":
				if (frame.isError === true) this.#announce(`${textOf(frame.toolName)} failed`, false);
				break;
			case "turn_end":
			case "agent_settled":
				this.#readFactsSoon();
				if (frame.type === "agent_settled" && this.#demo === model.id) this.#continueDemo();
				if (frame.type === "agent_settled") this.#announce(frame.aborted === true ? "The run was stopped" : "The assistant answered", false);
				break;
			case "run_result":
				this.#onRunResult(frame);
				break;
			case "thinking_level_changed":
			case "permission_mode_changed":
				this.#readFactsSoon();
				break;
			default:
		}
		this.#drawBanner();
	}

	#onRunResult({ status, error, runsLater }: Frame): void {
		(this.#model as SessionModel).runsLater = listOf(runsLater).map((each) => fieldsOf(each) as unknown as RunsLater);
		this.#schedule();
		if (status !== "error" || !this.#isLive) return;
		this.#announce(textOf(fieldsOf(error).message), false);
	}

	#announce(text: string, isUrgent: boolean): void {
		if (this.#isLive) this.#announcer.say(text, isUrgent);
	}

	#onSeat(frame: Frame): void {
		const model = this.#model as SessionModel;
		const held = frame.held === true;
		if (this.#hasSeat && !held) {
			this.#link.lostSeat(model.id);
			if (frame.by !== undefined) this.#announce(`${textOf(frame.by)} took the wheel`, false);
		}
		this.#hasSeat = held;
		if ("seat" in frame) model.session = { ...model.session, seat: frame.seat as ServedSession["seat"] };
		this.#drawSession();
	}

	#setState(state: ServedSession["state"], { reason, exit, since }: Partial<Frame>): void {
		const model = this.#model as SessionModel;
		const lastExit = exit ? (exit as ServedSession["lastExit"]) : model.session.lastExit;
		model.session = {
			...model.session,
			state,
			lastExit,
			since: numberOf(since) || model.session.since,
			reason: reason === undefined ? undefined : textOf(reason),
		};
		this.#sessions = this.#sessions.map((each) => (each.id === model.id ? { ...each, ...model.session, pending: each.pending } : each));
		if (!isAwake(model.session)) this.#hasSaidHello = false;
		if (["asleep", "crashed", "failed"].includes(state) && model.isBusy) model.rest();
		this.#drawSession();
		this.#drawList();
	}

	/** The agent asks only clients that said they answer. It is not started for this. */
	#sayHello(): void {
		const model = this.#model;
		if (!model || this.#hasSaidHello || !this.#mayDrive || !isAwake(model.session)) return;
		this.#hasSaidHello = true;
		void this.#hello(model);
	}

	async #hello(model: SessionModel): Promise<void> {
		const { success } = await this.#link.ask(model.id, { type: "hello", client: { name: "page" }, capabilities: { permissions: 1 } });
		if (success) this.#readFactsSoon();
	}

	#onNews(frame: Frame): void {
		if (frame.type === "draining") this.#announcer.say("The server is about to stop");
		if (frame.type === "session_moved") this.#onMoved(frame);
		this.#refresh();
	}

	// ─── The list ───

	#refresh(): void {
		clearTimeout(this.#refreshTimer);
		this.#refreshTimer = window.setTimeout(
			() => void this.#readSessions().catch((error) => console.warn("The sessions could not be read:", error)),
			refreshMs,
		);
	}

	async #readSessions(): Promise<void> {
		const { sessions } = await this.#api.get<{ sessions: ServedSession[] }>("/v1/sessions?limit=500");
		this.#sessions = sessions;
		const model = this.#model;
		const own = model && sessions.find(({ id }) => id === model.id);
		if (model && own) {
			model.session = own;
			this.#drawSession();
		}
		this.#drawList();
		if (!model && this.#root.querySelector(".welcome") && !location.hash.startsWith(prefix)) this.#renewWelcome();
	}

	/** The welcome says something else when the first session has come. */
	#renewWelcome(): void {
		const title = this.#middle.querySelector(".welcome-title");
		if (title && (title.textContent === "No sessions yet") !== (this.#sessions.length === 0)) this.#showWelcome();
	}

	#drawList(): void {
		this.#list.show(this.#sessions, this.#model?.id ?? "", this.#filter.value);
		const waiting = this.#sessions.filter((session) => groupOf(session) === "needs").length;
		const name = this.#model ? sessionName(this.#model.session) : this.#fleetView ? (this.#title.textContent ?? "") : "";
		setTitle(`${waiting ? `(${waiting}) ` : ""}${name ? `${name} · ` : ""}Bowline`);
	}

	// ─── Drawing ───

	#schedule(): void {
		if (this.#frame) return;
		// A tab in the background draws nothing until it is looked at; it then draws once.
		this.#frame = requestAnimationFrame(() => {
			this.#frame = 0;
			if (!this.#model) return;
			this.#chat.draw();
			this.#drawTitle(this.#model);
			this.#panels.show(this.#model, this.#facts);
		});
	}

	#tick(): void {
		this.#drawLink();
		if (!this.#model) return;
		this.#chat.tick();
		this.#panels.tick(this.#model);
	}

	#drawSession(): void {
		const model = this.#model;
		if (!model) return;
		const { session } = model;
		this.#drawTitle(model);
		const driver = session.seat && !this.#hasSeat ? `watching · ${session.seat.name} drives` : this.#hasSeat ? "you drive" : "";
		this.#state.replaceChildren(
			...[stateDot(session), h("span", {}, stateWord(session)), driver !== "" && h("span", { class: "bar-seat" }, driver)].filter(
				(child): child is HTMLElement => Boolean(child),
			),
		);
		this.#chat.composer.closedBecause = !this.#mayDrive
			? "You may watch: your token has scope read"
			: session.state === "elsewhere"
				? "Another process has this session open"
				: undefined;
		this.#drawBanner();
		this.#schedule();
	}

	/** The name of the session, else its first prompt. */
	#drawTitle({ session, tree, hasOlder }: SessionModel): void {
		const first = session.name || hasOlder ? undefined : tree.nodes.find(({ message }) => message.role === "user");
		const name = (first && oneLine(plainText(first.message.content), 70)) || sessionName(session);
		if (this.#title.textContent === visible(name)) return;
		this.#title.replaceChildren(h("bdi", {}, name));
		setAttribute(this.#title, "title", session.cwd);
	}

	#drawBanner(): void {
		const model = this.#model;
		if (!model) return;
		const { session } = model;
		const children: Child[] = [this.#complaint];
		if (session.state === "crashed" || session.state === "failed") children.push(this.#crashBanner(session));
		if (session.state === "elsewhere") {
			const pid = session.pid === undefined ? "" : ` (process ${session.pid})`;
			children.push(
				banner("", "Open elsewhere", `Another program has this session open${pid}. New messages appear here; to drive it, close it there.`),
			);
		}
		if (model.isElsewhere) {
			const back = h("button", { class: "choice", type: "button", onclick: () => model.choose(undefined) }, "Back to the current branch");
			children.push(banner("", "Another branch", "You are reading a branch that was left.", back));
		}
		this.#chat.setBanner(children);
	}

	/** A request failed. The message stays until the next request. */
	#complain(title: string, text: string): void {
		const close = button("small", "Close", () => this.#forgive(), icon("close"));
		this.#complaint = banner("bad complaint", title, text, close);
		this.#drawBanner();
	}

	#forgive(): void {
		if (!this.#complaint) return;
		this.#complaint = undefined;
		this.#drawBanner();
	}

	#crashBanner(session: ServedSession): HTMLElement {
		const { lastExit, reason } = session;
		const how = lastExit ? (lastExit.signal ? `ended by ${lastExit.signal}` : `ended with code ${lastExit.code}`) : "ended";
		const stderr = textOf(lastExit?.stderr).trim();
		const resume = h("button", { class: "choice primary", type: "button", onclick: () => void this.#resume() }, "Resume");
		const start = h("button", { class: "choice", type: "button", onclick: () => void this.#startAgent() }, "Open as it is");
		return banner(
			"bad",
			session.state === "failed" ? "The agent could not be started" : `The agent ${how}`,
			session.state === "failed" && reason ? reason : "What it had said and done is kept. Resume goes on from there.",
			stderr !== "" && h("pre", { class: "plain" }, stderr.split("\n").slice(-12).join("\n")),
			this.#mayDrive && h("div", { class: "choices" }, session.state === "crashed" && resume, start),
		);
	}

	#onLink(state: LinkState): void {
		if (state.isOpen) this.#lostAt = 0;
		else if (this.#linkState.isOpen) this.#lostAt = Date.now();
		if (state.isOpen && !this.#linkState.isOpen) this.#refresh();
		this.#linkState = state;
		this.#drawLink();
		clearTimeout(this.#lineTimer);
		if (!state.isOpen) this.#lineTimer = window.setTimeout(() => this.#drawLink(), patienceMs);
	}

	#drawLink(): void {
		const state = this.#linkState;
		const isShown = !state.isOpen && Date.now() - this.#lostAt >= patienceMs;
		this.#line.hidden = !isShown;
		if (state.isOpen || !isShown) {
			if (this.#line.firstChild) this.#line.replaceChildren();
			return;
		}
		const seconds = Math.max(0, Math.ceil((state.retryAt - Date.now()) / 1000));
		const again = h("button", { class: "link-button", type: "button", onclick: () => this.#link.retryNow() }, "Try now");
		fill(this.#line, `Not connected. ${seconds ? `Next try in ${seconds} s.` : "Trying…"} `, again);
	}

	// ─── Facts that only the agent knows ───

	#readFactsSoon(): void {
		clearTimeout(this.#factsTimer);
		this.#factsTimer = window.setTimeout(() => void this.#readFacts(), 400);
	}

	async #readFacts(): Promise<void> {
		const model = this.#model;
		if (!model || !isAwake(model.session)) return;
		const [state, stats] = await Promise.all([
			this.#link.ask(model.id, { type: "get_state" }),
			this.#link.ask(model.id, { type: "get_session_stats" }),
		]);
		if (this.#model !== model || !state.success) return;
		this.#facts = factsOf(state, stats);
		this.#pickers.show(model.id, state.data, this.#mayDrive);
		const { todoPhases } = fieldsOf(state.data);
		if (Array.isArray(todoPhases) && !model.isBusy) model.live = { ...model.live, todoPhases };
		this.#schedule();
	}

	// ─── Driving ───

	/** The seat, for commands that need it. Gives an error in words when it was not to be had. */
	async #drive(): Promise<string | undefined> {
		const model = this.#model;
		if (!model) return "No session is open.";
		if (!this.#hasSeat) {
			let answer = await this.#link.takeSeat(model.id, false);
			if (!answer.success && answer.code === "seat_taken") {
				const name = model.session.seat?.name ?? "another client";
				if (
					!(await agreed(`Take the wheel from ${name}?`, `${name} drives this session. If you take the wheel, it can only watch.`, "Take the wheel"))
				)
					return "Not sent: another client drives this session.";
				answer = await this.#link.takeSeat(model.id, true);
			}
			if (!answer.success) return answer.error ?? "The seat could not be taken.";
			this.#hasSeat = true;
		}
		if (!this.#hasSaidHello) {
			this.#hasSaidHello = true;
			await this.#hello(model);
		}
		return undefined;
	}

	async #command(command: Frame): Promise<Answer> {
		this.#forgive();
		const model = this.#model as SessionModel;
		const refused = await this.#drive();
		if (refused !== undefined) return { success: false, error: refused };
		return this.#link.ask(model.id, command);
	}

	async #send(how: SendAs, message: string, images: readonly Picture[]): Promise<string | undefined> {
		const model = this.#model;
		if (!model) return "No session is open.";
		const frame: Frame = { type: how, message, key: `page-${crypto.randomUUID?.() ?? Math.random()}`, ...(images.length && { images }) };
		const answer = how === "prompt" ? await this.#command(frame) : await this.#link.ask(model.id, frame);
		if (!answer.success) return answer.error ?? "The message was not taken.";
		model.choose(undefined);
		this.#chat.toEnd();
		return undefined;
	}

	/** It is said, and what was written comes back, unless something else is written by now. */
	#onLateFailure(sessionId: string, { message }: Frame, error: string): void {
		if (this.#model?.id !== sessionId) return;
		this.#complain("The prompt failed", error);
		this.#announce(`The prompt failed: ${error}`, true);
		this.#chat.composer.suggest(textOf(message));
	}

	#stop(): void {
		const model = this.#model;
		if (model) void this.#link.ask(model.id, { type: "abort" });
	}

	#answer(id: string, frame: Frame): void {
		const model = this.#model;
		if (!model) return;
		this.#link.tell(model.id, frame);
		model.answered(id);
	}

	async #resume(): Promise<void> {
		const answer = await this.#command({ type: "resume_run" });
		if (!answer.success) this.#complain("The run could not be resumed", answer.error ?? "");
	}

	async #startAgent(): Promise<void> {
		const model = this.#model as SessionModel;
		try {
			await this.#api.post(`/v1/sessions/${encodeURIComponent(model.id)}/start`);
			this.#refresh();
		} catch (error) {
			this.#complain("The agent could not be started", sentence(error));
		}
	}

	/** Makes a session of its own from the conversation above a prompt, and opens it with that prompt in the composer. */
	async #fork(prompt: Entry): Promise<void> {
		const model = this.#model as SessionModel;
		if (prompt.id === "") return this.#announcer.say(notStored);
		const refused = await this.#drive();
		if (refused !== undefined) return this.#complain("The fork was refused", refused);
		this.#forking = { from: model.id, text: plainText(prompt.message.content) };
		const answer = await this.#link.ask(model.id, { type: "fork", entryId: prompt.id });
		if (answer.success || this.#model !== model) return;
		this.#forking = undefined;
		this.#complain("The fork was refused", answer.error ?? "");
	}

	/** The entry where the last run began; undefined, with a message, while it is not known yet. */
	#runStart(): string | undefined {
		const prompt = pathTo(this.#model?.leaf).findLast(({ message }) => message.role === "user" && message.synthetic !== true);
		if (!prompt?.id) this.#announcer.say(notStored);
		return prompt?.id || undefined;
	}

	async #showChanges(): Promise<void> {
		const model = this.#model as SessionModel;
		const from = this.#runStart();
		if (from === undefined) return;
		const { success, error = "", data } = await this.#link.ask(model.id, { type: "get_changes", from });
		if (!success) return this.#complain("The changes cannot be shown", error);
		const { diff, truncated } = fieldsOf(data);
		const body = h(
			"div",
			{},
			this.#chat.drawDiff(textOf(diff)),
			truncated === true && h("p", { class: "said" }, "The change is longer than what is shown."),
		);
		await shown("Changes of the last run", body);
	}

	/** Puts back the files of the last run. The conversation stays. */
	async #putBack(): Promise<void> {
		const model = this.#model as SessionModel;
		const entryId = this.#runStart();
		if (entryId === undefined) return;
		if (!(await agreed("Put the files back?", "All files that the last run changed get the content they had before it.", "Put files back"))) return;
		const { success, error = "", data } = await this.#command({ type: "rewind", entryId, conversation: false });
		if (!success) return this.#complain("The files were not put back", error);
		const { restored, skipped } = fieldsOf(data);
		model.runsLater = [];
		this.#schedule();
		const names = (list: unknown) => listOf(list).map(textOf).join(", ");
		const left = names(skipped);
		this.#announce(`Put back: ${names(restored)}${left ? `. Left alone, because others changed them: ${left}` : ""}`, false);
		if (left) this.#complain("Some files were left alone, because others changed them", left);
	}

	/** The agent went on to another session: after a fork of ours the page goes along, else it stays and reads. */
	#onMoved({ from, to }: Frame): void {
		const forking = this.#forking;
		this.#refresh();
		if (!forking || forking.from !== from) return;
		this.#forking = undefined;
		this.#suggestion = { id: textOf(to), text: forking.text };
		location.hash = addressOf(textOf(to));
	}

	#showBranch(leaf: Entry | undefined): void {
		const model = this.#model as SessionModel;
		closeDrawers();
		if (leaf && model.items.some(({ node }) => node === leaf)) this.#chat.reveal(leaf);
		else model.choose(leaf);
		this.#drawBanner();
	}

	async #readAll(): Promise<void> {
		const model = this.#model;
		while (model && model === this.#model && model.hasOlder) await model.readOlder(2000);
	}

	async #openSubagent(id: string): Promise<void> {
		const model = this.#model as SessionModel;
		try {
			const blob = await this.#api.download(`/v1/sessions/${encodeURIComponent(model.id)}/artifacts/${encodeURIComponent(`${id}.jsonl`)}`);
			const lines = (await blob.text()).split("\n").filter(Boolean);
			const entries = lines.flatMap((line) => {
				try {
					return [JSON.parse(line) as unknown];
				} catch {
					// The last line may be half written.
					return [];
				}
			});
			await shown(`Subagent ${id}`, this.#chat.drawOther(entries.slice(1)));
		} catch (error) {
			await shown(`Subagent ${id}`, h("p", {}, `Its conversation cannot be read: ${sentence(error)}`));
		}
	}

	async #newSession(): Promise<void> {
		const directories = [...new Set(this.#sessions.map(({ cwd }) => cwd))].slice(0, 20);
		await newSession({ roots: this.#info?.roots ?? [], directories, create: (wanted) => this.#create(wanted) });
	}

	async #create(wanted: NewSession): Promise<string | undefined> {
		try {
			const session = await this.#api.post<ServedSession>("/v1/sessions", wanted);
			await this.#readSessions();
			location.hash = addressOf(session.id);
			return undefined;
		} catch (error) {
			return sentence(error);
		}
	}

	async #startDemo(): Promise<void> {
		try {
			const session = await this.#api.post<ServedSession>("/v1/demo");
			this.#demo = session.id;
			await this.#readSessions();
			location.hash = addressOf(session.id);
		} catch (error) {
			this.#middle.querySelector(".welcome")?.append(h("p", { class: "composer-note bad" }, sentence(error)));
		}
	}

	/** The second act needs one press of a key. */
	#continueDemo(): void {
		this.#demo = "";
		this.#chat.composer.suggest("Now give large carts a discount. Let another agent do it in a copy, and take it only when the tests pass.");
	}

	async #menu(): Promise<void> {
		const model = this.#model;
		if (!model) return;
		const path = `/v1/sessions/${encodeURIComponent(model.id)}`;
		const act = (name: string, run: () => Promise<unknown>) => ({ name, run });
		const actions = [
			act("Export as a page", () => this.#export(model)),
			...(this.#mayDrive
				? [
						act("Rename", async () => {
							const name = await asked("Rename the session", "Name", model.session.name ?? "", "Rename");
							if (name === undefined) return;
							const answer = await this.#command({ type: "set_session_name", name });
							if (!answer.success) this.#complain("Not renamed", answer.error ?? "");
							this.#refresh();
						}),
						act("Compact the conversation", () => this.#command({ type: "compact" })),
						act("Let the agent sleep", () => this.#api.post(`${path}/stop`, { abort: true })),
					]
				: []),
			...(this.#info?.scope === "admin"
				? [
						act("Delete the session", async () => {
							if (!(await agreed("Delete this session?", "Its files go to the trash of the server.", "Delete"))) return;
							await this.#api.remove(path);
							location.hash = "#/";
							this.#refresh();
						}),
					]
				: []),
		];
		const facts = [
			["Directory", model.session.cwd],
			["Model", model.session.model ? `${model.session.model.provider}/${model.session.model.id}` : ""],
			["Used", `${shortNumber(model.session.usage.totalTokens)} tokens · ${money(model.session.usage.costUsd)}`],
			["Id", model.session.id],
		].filter(([, value]) => value !== "");
		const list = h("dl", { class: "pairs" }, ...facts.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, h("bdi", {}, value)))));
		let chosen: (() => Promise<unknown>) | undefined;
		const choices = actions.map(({ name, run }) =>
			h(
				"button",
				{
					class: "choice",
					type: "button",
					onclick: (event) => {
						chosen = run;
						(event.currentTarget as HTMLElement).closest("dialog")?.close("");
					},
				},
				name,
			),
		);
		// Where the bar has no room for them, they are here.
		const isNarrow = isDrawer("right");
		const place = this.#pickers.element.parentElement;
		await shown(
			sessionName(model.session),
			h("div", { class: "menu-body" }, list, isNarrow && this.#pickers.element, h("div", { class: "menu-choices" }, ...choices)),
			"",
		);
		if (isNarrow) place?.append(this.#pickers.element);
		try {
			await chosen?.();
		} catch (error) {
			this.#complain("That did not work", sentence(error));
		}
	}

	async #export(model: SessionModel): Promise<void> {
		const blob = await this.#api.download(`/v1/sessions/${encodeURIComponent(model.id)}/export`);
		const address = URL.createObjectURL(blob);
		const link = h("a", { href: address });
		link.download = `bowline-${lastPart(model.session.cwd)}-${model.id.slice(-6)}.html`;
		link.click();
		window.setTimeout(() => URL.revokeObjectURL(address), 10_000);
	}

	async #help(): Promise<void> {
		const keyboard = this.#keyboard as Keyboard;
		await help(keyMap, keyboard.areLettersOn, (on) => {
			keyboard.areLettersOn = on;
		});
	}

	#act(action: Action): void {
		switch (action) {
			case "help":
				return void this.#help();
			case "down":
				return this.#chat.step(1);
			case "up":
				return this.#chat.step(-1);
			case "toggle":
				return this.#chat.toggleCalls();
			case "search":
				if (this.#model) {
					closeDrawers();
					return this.#chat.find.open();
				}
				openDrawer("left");
				return this.#filter.focus();
			case "sessions":
				openDrawer("left");
				return this.#list.focus();
			case "new":
				return void (this.#mayDrive && this.#newSession());
			case "write":
				return this.#chat.composer.focus();
			case "ask":
				closeDrawers();
				return void this.#chat.asks.focusNext();
			case "yes":
				return this.#chat.asks.press(true);
			case "no":
				return this.#chat.asks.press(false);
			case "before":
			case "after": {
				const next = this.#list.neighbour(action === "after" ? 1 : -1);
				if (next) location.hash = addressOf(next);
				return;
			}
			case "theme":
				return this.#theme.click();
			case "leave":
				if (!closeDrawers()) (document.activeElement as HTMLElement | null)?.blur();
		}
	}
}

const isAwake = ({ state }: ServedSession) => state === "idle" || state === "busy";

const ceilingNames: Record<string, { name: string; text: (value: number) => string }> = {
	wall_time: { name: "Time", text: duration },
	input_tokens: { name: "Input tokens", text: shortNumber },
	output_tokens: { name: "Output tokens", text: shortNumber },
	total_tokens: { name: "Tokens", text: shortNumber },
	cost: { name: "Cost", text: money },
	tool_calls: { name: "Tool calls", text: shortNumber },
	subagents: { name: "Subagents", text: shortNumber },
};

function factsOf(state: Answer, stats: Answer): Facts {
	const { model, thinkingLevel, permissionMode, sandbox, safety } = fieldsOf(state.data);
	const loosened = listOf(fieldsOf(safety).loosened).map(textOf);
	const { tokens, cost, contextUsage, budget } = fieldsOf(stats.data);
	const context = fieldsOf(contextUsage);
	const cache = cacheFactsOf(fieldsOf(stats.data));
	const walls = textOf(fieldsOf(sandbox).mode);
	return {
		...(numberOf(context.contextWindow) && {
			context: { tokens: numberOf(context.tokens), contextWindow: numberOf(context.contextWindow), percent: numberOf(context.percent) },
		}),
		model: textOf(fieldsOf(model).id),
		thinkingLevel: textOf(thinkingLevel),
		permissionMode: textOf(permissionMode),
		sandbox: walls === "off" ? "" : walls,
		safety: safety === undefined ? "" : loosened.length === 0 ? "contained" : `contained, but looser: ${loosened.join(", ")}`,
		ceilings: listOf(budget).map((each) => {
			const { dimension, used, limit, warnAtRatio } = fieldsOf(each);
			const { name, text } = ceilingNames[textOf(dimension)] ?? { name: textOf(dimension), text: shortNumber };
			return { name, text, used: numberOf(used), limit: numberOf(limit), warnAt: numberOf(warnAtRatio) };
		}),
		...(stats.success && { stats: { tokens: numberOf(fieldsOf(tokens).total), cost: numberOf(cost) } }),
		...(cache && { cache }),
	};
}

function banner(kind: string, title: string, text: string, ...more: Child[]): HTMLElement {
	return h(
		"section",
		{ class: `banner ${kind}`, role: kind.startsWith("bad") ? "alert" : "status" },
		h("strong", {}, title),
		h("p", {}, text),
		...more,
	);
}

const sentence = (error: unknown) => (error instanceof Error ? error.message : String(error));

// ─── Drawers: on narrow screens the columns come over the page. Everything else is out of reach meanwhile. ───

let returnTo: HTMLElement | undefined;

function toggleDrawer(side: "left" | "right"): void {
	if (!isDrawer(side)) document.body.classList.toggle(`no-${side}`);
	else if (document.body.classList.contains(`show-${side}`)) closeDrawers();
	else openDrawer(side);
}

function openDrawer(side: "left" | "right"): void {
	if (!isDrawer(side)) {
		document.body.classList.remove(`no-${side}`);
		return;
	}
	closeDrawers();
	returnTo = document.activeElement instanceof HTMLElement ? document.activeElement : undefined;
	document.body.classList.add(`show-${side}`);
	const drawer = document.querySelector<HTMLElement>(`.columns > .${side}`);
	for (const other of document.querySelectorAll<HTMLElement>(".bar, .columns > *:not(.backdrop)")) other.inert = other !== drawer;
	const first = drawer?.querySelector<HTMLElement>("a, button, input");
	first?.focus();
}

/** Whether one was open. */
function closeDrawers(): boolean {
	const wasOpen = document.body.classList.contains("show-left") || document.body.classList.contains("show-right");
	document.body.classList.remove("show-left", "show-right");
	for (const other of document.querySelectorAll<HTMLElement>(".bar, .columns > *")) other.inert = false;
	if (wasOpen) returnTo?.focus();
	returnTo = undefined;
	return wasOpen;
}

const isDrawer = (side: "left" | "right") => matchMedia(side === "left" ? "(max-width: 719px)" : "(max-width: 1099px)").matches;
