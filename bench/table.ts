/** A row of figures for a person. */
export interface Figure {
	what: string;
	value: string;
	/** What it is measured against, in the same run. */
	against?: string;
	ratio?: string;
	goal?: string;
	isMet?: boolean;
}

export function printTable(name: string, figures: Figure[]): void {
	console.log(`\n${name}`);
	for (const { what, value, against, ratio, goal, isMet } of figures) {
		const parts = [`  ${what.padEnd(44)} ${value.padStart(16)}`];
		if (against) parts.push(`against ${against}`);
		if (ratio) parts.push(`ratio ${ratio}`);
		if (goal) parts.push(`goal ${goal}`);
		if (isMet !== undefined) parts.push(isMet ? "met" : "MISSED");
		console.log(parts.join("  "));
	}
}

export function median(values: readonly number[]): number {
	const sorted = [...values].sort((a, b) => a - b);
	return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
