/** Reads what an edit changed: a unified patch, or lines as `+12 text`. */

export interface DiffLine {
	kind: "add" | "remove" | "same" | "gap";
	oldNumber?: number;
	newNumber?: number;
	text: string;
	/** The part that differs from the line on the other side: from, to. */
	changed?: [number, number];
}

/** The changes of one file. */
export interface FileDiff {
	/** As the patch names it; empty when it does not. */
	path: string;
	lines: DiffLine[];
}

export const readPatch = (patch: string): DiffLine[] => readFiles(patch).flatMap(({ lines }) => lines);

/** A patch of any number of files. How long a hunk is, its head says: a removed line may look like the head of a file. */
export function readFiles(patch: string): FileDiff[] {
	const files: FileDiff[] = [];
	let path = "";
	let isNamed = false;
	let lines: DiffLine[] | undefined;
	let oldNumber = 0;
	let newNumber = 0;
	let oldLeft = 0;
	let newLeft = 0;
	for (const line of patch.replace(/\n$/, "").split("\n")) {
		const isInside = oldLeft > 0 || newLeft > 0;
		const hunk = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@(.*)$/.exec(line);
		if (hunk) {
			// An empty side is named by the line before it.
			oldNumber = Number(hunk[1]) + (hunk[2] === "0" ? 1 : 0);
			newNumber = Number(hunk[3]) + (hunk[4] === "0" ? 1 : 0);
			oldLeft = Number(hunk[2] ?? 1);
			newLeft = Number(hunk[4] ?? 1);
			if (!lines || isNamed) {
				lines = [];
				files.push({ path, lines });
				isNamed = false;
			}
			if (lines.length || oldNumber > 1) lines.push({ kind: "gap", text: (hunk[5] ?? "").trim() });
			continue;
		}
		if (!isInside) {
			const name = /^(?:---|\+\+\+) (.+?)(?:\t.*)?$/.exec(line)?.[1];
			const isOld = line.startsWith("---");
			if (name !== undefined) {
				if (isOld || name !== "/dev/null") path = name.replace(/^[ab]\//, "");
				isNamed = true;
				continue;
			}
			// Lines beyond what the head promised are shown too: patches are written by models as well.
			if (!lines || isNamed || !/^[ +-]/.test(line)) continue;
		}
		if (!lines || line.startsWith("\\")) continue;
		const text = line.slice(1).replace(/\r$/, "");
		if (line.startsWith("+")) {
			lines.push({ kind: "add", newNumber: newNumber++, text });
			newLeft -= 1;
		} else if (line.startsWith("-")) {
			lines.push({ kind: "remove", oldNumber: oldNumber++, text });
			oldLeft -= 1;
		} else {
			lines.push({ kind: "same", oldNumber: oldNumber++, newNumber: newNumber++, text });
			oldLeft -= 1;
			newLeft -= 1;
		}
	}
	for (const file of files) markChanges(file.lines);
	return files;
}

export function readNumbered(diff: string): DiffLine[] {
	const lines = diff.split("\n").map((line): DiffLine => {
		const found = /^([+\- ])\s*(\d+)(?: |\|)?(.*)$/s.exec(line);
		if (!found) return { kind: "gap", text: line.trim() === "..." ? "" : line };
		const number = Number(found[2]);
		const text = found[3] ?? "";
		if (found[1] === "+") return { kind: "add", newNumber: number, text };
		if (found[1] === "-") return { kind: "remove", oldNumber: number, text };
		return { kind: "same", newNumber: number, text };
	});
	return markChanges(lines);
}

/** An edit that was asked for but whose result is not there: old lines, then new ones. */
export function replacement(oldText: string, newText: string): DiffLine[] {
	const lines = (text: string, kind: "add" | "remove"): DiffLine[] => (text === "" ? [] : text.split("\n").map((line) => ({ kind, text: line })));
	return markChanges([...lines(oldText, "remove"), ...lines(newText, "add")]);
}

/** Where as many lines go as come, each is compared with its counterpart. */
function markChanges(lines: DiffLine[]): DiffLine[] {
	let at = 0;
	while (at < lines.length) {
		const removed = run(lines, at, "remove");
		const added = run(lines, at + removed, "add");
		if (removed === added) for (let index = at; index < at + removed; index++) mark(lines[index] as DiffLine, lines[index + removed] as DiffLine);
		at += removed + added || 1;
	}
	return lines;
}

function run(lines: readonly DiffLine[], from: number, kind: DiffLine["kind"]): number {
	let count = 0;
	while (lines[from + count]?.kind === kind) count += 1;
	return count;
}

function mark(before: DiffLine, after: DiffLine): void {
	const most = Math.min(before.text.length, after.text.length);
	let start = 0;
	while (start < most && before.text[start] === after.text[start]) start += 1;
	let tail = 0;
	while (tail < most - start && before.text.at(-1 - tail) === after.text.at(-1 - tail)) tail += 1;
	// Lines that share next to nothing are better left alone.
	if (start + tail < most / 3) return;
	if (before.text.length > start + tail) before.changed = [start, before.text.length - tail];
	if (after.text.length > start + tail) after.changed = [start, after.text.length - tail];
}

export function countChanges(lines: readonly DiffLine[]): { added: number; removed: number } {
	let added = 0;
	let removed = 0;
	for (const { kind } of lines) {
		if (kind === "add") added += 1;
		if (kind === "remove") removed += 1;
	}
	return { added, removed };
}
