/** Every command of the protocol as a method, made from the command table. */

import { commandLanes } from "../protocol/names.generated.ts";
import type { CommandName, CommandParams, CommandResult } from "../protocol/types.generated.ts";
import type { RequestOptions } from "./requests.ts";

type Capitalised<Name extends string> = Name extends `${infer Head}_${infer Tail}` ? `${Capitalize<Head>}${Capitalised<Tail>}` : Capitalize<Name>;
/** `get_state` is called `getState`. */
export type MethodName<Name extends string> = Uncapitalize<Capitalised<Name>>;

/** Parameters can be omitted if none is required. */
export type CommandArguments<Name extends CommandName> =
	Record<never, never> extends CommandParams<Name>
		? [params?: CommandParams<Name>, options?: RequestOptions]
		: [params: CommandParams<Name>, options?: RequestOptions];

export type CommandMethods = { [Name in CommandName as MethodName<Name>]: (...args: CommandArguments<Name>) => Promise<CommandResult<Name>> };

export type Ask = (command: string, params?: object, options?: RequestOptions) => Promise<unknown>;

/** Commands without a time limit: work in the background, and aborts, which wait for what they abort. */
export function takesItsTime(command: string): boolean {
	const lanes: Record<string, string> = commandLanes;
	const lane = Object.hasOwn(lanes, command) ? lanes[command] : undefined;
	return lane === "background" || lane === "interrupt";
}

export function commandMethods(ask: Ask): CommandMethods {
	const methods: Record<string, unknown> = {};
	for (const name of Object.keys(commandLanes)) {
		const method = name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
		methods[method] = (params?: object, options?: RequestOptions) => ask(name, params, options);
	}
	return methods as CommandMethods;
}
