/** One WebSocket for all sessions of this tab. It reconnects automatically, continues after the last frame it has seen, and repeats unanswered requests. */
import type { Api } from "./api.ts";
import { Refused } from "./api.ts";

export interface Frame {
	type: string;
	sessionId?: string;
	seq?: number;
	[member: string]: unknown;
}

export interface Answer {
	success: boolean;
	data?: unknown;
	error?: string;
	code?: string;
}

interface Attachment {
	cursor: number;
	mode: "read" | "write";
	onFrame: (frame: Frame) => void;
}

interface Question {
	sessionId: string;
	frame: Frame;
	/** The connection it went out on. A question asked before the session is attached, or without a connection, waits. */
	sentOn?: WebSocket;
	resolve: (answer: Answer) => void;
}

export type LinkState = { isOpen: true } | { isOpen: false; retryAt: number; reason: string };

const firstDelayMs = 250;
const longestDelayMs = 10_000;

export class Link {
	/** Frames that concern the list of sessions, or no session at all. */
	onNews: (frame: Frame) => void = () => undefined;
	onState: (state: LinkState) => void = () => undefined;
	/** A prompt that was taken failed before it began: the agent answers a second time. */
	onLateFailure: (sessionId: string, prompt: Frame, error: string) => void = () => undefined;
	#api: Api;
	#socket: WebSocket | undefined;
	#attachments = new Map<string, Attachment>();
	#questions = new Map<string, Question>();
	/** The last prompts that were taken, by id. */
	#taken = new Map<string, Question>();
	/** Frames without an answer that wait for a connection, by session. */
	#unsent = new Map<string, object[]>();
	#attaching = new Map<string, (answer: Answer) => void>();
	#lastId = 0;
	#failures = 0;
	#timer = 0;
	#isWanted = false;
	readonly #client = clientId();
	readonly #name = browserName();

