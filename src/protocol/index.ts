/** The protocol for other programs: plain types of everything that goes over the wire, and its names. */
export { thinkingLevels } from "./levels.ts";
export { commandLanes, eventNames } from "./names.generated.ts";
export type * from "./types.generated.ts";
