// Runs test/nodes.test.ts on every version of Node that matters, from npm packages that contain the binaries: npm run test:nodes
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The oldest and the newest of each supported line, and two that are too old. */
const versions = ["20.19.0", "20.20.2", "22.12.0", "22.23.3", "24.21.0", "26.10.0", "14.21.3", "18.20.8"];

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
/** Outside of the checkout: a fresh clone finds them again. */
const folder = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "bowline-nodes");
const binary = (version) => join(folder, "node_modules", version, "bin/node");

const missing = versions.filter((version) => version !== process.versions.node && !existsSync(binary(version)));
if (missing.length) {
	console.log(`Installing Node ${missing.join(", ")} into ${folder}`);
	mkdirSync(folder, { recursive: true });
	if (!existsSync(join(folder, "package.json"))) writeFileSync(join(folder, "package.json"), '{ "private": true }\n');
	const source = `node-${process.platform}-${process.arch}`;
	const packages = missing.map((version) => `${version}@npm:${source}@${version}`);
	execFileSync("npm", ["install", "--no-audit", "--no-fund", "--ignore-scripts", ...packages], { cwd: folder, stdio: "inherit" });
}
const nodes = Object.fromEntries(versions.map((version) => [version, version === process.versions.node ? process.execPath : binary(version)]));
const runner = process.env.CI ? [join(root, "scripts/test-ci.mjs")] : [join(root, "node_modules/vitest/vitest.mjs"), "run"];
const env = { ...process.env, BOWLINE_TEST_NODES: JSON.stringify(nodes) };
process.exitCode = spawnSync(process.execPath, [...runner, "test/nodes.test.ts"], { cwd: root, env, stdio: "inherit" }).status ?? 1;