	constructor(api: Api) {
		this.#api = api;
		// A laptop that wakes up, or a network that is back, should not wait for the timer.
		window.addEventListener("online", () => this.retryNow());
		document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && this.retryNow());
	}

	open(): void {
		this.#isWanted = true;
		void this.#connect();
	}

	close(): void {
		this.#isWanted = false;
		clearTimeout(this.#timer);
		this.#attachments.clear();
		this.#unsent.clear();
		this.#socket?.close(1000);
		this.#socket = undefined;
		for (const { resolve } of this.#questions.values()) resolve({ success: false, error: "You have signed out.", code: "closed" });
		this.#questions.clear();
	}

	retryNow(): void {
		if (!this.#isWanted || this.#socket) return;
		clearTimeout(this.#timer);
		void this.#connect();
	}

	/** From the frame after `afterSeq` on, whatever happens to the connection. */
	attach(sessionId: string, afterSeq: number, onFrame: (frame: Frame) => void): void {
		this.#attachments.set(sessionId, { cursor: afterSeq, mode: "read", onFrame });
		this.#sendAttach(sessionId);
		this.#sendWaiting(sessionId);
	}

	detach(sessionId: string): void {
		if (this.#attachments.delete(sessionId)) this.#send({ type: "detach", sessionId });
		this.#unsent.delete(sessionId);
		for (const [id, question] of this.#questions) {
			if (question.sessionId !== sessionId) continue;
			this.#questions.delete(id);
			question.resolve({ success: false, error: "The session was left.", code: "closed" });
		}
	}

	/** Asks for the seat: the right to drive. Another client that holds it keeps it unless `takeover` is set. */
	takeSeat(sessionId: string, takeover: boolean): Promise<Answer> {
		return this.ask(sessionId, { type: "attach", mode: "write", ...(takeover && { takeover: true }) }).then((answer) => {
			const attachment = this.#attachments.get(sessionId);
			if (answer.success && attachment) attachment.mode = "write";
			return answer;
		});
	}

	/** The seat went to another client. */
	lostSeat(sessionId: string): void {
		const attachment = this.#attachments.get(sessionId);
		if (attachment) attachment.mode = "read";
	}

	/** What is asked before the session is attached, or without a connection, is sent as soon as it can be. */
	ask(sessionId: string, command: Frame): Promise<Answer> {
		const id = `p${++this.#lastId}`;
		const frame = { id, sessionId, ...command };
		return new Promise((resolve) => {
			this.#questions.set(id, { sessionId, frame, resolve });
			this.#sendWaiting(sessionId);
		});
	}

	/** A frame that is not answered. */
	tell(sessionId: string, frame: Frame): void {
		this.#unsent.set(sessionId, [...(this.#unsent.get(sessionId) ?? []), { sessionId, ...frame }]);
		this.#sendWaiting(sessionId);
	}

	/** In the order in which they were asked, after the `attach` of the session. */
	#sendWaiting(sessionId: string): void {
		const socket = this.#socket;
		if (socket?.readyState !== WebSocket.OPEN || !this.#attachments.has(sessionId)) return;
		for (const question of this.#questions.values()) {
			if (question.sessionId !== sessionId || question.sentOn === socket) continue;
			question.sentOn = socket;
			this.#send(question.frame);
		}
		for (const frame of this.#unsent.get(sessionId) ?? []) this.#send(frame);
		this.#unsent.delete(sessionId);
	}

	#send(frame: object): void {
		if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(frame));
	}

	#sendAttach(sessionId: string): void {
		const attachment = this.#attachments.get(sessionId) as Attachment;
		const id = `a${++this.#lastId}`;
		this.#attaching.set(id, (answer) => {
			if (answer.success || this.#attachments.get(sessionId) !== attachment) return;
			if (answer.code === "seat_taken" && attachment.mode === "write") {
				// Another client drives by now; reading goes on.
				attachment.mode = "read";
				this.#sendAttach(sessionId);
			} else attachment.onFrame({ type: "attach_failed", code: answer.code, error: answer.error });
		});
		this.#send({ id, type: "attach", sessionId, mode: attachment.mode, afterSeq: attachment.cursor });
	}

	async #connect(): Promise<void> {
		if (this.#socket) return;
		let ticket: string;
		try {
			({ ticket } = await this.#api.post<{ ticket: string }>("/v1/tickets"));
		} catch (error) {
			if (error instanceof Refused && error.status === 401) return;
			this.#later(error instanceof Refused ? error.message : String(error));
			return;
		}
		if (this.#socket || !this.#isWanted) return;
		const query = new URLSearchParams({ client: this.#client, name: this.#name });
		const address = `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/v1/socket?${query}`;
		const socket = new WebSocket(address, ["bowline.v1", `ticket.${ticket}`]);
		this.#socket = socket;
		socket.addEventListener("open", () => this.#onOpen());
		socket.addEventListener("message", ({ data }) => this.#onMessage(String(data)));
		socket.addEventListener("close", ({ code, reason }) => {
			if (this.#socket !== socket) return;
			this.#socket = undefined;
			if (code === 4403) this.#api.signOut("Your sign-in has ended.");
			else if (this.#isWanted) this.#later(reason || "The connection was lost.");
		});
	}

	#onOpen(): void {
		this.#failures = 0;
		this.onState({ isOpen: true });
		this.#attaching.clear();
		for (const sessionId of this.#attachments.keys()) {
			this.#sendAttach(sessionId);
			this.#sendWaiting(sessionId);
		}
	}

	#later(reason: string): void {
		const delay = Math.min(longestDelayMs, firstDelayMs * 2 ** this.#failures) * (0.75 + Math.random() / 2);
		this.#failures += 1;
		clearTimeout(this.#timer);
		this.#timer = window.setTimeout(() => void this.#connect(), delay);
		this.onState({ isOpen: false, retryAt: Date.now() + delay, reason });
	}

	#onMessage(text: string): void {
		const frame = JSON.parse(text) as Frame;
		if (frame.type === "response") {
			const id = String(frame.id);
			const answer = frame as unknown as Answer;
			this.#attaching.get(id)?.(answer);
			this.#attaching.delete(id);
			const question = this.#questions.get(id);
			question?.resolve(answer);
			this.#questions.delete(id);
			if (question?.frame.type === "prompt" && answer.success) this.#keepTaken(id, question);
			else if (!question && !answer.success) this.#failLate(id, answer);
			return;
		}
		const attachment = frame.sessionId === undefined ? undefined : this.#attachments.get(frame.sessionId);
		if (attachment && typeof frame.seq === "number") {
			// A frame comes once, however often the connection was made. A snapshot has no number of its own.
			if (frame.seq <= attachment.cursor && frame.type !== "snapshot") return;
			attachment.cursor = Math.max(attachment.cursor, frame.seq);
		}
		attachment?.onFrame(frame);
		if (newsTypes.has(frame.type)) this.onNews(frame);
	}

	#keepTaken(id: string, question: Question): void {
		this.#taken.set(id, question);
		for (const oldest of this.#taken.keys()) if (this.#taken.size > mostTaken) this.#taken.delete(oldest);
	}

	#failLate(id: string, { error }: Answer): void {
		const prompt = this.#taken.get(id);
		this.#taken.delete(id);
		if (prompt) this.onLateFailure(prompt.sessionId, prompt.frame, error ?? "The prompt was refused.");
	}
}

/** How many prompts are kept in case that they fail late. */
const mostTaken = 20;

const newsTypes = new Set(["session_state", "session_added", "session_removed", "session_moved", "seat", "draining"]);

/** The same after a reload, so that the tab keeps its seat; another one in a copy of the tab. */
function clientId(): string {
	const key = "bowline-client";
	const [navigation] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
	const known = navigation?.type === "reload" ? sessionStorage.getItem(key) : null;
	const id = known ?? Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, "0")).join("");
	sessionStorage.setItem(key, id);
	return id;
}

function browserName(): string {
	const agent = navigator.userAgent;
	const browser = /Firefox\//.test(agent) ? "Firefox" : /Edg\//.test(agent) ? "Edge" : /Chrome\//.test(agent) ? "Chrome" : "Safari";
	const system = /Android/.test(agent)
		? "Android"
		: /iPhone|iPad/.test(agent)
			? "iOS"
			: /Mac OS/.test(agent)
				? "macOS"
				: /Windows/.test(agent)
					? "Windows"
					: "Linux";
	return `${browser} on ${system}`;
}
