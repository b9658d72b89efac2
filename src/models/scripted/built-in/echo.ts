import type { Script } from "../format.ts";

/** Answers every prompt with its own text. */
export const echo: Script = { name: "Echo", replies: [{ times: "always", text: "{{prompt}}" }] };
