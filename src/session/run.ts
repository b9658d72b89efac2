/** The busy period of a prompt: gets it ready and drives its runs. Loaded with the first prompt. */
import type { Halt } from "../agent/policy.ts";
import { linkedController, onAbort } from "../lib/abort.ts";
import type { Activity, BusyPeriod } from "./activity.ts";
import type { SessionParts } from "./dependencies.ts";
import { drive } from "./drive.ts";
import { prepareRun } from "./prepare-run.ts";
import { restating } from "./required-answer.ts";

export { admit, ensureReady, expandMessage } from "./prepare-run.ts";

export function runPeriod(period: BusyPeriod, activity: Activity, parts: SessionParts): Promise<void> {
	const { conversation, briefing, controls, doors, requests, writeAhead } = parts;
	const { flow, redact, now, log } = parts.edges;
	const { controller, release } = linkedController(period.controller.signal);
	// A policy may abort what runs, which is not an abort by the host.
	const releases = doors.halts.map((halt) => onAbort(halt, () => (halt.reason as Halt).run === "abort" && controller.abort()));
	return drive({
		period,
		activity,
		prepareRun: () => prepareRun(period, parts),
		dropLastReply: () => conversation.dropLastReply(),
		emit: (event) => writeAhead.emit(event.type === "agent_end" && briefing.answer ? briefing.answer.concluded(event, doors.haltReason) : event),
		log,
		loop: {
			context: () => conversation.messages,
			setup: () => briefing.setup(),
			stream: requests.watching(writeAhead.storing(briefing.models.stream)),
			validate: async (tool, args) => (await import("../agent/validate.ts")).validateArguments(tool, args),
			queues: restating(
				writeAhead.queues,
				() => briefing.answer,
				() => conversation.messages,
				now,
			),
			interruptMode: () => controls.interruptMode,
			doors,
			sessionId: () => conversation.transcript.cacheKey,
			redact,
			flow,
			signal: controller.signal,
			now,
		},
	}).finally(() => {
		for (const each of [release, ...releases]) each();
	});
}
