/** Decides what may be clicked and what may be shown as a picture. Everything else is text. */

// biome-ignore lint/suspicious/noControlCharactersInRegex: browsers drop them, so they hide a scheme
const invisible = /[\u0000-\u0020\u007f-\u00a0\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff]/g;

/** The address when a click can only open a web page or write a mail. */
export function safeLink(href: string): string | undefined {
	const address = href.replace(invisible, "");
	return /^(?:https?:\/\/[^/]|mailto:[^/])/i.test(address) && address.length < 8192 ? address : undefined;
}

const pictures = new Set(["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/bmp"]);

/** A picture that is in the file itself. SVG is left out: it is a document. */
export function pictureAddress(mimeType: string, data: string): string | undefined {
	const type = mimeType.toLowerCase().trim();
	return pictures.has(type) && /^[A-Za-z0-9+/]+={0,2}$/.test(data) ? `data:${type};base64,${data}` : undefined;
}

const named: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0", hellip: "…", mdash: "—", ndash: "–" };
const more: Record<string, string> = {
	copy: "©",
	reg: "®",
	trade: "™",
	rarr: "→",
	larr: "←",
	harr: "↔",
	times: "×",
	bull: "•",
	middot: "·",
	check: "✓",
};

/** Markdown lets text be written as HTML entities. */
export function decodeEntities(text: string): string {
	if (!text.includes("&")) return text;
	return text.replace(/&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([A-Za-z]{2,8}));/g, (whole, decimal, hex, name) => {
		if (name) return (Object.hasOwn(named, name) && named[name]) || (Object.hasOwn(more, name) && more[name]) || whole;
		const code = decimal ? Number(decimal) : Number.parseInt(hex, 16);
		return code === 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) ? "\ufffd" : String.fromCodePoint(code);
	});
}
