/** The words after `npm run bench --`. */

export interface BenchArguments {
	/** Parts of the names of rows; none means all. */
	names: string[];
	/** The `dist/` of another build. */
	compare?: string;
	/** The file of another program that speaks the protocol: measured in the rows that need no model. */
	peer?: string;
	/** In place of what each row asks for. */
	rounds?: number;
	/** Where every program that is measured leaves a CPU profile. Its figures are not comparable then. */
	profile?: string;
}

export const usage = "Usage: npm run bench -- [--compare <other dist>] [--peer <program>] [--rounds <count>] [--profile <directory>] [row ...]";

export function parseBenchArguments(words: readonly string[]): BenchArguments | { problem: string } {
	const parsed: BenchArguments = { names: [] };
	for (let at = 0; at < words.length; at++) {
		const [flag, inline] = splitFlag(words[at] as string);
		if (!flag.startsWith("--")) {
			parsed.names.push(flag);
			continue;
		}
		if (!["--compare", "--peer", "--rounds", "--profile"].includes(flag)) return { problem: `Unknown option ${flag}` };
		const value = inline ?? words[++at];
		if (!value || value.startsWith("--")) return { problem: `${flag} needs a value` };
		if (flag === "--compare") parsed.compare = value;
		else if (flag === "--peer") parsed.peer = value;
		else if (flag === "--profile") parsed.profile = value;
		else {
			parsed.rounds = Number(value);
			if (!Number.isInteger(parsed.rounds) || parsed.rounds < 1) return { problem: `--rounds must be a whole number from 1 on, not ${value}` };
		}
	}
	return parsed;
}

function splitFlag(word: string): [string, string | undefined] {
	const at = word.startsWith("--") ? word.indexOf("=") : -1;
	return at < 0 ? [word, undefined] : [word.slice(0, at), word.slice(at + 1)];
}
