/** MCP servers as tools of one session. Loaded when a session has any. */
export { type Entry, isWrong, type Origin, readEntries, type ServerConfig } from "./config.ts";
export { type AskerParts, answerElicitation } from "./elicitation.ts";
export { mayName } from "./names.ts";
export { Registry, type RegistryParts } from "./registry.ts";
