/** The directory of a run's agent inside its checkout. */
import { realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { isWithin } from "../lib/links.ts";
import { CheckoutError } from "./checkout.ts";

/**
 * Returns the real path of a directory in a checkout. A repository, or a command of an earlier attempt, can put a link in its place: the agent would
 * work, and its sandbox let commands write, where that link leads. So it is asked again before each start of the agent. Throws a CheckoutError.
 */
export function workplaceIn(top: string, subdir: string | undefined): string {
	if (subdir === undefined) return top;
	const place = directoryAt(join(top, subdir));
	if (place === undefined) throw new CheckoutError(`There is no directory ${subdir} in the repository.`, false);
	const real = realpathSync.native(top);
	if (isWithin(place, real) && !isWithin(place, join(real, ".git"))) return place;
	const message = `The directory ${subdir} of the repository leads out of the files of the checkout. Name a directory among them in repo.subdir.`;
	throw new CheckoutError(message, false);
}

function directoryAt(path: string): string | undefined {
	try {
		const place = realpathSync.native(path);
		return statSync(place).isDirectory() ? place : undefined;
	} catch {
		return undefined; // Nothing is there, or a link leads to nothing.
	}
}
