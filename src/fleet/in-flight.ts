/**
 * Requests that were granted and whose cost is not known yet. The session itself has one at a time. Subagents work side by side; what they have used
 * is reported with the progress of the task call, turn by turn, and is final with the result of that call.
 */
import type { GateRequest } from "../protocol/types.generated.ts";
import type { Estimate } from "./budget.ts";

interface Request {
	estimate: Estimate;
	/** The subagent that asked, and its own subagents. */
	path: string;
	/** The reply has arrived, but its cost has not been reported yet. */
	isOver: boolean;
}

interface Child {
	requests: Request[];
	used: Estimate;
	/** Whether more use was reported since its last request. */
	hasGrown: boolean;
}

export interface ChildProgress {
	id: string;
	status: string;
	tokens: number;
	cost: number;
}

type Asker = Pick<GateRequest, "kind" | "agentPath">;

const none: Estimate = { usd: 0, tokens: 0 };

export class InFlight {
	#own: Estimate = none;
	/** By the call of the task tool, then by subagent. */
	readonly #calls = new Map<string, Map<string, Child>>();
	/** Calls whose use is final. The result of a call is read from the session file, and may be read before the last frames on the pipe. */
	readonly #settled = new Set<string>();
	#untold: Estimate = none;

	get total(): Estimate {
		return this.#requests.reduce((sum, { estimate }) => plus(sum, estimate), this.#own);
	}

	/** Whether some of it will be known, or known to be less, without a further request. */
	get isMoving(): boolean {
		return this.#own.usd + this.#own.tokens > 0 || this.#requests.some(({ isOver, path }) => !isOver || !path.includes("/"));
	}

	get #requests(): Request[] {
		return [...this.#calls.values()].flatMap((children) => [...children.values()]).flatMap(({ requests }) => requests);
	}

	/** Starts to follow a task call. Its id may be that of an earlier call, as some providers number their calls from one. */
	begun(toolCallId: string): void {
		this.#settled.delete(toolCallId);
		this.#calls.delete(toolCallId);
	}

	/** An agent that asks again has its reply. */
	asked({ kind, agentPath = [] }: Asker): void {
		const [outermost] = agentPath;
		if (!outermost) this.#own = none;
		if (!outermost || kind !== "model" || this.#settled.has(outermost.toolCallId)) return;
		const path = pathOf(agentPath);
		const child = this.#child(outermost.toolCallId, outermost.id);
		const isSame = (request: Request) => agentPath.length === 1 || request.path === path || request.path.startsWith(`${path}/`);
		// The turn before is over, with the subagents of that turn. Their use may be reported a moment later, but before the agent asks twice.
		if (agentPath.length === 1) child.requests = child.hasGrown ? [] : child.requests.filter(({ isOver }) => !isOver);
		child.hasGrown = false;
		for (const request of child.requests) request.isOver ||= isSame(request);
	}

	granted({ agentPath = [] }: Asker, estimate: Estimate): void {
		const [outermost] = agentPath;
		if (!outermost) this.#own = estimate;
		else if (!this.#settled.has(outermost.toolCallId))
			this.#child(outermost.toolCallId, outermost.id).requests.push({ estimate, path: pathOf(agentPath), isOver: false });
	}

	/** Of the frames of a task call. */
	progressed(toolCallId: string, progress: readonly ChildProgress[]): void {
		// Its frames hold the whole use of each subagent: counted after the result, all of it would be counted twice.
		if (this.#settled.has(toolCallId)) return;
		for (const { id, status, tokens, cost } of progress) {
			const child = this.#child(toolCallId, id);
			const more = { usd: cost - child.used.usd, tokens: tokens - child.used.tokens };
			if (more.usd > 0 || more.tokens > 0) {
				this.#untold = plus(this.#untold, more);
				child.used = { usd: cost, tokens };
				child.requests = child.requests.filter(({ isOver }) => !isOver);
				child.hasGrown = true;
			}
			if (status !== "pending" && status !== "running") child.requests = [];
		}
	}

	/** What subagents have used, and was not given out before. */
	takeUsed(): Estimate {
		const used = this.#untold;
		this.#untold = none;
		return used;
	}

	/** The call is over, and this is what it used: gives what was not given out before. */
	settled(toolCallId: string, used: Estimate): Estimate {
		const children = [...(this.#calls.get(toolCallId)?.values() ?? [])];
		this.#calls.delete(toolCallId);
		this.#settled.add(toolCallId);
		const reported = children.reduce((sum, child) => plus(sum, child.used), none);
		return { usd: Math.max(0, used.usd - reported.usd), tokens: Math.max(0, used.tokens - reported.tokens) };
	}

	/** Drops the requests of an agent that has ended. What its subagents used stays known, because the session file may hold a result not read yet. */
	clear(): void {
		this.#own = none;
		for (const children of this.#calls.values()) for (const child of children.values()) child.requests = [];
	}

	#child(toolCallId: string, id: string): Child {
		const children = this.#calls.get(toolCallId) ?? new Map<string, Child>();
		this.#calls.set(toolCallId, children);
		// A repair has a conversation of its own; its use is reported as the use of the task.
		const task = id.replace(/-repair$/, "");
		const name = children.has(task) ? task : id;
		const known = children.get(name) ?? { requests: [], used: none, hasGrown: false };
		children.set(name, known);
		return known;
	}
}

const pathOf = (path: NonNullable<GateRequest["agentPath"]>) => path.map(({ id }) => id.replaceAll("/", "")).join("/");
const plus = (a: Estimate, b: Estimate): Estimate => ({ usd: a.usd + b.usd, tokens: a.tokens + b.tokens });
