/** The local commands `/name`. Everything else that begins with a slash is the agent's: skills, templates, commands of extensions. */
import type { Client } from "../client/index.ts";
import type { Level } from "./conversation.ts";
import { savedSessions } from "./sessions.ts";

/** What commands need from the chat. */
export interface Desk {
	client: Client;
	say(level: Level, text: string): void;
	choose(title: string, options: readonly string[]): Promise<number | undefined>;
	write(text: string): void;
	/** Shows the session that the agent has now. */
	reload(): Promise<void>;
	/** The same session, with another model or name. */
	refresh(): Promise<void>;
	/** Shows what is going on until the work is done. */
	during<T>(doing: string, work: Promise<T>): Promise<T>;
	quit(): void;
}

export interface Command {
	/** The arguments that may follow the name. */
	usage?: string;
	doc: string;
	run(argument: string, desk: Desk): void | Promise<void>;
}

export const commands: Record<string, Command> = {
	help: { doc: "Keys and commands", run: help },
	model: { usage: "[name]", doc: "Choose the model", run: chooseModel },
	new: { doc: "Begin a new session", run: async (_, { client, reload }) => void ((await client.newSession()).cancelled || (await reload())) },
	resume: { doc: "Go on with another session of this directory", run: resume },
	fork: { doc: "Go back to an earlier message, in a new session", run: fork },
	compact: { usage: "[what matters]", doc: "Condense the conversation", run: compact },
	stats: { doc: "Messages, tokens, cost", run: stats },
	export: { usage: "[file]", doc: "Write the session as an HTML page", run: exportPage },
	quit: { doc: "Leave", run: (_, { quit }) => quit() },
};

const keys = `Enter          send; while the agent works: steer it
Alt+Enter      send behind what the agent is doing
Esc            abort; what was queued comes back
Ctrl+J         new line (Shift+Enter where the terminal tells)
Up, Down       what was sent before
PgUp, PgDn     look back
Ctrl+O         tool calls and thoughts in full, or folded
Tab            complete a command
Ctrl+L         draw the screen again
Ctrl+C         clear the input; abort; leave
Ctrl+D         leave
Ctrl+Z         back to the shell for a while`;

async function help(_: string, { client, say }: Desk): Promise<void> {
	const own = Object.entries(commands).map(([name, { usage, doc }]) => ({ name: usage ? `${name} ${usage}` : name, description: doc }));
	const { commands: others } = await client.getCommands();
	const line = ({ name, description }: { name: string; description?: string }) => `/${name.padEnd(22)} ${description ?? ""}`;
	say("info", [keys, "", ...own.map(line), ...others.map(line)].join("\n"));
}

async function chooseModel(argument: string, { client, say, choose, refresh }: Desk): Promise<void> {
	const { models } = await client.getAvailableModels();
	const names = models.map(({ provider, id }) => `${provider}/${id}`);
	const exact = names.filter((name, index) => name === argument || models[index]?.id === argument);
	const fitting = exact.length ? exact : names.filter((name) => name.toLowerCase().includes(argument.toLowerCase()));
	if (fitting.length === 0)
		return say("warning", argument ? `No usable model is called ${argument}. See bowline models.` : "No model can be used. See bowline models.");
	const name = fitting.length === 1 ? fitting[0] : fitting[(await choose("Which model?", fitting)) ?? -1];
	const model = models[names.indexOf(name ?? "")];
	if (!model) return;
	await client.setModel({ provider: model.provider, modelId: model.id });
	await refresh();
}

async function resume(_: string, { client, say, choose, reload }: Desk): Promise<void> {
	const { sessionFile } = await client.getState();
	if (sessionFile === undefined) return say("warning", "Nothing is saved here: bowline chat was started with --no-session.");
	const sessions = savedSessions(sessionFile, Date.now());
	if (sessions.length === 0) return say("info", "There is no other session of this directory.");
	const chosen =
		sessions[
			(await choose(
				"Which session?",
				sessions.map(({ title }) => title),
			)) ?? -1
		];
	if (chosen && !(await client.switchSession({ sessionPath: chosen.path })).cancelled) await reload();
}

async function fork(_: string, { client, say, choose, write, reload }: Desk): Promise<void> {
	const { messages } = await client.getForkMessages();
	if (messages.length === 0) return say("info", "Nothing was said yet.");
	const point =
		messages[
			(await choose(
				"Before which message?",
				messages.map(({ text }) => text),
			)) ?? -1
		];
	if (!point) return;
	const { text, cancelled } = await client.fork({ entryId: point.entryId });
	if (cancelled) return;
	await reload();
	write(text);
}

async function compact(argument: string, { client, say, during, reload }: Desk): Promise<void> {
	const { tokensBefore } = await during("condensing", client.compact(argument ? { customInstructions: argument } : {}));
	await reload();
	say("info", `${tokensBefore} tokens were condensed.`);
}

async function stats(_: string, { client, say }: Desk): Promise<void> {
	const { sessionId, sessionFile, userMessages, assistantMessages, toolCalls, tokens, cost, contextUsage } = await client.getSessionStats();
	const full = contextUsage?.percent == null ? "" : `\ncontext    ${Math.round(contextUsage.percent)} % of ${contextUsage.contextWindow}`;
	say(
		"info",
		`session    ${sessionId}\nfile       ${sessionFile ?? "none"}\nmessages   ${userMessages} of yours, ${assistantMessages} replies, ${toolCalls} tool calls
tokens     ${tokens.input} in, ${tokens.output} out, ${tokens.cacheRead} from caches\ncost       $${cost.toFixed(4)}${full}`,
	);
}

async function exportPage(argument: string, { client, say }: Desk): Promise<void> {
	const { path } = await client.exportHtml(argument ? { outputPath: argument } : {});
	say("info", `Written: ${path}`);
}
