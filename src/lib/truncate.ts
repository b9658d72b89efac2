/** Cuts long text to what a model can use: whole lines, from the beginning or from the end. */

export interface Limits {
	maxLines: number;
	/** Counted in UTF-8. */
	maxBytes: number;
}

export const outputLimits: Limits = { maxLines: 2000, maxBytes: 50 * 1024 };

/** A description of the cut, sent to hosts as `details.truncation`. The text itself is not repeated here. */
export interface Truncation {
	truncated: boolean;
	truncatedBy: "lines" | "bytes" | null;
	totalLines: number;
	totalBytes: number;
	outputLines: number;
	outputBytes: number;
	/** The one shown line is the end of a longer one. */
	lastLinePartial: boolean;
	/** Nothing is shown because the first line alone is too large. */
	firstLineExceedsLimit: boolean;
	maxLines: number;
	maxBytes: number;
}

export interface Truncated {
	text: string;
	truncation: Truncation;
}

/** Size of the whole text, when the given text is only the relevant part of it. */
export interface Totals {
	lines: number;
	bytes: number;
}

/** Keeps the beginning. */
export function truncateHead(text: string, limits: Limits = outputLimits, totals: Totals = measure(text)): Truncated {
	if (totals.lines <= limits.maxLines && totals.bytes <= limits.maxBytes) return whole(text, limits, totals);
	let end = 0;
	let lines = 0;
	let bytes = 0;
	let by: "lines" | "bytes" = "lines";
	for (let start = 0; start < text.length && lines < limits.maxLines; ) {
		const newline = text.indexOf("\n", start);
		const lineEnd = newline < 0 ? text.length : newline;
		const size = Buffer.byteLength(text.slice(start, lineEnd)) + (lines > 0 ? 1 : 0);
		if (bytes + size > limits.maxBytes) {
			by = "bytes";
			break;
		}
		bytes += size;
		lines += 1;
		end = lineEnd;
		start = lineEnd + 1;
	}
	const kept = text.slice(0, end);
	const truncated = lines < totals.lines;
	return {
		text: kept,
		truncation: {
			truncated,
			truncatedBy: truncated ? by : null,
			totalLines: totals.lines,
			totalBytes: totals.bytes,
			outputLines: lines,
			outputBytes: bytes,
			lastLinePartial: false,
			firstLineExceedsLimit: lines === 0,
			...limits,
		},
	};
}

/** Keeps the end. A last line that is too large on its own is cut to its last bytes, at a character boundary. */
export function truncateTail(text: string, limits: Limits = outputLimits, totals: Totals = measure(text)): Truncated {
	if (totals.lines <= limits.maxLines && totals.bytes <= limits.maxBytes) return whole(text, limits, totals);
	let start = text.length;
	let lines = 0;
	let bytes = 0;
	let by: "lines" | "bytes" = "lines";
	while (start > 0 && lines < limits.maxLines) {
		// The newline that ends a line belongs to it, so that the kept part is exactly the end of the text.
		const newline = start < 2 ? -1 : text.lastIndexOf("\n", start - 2);
		const size = Buffer.byteLength(text.slice(newline + 1, start));
		if (bytes + size > limits.maxBytes) {
			by = "bytes";
			break;
		}
		bytes += size;
		lines += 1;
		start = newline + 1;
	}
	const lastLinePartial = lines === 0 && text.length > 0;
	const kept = lastLinePartial ? lastBytes(text, limits.maxBytes) : text.slice(start);
	return {
		text: kept,
		truncation: {
			truncated: true,
			truncatedBy: by,
			totalLines: totals.lines,
			totalBytes: totals.bytes,
			outputLines: lastLinePartial ? 1 : lines,
			outputBytes: lastLinePartial ? Buffer.byteLength(kept) : bytes,
			lastLinePartial,
			firstLineExceedsLimit: false,
			...limits,
		},
	};
}

/** Lines and UTF-8 bytes. A newline at the very end starts no further line. */
export function measure(text: string): Totals {
	let lines = 0;
	for (let start = 0; start < text.length; lines += 1) {
		const newline = text.indexOf("\n", start);
		start = newline < 0 ? text.length : newline + 1;
	}
	return { lines, bytes: Buffer.byteLength(text) };
}

/** `512B`, `50.0KB`, `1.2MB`. */
export function formatSize(bytes: number): string {
	if (bytes < 1024) return `${bytes}B`;
	if (bytes < 1024 * 1024) return `${(bytes / 1024).toFixed(1)}KB`;
	return `${(bytes / (1024 * 1024)).toFixed(1)}MB`;
}

function whole(text: string, limits: Limits, totals: Totals): Truncated {
	return {
		text,
		truncation: {
			truncated: false,
			truncatedBy: null,
			totalLines: totals.lines,
			totalBytes: totals.bytes,
			outputLines: totals.lines,
			outputBytes: totals.bytes,
			lastLinePartial: false,
			firstLineExceedsLimit: false,
			...limits,
		},
	};
}

function lastBytes(text: string, count: number): string {
	// No character takes fewer bytes than UTF-16 units, so the last `count` units hold all that can be kept.
	const bytes = Buffer.from(text.slice(-count));
	let from = Math.max(0, bytes.length - count);
	while (from < bytes.length && ((bytes[from] as number) & 0xc0) === 0x80) from += 1;
	return bytes.toString("utf8", from);
}
