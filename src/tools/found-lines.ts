/** The input and the result of a search, the same with and without ripgrep. */
import type { LeftOut } from "./closed-paths.ts";

/** Longer lines are cut where they are shown. */
export const longestLine = 500;

/** What to search, the same for both ways of searching. */
export interface Search {
	/** Globs are relative to it, and so are the paths found. */
	directory: string;
	/** Only this file in it. */
	file?: string;
	pattern: string;
	glob?: string;
	ignoreCase: boolean;
	literal: boolean;
	context: number;
	limit: number;
	leftOut?: LeftOut;
}

/** Whether the pattern asks for more than one line at a time. */
export const spansLines = ({ pattern, literal }: Search) => pattern.includes("\n") || (!literal && /\\[nR]/.test(pattern));

export interface FoundLine {
	path: string;
	line: number;
	text: string;
	isMatch: boolean;
}

export interface Found {
	lines: FoundLine[];
	/** There are more matches than the limit. */
	isLimited: boolean;
	/** What the search skipped, and why. */
	notes: string[];
}

/** The beginning of a line: enough to show, and without holding on to the rest, which may be megabytes. */
export function shortened(line: string): string {
	return line.length <= 2 * longestLine ? line : Buffer.from(line.slice(0, 2 * longestLine)).toString();
}

export function withNotes(text: string, notes: readonly string[]): string {
	return notes.length === 0 ? text : `${text}\n\n[${notes.join(". ")}]`;
}
