import { ack, command, flag } from "../define.ts";

export const retryCommands = {
	set_auto_retry: command({
		doc: "Automatic retry on or off, for this session.",
		lane: "serial",
		access: "seat",
		params: { enabled: flag() },
		result: ack,
		example: { send: { enabled: false } },
	}),
	abort_retry: command({
		doc: "Cancel the wait of a pending retry. A success also when none is pending.",
		lane: "interrupt",
		access: "interject",
		params: {},
		result: ack,
		example: { send: {} },
	}),
};
