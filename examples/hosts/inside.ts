/**
 * An agent inside your own process. There is no child process and no pipe.
 *
 *   npx tsx inside.ts (Node 22.18 and newer: node inside.ts)
 */
import { createSession } from "bowline";

const session = await createSession({ noSession: true, tools: "read,ls", provider: "scripted", model: "echo" });

for await (const event of ask("hello")) {
	if (event.type === "message_update" && event.assistantMessageEvent.type === "text_delta") process.stdout.write(event.assistantMessageEvent.delta);
}
process.stdout.write("\n");
await session.close();

/** The events of one prompt, until the agent is idle. */
async function* ask(message: string) {
	const events = session.events();
	await session.prompt({ message });
	for await (const event of events) {
		yield event;
		if (event.type === "agent_settled") return;
	}
}
