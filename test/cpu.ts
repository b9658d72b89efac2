/** Work counted in processor time, which other programs on the machine do not lengthen. */

/** Returns the milliseconds of processor time that `work` takes. */
export async function cpuOf(work: () => unknown): Promise<number> {
	const before = process.cpuUsage();
	await work();
	return process.cpuUsage(before).user / 1000;
}
