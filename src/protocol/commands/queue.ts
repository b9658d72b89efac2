import Type, { type Static } from "typebox";
import { ack, command, list, text, words } from "../define.ts";

export const QueueMode = words("all", "one-at-a-time");
export const InterruptMode = words("immediate", "wait");
export type QueueMode = Static<typeof QueueMode>;
export type InterruptMode = Static<typeof InterruptMode>;

export const queueCommands = {
	set_steering_mode: command({
		doc: "How many steering messages one delivery takes.",
		lane: "serial",
		access: "seat",
		params: { mode: QueueMode },
		result: ack,
		example: { send: { mode: "all" } },
	}),
	set_follow_up_mode: command({
		doc: "How many follow-ups one delivery takes.",
		lane: "serial",
		access: "seat",
		params: { mode: QueueMode },
		result: ack,
		example: { send: { mode: "one-at-a-time" } },
	}),
	set_interrupt_mode: command({
		doc: "`immediate`: steering is looked for after every tool call, and skips the rest of the turn's calls. `wait`: only after the turn.",
		lane: "serial",
		access: "seat",
		params: { mode: InterruptMode },
		result: ack,
		example: { send: { mode: "wait" } },
	}),
	clear_queue: command({
		doc: "Empty both queues; answers with the texts that were in them.",
		lane: "serial",
		access: "seat",
		params: {},
		result: Type.Object({ steering: list(text()), followUp: list(text()) }),
		example: { send: {}, data: { steering: ["Leave the database alone."], followUp: [] } },
	}),
};
