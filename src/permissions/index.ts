/**
 * Approvals: the gate in front of tool calls. Loaded only where a mode or a rule restricts something, or when a host asks for it.
 *
 * - `Gate.policy` takes part at `beforeTool`, after every policy that may change arguments.
 * - `Gate.permit(callOf(…))` asks about something that is not a tool call: a connection, a way out of the walls.
 * - `Gate.receive` takes the answers of the host; `Gate.permitFor` the questions of subagents.
 */
export { type ForeignAnswer, type ForeignQuestion, Gate, type GateParts, type OptionDialog, type Permit, type Route } from "./gate.ts";
export { grantsFileName } from "./grants.ts";
export { callOf, type Surroundings } from "./question.ts";
export type { ReadingPlaces } from "./reading.ts";
export { ruledAccess } from "./rules.ts";
