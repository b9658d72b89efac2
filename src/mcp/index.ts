/** MCP servers as tools of one session. Loaded when a session has any. */
export { type Entry, isWrong, type Origin, readEntries } from "./config.ts";
export { type AskerParts, answerElicitation } from "./elicitation.ts";
export { Registry, type RegistryParts } from "./registry.ts";
