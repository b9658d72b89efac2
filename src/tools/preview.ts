/** A planned change as a unified diff. */
import type { PlannedChange } from "../agent/contracts.ts";
import { editDiff } from "./edit-diff.ts";

/** Returns undefined where there is nothing to compare, or the file is not a text that a person can read. */
export async function changePreview({ path, before, after }: PlannedChange): Promise<string | undefined> {
	return (await editDiff(path, before, after)).patch;
}
