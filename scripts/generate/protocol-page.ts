/** The page of the protocol: an introduction, then every row with its members and an example. Headings are the names on the wire. */
import type { TSchema } from "typebox";
import { commands } from "../../src/protocol/commands/index.ts";
import { ompEvents, piEvents } from "../../src/protocol/dialect-events.ts";
import { events } from "../../src/protocol/events.ts";
import { introduction } from "./introduction.ts";
import { answerExample, commandExample, eventExample, isVoid, protocolSchema, type Schema } from "./schemas.ts";

const cell = (text: string) => text.replaceAll("|", "\\|");
const anchor = (heading: string) => heading.toLowerCase().replace(/[^a-z0-9_-]/g, "");
const code = (...frames: unknown[]) => `\`\`\`json\n${frames.map((frame) => JSON.stringify(frame)).join("\n")}\n\`\`\`\n`;

type Definitions = Record<string, Schema>;

/** The frames that are neither commands nor events, in the order in which they are read best. */
const conversations = {
	"Tools of the host": ["HostToolCall", "HostToolUpdate", "HostToolResult", "HostToolCancel"],
	"Dialogs of extensions": ["ExtensionUiRequest", "ExtensionUiResponse"],
	"Answers to questions about tool calls": ["PermissionResponse"],
	"Replay to one reader": ["Gap", "Snapshot"],
	"Questions before each step": ["GateRequest", "GateResponse"],
};

/** A frame is called by its `type`, a dialog by its `method`, everything else by its title. */
function headingOf(title: string, definitions: Definitions): string {
	const { type, method } = definitions[title]?.properties ?? {};
	return String(method?.const ?? (title in frameTitles ? (type?.const ?? wireNames[title]) : title));
}

const frameTitles = Object.fromEntries(["Response", ...Object.values(conversations).flat()].map((title) => [title, true]));
/** Of a frame that is a union. */
const wireNames: Record<string, string> = { ExtensionUiRequest: "extension_ui_request" };

class Page {
	readonly #definitions = protocolSchema().$defs as Definitions;

	/** What a member holds, with a link where it has a section. */
	typeName(schema: Schema): string {
		const title = schema.$ref?.replace("#/$defs/", "") ?? schema.title;
		if (title) {
			const heading = headingOf(title, this.#definitions);
			return `[${heading}](#${anchor(heading)})`;
		}
		if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
		if (schema.enum) return schema.enum.map((word) => `\`"${word}"\``).join(" or ");
		if (schema.anyOf) return schema.anyOf.map((option) => this.typeName(option)).join(" or ");
		if (schema.type === "array") return `list of ${this.typeName(schema.items ?? {})}`;
		if (schema.type === "object" && schema.properties) {
			const members = Object.entries(schema.properties).map(
				([name, member]) => `${name}${schema.required?.includes(name) ? "" : "?"}: ${this.typeName(member)}`,
			);
			return `{ ${members.join(", ")} }`;
		}
		const [value] = Object.values(schema.patternProperties ?? {});
		if (value?.type) return `object of ${this.typeName(value)}`;
		return schema.type ?? "any";
	}

	table(properties: Record<string, Schema>, isRequired: (name: string) => boolean): string {
		const lines = Object.entries(properties).map(
			([name, schema]) =>
				`| \`${name}\`${isRequired(name) ? "" : " (optional)"} | ${cell(this.typeName(schema))} | ${cell(schema.description ?? "")} |`,
		);
		return lines.length ? `\n| Field | Type | |\n|---|---|---|\n${lines.join("\n")}\n` : "";
	}

	commands(): string[] {
		return Object.entries(commands).flatMap(([name, row]) => {
			const fields = this.#row(name, row.params, {
				id: { anyOf: [{ type: "string" }, { type: "number" }], description: "Comes back in the answer." },
			});
			const answer = isVoid(row.result) ? "Answer: success without `data`." : `Answer: \`data\` is ${this.typeName(row.result as Schema)}`;
			return [
				`### ${name}\n\n${row.doc} Lane: ${row.lane}. Access: ${row.access}.\n${fields}`,
				row.unsupported ? "" : `${answer}\n`,
				code(commandExample(name, row), answerExample(name, row)),
			];
		});
	}

	events(rows: typeof events): string[] {
		return Object.entries(rows).flatMap(([name, row]) => [
			`### ${name}\n\n${row.doc}\n${this.#row(name, row.fields)}`,
			code(eventExample(name, row)),
		]);
	}

	/** A frame, with its methods where it has several. */
	conversation(title: string): string[] {
		const schema = this.#definitions[title] as Schema;
		const heading = headingOf(title, this.#definitions);
		if (schema.properties) return [`### ${heading}\n\n${schema.description}\n`, ...this.#shape(schema)];
		const methods = (schema.anyOf ?? []).flatMap((option) => {
			const name = option.$ref?.replace("#/$defs/", "") ?? "";
			const method = this.#definitions[name] as Schema;
			return [`#### ${headingOf(name, this.#definitions)}\n\n${method.description}\n`, ...this.#shape(method)];
		});
		return [`### ${heading}\n\n${schema.description} \`method\` says which; each has a section.\n`, ...methods];
	}

	shapes(): string[] {
		return Object.entries(this.#definitions)
			.filter(([title]) => !title.includes(":") && !title.startsWith("ui_") && !(title in frameTitles))
			.sort(([a], [b]) => (a < b ? -1 : 1))
			.flatMap(([title, schema]) => [`### ${title}\n\n${schema.description ?? ""}\n`, ...this.#shape(schema)]);
	}

	#shape({ properties, required, anyOf, examples = [] }: Schema): string[] {
		const parts = properties
			? this.table(properties, (member) => required?.includes(member) ?? false)
			: `${(anyOf ?? []).map((option) => `- ${this.typeName(option)}`).join("\n")}\n`;
		return examples.length ? [parts, code(...examples)] : [parts];
	}

	/** The members of a row. `more` may be absent. */
	#row(name: string, fields: Record<string, TSchema>, more: Record<string, Schema> = {}): string {
		const isRequired = (member: string) => !(member in more) && !(fields[member] as { "~optional"?: boolean } | undefined)?.["~optional"];
		return this.table({ type: { const: name }, ...more, ...(fields as Record<string, Schema>) }, isRequired);
	}
}

export function protocolPage(): string {
	const page = new Page();
	const chapters = { Events: events, "Events of dialect pi": piEvents, "Events of dialect omp": ompEvents };
	return [
		introduction,
		"## Commands\n",
		...page.commands(),
		"## Answer\n",
		...page.conversation("Response"),
		...Object.entries(conversations).flatMap(([title, frames]) => [`## ${title}\n`, ...frames.flatMap((frame) => page.conversation(frame))]),
		...Object.entries(chapters).flatMap(([title, rows]) => [`## ${title}\n`, ...page.events(rows as typeof events)]),
		"## Shapes\n",
		...page.shapes(),
	]
		.join("\n")
		.replace(/\n{3,}/g, "\n\n");
}
