/** Sends one prompt and waits until nothing follows from it any more. */
import { setImmediate } from "node:timers/promises";
import type { Hooks } from "../agent/contracts.ts";
import type { Prompting } from "../live/prompting.ts";
import type { Session } from "../session/session.ts";
import type { OneShotPrompt } from "./prompts.ts";

export interface AskParts {
	session: Session;
	hooks: Hooks;
	prompting: Prompting;
}

/** Gives the reason when the prompt cannot run. */
export async function ask({ text, context, images }: OneShotPrompt, { session, hooks, prompting }: AskParts): Promise<string | undefined> {
	const command = hooks.command?.(text);
	if (command) {
		if (context !== "" || images.length > 0) return `${text.split(/\s/, 1)[0]} is a command of an extension: it takes neither files nor stdin.`;
		await command.run();
	} else {
		// With something before it, a skill or template would no longer stand at the beginning.
		const asked = context === "" ? text : [context, await prompting.expand(text)].join("\n\n").trimEnd();
		const refusal = await session.prompt({ text: asked, images }).begin();
		if (refusal !== undefined) return refusal;
	}
	do {
		await session.settled();
		// What an extension says at the end of a run begins behind it.
		await setImmediate();
	} while (session.isBusy);
	return undefined;
}
