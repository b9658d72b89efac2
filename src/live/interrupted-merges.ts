/** Before the first prompt: merges of subagents' work that a killed process left half done are undone. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Shells } from "./shells.ts";

export const worktreesOf = (userDirectory: string) => join(userDirectory, "worktrees");

/** Whether there are copies of repositories, of any process. */
export const hasCopies = (root: string) => existsSync(root) && readdirSync(root).some((name) => name !== "rescued");

/** Loads nothing and costs one look into a directory when there are no copies. Never rejects. */
export async function repairMerges(userDirectory: string, shells: Pick<Shells, "gitStarter" | "commandEnvironment">, warn: (text: string) => void) {
	try {
		const root = worktreesOf(userDirectory);
		if (!hasCopies(root)) return;
		const { repairInterruptedMerges } = await import("../subagents/isolation/index.ts");
		const environment = await shells.commandEnvironment();
		await repairInterruptedMerges({ root, shell: () => shells.gitStarter(), environment, now: Date.now, warn });
	} catch (error) {
		warn(`Interrupted merges could not be looked for: ${(error as Error).message}`);
	}
}
