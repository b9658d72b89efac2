import { CommandError } from "../../protocol/command-error.ts";
import type { Front } from "../front.ts";
import type { LiveSession } from "../live-session.ts";
import type { Handlers } from "./contract.ts";

type Names = "subscribe" | "ping" | "resume_run";

export function sequenceHandlers(live: () => LiveSession, front: Pick<Front, "reader" | "variations">): Pick<Handlers, Names> {
	return {
		async subscribe({ afterSeq, filter, deltas }, call) {
			const { reader } = front;
			if (!reader || front.variations?.hasNoNumbers)
				throw new CommandError("unsupported", "subscribe: this dialect has no numbers. Start the agent with another --dialect.");
			const bad = filter?.findIndex((name) => typeof name !== "string") ?? -1;
			if (bad >= 0) throw new CommandError("bad_field", `subscribe: filter[${bad}] must be string`);
			const sequence = await live().number();
			const replay = sequence.replay(afterSeq);
			const { replayTo, firstSeq, epoch } = replay;
			call.afterResponse(() => reader.replay(replay, { filter, deltas: deltas ?? true }));
			return { replayTo, firstSeq, epoch };
		},
		ping() {
			const { session, sequence } = live();
			const { period } = session.activity;
			const phase = sequence?.live.phase ?? (period?.isCompacting ? "compacting" : session.isBusy ? "running" : "idle");
			return { ...(sequence && { asOf: sequence.asOf }), phase };
		},
		resume_run({ note }, call) {
			const { session } = live();
			const prompt = session.resume(note);
			if (!prompt) return { disposition: "nothing" as const };
			if (prompt.known?.code === "busy") throw new CommandError("busy", prompt.known.text);
			call.continueAfterAck(prompt);
			return { disposition: "started" as const };
		},
	};
}
