/** Decides what may be clicked and what may be shown as a picture. Everything else is text. */

// biome-ignore lint/suspicious/noControlCharactersInRegex: browsers drop them, so they hide a scheme
const invisible = /[\u0000-\u0020\u007f-\u00a0\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff]/g;

/** The address when a click can only open a web page or write a mail. */
export function safeLink(href: string): string | undefined {
	const address = href.replace(invisible, "");
	return /^(?:https?:\/\/[^/]|mailto:[^/])/i.test(address) && address.length < 8192 ? address : undefined;
}

export type PictureType = "image/png" | "image/jpeg" | "image/gif" | "image/webp";
const pictures = new Set<string>(["image/png", "image/jpeg", "image/gif", "image/webp"] satisfies PictureType[]);

/** The kind of a picture by its first bytes, whatever it is called. */
export function pictureType(bytes: Uint8Array): PictureType | undefined {
	const has = (at: number, ...wanted: number[]) => wanted.every((byte, index) => bytes[at + index] === byte);
	if (has(0, 0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)) return "image/png";
	if (has(0, 0xff, 0xd8, 0xff)) return "image/jpeg";
	if (has(0, 0x47, 0x49, 0x46, 0x38)) return "image/gif";
	return has(0, 0x52, 0x49, 0x46, 0x46) && has(8, 0x57, 0x45, 0x42, 0x50) ? "image/webp" : undefined;
}

/** A picture that is in the file itself, and is what it says by its first bytes. SVG is left out: it is a document. */
export function pictureAddress(mimeType: string, data: string): string | undefined {
	if (!pictures.has(mimeType.toLowerCase().trim()) || !/^[A-Za-z0-9+/]+={0,2}$/.test(data)) return undefined;
	// Whole groups of four letters, so that the beginning can be decoded alone.
	const type = data.length < 16 ? undefined : pictureType(Uint8Array.from(atob(data.slice(0, 16)), (letter) => letter.charCodeAt(0)));
	return type && `data:${type};base64,${data}`;
}

/** How many bytes a picture has. */
export const pictureBytes = (data: string): number => Math.floor((data.length * 3) / 4);

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
