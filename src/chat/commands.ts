/** The local commands `/name`. Everything else that begins with a slash is the agent's: skills, templates, commands of extensions. */
import type { Client } from "../client/index.ts";
import { didYouMean } from "../lib/nearest.ts";
import { approvalCommands } from "./approval.ts";
import type { KnownCommand } from "./composer.ts";
import type { Level } from "./conversation.ts";
import { changes, rewind, undo } from "./rewind-commands.ts";
import type { SavedSession } from "./sessions.ts";

/** What commands need from the chat. */
export interface Desk {
	client: Client;
	say(level: Level, text: string): void;
	/** Shows a text of our own, in Markdown. */
	show(markdown: string): void;
	/** `selected` is the option that is marked at first. */
	choose(title: string, options: readonly string[], selected?: number): Promise<number | undefined>;
	write(text: string): void;
	/** The other sessions in the directory of a session file. */
	sessions(current: string): Promise<SavedSession[]>;
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
	thinking: { usage: "[level]", doc: "Choose how much the model thinks", run: chooseThinking },
	new: { doc: "Begin a new session", run: begin },
	clear: { doc: "Begin with an empty conversation, as /new", run: begin },
	resume: { doc: "Go on with another session of this directory", run: resume },
	fork: { doc: "Go back to an earlier message, in a new session", run: fork },
	changes: { doc: "What happened to the files in this session", run: changes },
	undo: { doc: "Take back your last message and what it did to the files", run: undo },
	rewind: { doc: "Go back to an earlier message, with the files", run: rewind },
	compact: { usage: "[what matters]", doc: "Compact the conversation", run: compact },
	...approvalCommands,
	stats: { doc: "Messages, tokens, cost", run: stats },
	mcp: { usage: "[restart <server>]", doc: "The MCP servers of this session", run: mcp },
	export: { usage: "[file]", doc: "Write the session as an HTML page", run: exportPage },
	quit: { doc: "Leave", run: (_, { quit }) => quit() },
};

/** As a menu lists them. */
export const ownCommands = () => Object.entries(commands).map(([name, { usage, doc }]) => ({ name, usage, description: doc }));

const keys = [
	["Enter", "send; while the agent works: steer it"],
	["Alt+Enter", "send when the agent has done what it is doing"],
	["Esc", "abort; what was queued comes back"],
	["`/` `@`", "commands, files; Tab or Enter takes one, Esc closes the menu"],
	["`!command`", "run a command; the model sees it with your next message"],
	["`!!command`", "run a command that the model does not see"],
	["Ctrl+V", "attach the image in the clipboard; the path of an image can be pasted, too"],
	["Shift+Tab", "the next thinking level"],
	["Ctrl+J", "new line (Shift+Enter where the terminal distinguishes it from Enter)"],
	["Up, Down", "what was sent before"],
	["PgUp, PgDn", "look back"],
	["Ctrl+O", "tool calls and thoughts in full, or folded"],
	["Ctrl+L", "draw the screen again"],
	["Ctrl+C", "clear the input; abort; leave"],
	["Ctrl+D", "leave"],
	["Ctrl+Z", "back to the shell for a while"],
];

async function help(_: string, { client, show }: Desk): Promise<void> {
	const { commands: others } = await client.getCommands();
	const named = [...ownCommands(), ...others].map(({ name, usage, description }: KnownCommand) => [
		`\`/${usage ? `${name} ${usage}` : name}\``,
		description ?? "",
	]);
	show(`${table("key", keys)}\n\n${table("command", named)}`);
}

/** Pairs as a table of Markdown. */
function table(title: string, rows: readonly (readonly string[])[]): string {
	const cell = (text: string) => text.replace(/\s+/g, " ").replaceAll("|", "\\|");
	return [`| ${title} | |`, "|---|---|", ...rows.map((row) => `| ${row.map(cell).join(" | ")} |`)].join("\n");
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

async function chooseThinking(argument: string, { client, say, choose, refresh }: Desk): Promise<void> {
	const [{ levels }, { thinkingLevel }] = await Promise.all([client.getAvailableThinkingLevels(), client.getState()]);
	if (argument && argument !== "max" && !levels.includes(argument))
		return say("warning", `No such level: ${argument}. There are ${levels.join(", ")}.${didYouMean(argument, levels)}`);
	if (!argument && levels.length < 2) return say("info", "The model has no thinking levels.");
	const level = argument || levels[(await choose("How much should it think?", levels, levels.indexOf(thinkingLevel))) ?? -1];
	if (!level) return;
	await client.setThinkingLevel({ level });
	await refresh();
}

async function mcp(argument: string, { client, say, show, during }: Desk): Promise<void> {
	const [verb, name] = argument.split(/\s+/, 2);
	if (verb === "restart" && name) {
		const { server } = await during(`starting ${name} again`, client.restartMcpServer({ name }));
		return server.status === "ready" ? say("info", `${name} is ready: ${server.tools.length} tools.`) : say("warning", server.error ?? server.status);
	}
	if (argument) return say("warning", "Write /mcp, or /mcp restart <server>.");
	const { servers } = await client.getMcpServers();
	if (servers.length === 0) return say("info", "This session has no MCP servers. See docs/mcp.md.");
	const state = ({ status, error, tools }: (typeof servers)[number]) =>
		status === "ready" ? `${tools.length} tools` : `${status}${error ? `: ${error}` : ""}`;
	show(servers.map((server) => `- **${server.name}** (${server.transport}, ${server.source}): ${state(server)}`).join("\n"));
}

async function begin(_: string, { client, reload }: Desk): Promise<void> {
	if (!(await client.newSession()).cancelled) await reload();
}

async function resume(_: string, { client, say, choose, reload, sessions: list, during }: Desk): Promise<void> {
	const { sessionFile } = await client.getState();
	if (sessionFile === undefined) return say("warning", "Nothing is saved here: bowline chat was started with --no-session.");
	const sessions = await during("looking for sessions", list(sessionFile));
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
	const { tokensBefore } = await during("compacting", client.compact(argument ? { customInstructions: argument } : {}));
	await reload();
	say("info", `${tokensBefore} tokens were compacted.`);
}

async function stats(_: string, { client, show }: Desk): Promise<void> {
	const { sessionId, sessionFile, userMessages, assistantMessages, toolCalls, tokens, cost, contextUsage } = await client.getSessionStats();
	const full = contextUsage?.percent == null ? [] : [["context", `${Math.round(contextUsage.percent)} % of ${contextUsage.contextWindow}`]];
	const rows = [
		["file", sessionFile === undefined ? "none" : `\`${sessionFile}\``],
		["messages", `${userMessages} of yours, ${assistantMessages} replies, ${toolCalls} tool calls`],
		["tokens", `${tokens.input} in, ${tokens.output} out, ${tokens.cacheRead} from caches`],
		["cost", `$${cost.toFixed(4)}`],
		...full,
	];
	show(`| session | ${sessionId} |\n|---|---|\n${rows.map((row) => `| ${row.join(" | ")} |`).join("\n")}`);
}

async function exportPage(argument: string, { client, say }: Desk): Promise<void> {
	const { path } = await client.exportHtml(argument ? { outputPath: argument } : {});
	say("info", `Written: ${path}`);
}
