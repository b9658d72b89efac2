/** Model and thinking level of an opened session. */
import { CommandError } from "../lib/command-error.ts";
import type { EntryOf } from "../transcript/entries.ts";
import { levelOf, modelOf } from "../transcript/projection.ts";
import type { Session } from "./session.ts";

/** Takes what the session was using, as far as it is wanted and there is such a model. Tells why the model is another. */
export async function restoreChoice({ choice, transcript }: Session, wanted: { model: boolean; level: boolean }): Promise<string | undefined> {
	const { branch } = transcript;
	return choice.restore(wanted.model ? modelOf(branch) : undefined, wanted.level ? levelOf(branch) : undefined);
}

/** Notes in the session what it goes on with, where that is not what it says. */
export function noteChoice({ choice, transcript }: Session): void {
	const { branch } = transcript;
	const last = modelOf(branch);
	const { model, level } = choice;
	if (model && (model.provider !== last?.provider || model.id !== last.id)) {
		transcript.prepare({ type: "model_change", provider: model.provider, modelId: model.id });
	}
	if (levelOf(branch) !== level) transcript.prepare({ type: "thinking_level_change", thinkingLevel: level });
}

/** The stream rules that this branch has been told of. */
export function usedRules({ transcript: { branch } }: Session): string[] {
	const places = Array.from({ length: branch.length }, (_, place) => place).filter((place) => branch.kind(place) === "ttsr_injection");
	return places.flatMap((place) => (branch.entry(place) as EntryOf<"ttsr_injection">).injectedRules);
}

/** A name in one line. */
export function sessionName(given: string): string {
	const name = given.replace(/[\r\n]+/g, " ").trim();
	if (name === "") throw new CommandError("Session name cannot be empty");
	return name;
}
