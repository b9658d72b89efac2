/** Plain code that checks inbound frames, so that the program starts without a schema library. */
import type { TSchema } from "typebox";
import { commands } from "../../src/protocol/commands/index.ts";
import type { Lane } from "../../src/protocol/define.ts";
import { ExtensionUiResponse } from "../../src/protocol/extension-ui.ts";
import { GateResponse } from "../../src/protocol/gate.ts";
import { HostToolResult, HostToolUpdate } from "../../src/protocol/host-tools.ts";
import { PermissionResponse } from "../../src/protocol/permissions.ts";

type Schema = TSchema & {
	type?: string;
	enum?: string[];
	anyOf?: Schema[];
	items?: Schema;
	properties?: Record<string, Schema>;
	required?: string[];
	"~optional"?: boolean;
};

interface Test {
	/** A JavaScript condition that holds for good values. */
	good: (value: string) => string;
	/** Completes "<field> must be ...". */
	name: string;
}

function test(schema: Schema): Test {
	if (schema.enum) {
		return {
			good: (value) => `(${schema.enum?.map((word) => `${value} === ${JSON.stringify(word)}`).join(" || ")})`,
			name: schema.enum.map((word) => JSON.stringify(word)).join(" or "),
		};
	}
	if (schema.anyOf) {
		const options = schema.anyOf.map(test);
		return { good: (value) => `(${options.map((o) => o.good(value)).join(" || ")})`, name: options.map((o) => o.name).join(" or ") };
	}
	switch (schema.type) {
		case "null":
			return { good: (value) => `${value} === null`, name: "null" };
		case "integer":
			return { good: (value) => `Number.isInteger(${value})`, name: "integer" };
		case "array":
			return { good: (value) => `Array.isArray(${value})`, name: "array" };
		case "object":
			return { good: (value) => `isObject(${value})`, name: "object" };
		case "string":
		case "number":
		case "boolean":
			return { good: (value) => `typeof ${value} === "${schema.type}"`, name: schema.type };
	}
	throw new Error(`no check for ${JSON.stringify(schema)}`);
}

const constOf = (schema: Schema): unknown => (schema.properties?.type as { const?: unknown } | undefined)?.const;

/** For a list of blocks that their type distinguishes: the condition that a good one meets, and what they are called. */
function blocksOf({ type, items }: Schema): Test | undefined {
	const kinds = items?.anyOf?.filter((kind) => constOf(kind) !== undefined) ?? [];
	// Images have two spellings, and a text of their own when they are neither.
	if (type !== "array" || new Set(kinds.map(constOf)).size < 2) return undefined;
	const isKind = (kind: Schema, value: string) => {
		const members = Object.entries(kind.properties ?? {}).filter(([name]) => name !== "type" && kind.required?.includes(name));
		return [`${value}.type === ${JSON.stringify(constOf(kind))}`, ...members.map(([name, schema]) => test(schema).good(`${value}.${name}`))].join(
			" && ",
		);
	};
	return { good: (value) => kinds.map((kind) => `(${isKind(kind, value)})`).join(" || "), name: `a ${kinds.map(constOf).join(" or ")} block` };
}

const isAny = (schema: Schema) => !schema.type && !schema.enum && !schema.anyOf;

function statements(properties: Record<string, Schema>, required: (name: string) => boolean, owner: string, path: string): string[] {
	const lines: string[] = [];
	for (const [name, schema] of Object.entries(properties)) {
		if (name === "type" || isAny(schema)) continue;
		const { good, name: kind } = test(schema);
		const value = `${owner}.${name}`;
		const problem = JSON.stringify(`${path}${name} must be ${kind}`);
		if (required(name)) lines.push(`if (!(${good(value)})) return ${problem};`);
		else lines.push(`if (${value} === null) delete ${value};`, `if (${value} !== undefined && !(${good(value)})) return ${problem};`);
		const blocks = blocksOf(schema);
		if (blocks) {
			lines.push(`const bad = (${value} as Frame[]).findIndex((block) => !(isObject(block) && (${blocks.good("block")})));`);
			lines.push(`if (bad >= 0) return \`${path}${name}[\${bad}] must be ${blocks.name}\`;`);
		}
		if (schema.type === "object" && schema.properties) {
			lines.push(`const ${name} = ${value} as Frame;`);
			lines.push(...statements(schema.properties, (member) => schema.required?.includes(member) ?? false, name, `${path}${name}.`));
		}
	}
	return lines;
}

function row(name: string, lane: Lane, body: string[]): string {
	if (body.length === 0) return `\t${name}: { lane: "${lane}", check: none },`;
	return `\t${name}: {\n\t\tlane: "${lane}",\n\t\tcheck(frame) {\n${body.map((line) => `\t\t\t${line}\n`).join("")}\t\t\treturn undefined;\n\t\t},\n\t},`;
}

export function inboundChecks(): string {
	const rows = Object.entries(commands).map(([name, { lane, params }]) => {
		const properties = params as Record<string, Schema>;
		return row(
			name,
			lane,
			statements(properties, (member) => !properties[member]?.["~optional"], "frame", ""),
		);
	});
	for (const schema of [ExtensionUiResponse, HostToolUpdate, HostToolResult, PermissionResponse, GateResponse] as unknown as Schema[]) {
		const name = String((schema.properties?.type as { const?: string } | undefined)?.const);
		// A wrong answer to a dialog counts as cancelled; only a call without an id belongs to no request.
		// A wrong digest or rule is a decision about something else: the request is closed, not left open.
		const checked: Record<string, string[]> = { extension_ui_response: ["id"], permission_response: ["id", "decision", "scope"] };
		const all = Object.entries(schema.properties ?? {});
		const properties = Object.fromEntries(all.filter(([member]) => checked[name]?.includes(member) ?? true));
		rows.push(
			row(
				name,
				"control",
				statements(properties, (member) => schema.required?.includes(member) ?? false, "frame", ""),
			),
		);
	}
	return `// Generated by npm run generate. Do not edit.
/** Lane and check of every inbound frame. A check answers what is wrong, or nothing; an optional member that is null counts as absent. */
import type { Lane } from "./define.ts";

type Frame = Record<string, unknown>;

const none = (): undefined => undefined;
const isObject = (value: unknown): boolean => typeof value === "object" && value !== null && !Array.isArray(value);

export const checks: Record<string, { lane: Lane; check: (frame: Frame) => string | undefined }> = {
${rows.join("\n")}
};
`;
}
