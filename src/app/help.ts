/** The help of the command line, from the table of flags. Loaded when someone asks. */
import { join } from "node:path";
import { type Flag, flags } from "../protocol/flags.ts";
import { type Subcommand, subcommands } from "./subcommands.ts";

export { versionText } from "./version.ts";

/** Of one subcommand, or of everything. */
export function helpText(subcommand?: string): string {
	const lines = Object.entries(flags as Record<string, Flag>).flatMap(([name, { value, doc, short, hidden, without }]) => {
		if (hidden) return [];
		const spelling = `${(short ? `-${short}, ` : "").padEnd(5)}--${name}${value ? (without ? ` [${value}]` : ` <${value}>`) : ""}`;
		return [`  ${spelling.padEnd(35)} ${doc}`];
	});
	const line = (words: string, doc: string) => `  ${`bowline ${words}`.padEnd(29)} ${doc}`;
	if (subcommand !== undefined) {
		const { usage, doc } = subcommands[subcommand] as Subcommand;
		return `${`bowline ${subcommand} ${usage}`.trimEnd()}\n  ${doc}\n\nFlags\n${lines.join("\n")}\n`;
	}
	return `bowline: a headless coding agent for other programs

${line('-p "prompt" [@file]', 'Answer once and end; also: some-command | bowline -p "explain"')}
${line("--mode rpc [flags]", "Read commands from stdin, write events to stdout: one JSON object per line")}
${Object.entries(subcommands)
	.map(([name, { usage, doc }]) => line(`${name} ${usage}`, doc))
	.join("\n")}

Flags
${lines.join("\n")}

Try it without a model:
  echo '{"id":"1","type":"get_state"}' | bowline --mode rpc
  bowline --mode rpc --provider scripted --model echo

Pages in ${join(import.meta.dirname, "../docs")}: embedding.md, protocol.md, one-shot.md,
chat.md, settings.md, providers.md, extensions.md, subagents.md, scripted-model.md, troubleshooting.md and others.
`;
}
