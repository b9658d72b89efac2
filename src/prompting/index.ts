/** Files in which people write down what the agent should know. Loaded with the first prompt. */
export type { TextFile } from "./context-files.ts";
export { expandPrompt, listCommands, type SkillCommands, type SlashCommand } from "./expand.ts";
export { loadResources, type ResourcePlaces, type Resources } from "./resources.ts";
export type { RuleFile } from "./rules.ts";
export type { Skill } from "./skills.ts";
export { type SystemPromptInput, systemPrompt } from "./system-prompt.ts";
export type { Template } from "./templates.ts";
