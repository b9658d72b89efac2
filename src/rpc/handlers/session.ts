import { resolve } from "node:path";
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

export function sessionHandlers(session: Session): Pick<Handlers, Names> {
	const load = () => import("../../session/moves.ts");
	/** Does something that leads to another session, and tells behind the response what else is different there. */
	const moving = async <T extends { queues: QueueTexts }>(call: Call, move: () => Promise<T>): Promise<Omit<T, "queues">> => {
		const name = session.transcript.name;
		const level = session.choice.level;
		const { queues, ...result } = await move();
		call.afterResponse(() => {
			if (queues.steering.length + queues.followUp.length) session.announceQueues();
			if (session.transcript.name !== name) session.emit({ type: "session_info_changed", name: session.transcript.name });
			if (session.choice.level !== level) session.emit({ type: "thinking_level_changed", level: session.choice.level });
		});
		return result;
	};
	const fork = (refusal: string) => async (params: { entryId: string }, call: Call) => {
		const { forkAt } = await load();
		const { text } = await moving(call, () => forkAt(session, params.entryId, refusal));
		return { text, cancelled: false };
	};
	const forkMessages = async () => ({ messages: (await load()).forkPoints(session) });
	return {
		async new_session({ parentSession }, call) {
			await moving(call, async () => ({ queues: await session.renew(parentSession) }));
			return { cancelled: false };
		},
		async switch_session({ sessionPath }, call) {
			const { switchSession } = await load();
			await moving(call, async () => ({ queues: await switchSession(session, resolve(sessionPath)) }));
			return { cancelled: false };
		},
		async open_session({ sessionDir }, call) {
			const { openDirectory } = await load();
			const { resumed } = await moving(call, () => openDirectory(session, resolve(sessionDir)));
			const { sessionId, file } = session.transcript;
			return { cancelled: false, resumed, sessionId, sessionFile: file };
		},
		fork: fork("Invalid entry ID for forking"),
		branch: fork("Invalid entry ID for branching"),
		async clone(_, call) {
			const { cloneBranch } = await load();
			await moving(call, async () => ({ queues: await cloneBranch(session) }));
			return { cancelled: false };
		},
		get_fork_messages: forkMessages,
		get_branch_messages: forkMessages,
		set_session_name({ name }, call) {
			session.rename(name);
			call.afterResponse(() => session.emit({ type: "session_info_changed", name: session.transcript.name }));
		},
		get_session_stats: async () => (await load()).statsOf(session),
		get_entries: async ({ since }) => (await load()).entriesSince(session, since) as never,
		get_tree: async () => (await load()).treeOfSession(session) as never,
		get_messages_page: async ({ cursor, limit }) => (await load()).messagesPage(session, cursor, limit),
	};
}
