import type { SessionState } from "../../protocol/commands/state.ts";
import type { Identity } from "../../protocol/identity.ts";
import type { Session } from "../../session/session.ts";
import type { Permissions } from "../permissions.ts";
import type { Handlers } from "./contract.ts";

type Names =
	| "get_state"
	| "get_messages"
	| "get_last_assistant_text"
	| "set_steering_mode"
	| "set_follow_up_mode"
	| "set_interrupt_mode"
	| "clear_queue"
	| "set_todos";

export function stateHandlers(session: Session, identity: Identity, permissions: Pick<Permissions, "state">): Pick<Handlers, Names> {
	/** Made again when the state is another one, so that the server can answer with the same JSON until then. */
	let known: { state: object; approvals: object; answer: SessionState } | undefined;
	const current = (isUnchanged = false): SessionState => {
		const state = isUnchanged && known ? known.state : session.state;
		const approvals = permissions.state;
		if (known?.state !== state || known.approvals !== approvals)
			known = { state, approvals, answer: Object.freeze({ ...state, ...identity, ...approvals }) as SessionState };
		return known.answer;
	};
	/** The last call that asked for the state, until the code that read it returns. */
	let askedBy: number | undefined;
	/** Only commands change a session in between: a host that asks many times at once costs little. */
	const wasAskedBefore = (ordinal: number): boolean => {
		const before = askedBy;
		askedBy = ordinal;
		if (before === undefined) {
			queueMicrotask(() => {
				askedBy = undefined;
			});
		}
		return before === ordinal - 1;
	};
	return {
		get_state: ({ full }, { ordinal }) => (full ? fullState(session, current) : current(wasAskedBefore(ordinal))),
		get_messages: () => ({ messages: [...session.messages] }),
		get_last_assistant_text: () => ({ text: session.conversation.lastText }),
		set_steering_mode({ mode }) {
			session.inbox.steeringMode = mode;
		},
		set_follow_up_mode({ mode }) {
			session.inbox.followUpMode = mode;
		},
		set_interrupt_mode({ mode }) {
			session.controls.interruptMode = mode;
		},
		set_todos: ({ phases }) => ({ todoPhases: [...session.setTodos(phases)] }),
		clear_queue(_, call) {
			const hadSome = session.inbox.count > 0;
			const texts = session.inbox.clear();
			if (hadSome) call.afterResponse(() => session.announceQueues());
			return texts;
		},
	};
}

/** The state with the system prompt and tools that a request to the model would have now. */
async function fullState(session: Session, state: () => SessionState): Promise<SessionState> {
	const { systemPrompt, tools } = await session.briefing.preview();
	const dumpTools = tools.map(({ name, description, parameters }) => ({ name, description, parameters: parameters as Record<string, unknown> }));
	return { ...state(), systemPrompt, dumpTools };
}
