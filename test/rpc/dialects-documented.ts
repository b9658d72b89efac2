/** Whether a frame is what the protocol's rows say: no member is missing, of a wrong kind, or nowhere described. */
import Type, { type TSchema } from "typebox";
import { Compile } from "typebox/compile";
import { commands } from "../../src/protocol/commands/index.ts";
import { ompEvents, piEvents } from "../../src/protocol/dialect-events.ts";
import { events, Response } from "../../src/protocol/events.ts";
import { ExtensionUiRequest } from "../../src/protocol/extension-ui.ts";
import { HostToolCall, HostToolCancel } from "../../src/protocol/host-tools.ts";
import type { Frame } from "../wire/support/match.ts";

/** The same schema, with no room for members that it does not name. */
function closed(schema: unknown): TSchema {
	if (Array.isArray(schema)) return schema.map(closed) as unknown as TSchema;
	if (typeof schema !== "object" || schema === null) return schema as unknown as TSchema;
	const inner = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]));
	return ("properties" in schema ? { ...inner, additionalProperties: false } : inner) as unknown as TSchema;
}

const validators = new Map<string, ReturnType<typeof Compile>>();

function problemsIn(name: string, schema: () => TSchema, value: unknown): string[] {
	const validator = validators.get(name) ?? Compile(closed(schema()));
	validators.set(name, validator);
	if (validator.Check(value)) return [];
	const [first] = validator.Errors(value);
	return [`${name}${first?.instancePath}: ${first?.message} (${JSON.stringify(value).slice(0, 300)})`];
}

const rows = { ...events, ...piEvents, ...ompEvents };
const asks: Record<string, TSchema> = { extension_ui_request: ExtensionUiRequest, host_tool_call: HostToolCall, host_tool_cancel: HostToolCancel };

export function undocumented(given: Frame): string[] {
	// The word of dialect pi for a reply that is not complete; types are simpler without it.
	const frame = JSON.parse(JSON.stringify(given).replaceAll('"stopReason":"pending"', '"stopReason":"stop"')) as Frame;
	const { type } = frame;
	if (type === "response") return responseProblems(frame);
	const ask = asks[type];
	if (ask) return problemsIn(type, () => ask, frame);
	const row = Object.hasOwn(rows, type) ? rows[type as keyof typeof rows] : undefined;
	return row ? problemsIn(type, () => Type.Object({ type: Type.Literal(type), ...row.fields }), frame) : [type];
}

function responseProblems(frame: Frame): string[] {
	const own = problemsIn("response", () => Response, frame);
	const { command, success, data } = frame as { command?: string; success?: boolean; data?: unknown };
	const row = command !== undefined && Object.hasOwn(commands, command) ? commands[command as keyof typeof commands] : undefined;
	if (!success || !row || data === undefined) return own;
	return [...own, ...problemsIn(`response(${command})`, () => row.result, data)];
}
