export type { PageInput, ToolFacts } from "./data.ts";
export { type ExportOptions, exportSession, pageFileName } from "./file.ts";
export { exportPage, pageChunks } from "./page.ts";
