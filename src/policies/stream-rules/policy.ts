/** Connects stream rules to the session: cuts a reply that breaks one, informs the model, and lets it start over. */
import type { Emit, Policy } from "../../agent/contracts.ts";
import type { CustomMessage } from "../../protocol/messages.ts";
import { cutText } from "./cut-text.ts";
import type { Rule, StreamRules } from "./index.ts";

export interface StreamRulesPolicyOptions {
	/** The rules, if there are any, with those marked that the conversation already contains. Called before a prompt's run. */
	load: () => Promise<StreamRules | undefined>;
	/** What happens to a reply that was cut. */
	contextMode: () => "discard" | "keep";
	/** Records in the session's file which rules were used. */
	note: (names: string[]) => void;
	emit: Emit;
	now: () => number;
}

export function streamRulesPolicy({ load, contextMode, note, emit, now }: StreamRulesPolicyOptions): Policy {
	let rules: StreamRules | undefined;
	/** The rules for which the currently streaming reply was cut. */
	let cut: Rule[] | undefined;
	/** Rules that the last reply broke without being cut. */
	let broken: Rule[] = [];

	return {
		name: "stream-rules",
		async prepare(pending) {
			if (pending.length > 0) rules = await load();
		},
		observe(event) {
			if (event.type === "turn_end") rules?.turnEnded();
			if ((event.type !== "message_start" && event.type !== "message_end") || event.message.role !== "assistant") return;
			if (event.type === "message_start") return rules?.replyStarted();
			const { stopReason } = event.message;
			broken = stopReason === "error" || stopReason === "aborted" ? [] : (rules?.takePending() ?? []);
		},
		watch(event) {
			if (!rules || cut) return undefined;
			cut = rules.watch(event);
			if (!cut) return undefined;
			emit({ type: "ttsr_triggered", rules: cut });
			return cutText(cut);
		},
		foresee: () => cut !== undefined || broken.length > 0,
		async settle(_, __, signal) {
			const [due, wasCut] = cut ? [cut, true] : [broken, false];
			cut = undefined;
			broken = [];
			if (!rules || due.length === 0 || signal?.aborted) return undefined;
			const message: CustomMessage = { role: "custom", ...rules.injectionFor(due), timestamp: now() };
			note(due.map(({ name }) => name));
			return { dropFailedReply: wasCut && contextMode() === "discard", due: Promise.resolve(true), messages: [message] };
		},
	};
}
