/** What a handler is: checked parameters in, data out, a CommandError for a refusal. */
import type { CommandName, CommandParams, CommandResult } from "../../protocol/commands/index.ts";
import type { RequestId } from "../../protocol/frames.ts";
import type { AcceptedPrompt } from "../../session/accepted-prompt.ts";

/** The rest of the conversation about one command. */
export interface Call {
	readonly id: RequestId | undefined;
	/** Runs when the response has been written: for events that the command causes. The lane waits for its end. */
	afterResponse(then: () => void | Promise<void>): void;
	/** Goes on with a prompt once it has been acknowledged. The host receives a later refusal with the same id. */
	continueAfterAck(prompt: AcceptedPrompt): void;
	/** Whether an abort (of prompts; with `abort_bash`, of commands) was read after this command. */
	isAborted(by?: "abort" | "abort_bash"): boolean;
	/** Runs work in its turn among the serial commands. */
	inSerialLane<T>(work: () => Promise<T>): Promise<T>;
}

export type Handler<Name extends CommandName> = (params: CommandParams<Name>, call: Call) => CommandResult<Name> | Promise<CommandResult<Name>>;

/** Forget one and the build fails. */
export type Handlers = { [Name in CommandName]: Handler<Name> };
