/** The words of an HTML page that came in place of an error. One pass over the text, whatever is in it. */

const longestText = 300;

/** An HTML page says little in many words; other bodies stay as they are. */
export function readable(body: string): string {
	if (!/^\s*<(?:!doctype|html|head|body)/i.test(body)) return body.trim();
	const words: string[] = [];
	let title = "";
	const lower = body.toLowerCase();
	for (let at = 0; at < body.length; ) {
		const tag = body.indexOf("<", at);
		words.push(body.slice(at, tag < 0 ? body.length : tag));
		const close = tag < 0 ? -1 : body.indexOf(">", tag);
		// A tag without an end: what follows is not text for a reader.
		if (close < 0) break;
		const name = /^<([a-z]{1,10})/.exec(lower.slice(tag, tag + 12))?.[1];
		at = close + 1;
		if (name === "title" && title === "") title = body.slice(at, endOf(body, "<", at));
		if (name === "script" || name === "style") at = endOf(lower, `</${name}`, at);
	}
	const said = `${title} ${words.join(" ")}`.replace(/\s+/g, " ").trim();
	return `(an HTML page) ${said.slice(0, longestText)}`;
}

const endOf = (text: string, wanted: string, from: number) => {
	const end = text.indexOf(wanted, from);
	return end < 0 ? text.length : end;
};
