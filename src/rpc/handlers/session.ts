import type { Session } from "../../session/session.ts";
import type { Handlers } from "./contract.ts";

type Names = "new_session";

export function sessionHandlers(session: Session): Pick<Handlers, Names> {
	return {
		async new_session({ parentSession }, call) {
			const { steering, followUp } = await session.renew(parentSession);
			if (steering.length + followUp.length) call.afterResponse(() => session.announceQueues());
			return { cancelled: false };
		},
	};
}
