/** The package: a session inside your program, and what extensions are written with. */

import { type Client, type ConversationOptions, converse } from "./client/client.ts";
import type { EmbedOptions } from "./embed/index.ts";

export type {
	Client,
	CustomTool,
	CustomToolCall,
	CustomToolResult,
	Dialog,
	DialogAnswer,
	DialogHandler,
	Exit,
	ListenerTypes,
	PermissionAnswer,
	PermissionHandler,
	PromptOptions,
	PromptOutcome,
	RequestOptions,
	WaitOptions,
} from "./client/index.ts";
export { ExitError, RequestError, TimeoutError } from "./client/index.ts";
export type * from "./extensions/api.ts";
export { defineExtension, defineTool } from "./extensions/helpers.ts";

export interface SessionOptions extends EmbedOptions, ConversationOptions {}

/**
 * Runs an agent inside this process. What it gives is what `startClient` gives, without a child process: `close` ends the session, not you.
 * Nothing global is touched: no handlers of the process, no `console`, no stdout.
 */
export async function createSession(options: SessionOptions = {}): Promise<Client> {
	const { startTimeoutMs, requestTimeoutMs, onPermission, onError, ...rest } = options;
	const { embedded } = await import("./embed/index.ts");
	return converse(embedded(rest), "ready", { startTimeoutMs, requestTimeoutMs, onPermission, onError });
}
