/** Waits for a promise, whatever becomes of it, and not longer than a time. */
export async function settledWithin(ms: number, promise: Promise<unknown>): Promise<void> {
	let timer: NodeJS.Timeout | undefined;
	const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)));
	const settled = promise.then(
		() => undefined,
		() => undefined,
	);
	await Promise.race([settled, late]);
	clearTimeout(timer);
}
