/** A row: figures that are read from one program at a time, so that several programs can take turns. */

export interface Contestant {
	name: "this" | "other" | "floor" | "peer";
	/** The file that node runs. */
	program: string;
}

/** One program in one round. */
export interface Trial {
	contestant: Contestant;
	program: string;
	/** Empty at first, and removed after the trial. */
	folder: string;
	/** The files that `prepare` wrote: the same for all programs and rounds. */
	shared: string;
}

export interface Reading {
	what: string;
	value: number;
	/** As in `ms`; empty for a plain number. */
	unit: string;
	/** A rate: more is better. */
	isRate?: boolean;
	/** Of growth: two of them are compared by their difference. */
	isExponent?: boolean;
	/** Start-up and memory: any loss beyond the spread is a loss. */
	isStrict?: boolean;
	/** A count that is the same on every machine and in every round: one of them proves a difference. */
	isExact?: boolean;
	goal?: Goal;
}

export interface Goal {
	most?: number;
	least?: number;
	/** Compared with the floor in the same run: at most so many times what it takes, at least so many times its rate. */
	timesFloor?: number;
}

export interface Row {
	name: string;
	/** How many times each program is measured. */
	rounds: number;
	/** The floor program can do this too, and is measured in the same run. */
	hasFloor?: boolean;
	/** So can every program that speaks the protocol: the row needs no script and no model. */
	hasPeer?: boolean;
	/** The row runs code from `src/` in the process that measures: it cannot measure another build. */
	isInProcess?: boolean;
	prepare?: (shared: string) => void | Promise<void>;
	measure: (trial: Trial) => Promise<Reading[]>;
}

/** How cost grows with size: 0 is flat, 1 linear, 2 quadratic. */
export function exponent(sizes: readonly number[], costs: readonly number[]): number {
	const xs = sizes.map(Math.log);
	const ys = costs.map(Math.log);
	const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
	const [x, y] = [mean(xs), mean(ys)];
	const over = xs.reduce((sum, value, index) => sum + (value - x) * ((ys[index] as number) - y), 0);
	return over / xs.reduce((sum, value) => sum + (value - x) ** 2, 0);
}
