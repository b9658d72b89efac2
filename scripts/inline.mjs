// Turns `import text from "./file.ts?bundle"` into the text of that file, bundled and made small for the browser.
import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const suffix = "?bundle";

/** The text, and the packages that are in it. Their licences stand at its head, because pages are passed on. */
export async function bundleText(file) {
	const { outputFiles, metafile } = await build({
		entryPoints: [file],
		bundle: true,
		write: false,
		minify: true,
		metafile: true,
		format: "iife",
		platform: "browser",
		target: ["es2022", "chrome109", "firefox115", "safari16.4"],
		legalComments: "none",
		charset: "ascii",
		absWorkingDir: root,
		logLevel: "warning",
	});
	const inputs = Object.keys(metafile.inputs);
	const packages = [...new Set(inputs.flatMap((input) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(input)?.[1] ?? []))];
	const licences = packages.map((name) => `${name}\n\n${readFileSync(join(root, "node_modules", name, "LICENSE"), "utf8").trim()}`);
	const head = licences.length ? `/*\n${licences.join("\n\n").replaceAll("*/", "* /").replaceAll("\r", "")}\n*/\n` : "";
	// In a script element these three would change how the parser reads on; in literals the escape means the same.
	const text = `${head}${outputFiles[0].text}`.replace(/<(?=!--|\/?script)/gi, "\\x3c");
	return { text, inputs };
}

/** For esbuild. `onInputs` hears what went in. */
export const inlineBundles = (onInputs = () => undefined) => ({
	name: "inline-bundles",
	setup({ onResolve, onLoad }) {
		onResolve({ filter: /\?bundle$/ }, ({ path, resolveDir }) => ({
			path: resolve(resolveDir, path.slice(0, -suffix.length)),
			namespace: "inline-bundle",
		}));
		onLoad({ filter: /.*/, namespace: "inline-bundle" }, async ({ path }) => {
			const { text, inputs } = await bundleText(path);
			onInputs(inputs);
			return { contents: text, loader: "text" };
		});
	},
});

/** The same for vite, and so for tests. */
export const inlineBundlesForVite = () => ({
	name: "inline-bundles",
	enforce: "pre",
	resolveId: (source, importer) =>
		source.endsWith(suffix) && importer ? `\0bundle:${resolve(dirname(importer), source.slice(0, -suffix.length))}:text` : undefined,
	load: async (id) => {
		const found = /^\0bundle:(.*):text$/.exec(id);
		return found ? `export default ${JSON.stringify((await bundleText(found[1])).text)}` : undefined;
	},
});
