/** The words of an HTML page that came in place of an error. One pass over the text, whatever is in it. */

const longestText = 200;

export function isHtml(body: string): boolean {
	return /^\s*<(?:!doctype|!--|html|head|body)/i.test(body);
}

/** The title of a page, or its first heading, or its first words: each says the same on the error pages of proxies. */
export function pageLine(page: string): string {
	const { title, heading, words } = partsOf(page);
	const best = [title, heading, words].map((part) => part.replace(/\s+/g, " ").trim()).find((part) => part !== "") ?? "";
	return `${best.slice(0, longestText)} (an HTML page)`.trimStart();
}

function partsOf(page: string): Record<"title" | "heading" | "words", string> {
	const words: string[] = [];
	let title = "";
	/** The words of the first heading begin and end at these places of `words`. */
	let heading: { name: string; from: number; to?: number } | undefined;
	const lower = page.toLowerCase();
	for (let at = 0; at < page.length; ) {
		const tag = page.indexOf("<", at);
		words.push(page.slice(at, tag < 0 ? page.length : tag));
		const isComment = tag >= 0 && page.startsWith("<!--", tag);
		const close = tag < 0 ? -1 : isComment ? endOf(page, "-->", tag) + 2 : page.indexOf(">", tag);
		// A tag without an end: what follows is not text for a reader.
		if (close < 0) break;
		const name = /^<(\/?[a-z][a-z0-9]{0,10})/.exec(lower.slice(tag, tag + 14))?.[1];
		at = close + 1;
		if (name === "title" && title === "") title = page.slice(at, endOf(page, "<", at));
		if ((name === "h1" || name === "h2") && !heading) heading = { name, from: words.length };
		if (heading && name === `/${heading.name}`) heading.to ??= words.length;
		if (name === "script" || name === "style") at = endOf(lower, `</${name}`, at);
	}
	return { title, heading: heading?.to === undefined ? "" : words.slice(heading.from, heading.to).join(" "), words: words.join(" ") };
}

const endOf = (text: string, wanted: string, from: number) => {
	const end = text.indexOf(wanted, from);
	return end < 0 ? text.length : end;
};
