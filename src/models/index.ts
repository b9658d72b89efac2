/** The providers, as one lazy chunk. */
export { ModelRegistry } from "./registry.ts";
export { providerName } from "./routes.ts";
export { initialModel, scopeModels } from "./select.ts";
