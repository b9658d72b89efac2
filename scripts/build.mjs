// Builds dist/: a lean CommonJS core, and a chunk beside it for every module that is imported lazily.
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { inlineBundles } from "./inline.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const dist = join(root, "dist");
/** Built beside and put in place at the end, so that a program that runs meanwhile finds whole files. */
const outdir = join(root, `.dist-${process.pid}`);
/** Optional packages that are found at run time or not at all. */
const external = ["@vscode/ripgrep", "sharp"];

/** Chunk name to what it is built from, found while building. */
const chunks = new Map();
/** Packages that went into some bundle. */
const bundled = new Set();

const lazyImports = {
	name: "lazy-imports",
	setup({ onResolve }) {
		onResolve({ filter: /.*/ }, ({ kind, path, resolveDir }) => {
			if (kind !== "dynamic-import" || path.startsWith("node:") || external.includes(path)) return undefined;
			const isLocal = path.startsWith(".");
			const file = isLocal ? resolve(resolveDir, path) : path;
			const name = isLocal ? relative(join(root, "src"), file).replace(/\.ts$/, "").replaceAll("/", "-") : path.replaceAll("/", "-");
			chunks.set(name, { file, isLocal });
			return { path: `./${name}.js`, external: true };
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
	legalComments: "none",
	external,
	// Its ESM entry asks for import.meta.url, which a CommonJS bundle does not have.
	alias: { jiti: "./node_modules/jiti/lib/jiti.cjs" },
	plugins: [lazyImports, inlineBundles(noteInputs)],
	absWorkingDir: root,
	logLevel: "warning",
	metafile: true,
};

mkdirSync(outdir, { recursive: true });
// The package is ESM; what the command runs is not.
writeFileSync(join(outdir, "package.json"), '{ "type": "commonjs" }\n');

async function bundle(settings) {
	const { metafile } = await build({ ...options, ...settings });
	noteInputs(Object.keys(metafile.inputs));
}

function noteInputs(inputs) {
	for (const input of inputs) {
		const found = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(input);
		if (found) bundled.add(found[1]);
	}
}

await bundle({ entryPoints: ["src/app/cli.ts"], outfile: join(outdir, "core.js") });
writeFileSync(join(outdir, "bowline.js"), `#!/usr/bin/env node\n${readFileSync(join(root, "scripts/start.cjs"), "utf8")}`);
const built = new Set();
for (let next = pending(); next.length; next = pending()) {
	await Promise.all(
		next.map(([name, { file, isLocal }]) => {
			built.add(name);
			const entry = isLocal
				? { entryPoints: [file] }
				: { stdin: { contents: `module.exports = require(${JSON.stringify(file)})`, resolveDir: root } };
			return bundle({ ...entry, outfile: join(outdir, `${name}.js`) });
		}),
	);
}

function pending() {
	return [...chunks].filter(([name]) => !built.has(name));
}

chmodSync(join(outdir, "bowline.js"), 0o755);
cacheCode();
writeFileSync(join(outdir, "THIRD_PARTY_NOTICES"), [...bundled].sort().map(notice).join("\n"));
if (existsSync(dist)) renameSync(dist, `${outdir}.old`);
renameSync(outdir, dist);
rmSync(`${outdir}.old`, { recursive: true, force: true });

/** Lets the program answer once, and keeps what V8 compiled on the way. */
function cacheCode() {
	const program = join(outdir, "bowline.js");
	const keep = `
		process.argv = [process.argv[0], ${JSON.stringify(program)}, "--mode", "rpc", "--no-session", "--hermetic"];
		process.on("exit", () => require("node:fs").writeFileSync(${JSON.stringify(join(outdir, "core.cache"))}, require(${JSON.stringify(program)}).createCachedData()));
		require(${JSON.stringify(program)});`;
	execFileSync(process.execPath, ["-e", keep], { input: '{"type":"get_state"}\n', stdio: ["pipe", "ignore", "inherit"] });
}

function notice(name) {
	const folder = join(root, "node_modules", name);
	const { version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
	const file = existsSync(folder) && readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
	return `${name} ${version} (${license})\n\n${file ? readFileSync(join(folder, file), "utf8") : ""}`;
}
