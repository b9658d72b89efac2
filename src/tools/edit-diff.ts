/** Shows what an edit changed: for people, and as a patch. */

export interface EditDiff {
	/** `+12 text`, `-12 text`, ` 12 text`, and ` ...` where lines are left out. */
	diff: string;
	/** In the numbering of the new file. */
	firstChangedLine: number | undefined;
	/** Unified diff. */
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
const longestMs = 1000;

export async function editDiff(path: string, before: string, after: string): Promise<EditDiff> {
	const { structuredPatch } = await import("diff");
	const found = structuredPatch(path, path, before, after, undefined, undefined, { context, timeout: longestMs });
	const hunks: Hunk[] = found?.hunks ?? [wholeHunk(before, after)];
	return { ...display(hunks, countLines(before)), patch: unified(path, hunks) };
}

function display(hunks: Hunk[], oldTotal: number): { diff: string; firstChangedLine: number | undefined } {
	const width = String(Math.max(...hunks.flatMap((hunk) => [hunk.oldStart + hunk.oldLines, hunk.newStart + hunk.newLines]))).length;
	const shown: string[] = [];
	let firstChangedLine: number | undefined;
	for (const [index, hunk] of hunks.entries()) {
		let oldLine = hunk.oldStart;
		let newLine = hunk.newStart;
		if (index > 0 || oldLine > 1) shown.push(" ...");
		for (const line of hunk.lines) {
			const sign = line[0];
			if (sign === "\\") continue;
			if (sign !== " ") firstChangedLine ??= newLine;
			const number = String(sign === "-" ? oldLine : newLine).padStart(width);
			shown.push(`${sign}${number} ${line.slice(1).replace(/\r$/, "")}`);
			if (sign !== "+") oldLine += 1;
			if (sign !== "-") newLine += 1;
		}
		if (index === hunks.length - 1 && oldLine <= oldTotal) shown.push(" ...");
	}
	return { diff: shown.join("\n"), firstChangedLine };
}

function unified(path: string, hunks: Hunk[]): string {
	const name = path.replace(/^\/+/, "");
	const lines = [`--- a/${name}`, `+++ b/${name}`];
	for (const { oldStart, oldLines, newStart, newLines, lines: body } of hunks) {
		// An empty side is named by the line before it.
		const from = oldLines === 0 ? oldStart - 1 : oldStart;
		const to = newLines === 0 ? newStart - 1 : newStart;
		lines.push(`@@ -${from},${oldLines} +${to},${newLines} @@`, ...body);
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
