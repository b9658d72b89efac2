/** Waits that end early when a signal fires, and leave no timer running. */
const longestMs = 2 ** 31 - 1;

export function sleep(milliseconds: number, signal?: AbortSignal): Promise<"elapsed" | "aborted"> {
	if (signal?.aborted) return Promise.resolve("aborted");
	return new Promise((resolve) => {
		const onAbort = () => {
			clearTimeout(timer);
			resolve("aborted");
		};
		const timer = setTimeout(
			() => {
				signal?.removeEventListener("abort", onAbort);
				resolve("elapsed");
			},
			Math.min(milliseconds, longestMs),
		);
		signal?.addEventListener("abort", onAbort, { once: true });
	});
}
