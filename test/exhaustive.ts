/** Some tests go through every moment of a run, or every byte of a reply. The suite takes a sample of them; `npm run test:exhaustive` takes all. */
export function sampled<T>(all: readonly T[], every: number): T[] {
	return process.env.EXHAUSTIVE ? [...all] : all.filter((_, index) => index % every === 0);
}
