// Builds dist/: a lean CommonJS core, a chunk beside it for every module that is imported lazily, and in lib/ the doors for other programs.
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { isBuilt } from "./fingerprint.mjs";
import { inlineBundles } from "./inline.mjs";
import { buildPage } from "./page.mjs";
import { unsupportedNode } from "./supported-node.mjs";

if (process.argv.includes("--if-changed") && isBuilt()) process.exit();

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const dist = join(root, "dist");
/** Build into a temporary directory and rename it, so a running program never sees a partial build. */
const outdir = join(root, `.dist-${process.pid}`);
/** Optional packages that are found at run time or not at all. */
const external = ["@vscode/ripgrep", "sharp"];

/** Chunk name to what it is built from (a file, or code that names packages), found while building. */
const chunks = new Map();
/** Programs of threads: they are started by their file, so that no import leads to them. */
const workers = ["tools/search-worker"];
for (const name of workers) chunks.set(name.replaceAll("/", "-"), { file: join(root, "src", `${name}.ts`) });
const packageFile = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const nodeCheck = unsupportedNode(packageFile.engines.node);
/** Packages that went into some bundle. */
const bundled = new Set();

/** Large, and used by several chunks, often by all of them in one process: they share one copy. */
const sharedPackages = ["typebox", "typebox/compile", "typebox/value"];
const shared = "shared-typebox";

const sharing = {
	name: "sharing",
	setup({ onResolve, onLoad }) {
		onResolve({ filter: /^typebox(\/|$)/ }, ({ kind, path }) => (kind === "dynamic-import" ? undefined : { path, namespace: shared }));
		onLoad({ filter: /.*/, namespace: shared }, async ({ path }) => {
			if (!sharedPackages.includes(path)) throw new Error(`${path} must be in sharedPackages`);
			// Imports, so that all modules become one function: with `require` each is a function of its own, which loads much slower.
			const lines = sharedPackages.map((name, index) => `import * as m${index} from ${JSON.stringify(name)};`);
			const members = sharedPackages.map((name, index) => `${JSON.stringify(name)}: m${index}`);
			chunks.set(shared, { contents: `${lines.join("\n")}\nexport const packages = { ${members.join(", ")} };` });
			// Exports by name, of which a bundle keeps those that it uses. The members of a CommonJS module would all be copied, for every import.
			const names = Object.keys(await import(path));
			const exported = names.map((name) => {
				const picked = `/* @__PURE__ */ pick(${JSON.stringify(name)})`;
				return name === "default" ? `export default ${picked};` : `export const ${name} = ${picked};`;
			});
			const pick = `const pick = (name) => require("./${shared}.js").packages[${JSON.stringify(path)}][name];`;
			return { contents: [pick, ...exported].join("\n") };
		});
		onResolve({ filter: new RegExp(`^\\./${shared}\\.js$`) }, ({ path }) => ({ path, external: true }));
	},
};

/** `place`: where the chunks are, seen from the bundle. */
const lazyImports = (place) => ({
	name: "lazy-imports",
	setup({ onResolve }) {
		onResolve({ filter: /.*/ }, ({ kind, path, resolveDir }) => {
			if (kind !== "dynamic-import" || path.startsWith("node:") || external.includes(path)) return undefined;
			const isLocal = path.startsWith(".");
			const file = isLocal ? resolve(resolveDir, path) : path;
			const name = isLocal ? relative(join(root, "src"), file).replace(/\.ts$/, "").replaceAll("/", "-") : path.replaceAll("/", "-");
			chunks.set(name, isLocal ? { file } : { contents: `module.exports = require(${JSON.stringify(path)})` });
			return { path: `${place}${name}.js`, external: true };
		});
	},
});

/** Of our own package file the program reads a few members. */
const manifest = {
	name: "manifest",
	setup({ onLoad }) {
		onLoad({ filter: /[\\/]package\.json$/ }, ({ path }) => {
			if (path !== join(root, "package.json")) return undefined;
			const { name, version } = packageFile;
			return { contents: JSON.stringify({ name, version }), loader: "json" };
		});
	},
};

const options = {
	bundle: true,
	platform: "node",
	format: "cjs",
	target: "node20",
	mainFields: ["module", "main"],
	// `import()` becomes a lazy `require`, which starts faster.
	supported: { "dynamic-import": false },
	define: { "import.meta.dirname": "__dirname" },
	minifyWhitespace: true,
	minifySyntax: true,
	// Stack traces still tell the methods.
	minifyIdentifiers: true,
	legalComments: "none",
	external,
	// Its ESM entry asks for import.meta.url, which a CommonJS bundle does not have.
	alias: { jiti: "./node_modules/jiti/lib/jiti.cjs" },
	plugins: [manifest, sharing, lazyImports("./"), inlineBundles(noteInputs)],
	absWorkingDir: root,
	logLevel: "warning",
	metafile: true,
};

