/** Sends one prompt and waits until nothing more follows from it. */
import { setImmediate } from "node:timers/promises";
import type { Refusal } from "../live/dispatch.ts";
import type { LiveSession } from "../live/live-session.ts";
import type { OneShotPrompt } from "./prompts.ts";

/** Returns the reason when the prompt cannot run. */
export async function ask({ text, context, images, outputSchema }: OneShotPrompt, live: LiveSession): Promise<Refusal | undefined> {
	const { session, assembly } = live;
	const command = live.extensions?.findCommand(text);
	if (command) {
		const refuse = (why: string): Refusal => ({ text: `${text.split(/\s/, 1)[0]} is a command of an extension: ${why}`, code: "unsupported" });
		if (outputSchema) return refuse("it gives no value for --output-schema.");
		if (context !== "" || images.length > 0) return refuse("it takes neither files nor stdin.");
		await command.run();
	} else {
		// With text in front of it, a skill or template would no longer be at the beginning.
		const message = context === "" ? text : [context, await assembly.prompting.expand(text)].join("\n\n").trimEnd();
		const refusal = await live.commands.prompt({ message, images, outputSchema });
		if (refusal) return refusal;
	}
	do {
		await session.settled();
		// A message that an extension sends at the end of a run starts after it.
		await setImmediate();
	} while (session.isBusy);
	return undefined;
}
