/** Measures programs in turns: in every round each program once, in alternating order. */
import { inFolder } from "./process.ts";
import type { Contestant, Reading, Row } from "./row.ts";

/** The values of one figure, a list for each program, in the order of the rounds. */
export interface Series extends Omit<Reading, "value"> {
	values: Map<Contestant["name"], number[]>;
}

export async function contest(row: Row, contestants: readonly Contestant[], rounds = row.rounds): Promise<Series[]> {
	const all = new Map<string, Series>();
	await inFolder(async (shared) => {
		await row.prepare?.(shared);
		for (let round = 0; round < rounds; round++) {
			for (const contestant of round % 2 ? contestants.toReversed() : contestants) {
				const readings = await inFolder((folder) => row.measure({ contestant, program: contestant.program, folder, shared }));
				for (const { value, ...kind } of readings) {
					const series = all.get(kind.what) ?? { ...kind, values: new Map() };
					all.set(kind.what, series);
					series.values.set(contestant.name, [...(series.values.get(contestant.name) ?? []), value]);
				}
			}
		}
	});
	return [...all.values()];
}
