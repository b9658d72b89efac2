/**
 * A host on the client: it streams the reply, offers a tool of its own, and answers questions.
 *
 *   npm install bowline, then run it with a script that plays the model, or with a model of your own:
 *   node client.ts --provider scripted --model weather.jsonc
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
