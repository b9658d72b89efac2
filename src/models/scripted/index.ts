/** The scripted model: a provider that plays a file. */
export { ReplyBuilder } from "../builder.ts";
export { demoRepository } from "./built-in/demo-repository.ts";
export { builtInScripts } from "./built-in/index.ts";
export type { Block, Reply, Script, When } from "./format.ts";
export { type LoadedModel, type LoadedScript, loadScript, parseScript } from "./load.ts";
export { scriptedModel } from "./model.ts";
export { cutText, type PlayerOptions, ScriptPlayer } from "./play.ts";
