/** What the app needs from extensions, in one lazy chunk; `discover.ts` finds them and is separate, because every start runs it. */
export type { ExtensionActions, OwnMessage } from "./actions.ts";
export { execProgram } from "./exec.ts";
export { ExtensionHost, type HostOptions } from "./host.ts";
export type { ExtensionError, OnError } from "./link.ts";
export { type LoadError, type LoadedExtensions, type LoadOptions, loadExtensions } from "./load.ts";
