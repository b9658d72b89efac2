import { resolve } from "node:path";
import type { Budget } from "../../agent/contracts.ts";
import type { QueueTexts } from "../../session/inbox.ts";
import type { Session } from "../../session/session.ts";
import type { Call, Handlers } from "./contract.ts";

type Names =
	| "new_session"
	| "switch_session"
	| "open_session"
	| "fork"
	| "branch"
	| "clone"
	| "get_fork_messages"
	| "get_branch_messages"
	| "set_session_name"
	| "get_session_stats"
	| "get_entries"
	| "get_tree"
	| "get_messages_page";

/** Where to: a new session, one that was there before, or a fork of this one. */
type How = "new" | "resume" | "fork";

export function sessionHandlers(session: Session, cwd: string, budget: Budget | undefined): Pick<Handlers, Names> {
	const { doors } = session;
	const switching = () => import("../../session/switching.ts");
	const queries = () => import("../../session/queries.ts");
	/** Runs work that switches to another session, and reports after the response what else is different there. */
	const moving = async <T extends { queues: QueueTexts }>(call: Call, how: How, move: () => Promise<T>): Promise<Omit<T, "queues">> => {
		const { name, file } = session.transcript;
		const { level, model: previousModel } = session.choice;
		const { queues, ...result } = await move();
		call.afterResponse(() => {
			const { model } = session.choice;
			const previous = file === undefined ? {} : { previousSessionFile: file };
			doors.notice(how === "fork" ? { type: "session_fork", ...previous } : { type: "session_switch", reason: how, ...previous });
			if (model && model !== previousModel) doors.notice({ type: "model_select", model, previousModel, source: "restore" });
			if (queues.steering.length + queues.followUp.length) session.announceQueues();
			if (session.transcript.name !== name) session.emit({ type: "session_info_changed", name: session.transcript.name ?? "" });
			if (session.choice.level !== level) session.emit({ type: "thinking_level_changed", level: session.choice.level });
		});
		return result;
	};
	/** Whether a policy keeps the host from leaving this session. */
	const isKept = async (reason: "new" | "resume", targetSessionFile?: string) =>
		(await doors.leave?.({ to: "session", reason, ...(targetSessionFile === undefined ? {} : { targetSessionFile }) }))?.cancel === true;
	const fork = (refusal: string) => async (params: { entryId: string }, call: Call) => {
		const { forkAt, forkPoint } = await switching();
		const { text } = forkPoint(session, params.entryId, refusal);
		const answer = await doors.leave?.({ to: "fork", entryId: params.entryId });
		if (answer?.cancel) return { text, cancelled: true };
		await moving(call, "fork", () => forkAt(session, params.entryId, refusal, answer?.keepsConversation));
		return { text, cancelled: false };
	};
	const forkMessages = async () => ({ messages: (await queries()).forkPoints(session) });
	return {
		async new_session({ parentSession }, call) {
			if (await isKept("new")) return { cancelled: true };
			await moving(call, "new", async () => ({ queues: await session.renew(parentSession) }));
			return { cancelled: false };
		},
		async switch_session({ sessionPath }, call) {
			const { switchSession } = await switching();
			const path = resolve(cwd, sessionPath);
			if (await isKept("resume", path)) return { cancelled: true };
			await moving(call, "resume", async () => ({ queues: await switchSession(session, path) }));
			return { cancelled: false };
		},
		async open_session({ sessionDir }, call) {
			const { openDirectory } = await switching();
			const cancelled = await isKept("resume");
			const { resumed } = cancelled ? { resumed: false } : await moving(call, "resume", () => openDirectory(session, resolve(cwd, sessionDir)));
			const { sessionId, file } = session.transcript;
			return { cancelled, resumed, sessionId, sessionFile: file };
		},
		fork: fork("Invalid entry ID for forking"),
		branch: fork("Invalid entry ID for branching"),
		async clone(_, call) {
			const { cloneBranch } = await switching();
			const entryId = session.transcript.leafId;
			if (entryId !== null && (await doors.leave?.({ to: "fork", entryId }))?.cancel) return { cancelled: true };
			await moving(call, "fork", async () => ({ queues: await cloneBranch(session) }));
			return { cancelled: false };
		},
		get_fork_messages: forkMessages,
		get_branch_messages: forkMessages,
		set_session_name({ name }, call) {
			session.rename(name);
			call.afterResponse(() => session.emit({ type: "session_info_changed", name: session.transcript.name ?? "" }));
		},
		get_session_stats: async () => ({ ...(await queries()).statsOf(session), ...(budget && { budget: budget.ceilings() }) }),
		get_entries: async ({ since }) => (await queries()).entriesSince(session, since),
		get_tree: async () => (await queries()).treeOfSession(session),
		get_messages_page: async ({ cursor, limit }) => (await queries()).messagesPage(session, cursor, limit),
	};
}
