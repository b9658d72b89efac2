/** What an agent says about itself: in `ready` and in the state. */
import Type, { type Static, type TObject } from "typebox";
import { integer, optional, text } from "./define.ts";
import { SandboxState } from "./sandbox.ts";

const version = text({ description: "Of Bowline." });
const protocol = integer({ description: "Version of this protocol: 1." });
const cwd = text({ description: "The agent's working directory." });
const capabilities = Type.Record(text(), integer(), {
	description: "What this agent offers in addition to the base protocol: a name and its version. A name that is missing is not offered.",
});

export const identity = { version, protocol, cwd, capabilities, sandbox: SandboxState };
/** The same where a frame may lack them: dialect `strict` has none of them. */
export const optionalIdentity = {
	version: optional(version),
	protocol: optional(protocol),
	cwd: optional(cwd),
	capabilities: optional(capabilities),
	sandbox: optional(SandboxState),
};

export type Identity = Static<TObject<typeof identity>>;
