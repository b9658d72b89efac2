// Writes dist/lib/types/: the declarations that the doors lead to, in TypeScript that needs no package of ours.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const target = join(root, "dist/lib/types");
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
} finally {
	rmSync(emitted, { recursive: true, force: true });
}

/** Rows are written with the schema library, which consumers do not have: there the same types stand in plain words. */
function declarationsOf(path) {
	const text = readFileSync(join(emitted, path), "utf8");
	if (!text.includes("typebox")) return text.replaceAll(/(from |import\()"(\.[^"]+)\.ts"/g, '$1"$2.js"');
	const plain = relative(dirname(path), plainTypes).replace(/\.d\.ts$/, ".js");
	return `export type * from "${plain.startsWith(".") ? plain : `./${plain}`}";\n`;
}
