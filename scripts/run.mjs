// Runs a TypeScript script of this folder: node scripts/run.mjs <name> [arguments]
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const [name, ...rest] = process.argv.slice(2);
const cache = join(here, "../node_modules/.cache/bowline");
mkdirSync(cache, { recursive: true });
const outfile = join(cache, `${name}-${process.pid}.mjs`);
await build({
	entryPoints: [join(here, `${name}.ts`)],
	outfile,
	bundle: true,
	platform: "node",
	format: "esm",
	target: "node20",
	packages: "external",
	logLevel: "warning",
	define: { "import.meta.dirname": JSON.stringify(here) },
});
process.argv = [process.argv[0], join(here, `${name}.ts`), ...rest];
try {
	await import(pathToFileURL(outfile).href);
} finally {
	const { rmSync } = await import("node:fs");
	rmSync(outfile, { force: true });
}
