export { failedChecks, repairContext } from "./failures.ts";
export { type Planned, planVerification, type VerificationSettings } from "./plan.ts";
export { type VerifyInput, verification } from "./run.ts";
