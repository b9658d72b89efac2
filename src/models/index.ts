/** The providers, as one lazy chunk. */
export type { ModelProblem, ModelProblemCode } from "./problems.ts";
export { ModelRegistry } from "./registry.ts";
export { initialModel, scopeModels } from "./select.ts";
