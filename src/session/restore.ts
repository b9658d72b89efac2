/** Model and thinking level of an opened session. */
import { CommandError } from "../protocol/command-error.ts";
import { removed } from "../transcript/context-edits.ts";
import { type EntryOf, isSpoken } from "../transcript/entries.ts";
import { levelOf, modelOf } from "../transcript/projection.ts";
import type { Conversation } from "./conversation.ts";
import type { ModelChoice } from "./model-choice.ts";

/** The conversation that continues, and its model. */
export interface Chosen {
	choice: ModelChoice;
	transcript: Conversation["transcript"];
}

/** Restores what the session was using, if the caller wants it and the model exists. Returns the reason when the model is a different one. */
export async function restoreChoice({ choice, transcript }: Chosen, wanted: { model: boolean; level: boolean }): Promise<string | undefined> {
	const { branch } = transcript;
	return choice.restore(wanted.model ? modelOf(branch) : undefined, wanted.level ? levelOf(branch) : undefined);
}

/** Records in the session what it continues with, where its entries say otherwise. */
export function noteChoice({ choice, transcript }: Chosen): void {
	const { branch } = transcript;
	const last = modelOf(branch);
	const { model, level } = choice;
	if (model && (model.provider !== last?.provider || model.id !== last.id)) {
		transcript.prepare({ type: "model_change", provider: model.provider, modelId: model.id });
	}
	if (levelOf(branch) !== level) transcript.prepare({ type: "thinking_level_change", thinkingLevel: level });
}

/** The stream rules that were injected on this branch. */
export function usedRules({ transcript: { branch } }: Pick<Conversation, "transcript">): string[] {
	const places = Array.from({ length: branch.length }, (_, place) => place).filter((place) => branch.kind(place) === "ttsr_injection");
	return places.flatMap((place) => (branch.entry(place) as EntryOf<"ttsr_injection">).injectedRules);
}

/** Other entries that the family writes and no context holds. */
const knownTypes = new Set([
	"compaction",
	"context_edit",
	"custom",
	"label",
	"mode_change",
	"model_change",
	"session_info",
	"session_init",
	"system_message",
	"thinking_level_change",
	"ttsr_injection",
	"unreadable",
	"usage",
]);

/** Returns a warning about entries that may mean something to the program that wrote them; undefined if all are known. */
export function unknownEntries({ transcript: { branch } }: Pick<Conversation, "transcript">): string | undefined {
	const unknown = new Set<string>();
	for (let place = 0; place < branch.length; place++) {
		const kind = branch.kind(place);
		if (!isSpoken(kind) && kind !== removed && !knownTypes.has(kind)) unknown.add(kind);
	}
	if (unknown.size === 0) return undefined;
	const names = [...unknown].map((name) => name.slice(0, 40)).slice(0, 5);
	return `The session file has entries of types that Bowline does not know (${names.join(", ")}). Its context may differ from that of the program that wrote them.`;
}

/** A name in one line. */
export function sessionName(given: string): string {
	const name = given.replace(/[\r\n]+/g, " ").trim();
	if (name === "") throw new CommandError("bad_field", "Session name cannot be empty");
	return name;
}
