import type { Session } from "../../session/session.ts";
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

export function stateHandlers(session: Session): Pick<Handlers, Names> {
	return {
		get_state: () => session.state,
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