mkdirSync(outdir, { recursive: true });
// The package is ESM; what the command runs is not.
writeFileSync(join(outdir, "package.json"), `${JSON.stringify({ type: "commonjs", version: packageFile.version })}\n`);

async function bundle(settings) {
	const { metafile } = await build({ ...options, ...settings });
	noteInputs(Object.keys(metafile.inputs));
	return metafile;
}

function noteInputs(inputs) {
	for (const input of inputs) {
		const found = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(input);
		if (found) bundled.add(found[1]);
	}
}

await bundle({ entryPoints: ["src/app/cli.ts"], outfile: join(outdir, "core.js") });
writeFileSync(join(outdir, "bowline.js"), startScript());
await buildDoors();
await buildPage(join(outdir, "page"), noteInputs);
const built = new Set();
for (let next = pending(); next.length; next = pending()) {
	await Promise.all(
		next.map(([name, { file, contents }]) => {
			built.add(name);
			const outfile = join(outdir, `${name}.js`);
			if (file) return bundle({ entryPoints: [file], outfile });
			return bundle({ stdin: { contents, resolveDir: root }, outfile, plugins: name === shared ? [] : options.plugins });
		}),
	);
}

/** Returns the text of the command: the check of Node's version, then the start. */
function startScript() {
	// Bun reports a version of Node and lacks parts of it: commands of the model would have no output. The client may run there.
	const bunCheck = 'process.versions.bun ? "Bowline runs on Node; this is Bun " + process.versions.bun + ". Start it with node." : ';
	const check = `var unsupported = ${bunCheck}${nodeCheck};\nif (unsupported) {\n\tconsole.error(unsupported);\n\tprocess.exit(1);\n}\n`;
	return `#!/usr/bin/env node\n"use strict";\n${check}${readFileSync(join(root, "scripts/start.cjs"), "utf8")}`;
}

/**
 * Builds what programs import: `<name>.main.js`, ECMAScript modules that load the engine as a chunk. Importers reach them through `<name>.js` or
 * `<name>.cjs`, which check the version of Node before it reads anything that is too new for it. Bundlers take `<name>.main.js` itself (condition `module`).
 */
async function buildDoors() {
	const lib = join(outdir, "lib");
	mkdirSync(lib);
	writeFileSync(join(lib, "package.json"), '{ "type": "module" }\n');
	const { outputs } = await bundle({
		entryPoints: { "index.main": "src/index.ts", "client.main": "src/client/index.ts", "protocol.main": "src/protocol/index.ts" },
		outdir: lib,
		format: "esm",
		splitting: true,
		chunkNames: "[name]-[hash]",
		supported: {},
		define: {},
		// Host authors see this code in stack traces: Node prints the line that threw.
		minifyWhitespace: false,
		minifyIdentifiers: false,
		minifySyntax: false,
		plugins: [lazyImports("../")],
	});
	const check = `const unsupported = ${nodeCheck};\nif (unsupported) throw Object.assign(new Error(unsupported), { code: "unsupported_node" });\n`;
	for (const name of ["index", "client", "protocol"]) {
		const { exports } = outputs[relative(root, join(lib, `${name}.main.js`))];
		writeFileSync(join(lib, `${name}.js`), `${check}export const { ${exports.join(", ")} } = await import("./${name}.main.js");\n`);
		// For require(): the same module, so that there is one copy of its classes, and without Node's warning that this is new.
		writeFileSync(join(lib, `${name}.cjs`), `${check}module.exports = require("./${name}.main.js");\n`);
	}
}

function pending() {
	return [...chunks].filter(([name]) => !built.has(name));
}

chmodSync(join(outdir, "bowline.js"), 0o755);
writeFileSync(join(outdir, "THIRD_PARTY_NOTICES"), [...bundled].sort().map(notice).join("\n"));
if (existsSync(dist)) renameSync(dist, `${outdir}.old`);
renameSync(outdir, dist);
rmSync(`${outdir}.old`, { recursive: true, force: true });

function notice(name) {
	const folder = join(root, "node_modules", name);
	const { version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
	const file = existsSync(folder) && readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
	return `${name} ${version} (${license})\n\n${file ? readFileSync(join(folder, file), "utf8") : ""}`;
}
