/** Markdown pages made of the protocol's rows. */
import type { TSchema } from "typebox";
import { commands } from "../../src/protocol/commands/index.ts";
import { ompEvents, piEvents } from "../../src/protocol/dialect-events.ts";
import { events } from "../../src/protocol/events.ts";
import { type SettingRow, settings } from "../../src/protocol/settings.ts";
import { introduction } from "./introduction.ts";
import { isVoid, protocolSchema, type Schema } from "./schemas.ts";

const anchor = (name: string) => name.toLowerCase().replace(/[^a-z0-9_-]/g, "");
const cell = (text: string) => text.replaceAll("|", "\\|");

function typeName(schema: Schema): string {
	const title = schema.$ref?.replace("#/$defs/", "") ?? schema.title;
	if (title) return `[${title}](#${anchor(title)})`;
	if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
	if (schema.enum) return schema.enum.map((word) => `\`"${word}"\``).join(" or ");
	if (schema.anyOf) return schema.anyOf.map(typeName).join(" or ");
	if (schema.type === "array") return `list of ${typeName(schema.items ?? {})}`;
	if (schema.type === "object" && schema.properties) {
		const members = Object.entries(schema.properties).map(
			([name, member]) => `${name}${schema.required?.includes(name) ? "" : "?"}: ${typeName(member)}`,
		);
		return `{ ${members.join(", ")} }`;
	}
	const [value] = Object.values(schema.patternProperties ?? {});
	if (value?.type) return `object of ${typeName(value)}`;
	return schema.type ?? "any";
}

function table(properties: Record<string, Schema>, isRequired: (name: string) => boolean): string {
	const rows = Object.entries(properties).filter(([name]) => name !== "type");
	if (rows.length === 0) return "";
	const lines = rows.map(
		([name, schema]) => `| \`${name}\`${isRequired(name) ? "" : " (optional)"} | ${cell(typeName(schema))} | ${cell(schema.description ?? "")} |`,
	);
	return `\n| Field | Type | |\n|---|---|---|\n${lines.join("\n")}\n`;
}

const required = (properties: Record<string, TSchema>) => (name: string) => !(properties[name] as { "~optional"?: boolean })["~optional"];

export function protocolPage(): string {
	const parts = [introduction, "## Commands\n"];
	for (const [name, row] of Object.entries(commands)) {
		parts.push(`### ${name}\n\n${row.doc} Lane: ${row.lane}.\n${table(row.params as Record<string, Schema>, required(row.params))}`);
		if (row.unsupported) continue;
		parts.push(isVoid(row.result) ? "Answer: success without `data`.\n" : `Answer: ${typeName(row.result as Schema)}\n`);
	}
	const chapters = { Events: events, "Events of dialect pi": piEvents, "Events of dialect omp": ompEvents };
	for (const [title, rows] of Object.entries(chapters)) {
		parts.push(`## ${title}\n`);
		for (const [name, row] of Object.entries(rows as typeof events)) {
			parts.push(`### ${name}\n\n${row.doc}\n${table(row.fields as Record<string, Schema>, required(row.fields))}`);
		}
	}
	parts.push("## Shapes\n");
	const definitions = protocolSchema().$defs as Record<string, Schema>;
	for (const [name, schema] of Object.entries(definitions).sort(([a], [b]) => (a < b ? -1 : 1))) {
		if (name.includes(":")) continue;
		parts.push(`### ${name}\n\n${schema.description ?? ""}\n`);
		if (schema.properties) parts.push(table(schema.properties, (member) => schema.required?.includes(member) ?? false));
		else parts.push(`${(schema.anyOf ?? []).map((option) => `- ${typeName(option)}`).join("\n")}\n`);
	}
	return parts.join("\n").replace(/\n{3,}/g, "\n\n");
}

function projectMark({ project }: SettingRow): string {
	if (!project) return "";
	return project === true ? "any project" : `any project: ${project[0]} to ${project[1]}`;
}

export function settingsPage(): string {
	const rows = Object.entries(settings as Record<string, SettingRow>).map(([name, row]) => {
		const kind = row.values ? row.values.map((value) => `\`${value}\``).join(", ") : row.kind === "strings" ? "list of strings" : row.kind;
		const marks = [projectMark(row), row.resetInRpc ? "reset" : ""].filter(Boolean).join(", ");
		return `| \`${name}\` | ${kind} | ${row.default === undefined ? "unset" : `\`${JSON.stringify(row.default)}\``} | ${cell(row.doc)} | ${marks} |`;
	});
	return `# Settings

Settings are JSON with comments, with nested or dotted keys. \`schema/settings.json\` describes them for editors.
From lowest to highest: the default, \`settings.jsonc\` in the user directory (\`~/.bowline\`, or \`BOWLINE_DIR\`), \`.bowline/settings.jsonc\` of
the project, the file named by \`--config\`, the JSON object in \`BOWLINE_SETTINGS\`, flags (\`--set key=value\`), what the host sets for the session.

Relative paths are relative to the file that names them, and on the command line to the working directory; \`~\` is the home directory.
\`bowline config\` shows every setting with its value and where it came from. A file that cannot be read is reported and left as it is.

In the last column, *any project* means that a project that is not trusted may set it too, a number within the limits that follow; *reset* means that an embedding host gets
the default whatever the user's and the project's files say (the explicit ways still count).

| Setting | Type | Default | | |
|---|---|---|---|---|
${rows.join("\n")}
`;
}
