/** `bowline chat`: a terminal client, and an example of a host. It knows nothing of the agent but the client and the protocol. */
import { inspect } from "node:util";
import { type Client, startClient } from "../client/index.ts";
import { printable } from "../lib/printable.ts";
import { Chat } from "./chat.ts";
import { howToGoOn, savedSessions } from "./sessions.ts";
import { Terminal } from "./terminal.ts";

/** The grace periods for the agent when we leave. */
const closePatience = { endMs: 2000, termMs: 1000 };

/** `program`: the command to start; `flags`: the user's flags, passed to the agent. Returns the exit code. */
export async function chat(program: readonly string[], flags: readonly string[]): Promise<number> {
	const terminal = new Terminal(process.env);
	let client: Client | undefined;
	/** In every case: restores the terminal first, then ends the agent. */
	const crash = async (code: number, error?: unknown) => {
		terminal.leave();
		if (error !== undefined) console.error(printable(`bowline chat: ${inspect(error)}`));
		await client?.close();
		process.exit(code);
	};
	process.on("SIGINT", () => void crash(130));
	process.on("SIGTERM", () => void crash(143));
	process.on("SIGHUP", () => void crash(129));
	process.on("uncaughtException", (error) => void crash(1, error));
	process.on("unhandledRejection", (error) => void crash(1, error));

	let conversation: Chat | undefined;
	let warnings = "";
	client = await startClient({
		command: [...program, "--mode", "rpc", "--updates", "delta", ...flags],
		waitForReady: true,
		closePatience,
		onStderr(text) {
			if (conversation) conversation.say("warning", text);
			else warnings += text;
		},
		onError: (error) => void crash(1, error),
	});
	const { sandbox } = await client.getState();
	if (sandbox?.required) {
		await client.close();
		console.error(printable(`The sandbox that this session requires is not available: ${sandbox.reason}. ${sandbox.remedy ?? ""}`.trimEnd()));
		return 1;
	}
	conversation = new Chat(client, terminal, (current) => savedSessions(program, current, Date.now()));
	await conversation.start(warnings);
	await conversation.left;
	conversation.stop();
	await client.close();
	const { session } = conversation;
	if (session) console.log(howToGoOn(session, flags));
	return 0;
}
