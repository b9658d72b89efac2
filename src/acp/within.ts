/** Waits for work at most so long. The work goes on; its failure is the caller's to handle. */
export async function within(work: Promise<unknown>, ms: number): Promise<void> {
	let timer: NodeJS.Timeout | undefined;
	const late = new Promise<void>((resolve) => {
		timer = setTimeout(resolve, ms);
	});
	await Promise.race([work, late]).finally(() => clearTimeout(timer));
}
