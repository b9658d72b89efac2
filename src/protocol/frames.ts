/** What a line can be. Parsing gives a value, never a throw, never an unchecked cast. */
import type { CommandName } from "./commands/index.ts";
import type { Lane } from "./define.ts";
import type { DialectEvent } from "./dialect-events.ts";
import type { AgentEvent, Response } from "./events.ts";
import type { ExtensionUiRequest, ExtensionUiResponse } from "./extension-ui.ts";
import type { GateRequest, GateResponse } from "./gate.ts";
import type { HostToolCall, HostToolCancel, HostToolResult, HostToolUpdate } from "./host-tools.ts";
import { checks } from "./inbound.generated.ts";
import { isNestedDeeperThan, maxNesting } from "./nesting.ts";
import type { PermissionResponse } from "./permissions.ts";
import type { Gap, Snapshot } from "./sequence.ts";

export type ControlFrame = ExtensionUiResponse | HostToolUpdate | HostToolResult | PermissionResponse | GateResponse;
export type OutboundFrame = AgentEvent | DialectEvent | Response | ExtensionUiRequest | HostToolCall | HostToolCancel | GateRequest | Gap | Snapshot;
export type RequestId = string | number;

export interface CommandFrame {
	kind: "command";
	name: CommandName;
	lane: Lane;
	id: RequestId | undefined;
	/** With it the command is done once, however often it is sent. */
	key?: string;
	/** The checked frame; members beyond the command's own are ignored. */
	params: Record<string, unknown>;
}

export interface ParseFailure {
	kind: "failure";
	/** What `command` of the response says. */
	command: string;
	id: RequestId | undefined;
	/** The id is reported only in dialects that have it. */
	hidesId?: true;
	error: string;
	code: "bad_json" | "unknown_command" | "bad_field";
	/** A guess for a person; programs compare the error. */
	hint?: string;
}

export type InboundFrame = CommandFrame | { kind: "control"; frame: ControlFrame } | ParseFailure;

const longestKey = 200;
const typeIsMissing = 'A command needs a member "type", such as {"id":"1","type":"get_state"}';

export function parseFailure(reason: string, code: ParseFailure["code"] = "bad_json"): ParseFailure {
	return { kind: "failure", command: "parse", id: undefined, error: `Failed to parse command: ${reason}`, code };
}

export function parseInbound(line: string): InboundFrame {
	// A level takes two characters at least: most lines are too short to be too deep.
	if (line.length > 2 * maxNesting && isNestedDeeperThan(maxNesting, line)) return parseFailure(`nested deeper than ${maxNesting}`);
	let frame: unknown;
	// Half of the price of a line that is not JSON is the stack of its error, which is not shown.
	const { stackTraceLimit } = Error;
	Error.stackTraceLimit = 0;
	try {
		frame = JSON.parse(line);
	} catch (error) {
		return parseFailure((error as Error).message);
	} finally {
		Error.stackTraceLimit = stackTraceLimit;
	}
	if (typeof frame !== "object" || frame === null || Array.isArray(frame)) return parseFailure("a command must be a JSON object");
	const params = frame as Record<string, unknown>;
	const name = typeof params.type === "string" ? params.type : (JSON.stringify(params.type) ?? "undefined");
	const row = typeof params.type === "string" && Object.hasOwn(checks, name) ? checks[name] : undefined;
	const id = typeof params.id === "string" || Number.isFinite(params.id) ? (params.id as RequestId) : undefined;
	if (!row) {
		const hint = params.type === undefined && { hint: typeIsMissing };
		return { kind: "failure", command: name, id, hidesId: true, error: `Unknown command: ${name}`, code: "unknown_command", ...hint };
	}
	const problem = row.check(params);
	if (row.lane === "control") {
		return problem ? parseFailure(`${name}: ${problem}`, "bad_field") : { kind: "control", frame: frame as ControlFrame };
	}
	if (problem) return { kind: "failure", command: name, id, error: `${name}: ${problem}`, code: "bad_field" };
	const { key } = params;
	if (key != null && (typeof key !== "string" || key.length > longestKey || key === ""))
		return { kind: "failure", command: name, id, error: `${name}: key must be a string of 1 to ${longestKey} characters`, code: "bad_field" };
	return { kind: "command", name: name as CommandName, lane: row.lane, id, ...(key != null && { key }), params };
}
