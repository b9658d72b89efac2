/** Shows what an edit changed: for people, and as a patch. */

export interface EditDiff {
	/** `+12 text`, `-12 text`, ` 12 text`, and ` ...` where lines are omitted. */
	diff: string;
	/** In the numbering of the new file. */
	firstChangedLine: number | undefined;
	/** Unified diff; empty when it would be larger than `maxPatchLength`. */
	patch: string;
}

interface Hunk {
	oldStart: number;
	oldLines: number;
	newStart: number;
	newLines: number;
	/** Each with its sign, or `\ No newline at end of file`. */
	lines: string[];
}

const context = 4;
/** Nothing else runs meanwhile. */
const longestMs = 200;
/** Larger texts are not compared line by line. */
const maxComparedLength = 4 * 1024 * 1024;
/** Both are part of an event and of the session file. */
const maxShownLength = 512 * 1024;
const maxPatchLength = 4 * 1024 * 1024;

export async function editDiff(path: string, before: string, after: string): Promise<EditDiff> {
	const hunks = (await compared(path, before, after)) ?? [wholeHunk(before, after)];
	const patch = unified(path, hunks);
	return { ...display(hunks, countLines(before)), patch: patch.length > maxPatchLength ? "" : patch };
}

/** Nothing when comparing takes too long. */
async function compared(path: string, before: string, after: string): Promise<Hunk[] | undefined> {
	if (before.length + after.length > maxComparedLength) return undefined;
	const { structuredPatch } = await import("diff");
	return structuredPatch(path, path, before, after, undefined, undefined, { context, timeout: longestMs })?.hunks;
}

function display(hunks: readonly Hunk[], oldTotal: number): { diff: string; firstChangedLine: number | undefined } {
	const ends = hunks.map((hunk) => Math.max(hunk.oldStart + hunk.oldLines, hunk.newStart + hunk.newLines));
	const width = String(ends.reduce((most, end) => Math.max(most, end), 0)).length;
	const shown: string[] = [];
	let length = 0;
	let omitted = 0;
	const show = (line: string) => {
		length += line.length + 1;
		if (length <= maxShownLength) shown.push(line);
		else omitted += 1;
	};
	let firstChangedLine: number | undefined;
	for (const [index, hunk] of hunks.entries()) {
		let oldLine = hunk.oldStart;
		let newLine = hunk.newStart;
		if (index > 0 || oldLine > 1) show(" ...");
		for (const line of hunk.lines) {
			const sign = line[0];
			if (sign === "\\") continue;
			if (sign !== " ") firstChangedLine ??= newLine;
			const number = String(sign === "-" ? oldLine : newLine).padStart(width);
			show(`${sign}${number} ${line.slice(1).replace(/\r$/, "")}`);
			if (sign !== "+") oldLine += 1;
			if (sign !== "-") newLine += 1;
		}
		if (index === hunks.length - 1 && oldLine <= oldTotal) show(" ...");
	}
	if (omitted > 0) shown.push(` ... ${omitted} more lines`);
	return { diff: shown.join("\n"), firstChangedLine };
}

function unified(path: string, hunks: readonly Hunk[]): string {
	const name = path.replace(/^\/+/, "");
	const lines = [`--- a/${name}`, `+++ b/${name}`];
	for (const { oldStart, oldLines, newStart, newLines, lines: body } of hunks) {
		// An empty side is named by the line before it.
		const from = oldLines === 0 ? oldStart - 1 : oldStart;
		const to = newLines === 0 ? newStart - 1 : newStart;
		lines.push(`@@ -${from},${oldLines} +${to},${newLines} @@`);
		for (const line of body) lines.push(line);
	}
	return `${lines.join("\n")}\n`;
}

/** When the two are too different to compare in time: everything between the first and the last difference. */
function wholeHunk(before: string, after: string): Hunk {
	const oldLines = splitLines(before);
	const newLines = splitLines(after);
	let same = 0;
	while (same < oldLines.length && same < newLines.length && oldLines[same] === newLines[same]) same += 1;
	let tail = 0;
	while (tail < oldLines.length - same && tail < newLines.length - same && oldLines.at(-1 - tail) === newLines.at(-1 - tail)) tail += 1;
	const removed = oldLines.slice(same, oldLines.length - tail);
	const added = newLines.slice(same, newLines.length - tail);
	return {
		oldStart: same + 1,
		oldLines: removed.length,
		newStart: same + 1,
		newLines: added.length,
		lines: [...removed.map((line) => `-${line}`), ...added.map((line) => `+${line}`)],
	};
}

const splitLines = (text: string) => (text.endsWith("\n") ? text.slice(0, -1) : text).split("\n");
const countLines = (text: string) => (text === "" ? 0 : splitLines(text).length);
