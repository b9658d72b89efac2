/** Output of subcommands for programs: `--json`. */

import { unseen } from "../lib/visible.ts";

/** One JSON value and a newline. Characters that a terminal acts on are written as escapes. */
export function printJson(value: unknown): void {
	const text = JSON.stringify(value, null, 2).replace(unseen, (found) => found.split("").map(escaped).join(""));
	process.stdout.write(`${text}\n`);
}

const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
