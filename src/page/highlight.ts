/** Marks the matches of a search without touching the elements around them. */

const most = 2000;
/** Further down in an endless output nothing is marked: this runs while the reader scrolls. */
const longest = 500_000;

/** Ranges of a text inside an element; it may run across elements, as coloured code does. */
export function rangesOf(root: Element, wanted: string): Range[] {
	const nodes: Text[] = [];
	const starts: number[] = [];
	let text = "";
	// A line of a change that is there twice is found once.
	const isTwin = (node: Node) => node instanceof Element && node.classList.contains("before");
	const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT, (node) =>
		isTwin(node) ? NodeFilter.FILTER_REJECT : node instanceof Text ? NodeFilter.FILTER_ACCEPT : NodeFilter.FILTER_SKIP,
	);
	for (let node = walker.nextNode(); node && text.length < longest; node = walker.nextNode()) {
		nodes.push(node as Text);
		starts.push(text.length);
		const data = (node as Text).data;
		const lower = data.toLowerCase();
		// A few letters change their length in lower case; then positions would be wrong.
		text += lower.length === data.length ? lower : data;
	}
	const ranges: Range[] = [];
	for (let at = text.indexOf(wanted); at >= 0 && ranges.length < most; at = text.indexOf(wanted, at + wanted.length)) {
		const range = document.createRange();
		const first = lastAtOrBefore(starts, at);
		const last = lastAtOrBefore(starts, at + wanted.length - 1);
		range.setStart(nodes[first] as Text, at - (starts[first] as number));
		range.setEnd(nodes[last] as Text, at + wanted.length - (starts[last] as number));
		ranges.push(range);
	}
	return ranges;
}

function lastAtOrBefore(starts: readonly number[], position: number): number {
	let low = 0;
	let high = starts.length - 1;
	while (low < high) {
		const middle = Math.ceil((low + high) / 2);
		if ((starts[middle] as number) <= position) low = middle;
		else high = middle - 1;
	}
	return low;
}

export function showRanges(name: "found" | "found-now", ranges: readonly Range[]): void {
	if (!("highlights" in CSS)) return;
	const highlight = new Highlight();
	highlight.priority = name === "found-now" ? 1 : 0;
	for (const range of ranges) highlight.add(range);
	CSS.highlights.set(name, highlight);
}
