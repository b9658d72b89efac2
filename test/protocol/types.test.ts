/** The plain types say what the rows say. Most of this is proved by the compiler. */
import { expect, expectTypeOf, test } from "vitest";
import { type CommandName, type CommandParams, type CommandResult, commands } from "../../src/protocol/commands/index.ts";
import type { ErrorCode } from "../../src/protocol/errors.ts";
import { type AgentEvent, type EventName, type EventOf, events, type Response } from "../../src/protocol/events.ts";
import type { ExtensionUiRequest, ExtensionUiResponse } from "../../src/protocol/extension-ui.ts";
import type { HostToolCall, HostToolCancel, HostToolResult, HostToolUpdate } from "../../src/protocol/host-tools.ts";
import type * as plain from "../../src/protocol/index.ts";
import { commandLanes, eventNames } from "../../src/protocol/index.ts";
import type { TaskArguments, TaskDetails } from "../../src/protocol/subagents.ts";

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;

/** Names of commands and events whose two descriptions differ. */
type DifferentParams = { [Name in CommandName]: Same<CommandParams<Name>, plain.CommandParams<Name>> extends true ? never : Name }[CommandName];
type DifferentResults = { [Name in CommandName]: Same<CommandResult<Name>, plain.CommandResult<Name>> extends true ? never : Name }[CommandName];
type DifferentEvents = { [Name in EventName]: Same<EventOf<Name>, plain.EventOf<Name>> extends true ? never : Name }[EventName];

test("commands, events and the frames between have the same types in both tellings", () => {
	expectTypeOf<plain.CommandName>().toEqualTypeOf<CommandName>();
	expectTypeOf<plain.EventName>().toEqualTypeOf<EventName>();
	expectTypeOf<DifferentParams>().toBeNever();
	expectTypeOf<DifferentResults>().toBeNever();
	expectTypeOf<DifferentEvents>().toBeNever();
	expectTypeOf<Same<AgentEvent, plain.AgentEvent>>().toEqualTypeOf<true>();
	expectTypeOf<Same<Response, plain.Response>>().toEqualTypeOf<true>();
	expectTypeOf<plain.ErrorCode>().toEqualTypeOf<ErrorCode>();
	expectTypeOf<Same<ExtensionUiRequest, plain.ExtensionUiRequest>>().toEqualTypeOf<true>();
	expectTypeOf<Same<ExtensionUiResponse, plain.ExtensionUiResponse>>().toEqualTypeOf<true>();
	expectTypeOf<
		Same<
			[HostToolCall, HostToolCancel, HostToolUpdate, HostToolResult],
			[plain.HostToolCall, plain.HostToolCancel, plain.HostToolUpdate, plain.HostToolResult]
		>
	>().toEqualTypeOf<true>();
	expectTypeOf<Same<[TaskArguments, TaskDetails], [plain.TaskArguments, plain.TaskDetails]>>().toEqualTypeOf<true>();
});

test("the names are all there, in order", () => {
	expect(Object.entries(commandLanes)).toEqual(Object.entries(commands).map(([name, { lane }]) => [name, lane]));
	expect(eventNames).toEqual(Object.keys(events));
});
