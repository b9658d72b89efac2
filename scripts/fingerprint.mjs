// Tells whether dist/ was built from the sources as they are now, so that an install followed by the tests builds once.
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
/** Everything that a build reads. The lock file is for the versions of the packages that go into the bundles. */
const inputs = ["src", "scripts", "package.json", "package-lock.json", "tsconfig.json", "tsconfig.declarations.json"];
const mark = join(root, "dist/.fingerprint");

function fingerprint() {
	const hash = createHash("sha256");
	for (const input of inputs) for (const path of filesOf(input)) hash.update(`${path}\0`).update(readFileSync(join(root, path)));
	return hash.digest("hex");
}

function filesOf(path) {
	if (!existsSync(join(root, path))) return [];
	if (path.includes(".")) return [path];
	const entries = readdirSync(join(root, path), { recursive: true, withFileTypes: true });
	return entries
		.filter((entry) => entry.isFile())
		.map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(root.length + 1))
		.sort();
}

/** Whether the last complete build (program and declarations) is still current. */
export const isBuilt = () => existsSync(mark) && readFileSync(mark, "utf8") === fingerprint();

export const markBuilt = () => writeFileSync(mark, fingerprint());
