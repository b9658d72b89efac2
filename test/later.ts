/**
 * What a test leaves is ended and removed when it is over. Files that share a process share this module, so a hook in it would hold for the first file
 * alone: `later-hook.ts`, which runs for every file, has it.
 */
const cleanups: (() => unknown)[] = [];

/** Calls a function when the running test is over. The last ones come first. */
export function later(clean: () => unknown): void {
	cleanups.push(clean);
}

export async function cleanUp(): Promise<void> {
	for (const clean of cleanups.splice(0).reverse()) await clean();
}
