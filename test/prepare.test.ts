/** What an install in a clone does: it builds once, and does not fail where nothing can be built. */
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";

const scripts = join(import.meta.dirname, "../scripts");
const folder = mkdtempSync(join(tmpdir(), "bowline-prepare-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

mkdirSync(join(folder, "scripts"));
for (const name of ["prepare.mjs", "fingerprint.mjs"]) cpSync(join(scripts, name), join(folder, "scripts", name));
const node = (...args: string[]) => spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8" });

test("an install without the development dependencies succeeds and says that nothing was built", () => {
	const { status, stderr } = node("scripts/prepare.mjs");
	expect(status).toBe(0);
	expect(stderr).toContain("not built, because the development dependencies are not installed");
});

test("a build is repeated when a source, a script or a version of a package has changed", () => {
	for (const name of ["src/app", "dist"]) mkdirSync(join(folder, name), { recursive: true });
	writeFileSync(join(folder, "package-lock.json"), "{}");
	writeFileSync(join(folder, "src/app/cli.ts"), "one");
	const program = `
		import { writeFileSync } from "node:fs";
		import { isBuilt, markBuilt } from "./scripts/fingerprint.mjs";
		const seen = [isBuilt()];
		for (const path of ["src/app/cli.ts", "src/app/new.ts", "scripts/prepare.mjs", "package-lock.json", "README.md"]) {
			markBuilt();
			seen.push(isBuilt());
			writeFileSync(path, "two");
			seen.push(isBuilt());
		}
		console.log(JSON.stringify(seen));`;
	const changed = [true, false];
	expect(JSON.parse(node("--input-type=module", "-e", program).stdout)).toEqual([false, ...changed, ...changed, ...changed, ...changed, true, true]);
});
