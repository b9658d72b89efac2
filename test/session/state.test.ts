/** The state of a session shows every change. */
import { expect, test } from "vitest";
import { scriptedModel } from "../../src/models/scripted/model.ts";
import type { Session } from "../../src/session/session.ts";
import { kernel } from "./kernel.ts";

const quiet = () => kernel({ stream: async () => undefined }).session;

const changes: Record<string, { change: (session: Session) => void; shows: object }> = {
	model: { change: ({ choice }) => choice.use({ model: scriptedModel("other") }), shows: { model: { id: "other" } } },
	"steering mode": {
		change: ({ inbox }) => {
			inbox.steeringMode = "all";
		},
		shows: { steeringMode: "all" },
	},
	"interrupt mode": {
		change: ({ controls }) => {
			controls.interruptMode = "wait";
		},
		shows: { interruptMode: "wait" },
	},
	name: { change: (session) => session.rename("new name"), shows: { sessionName: "new name" } },
	message: { change: (session) => session.say(session.userMessage("hello", [])), shows: { messageCount: 1 } },
	queue: { change: (session) => void session.queue("followUp", "later", []), shows: { pendingMessageCount: 1, queuedMessageCount: 1 } },
	todos: { change: (session) => void session.setTodos([{ name: "a plan", tasks: [] }]), shows: { todoPhases: [{ name: "a plan" }] } },
	"other session": { change: (session) => void session.adopt(session.store.create()), shows: { messageCount: 0 } },
};

test.each(Object.entries(changes))("a change is in the next state: %s", (_, { change, shows }) => {
	const session = quiet();
	const before = session.state;
	const copy = structuredClone(before);
	change(session);
	expect(session.state).toMatchObject(shows);
	expect(before).toEqual(copy);
});
