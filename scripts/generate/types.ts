/** The protocol as plain TypeScript, for programs that do not have the schema library. */
import type { TSchema } from "typebox";
import * as budget from "../../src/protocol/budget.ts";
import * as bash from "../../src/protocol/commands/bash.ts";
import * as compaction from "../../src/protocol/commands/compaction.ts";
import { commands } from "../../src/protocol/commands/index.ts";
import * as prompting from "../../src/protocol/commands/prompting.ts";
import * as queue from "../../src/protocol/commands/queue.ts";
import * as session from "../../src/protocol/commands/session.ts";
import * as state from "../../src/protocol/commands/state.ts";
import * as content from "../../src/protocol/content.ts";
import { ompEvents, piEvents } from "../../src/protocol/dialect-events.ts";
import { events, Response } from "../../src/protocol/events.ts";
import * as extensionUi from "../../src/protocol/extension-ui.ts";
import * as gate from "../../src/protocol/gate.ts";
import * as hostTools from "../../src/protocol/host-tools.ts";
import * as messages from "../../src/protocol/messages.ts";
import * as model from "../../src/protocol/model.ts";
import * as permissions from "../../src/protocol/permissions.ts";
import * as sequence from "../../src/protocol/sequence.ts";
import { serveShapes } from "../../src/protocol/serve.ts";
import * as stream from "../../src/protocol/stream.ts";
import * as subagents from "../../src/protocol/subagents.ts";
import * as todos from "../../src/protocol/todos.ts";

type Schema = TSchema & {
	title?: string;
	description?: string;
	type?: string;
	const?: unknown;
	enum?: unknown[];
	anyOf?: Schema[];
	items?: Schema;
	properties?: Record<string, Schema>;
	patternProperties?: Record<string, Schema>;
	"~optional"?: unknown;
	"~unsafe"?: unknown;
};

const { ThinkingLevelWord: ThinkingLevel, ...models } = model;
const modules = [
	content,
	messages,
	models,
	stream,
	todos,
	budget,
	subagents,
	bash,
	compaction,
	prompting,
	queue,
	session,
	state,
	extensionUi,
	hostTools,
	permissions,
	gate,
	sequence,
	serveShapes,
];
const named: Record<string, unknown> = Object.assign({ Response, ThinkingLevel }, ...modules);

/** A shape is called by its title; those of stream events and dialogs have the names of the wire. */
const typeName = (title: string) => title.replace(/(?:^|_)(.)/g, (_, letter: string) => letter.toUpperCase());
const comment = (text: string | undefined, indent = "") => (text ? `${indent}/** ${text} */\n` : "");

class Printer {
	readonly #done = new Map<string, string>();

	get declarations(): string {
		return [...this.#done.values()].join("\n");
	}

	/** A type in place; a shape with a title is declared and named. */
	use(schema: Schema): string {
		if (!schema.title) return this.#inner(schema);
		const name = typeName(schema.title);
		this.declare(name, schema);
		// What a success may lack is written as the shape itself, marked.
		return "~unsafe" in schema ? `${name} | undefined` : name;
	}

	declare(name: string, schema: Schema): void {
		if (this.#done.has(name)) return;
		// Its place is here, before what it is made of.
		this.#done.set(name, "");
		const body = this.#inner(schema);
		const declared = body.startsWith("{") && schema.properties ? `export interface ${name} ${body}` : `export type ${name} = ${body};`;
		this.#done.set(name, `${comment(schema.description)}${declared}\n`);
	}

	members(properties: Record<string, Schema>): string {
		const lines = Object.entries(properties).map(([name, schema]) => {
			const type = this.use(schema).replaceAll("\n", "\n\t");
			return `${comment(schema.title ? undefined : schema.description, "\t")}\t${name}${"~optional" in schema ? "?" : ""}: ${type};`;
		});
		return lines.length ? `{\n${lines.join("\n")}\n}` : "{}";
	}

	#inner(schema: Schema): string {
		if (schema.const !== undefined) return JSON.stringify(schema.const);
		if (schema.enum) return schema.enum.map((word) => JSON.stringify(word)).join(" | ");
		if (schema.anyOf) return schema.anyOf.map((option) => this.use(option)).join(" | ");
		switch (schema.type) {
			case "array": {
				const item = this.use(schema.items as Schema);
				return /^\w+$/.test(item) ? `${item}[]` : `Array<${item}>`;
			}
			case "object": {
				if (schema.properties) return this.members(schema.properties);
				const [value] = Object.values(schema.patternProperties ?? {});
				return `Record<string, ${value ? this.use(value) : "unknown"}>`;
			}
			case "integer":
				return "number";
			case "string":
			case "number":
			case "boolean":
			case "null":
			case "void":
				return schema.type;
			case undefined:
				return "unknown";
		}
		throw new Error(`no type for ${JSON.stringify(schema)}`);
	}
}

export function protocolTypes(): string {
	const printer = new Printer();
	for (const [name, schema] of Object.entries(named)) if (/^[A-Z]/.test(name)) printer.declare(name, schema as Schema);
	const nested = (type: string) => type.replaceAll("\n", "\n\t\t");
	const commandRows = Object.entries(commands).map(([name, row]) => {
		const params = printer.members(row.params as Record<string, Schema>);
		return `${comment(row.doc, "\t")}\t${name}: {\n\t\tparams: ${nested(params)};\n\t\tresult: ${nested(printer.use(row.result as Schema))};\n\t};`;
	});
	const eventRows = Object.entries(events).map(
		([name, row]) => `${comment(row.doc, "\t")}\t${name}: ${printer.members(row.fields as Record<string, Schema>).replaceAll("\n", "\n\t")};`,
	);
	return `// Generated by npm run generate. Do not edit.
/** The protocol as plain types: the same as the rows say, without the schema library. */

${printer.declarations}
/** Every command: what it takes, and the data of its answer. */
export interface CommandTable {
${commandRows.join("\n")}
}

export type CommandName = keyof CommandTable;
export type CommandParams<Name extends CommandName> = CommandTable[Name]["params"];
export type CommandResult<Name extends CommandName> = CommandTable[Name]["result"];
/** A command as it goes over the wire. */
export type Command = { [Name in CommandName]: { id?: string | number; type: Name; key?: string } & CommandParams<Name> }[CommandName];

/** Every event, with its members. */
export interface EventTable {
${eventRows.join("\n")}
}

export type EventName = keyof EventTable;
/** One event as it goes over the wire. */
export type AgentEvent = { [Name in EventName]: { type: Name; seq?: number } & EventTable[Name] }[EventName];
export type EventOf<Name extends EventName> = Extract<AgentEvent, { type: Name }>;
`;
}

/** The parts of the tables that programs need at run time. */
export function protocolNames(): string {
	const lanes = Object.entries(commands).map(([name, { lane }]) => `\t${name}: "${lane}",`);
	const access = Object.entries(commands).map(([name, row]) => `\t${name}: "${row.access}",`);
	return `// Generated by npm run generate. Do not edit.
/** The names of the protocol, for programs that have no use for the whole rows. */

/** Every command and how it is scheduled. */
export const commandLanes = {
${lanes.join("\n")}
} as const;

/** Every command and who may send it where several connections share a session. */
export const commandAccess = {
${access.join("\n")}
} as const;

export const eventNames = [
${Object.keys(events)
	.map((name) => `\t"${name}",`)
	.join("\n")}
] as const;

/** Events that only one dialect sends. */
export const dialectEventNames = [
${Object.keys({ ...piEvents, ...ompEvents })
	.map((name) => `\t"${name}",`)
	.join("\n")}
] as const;
`;
}
