/** The face of the package for authors of extensions: what `from "bowline"` gives them. */
export type * from "./api.ts";
export { defineExtension, defineTool } from "./helpers.ts";
