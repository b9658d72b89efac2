// Builds the page of `bowline serve` into a directory: a shell, and a script and a style whose names change with their content.
import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { bundleText } from "./inline.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const source = join(root, "src/serve/page");

const shell = (script, style) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, interactive-widget=resizes-content">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<link rel="icon" href="data:,">
<title>Bowline</title>
<link rel="stylesheet" href="/assets/${style}">
<script src="/assets/${script}" defer></script>
</head>
<body>
<noscript><p class="plea">This page watches and drives coding agents; that takes JavaScript. The script comes from this server and loads nothing else.</p></noscript>
<div id="app"></div>
</body>
</html>
`;

/** `index.html`, and in `assets/` the files it names; each also compressed. `onInputs` gets the files that went into them. */
export async function buildPage(directory, onInputs = () => undefined) {
	mkdirSync(join(directory, "assets"), { recursive: true });
	const write = (path, text) => {
		writeFileSync(join(directory, path), text);
		writeFileSync(join(directory, `${path}.gz`), gzipSync(text, { level: 9 }));
	};
	const hashed = async (file, ending) => {
		const { text, inputs } = await bundleText(join(source, file));
		onInputs(inputs);
		const name = `page-${createHash("sha256").update(text).digest("hex").slice(0, 16)}.${ending}`;
		write(join("assets", name), text);
		return name;
	};
	const [script, style] = await Promise.all([hashed("main.browser.ts", "js"), hashed("style.css", "css")]);
	write("index.html", shell(script, style));
}
