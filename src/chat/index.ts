/** `bowline chat`: a terminal client, and an example of a host. It knows nothing of the agent but the client and the protocol. */

import { inspect } from "node:util";
import { type Client, startClient } from "../client/index.ts";
import { asSentence } from "../lib/as-sentence.ts";
import { printable } from "../lib/printable.ts";
import { Chat } from "./chat.ts";
import { SafetyChoice } from "./safety.ts";
import { howToGoOn, savedSessions } from "./sessions.ts";
import { Terminal } from "./terminal.ts";

/** The grace periods for the agent when we leave. */
const closePatience = { endMs: 2000, termMs: 1000 };

export interface ChatInput {
	/** The command to start. */
	program: readonly string[];
	/** The user's flags, passed to the agent. */
	flags: readonly string[];
	cwd: string;
	userDirectory: string;
}

/** Returns the exit code. */
export async function chat({ program, flags, cwd, userDirectory }: ChatInput): Promise<number> {
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
	const start = (more: readonly string[]) =>
		startClient({
			command: [...program, "--mode", "rpc", "--updates", "delta", ...more, ...flags],
			waitForReady: true,
			closePatience,
			onStderr(text) {
				if (conversation) conversation.say("warning", text);
				else warnings += text;
			},
			onError: (error) => void crash(1, error),
		});
	const choice = new SafetyChoice({ userDirectory, cwd, flags });
	client = await start(choice.flags);
	let state = await client.getState();
	if (choice.isOpen(state)) {
		const isContained = await choice.ask();
		if (isContained === undefined) await crash(130);
		if (isContained) {
			await client.close();
			warnings = "";
			client = await start(["--contained"]);
			state = await client.getState();
		}
		if (!state.sandbox?.required) choice.keep(isContained === true);
	}
	const { sandbox } = state;
	if (sandbox?.required) {
		await client.close();
		const without = state.safety ? " To start without it: bowline chat --set safety=off." : "";
		console.error(
			printable(
				`The sandbox that this session requires is not available: ${asSentence(sandbox.reason ?? "unknown reason")} ${sandbox.remedy ?? ""}`.trimEnd() +
					without,
			),
		);
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
