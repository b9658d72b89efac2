/** `bowline config [search]`: every setting, its value, and where the value came from. */

import { didYouMean } from "../../lib/nearest.ts";
import { printable, printableLine } from "../../lib/printable.ts";
import { openWorkspace } from "../../live/workspace.ts";
import type { Options } from "../../protocol/flags.ts";
import { type SettingName, type SettingRow, settings as table } from "../../protocol/settings.ts";
import { printJson } from "../json.ts";

export async function showConfig(search: string, options: Options): Promise<void> {
	// With --mode rpc as a host sees them: settings that hosts get reset are shown with their default.
	const { userDirectory, settings } = await openWorkspace({ options, isRpc: options.mode === "rpc" });
	const names = (Object.keys(table) as SettingName[]).filter((name) => name.toLowerCase().includes(search.toLowerCase()));
	if (options.json) {
		const { isTrusted, unused, warnings } = settings;
		const shownSettings = names.map((name) => ({
			name,
			value: settings.get(name) ?? null,
			origin: settings.origin(name),
			doc: (table[name] as SettingRow).doc,
		}));
		return printJson({ settings: shownSettings, userDirectory, isTrusted, unused, warnings });
	}
	const rows = names.map((name) => [name, shown(settings.get(name)), printableLine(settings.origin(name)), (table[name] as SettingRow).doc]);
	const widths = [0, 1, 2].map((column) => Math.max(0, ...rows.map((row) => row[column]?.length ?? 0)));
	for (const row of rows)
		console.log(
			row
				.map((cell, column) => cell.padEnd(widths[column] ?? 0))
				.join("  ")
				.trimEnd(),
		);
	if (!rows.length)
		console.log(
			`No setting is called ${printableLine(JSON.stringify(search))}.${didYouMean(search, [...Object.keys(table), ...Object.keys(table).map((name) => name.split(".")[0] as string)])}`,
		);
	console.log(
		`\nUser settings: ${printable(userDirectory)}/settings.jsonc. Project settings: .bowline/settings.jsonc (${settings.isTrusted ? "trusted" : "not trusted"}).`,
	);
	for (const text of settings.unused) console.log(printableLine(text));
	for (const warning of settings.warnings) process.stderr.write(`Warning: ${printableLine(warning)}\n`);
}

function shown(value: unknown): string {
	return value === undefined ? "unset" : printableLine(JSON.stringify(value));
}
