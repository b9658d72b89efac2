/** Texts between tags, for models. Apart from what reads files, because the system prompt is made by the core. */

/** For a value between quotes or tags. */
export function escapeXml(text: string): string {
	return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
