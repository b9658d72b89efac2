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
	const current = (): SessionState => Object.assign(session.state, identity, permissions.state);
	return {
		get_state: ({ full }) => (full ? fullState(session, current) : current()),
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
