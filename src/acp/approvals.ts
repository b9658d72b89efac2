/** Approvals of tool calls as requests for permission. What is not a plain yes is a no. */
import type { PermissionOption, RequestPermissionResponse, ToolCallContent } from "@agentclientprotocol/sdk";
import type { LiveSession } from "../live/live-session.ts";
import type { AgentEvent, EventOf } from "../protocol/events.ts";
import type { PermissionRule, PermissionScope } from "../protocol/permissions.ts";
import { patchDiffs } from "./diffs.ts";
import { codes, isRpcError } from "./errors.ts";
import type { Peer } from "./peer.ts";
import type { Projection } from "./projection.ts";
import { textBlock } from "./tool-view.ts";

/** Whether the client of a connection answers requests for permission. */
export interface Asking {
	isRefused: boolean;
	/** The client does not know the request: it is not asked again. */
	refuse(): void;
}

export interface ApprovalsParts {
	live: LiveSession;
	peer: Peer;
	sessionId: string;
	projection: Projection;
	asking: Asking;
	/** Resolves when the client knows the session. */
	known: Promise<void>;
}

type Question = EventOf<"permission_request">;

/** Rejection comes first: careless clients take the first option. */
const reject: PermissionOption = { optionId: "reject_once", name: "Reject", kind: "reject_once" };
const allow: PermissionOption = { optionId: "allow_once", name: "Allow", kind: "allow_once" };
const scopes: Record<string, PermissionScope> = { allow_once: "once", allow_session: "session", allow_always: "always" };

export class Approvals {
	#parts: ApprovalsParts;
	/** Open questions by their ids. */
	#open = new Map<string, AbortController>();

	constructor(parts: ApprovalsParts) {
		this.#parts = parts;
	}

	/** From now on questions come as events. */
	hello(): void {
		const { live, asking } = this.#parts;
		const capabilities: Record<string, number> = asking.isRefused ? {} : { permissions: 1 };
		void live.commands.perform("hello", { capabilities }).catch((error) => live.assembly.log.error("hello failed", error));
	}

	observe(event: AgentEvent): void {
		if (event.type === "permission_request") void this.#ask(event);
		else if (event.type === "permission_resolved") {
			const open = this.#open.get(event.id);
			this.#open.delete(event.id);
			open?.abort();
		}
	}

	async #ask(question: Question): Promise<void> {
		const { live, peer, sessionId, asking, known } = this.#parts;
		const controller = new AbortController();
		this.#open.set(question.id, controller);
		await known;
		const { toolCall, end } = this.#toolCall(question);
		const options = optionsOf(question);
		let chosen: string | undefined;
		try {
			const params = { sessionId, toolCall, options };
			const answer = await peer.request<RequestPermissionResponse | null>("session/request_permission", params, { signal: controller.signal });
			const outcome = answer?.outcome;
			chosen = outcome?.outcome === "selected" ? outcome.optionId : undefined;
		} catch (error) {
			if (!isRpcError(error)) throw error;
			if (error.code === codes.methodNotFound) asking.refuse();
		}
		// Answered by others meanwhile, or withdrawn.
		if (!this.#open.delete(question.id)) return end(false);
		const scope = options.some(({ optionId }) => optionId === chosen) ? scopes[chosen ?? ""] : undefined;
		const { id, digest } = question;
		const decision = scope === undefined ? { decision: "deny" as const } : { decision: "allow" as const, scope };
		end(scope !== undefined);
		live.assembly.permissions.receive({ type: "permission_response", id, digest, ...decision });
	}

	/** The call that the client knows: that of a subagent is the call that sent it. */
	#toolCall({ toolCallId, origin, title, text, reason, diff, subject }: Question): { toolCall: object; end: (isAllowed: boolean) => void } {
		const { projection } = this.#parts;
		const [outermost] = origin;
		const known = projection.shown(outermost?.toolCallId ?? toolCallId);
		const agents = origin.map(({ agent }) => agent).join(" → ");
		const path = subject.targets[0];
		const change: ToolCallContent[] = diff !== undefined && path !== undefined ? patchDiffs(path, diff) : [];
		const content = [textBlock(reason), ...(known && !outermost ? [] : [textBlock(text)]), ...change];
		const shown = known ?? projection.question(title, text);
		const name = outermost || !known ? title : known.title;
		return {
			toolCall: {
				toolCallId: shown.id,
				title: agents === "" ? name : `${agents}: ${name}`,
				kind: known?.kind ?? "other",
				status: "pending",
				rawInput: projection.input(subject.args),
				content,
			},
			end: known ? () => undefined : (shown as ReturnType<Projection["question"]>).end,
		};
	}
}

function optionsOf({ choices, proposal }: Question): PermissionOption[] {
	const rule = ruleText(proposal);
	return [
		reject,
		allow,
		...(choices.includes("session") ? [{ optionId: "allow_session", name: `Allow ${rule} in this session`, kind: "allow_always" as const }] : []),
		...(choices.includes("always")
			? [{ optionId: "allow_always", name: `Always allow ${rule} in this project`, kind: "allow_always" as const }]
			: []),
	];
}

function ruleText(rule: PermissionRule | undefined): string {
	const what = rule?.command ?? rule?.path ?? rule?.host;
	return what === undefined ? `\`${rule?.tool ?? "this"}\`` : `\`${what}\``;
}
