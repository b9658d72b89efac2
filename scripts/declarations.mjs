// Writes dist/lib/types/: the declarations that the entry points lead to, in TypeScript that needs no package of ours.
// dist/lib/types-cjs/ leads CommonJS importers to the same declarations: compilers before TypeScript 5.8 refuse to import those of a module there,
// although Node loads modules with require().
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const target = join(root, "dist/lib/types");
const forCommonJs = join(root, "dist/lib/types-cjs");
const doors = ["index.d.ts", "client/index.d.ts", "protocol/index.d.ts"];
const plainTypes = "protocol/types.generated.d.ts";

const emitted = mkdtempSync(join(tmpdir(), "bowline-declarations-"));
try {
	execFileSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", "tsconfig.declarations.json", "--outDir", emitted], {
		cwd: root,
		stdio: "inherit",
	});
	rmSync(target, { recursive: true, force: true });
	const reached = new Set(doors);
	// A set gives what is added while it is walked.
	for (const path of reached) {
		const text = declarationsOf(path);
		for (const [, specifier] of text.matchAll(/"(\.[^"]+)\.js"/g)) reached.add(`${join(dirname(path), specifier)}.d.ts`);
		mkdirSync(dirname(join(target, path)), { recursive: true });
		writeFileSync(join(target, path), text);
	}
	await writeForCommonJs();
} finally {
	rmSync(emitted, { recursive: true, force: true });
}

/** Rows are written with the schema library, which consumers do not have: they get the same types in plain TypeScript. */
function declarationsOf(path) {
	const text = readFileSync(join(emitted, path), "utf8");
	if (!text.includes("typebox")) return text.replaceAll(/(from |import\()"(\.[^"]+)\.ts"/g, '$1"$2.js"');
	const plain = relative(dirname(path), plainTypes).replace(/\.d\.ts$/, ".js");
	return `export type * from "${plain.startsWith(".") ? plain : `./${plain}`}";\n`;
}

/** All types come from the module's declarations. Values are named one by one: a type-only export does not bring them. */
async function writeForCommonJs() {
	rmSync(forCommonJs, { recursive: true, force: true });
	mkdirSync(forCommonJs);
	writeFileSync(join(forCommonJs, "package.json"), '{ "type": "commonjs" }\n');
	for (const [name, path] of Object.entries({ index: "index", client: "client/index", protocol: "protocol/index" })) {
		const from = `"../types/${path}.js"`;
		const mode = '{ "resolution-mode": "import" }';
		const values = Object.entries(await import(pathToFileURL(join(root, "dist/lib", `${name}.js`)).href));
		const lines = values.map(([value, what]) => {
			const isClass = typeof what === "function" && /^class\b/.test(String(what));
			return `${isClass ? `export type ${value} = door.${value};\n` : ""}export declare const ${value}: typeof door.${value};\n`;
		});
		const head = `import type * as door from ${from} with ${mode};\nexport type * from ${from} with ${mode};\n`;
		writeFileSync(join(forCommonJs, `${name}.d.ts`), `${head}${lines.join("")}`);
	}
}
