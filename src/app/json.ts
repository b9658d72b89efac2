/** Output of subcommands for programs: `--json`, and values that a script takes. */
import { printable } from "../lib/printable.ts";
import { unseen } from "../lib/visible.ts";

/** One JSON value and a newline. */
export function printJson(value: unknown): void {
	process.stdout.write(`${escapedJson(JSON.stringify(value, null, 2))}\n`);
}

/** Returns the same JSON with characters that a terminal acts on as escapes. */
export const escapedJson = (json: string): string => json.replace(unseen, (found) => found.split("").map(escaped).join(""));

const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** Prints a value that a script takes as it is, and a person's terminal must not act on. */
export function printValue(text: string): void {
	process.stdout.write(process.stdout.isTTY ? printable(text) : text);
}
