/**
 * Some tests go through every moment of a run, or every byte of a reply, or start a process for each case. The suite takes a sample of them, or
 * a cheaper way; `npm run test:exhaustive` takes all.
 */
export const isExhaustive = Boolean(process.env.EXHAUSTIVE);

export function sampled<T>(all: readonly T[], every: number): T[] {
	return isExhaustive ? [...all] : all.filter((_, index) => index % every === 0);
}
