/** The help of the command line, from the tables of flags and subcommands. Loaded on request. */
import { join } from "node:path";
import { type Flag, type FlagName, flags } from "../protocol/flags.ts";
import { type Subcommand, subcommands } from "./subcommands.ts";

export { versionText } from "./version.ts";

const table = flags as Record<string, Flag>;

function flagLines(names: readonly string[], own: Readonly<Record<string, Flag>> = {}): string {
	const lines = [...Object.keys(own), ...names].flatMap((name) => {
		const { value, doc, short, hidden, without } = (own[name] ?? table[name]) as Flag;
		if (hidden) return [];
		const spelling = `${(short ? `-${short}, ` : "").padEnd(5)}--${name}${value ? (without ? ` [${value}]` : ` <${value}>`) : ""}`;
		return [`  ${spelling.padEnd(35)} ${doc}`];
	});
	return `Flags\n${lines.join("\n")}\n`;
}

/** A prompt from a pipe: stdin stays open while the agent works. */
const pipedPrompt = `{ echo '{"id":"1","type":"prompt","message":"hello"}'; sleep 2; } | bowline --mode rpc --provider scripted --model echo`;
const pages = () => `Pages in ${join(import.meta.dirname, "../docs")}`;

/** Of one subcommand, of `--mode rpc`, or of everything. */
export function helpText(topic?: string): string {
	if (topic === "rpc") return rpcHelp();
	if (topic !== undefined) {
		const { usage, doc, flags: used, ownFlags } = subcommands[topic] as Subcommand;
		return `${`bowline ${topic} ${usage}`.trimEnd()}\n  ${doc}\n${used.length ? `\n${flagLines([...used, "help"], ownFlags)}` : ""}`;
	}
	const line = (words: string, doc: string) => {
		const usage = `bowline ${words}`.trimEnd();
		// A long one has its text in the next line, in the same column.
		return usage.length > 29 ? `  ${usage}\n${" ".repeat(32)}${doc}` : `  ${usage.padEnd(29)} ${doc}`;
	};
	return `bowline: a headless coding agent for other programs

${line('-p "prompt" [@file]', 'Answer once and end; also: some-command | bowline -p "explain"')}
${line("--mode rpc [flags]", "Read commands from stdin, write events to stdout: one JSON object per line")}
${Object.entries(subcommands)
	.map(([name, { usage, doc }]) => line(`${name} ${usage}`, doc))
	.join("\n")}

bowline help <command> lists the flags of one command, bowline --mode rpc --help says how a host begins.

${flagLines(Object.keys(table))}
Try it without a model:
  bowline -p --provider scripted --model echo hello
  ${pipedPrompt}

${pages()}: embedding.md, protocol.md, one-shot.md,
chat.md, settings.md, providers.md, extensions.md, subagents.md, scripted-model.md, troubleshooting.md and others.
`;
}

const notForHosts: readonly FlagName[] = ["print", "list-models", "output-schema", "json", "log", "acp", "version"];

function rpcHelp(): string {
	return `bowline --mode rpc [flags]
  Read commands from stdin, write answers and events to stdout: one JSON object per line.

  Closing stdin ends the agent: it aborts what runs, answers the commands it has read and exits with code 0.
  So keep stdin open until agent_settled. From a pipe, without a model:

  ${pipedPrompt}

  ${pages()}: protocol.md has a whole conversation and every frame, embedding.md is the guide for hosts.

${flagLines(Object.keys(table).filter((name) => !(notForHosts as readonly string[]).includes(name)))}`;
}
