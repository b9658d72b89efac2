/** What the app needs of extensions, in one lazy chunk; finding them is `discover.ts`, apart, because every start does it. */
export type { ExtensionActions, OwnMessage } from "./actions.ts";
export { execProgram } from "./exec.ts";
export { ExtensionHost, type HostOptions } from "./host.ts";
export type { ExtensionError, OnError } from "./link.ts";
export { type LoadError, type LoadedExtensions, type LoadOptions, loadExtensions } from "./load.ts";
