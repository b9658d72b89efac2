/** The page of settings, made of their rows. */
import { type SettingRow, settings } from "../../src/protocol/settings.ts";

const cell = (text: string) => text.replaceAll("|", "\\|");

function projectMark({ project }: SettingRow): string {
	if (!project) return "";
	if (project === true) return "any project";
	if (project === "never") return "no project";
	if (project === "stricter" || "stricter" in project) return "stricter";
	return `any project: ${project[0]} to ${project[1]}`;
}

export function settingsPage(): string {
	const rows = Object.entries(settings as Record<string, SettingRow>).map(([name, row]) => {
		const kind = row.values
			? row.values.map((value) => `\`${value}\``).join(", ")
			: row.kind === "strings"
				? "list of strings"
				: row.kind === "rules"
					? "list of rules"
					: row.kind;
		const marks = [projectMark(row), row.resetInRpc ? "reset" : "", row.ownersOnly ? "owner" : "", row.isCeiling ? "ceiling" : ""]
			.filter(Boolean)
			.join(", ");
		return `| \`${name}\` | ${kind} | ${row.default === undefined ? "unset" : `\`${JSON.stringify(row.default)}\``} | ${cell(row.doc)} | ${marks} |`;
	});
	return `# Settings

Settings are JSON with comments, with nested or dotted keys. \`schema/settings.json\` describes them for editors.
The places for settings, from lowest to highest precedence: the default, \`settings.jsonc\` in the user directory (\`~/.bowline\`, or \`BOWLINE_DIR\`), \`.bowline/settings.jsonc\` of
the project, the file named by \`--config\`, the JSON object in \`BOWLINE_SETTINGS\`, flags (\`--set key=value\`), commands of the host for the session.

Relative paths are relative to the file that names them, and on the command line to the working directory; \`~\` is the home directory.
\`bowline config\` shows every setting with its value and the place that it comes from. Bowline reports a file that it cannot read, and does not change it.

In the last column, *any project* means that a project that is not trusted may also set it, a number within the limits that follow;
*stricter* means that every project may make it stricter and none weaker; *no project* means that no project may set it, trusted or not; *reset* means that an embedding host gets
the default and ignores the files of the user and the project; values given for the process still count. *owner* means that only the owner of the machine sets it: a request to
[\`bowline serve\`](serve.md) for a session, or a run of [the fleet](fleet.md), that names it is refused. *ceiling* means that a run of the fleet may lower the value of its worker, and not raise it.

| Setting | Type | Default | | |
|---|---|---|---|---|
${rows.join("\n")}
`;
}
