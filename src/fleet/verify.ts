/** Verification of a run: the plan of the task tool, run by the worker after a good end, with repair prompts in the same session. */
import { join } from "node:path";
import type { Shell } from "../lib/shell/index.ts";
import type { VerificationResult } from "../protocol/subagents.ts";
import type { VerificationPlan } from "../verification/contracts.ts";
import { failedChecks, type VerificationSettings as PlanSettings, planVerification, repairContext, verification } from "../verification/index.ts";

export interface VerificationSettings extends PlanSettings {
	failureContextLineLimit: number;
}

export type Verdict =
	| { status: "passed" }
	| { status: "repair"; prompt: string; attempt: number }
	| { status: "failed"; reason: string; discard: boolean };

export interface VerificationInput {
	id: string;
	cwd: string;
	/** For the logs of the checks. */
	directory: string;
	shell: () => Promise<Shell>;
	signal: AbortSignal;
}

export class Verification {
	readonly problem: string | undefined;
	readonly frames: { t: number; f: object }[] = [];
	readonly #plan: VerificationPlan | undefined;
	readonly #settings: VerificationSettings;
	readonly #input: VerificationInput;
	readonly #attempts: VerificationResult["attempts"] = [];

	constructor(verify: unknown, settings: VerificationSettings, input: VerificationInput) {
		const planned = planVerification(verify, { isolated: true, settings });
		this.problem = "problem" in planned ? planned.problem : undefined;
		this.#plan = "problem" in planned ? undefined : planned.plan;
		this.#settings = settings;
		this.#input = input;
	}

	/** For the receipt. */
	get result(): VerificationResult | undefined {
		const plan = this.#plan;
		const last = this.#attempts.at(-1);
		if (!plan || !last) return undefined;
		const attempts = this.#attempts.map(({ commandResults, ...attempt }) => ({
			...attempt,
			// The logs stay on the worker and go with the checkout.
			commandResults: commandResults.map(({ artifactPath, ...result }) => result),
		}));
		return {
			requested: true,
			...(plan.profile === undefined ? {} : { profile: plan.profile }),
			mode: "command",
			status: last.status,
			attempts,
			retriesUsed: this.#attempts.length - 1,
			onFailure: plan.onFailure,
		};
	}

	async attempt(): Promise<Verdict> {
		const plan = this.#plan;
		if (!plan) return { status: "passed" };
		const { id, cwd, directory, shell, signal } = this.#input;
		const number = this.#attempts.length + 1;
		const emit = (f: object) => void this.frames.push({ t: Date.now(), f });
		const artifact = (name: string) => join(directory, name);
		const made = await verification({ shell, now: () => Date.now() })(plan, number, { id, taskId: id, cwd, artifact, emit, signal });
		this.#attempts.push(made);
		if (made.status === "passed") return { status: "passed" };
		const names = failedChecks(made).map(({ name }) => name);
		const mayRepair = plan.onFailure === "retry_once" && number <= Math.min(1, plan.maxRetries);
		if (!mayRepair) return { status: "failed", reason: `Verification failed: ${names.join(", ")}`, discard: plan.onFailure === "discard_patch" };
		const context = await repairContext(made, this.#settings.failureContextLineLimit);
		const prompt = `Your work was checked, and the checks failed. Find out why, repair the work, and do not weaken the checks.\n\nWhat failed:\n\n${context}`;
		return { status: "repair", prompt, attempt: number };
	}
}
