/** The frame of the page. Nothing is loaded, and only the script runs whose hash is in the policy. */
import { createHash } from "node:crypto";
import { visible } from "../../lib/visible.ts";

export interface Frame {
	title: string;
	style: string;
	script: string;
}

/** The text in front of the data and after it. */
export function frame({ title, style, script }: Frame): { before: string; after: string } {
	const policy = [
		"default-src 'none'",
		`script-src ${hash(script)}`,
		`style-src ${hash(style)}`,
		"img-src data:",
		"base-uri 'none'",
		"form-action 'none'",
		// No text ever becomes markup: the browser refuses innerHTML and its kin.
		"require-trusted-types-for 'script'",
		"trusted-types 'none'",
	].join("; ");
	return {
		before: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<meta name="generator" content="Bowline">
<link rel="icon" href="data:,">
<title>${escapeText(visible(title))}</title>
<style>${style}</style>
</head>
<body>
<noscript><p class="plea">The session is inside this file; showing it takes JavaScript. The script is part of the file and loads nothing.</p></noscript>
<div id="app"></div>
<script type="application/json" id="session">`,
		after: `</script>
<script>${script}</script>
</body>
</html>
`,
	};
}

const hash = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

export function escapeText(text: string): string {
	return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
