/** JSON Schemas: of the wire, of the settings files, of model scripts. */
import Type, { type TProperties, type TSchema } from "typebox";
import { Script } from "../../src/models/scripted/format.ts";
import { commands } from "../../src/protocol/commands/index.ts";
import { ompEvents, piEvents } from "../../src/protocol/dialect-events.ts";
import { events, Response } from "../../src/protocol/events.ts";
import { ExtensionUiRequest, ExtensionUiResponse } from "../../src/protocol/extension-ui.ts";
import { GateRequest, GateResponse } from "../../src/protocol/gate.ts";
import { HostToolCall, HostToolCancel, HostToolResult, HostToolUpdate } from "../../src/protocol/host-tools.ts";
import { PermissionResponse, PermissionRule } from "../../src/protocol/permissions.ts";
import { Gap, Snapshot, seq } from "../../src/protocol/sequence.ts";
import { type SettingRow, settings } from "../../src/protocol/settings.ts";
import { TaskArguments, TaskDetails } from "../../src/protocol/subagents.ts";

type Json = Record<string, unknown>;

/** The part of JSON Schema that the rows use. */
export interface Schema {
	$ref?: string;
	type?: string;
	const?: unknown;
	enum?: unknown[];
	anyOf?: Schema[];
	items?: Schema;
	properties?: Record<string, Schema>;
	patternProperties?: Record<string, Schema>;
	required?: string[];
	description?: string;
	title?: string;
	examples?: unknown[];
}

const draft = "https://json-schema.org/draft/2020-12/schema";

/** Members of a schema that hold values, not schemas. */
const isPlain = new Set(["enum", "required", "examples"]);

/** Moves every titled shape into `$defs` and leaves a reference in its place. */
export class Definitions {
	readonly defs: Json = {};

	/** The schema with references; a titled shape becomes a definition. */
	use(schema: unknown): unknown {
		if (Array.isArray(schema)) return schema.map((item) => this.use(item));
		if (typeof schema !== "object" || schema === null) return schema;
		const title = (schema as { title?: unknown }).title;
		if (typeof title !== "string") return this.inner(schema as Json);
		if (!(title in this.defs)) {
			this.defs[title] = {};
			this.defs[title] = this.inner(schema as Json);
		}
		return { $ref: `#/$defs/${title}` };
	}

	private inner(schema: Json): Json {
		return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, isPlain.has(key) ? value : this.use(value)]));
	}
}

const frame = (type: string, description: string, fields: TProperties, title: string, example: object): TSchema =>
	Type.Object({ type: Type.Literal(type), ...fields }, { title, description, examples: [example] });

/** One command, its answer, and one event, as they go over the wire. */
export const commandExample = (type: string, { example }: { example: { send: object } }) => ({ id: "1", type, ...example.send });
export const answerExample = (command: string, { example, unsupported }: { example: { data?: unknown }; unsupported?: true }) => ({
	id: "1",
	type: "response",
	command,
	success: !unsupported,
	...(example.data !== undefined && { data: example.data }),
	...(unsupported && { error: `${command} is not supported` }),
});
export const eventExample = (type: string, { example }: { example: object }) => ({ type, ...example });

export const isVoid = (schema: TSchema): boolean => (schema as { type?: string }).type === "void";

export function protocolSchema(): Json {
	const definitions = new Definitions();
	const id = Type.Optional(Type.Union([Type.String(), Type.Number()], { description: "Echoed in the response." }));
	const key = Type.Optional(
		Type.String({ minLength: 1, maxLength: 200, description: "The command is done once, however often it is sent with this key." }),
	);
	const inbound = Object.entries(commands).map(([name, row]) =>
		definitions.use(frame(name, row.doc, { id, key, ...row.params }, `command:${name}`, commandExample(name, row))),
	);
	const control = [ExtensionUiResponse, HostToolUpdate, HostToolResult, PermissionResponse, GateResponse].map((schema) => definitions.use(schema));
	const results = Object.fromEntries(
		Object.entries(commands).map(([name, row]) => [name, isVoid(row.result) ? { description: "no data" } : definitions.use(row.result)]),
	);
	const rows = Object.entries({ ...events, ...piEvents, ...ompEvents });
	const outbound = rows.map(([name, row]) => definitions.use(frame(name, row.doc, { seq, ...row.fields }, `event:${name}`, eventExample(name, row))));
	const asks = [Response, ExtensionUiRequest, HostToolCall, HostToolCancel, GateRequest, Gap, Snapshot].map((schema) => definitions.use(schema));
	definitions.use(TaskArguments);
	definitions.use(TaskDetails);
	return {
		$schema: draft,
		title: "Bowline wire protocol",
		description:
			"One JSON object per line. `inbound` is what a host writes to stdin, `outbound` what it reads from stdout, `results` the data of each command's response.",
		inbound: { anyOf: [...inbound, ...control] },
		outbound: { anyOf: [...asks, ...outbound] },
		results,
		lanes: Object.fromEntries(Object.entries(commands).map(([name, row]) => [name, row.lane])),
		access: Object.fromEntries(Object.entries(commands).map(([name, row]) => [name, row.access])),
		$defs: definitions.defs,
	};
}

/** A value, or null for one that is not set here. */
function settingSchema(row: SettingRow): Json {
	const kinds: Record<SettingRow["kind"], Json> = {
		boolean: { type: ["boolean", "null"] },
		number: { type: ["number", "null"] },
		string: row.values ? { enum: [...row.values, null] } : { type: ["string", "null"] },
		strings: { type: ["array", "null"], items: { type: "string" } },
		record: { type: ["object", "null"] },
		rules: { type: ["array", "null"], items: { ...PermissionRule, additionalProperties: false } },
	};
	return { ...kinds[row.kind], description: row.doc, ...(row.default === undefined ? {} : { default: row.default }) };
}

/** Both spellings: `"a.b": 1`, and `"a": { "b": 1 }` at every depth. */
export function settingsSchema(): Json {
	const rows = Object.entries(settings) as [string, SettingRow][];
	const values = Object.fromEntries(rows.map(([name, row]) => [name, settingSchema(row)]));
	const dotted = Object.fromEntries(rows.map(([name]) => [name, memberSchema(name)]));
	return { $schema: draft, title: "Bowline settings", type: "object", properties: { $schema: { type: "string" }, ...membersOf(""), ...dotted } };

	function membersOf(prefix: string): Json {
		const inside = rows.filter(([name]) => name.startsWith(prefix)).map(([name]) => name.slice(prefix.length).split(".")[0] as string);
		return Object.fromEntries([...new Set(inside)].map((member) => [member, memberSchema(`${prefix}${member}`)]));
	}

	function memberSchema(name: string): Json {
		const own = values[name];
		const isGroup = rows.some(([other]) => other.startsWith(`${name}.`));
		const group = { type: "object", description: `Settings that start with ${name}.`, properties: isGroup ? membersOf(`${name}.`) : {} };
		if (!isGroup) return own as Json;
		return own ? { description: (own as { description: string }).description, anyOf: [own, group] } : group;
	}
}

export function scriptSchema(): Json {
	const definitions = new Definitions();
	const root = definitions.use(Script);
	return { $schema: draft, title: "Bowline model script", ...(root as Json), $defs: definitions.defs };
}

/** The arguments of the task tool as plain data: the schema library need not be loaded to offer the tool. */
export function taskParameters(): string {
	const head = "/** Generated from the row of TaskArguments: npm run generate. */";
	return `${head}\nexport const taskParameters = ${JSON.stringify(TaskArguments, null, "\t")} as const;\n`;
}
