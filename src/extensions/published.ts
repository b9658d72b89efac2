/** The package's interface for extension authors: the exports of `from "bowline"`. */
export type * from "./api.ts";
export { defineExtension, defineTool } from "./helpers.ts";
