/** `FUZZ_SEEDS=1000 npx vitest run test/fuzz` looks longer, `FUZZ_FROM=17` elsewhere. A failure names its seed. */
import { Random } from "../torture/random.ts";

export async function forSeeds(count: number, work: (random: Random, seed: number) => unknown): Promise<void> {
	const from = Number(process.env.FUZZ_FROM ?? 1);
	const to = from + Number(process.env.FUZZ_SEEDS ?? count);
	for (let seed = from; seed < to; seed++) {
		try {
			await work(new Random(seed), seed);
		} catch (error) {
			throw new Error(`seed ${seed}: ${(error as Error).message}`, { cause: error });
		}
	}
}
