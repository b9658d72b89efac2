export type * from "./budget.ts";
export type * from "./files.ts";
export type * from "./loop.ts";
export type * from "./models.ts";
export type * from "./policy.ts";
export type * from "./stream.ts";
export type * from "./tool.ts";
export type * from "./ui.ts";
