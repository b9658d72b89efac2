export type { Confinement, Enclosure, EnclosureFacts, ProgramStart } from "./confinement.ts";
export { type Program, type ProgramOptions, Shell, type ShellOptions, type ShellRequest, type ShellResult, type ShellUpdate } from "./shell.ts";
export type { OutputLog } from "./temp-log.ts";
