/**
 * A host built on the client. It streams the reply, offers a tool of its own, and answers questions.
 *
 * Run `npm install` with the package, then start it with a script in place of a model, or with a model of your own:
 *   npx tsx client.ts --provider scripted --model weather.jsonc
 * Node 22.18 and newer run TypeScript without tsx: node client.ts …
 */
import { startClient } from "bowline/client";

const client = await startClient({ args: ["--no-session", ...process.argv.slice(2)] });

await client.setCustomTools([
	{
		name: "weather",
		description: "The weather in a city, now.",
		parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
		execute: ({ city }: { city: string }, { onUpdate }) => {
			onUpdate("looking out of the window");
			return `It rains in ${city}.`;
		},
	},
]);
client.onDialog((dialog) => (dialog.method === "confirm" ? true : undefined));
client.on("message_update", ({ assistantMessageEvent: step }) => {
	if (step.type === "text_delta") process.stdout.write(step.delta);
});

const { stopReason, errorMessage } = await client.promptAndWait("Do I need an umbrella in Bergen?");
process.stdout.write("\n");
if (stopReason !== "stop") console.error(`It ended with ${stopReason}: ${errorMessage}`);
await client.close();
