/** The providers, as one lazy chunk. */
export { ModelRegistry } from "./registry.ts";
export { initialModel, scopeModels } from "./select.ts";
