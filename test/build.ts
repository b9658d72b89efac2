/** Tests start the real program, so it is built first. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";

export default function build(): void {
	execFileSync(process.execPath, [join(import.meta.dirname, "../scripts/build.mjs")], { stdio: "inherit" });
}
