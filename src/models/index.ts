/** What the app needs of the providers, in one lazy chunk. */
export { ModelRegistry } from "./registry.ts";
export { initialModel, scopeModels } from "./select.ts";
