/** Tests start the real program, so it is built first, unless the install has just built it. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";

export default function build(): void {
	execFileSync(process.execPath, [join(import.meta.dirname, "../scripts/build.mjs"), "--if-changed"], { stdio: "inherit" });
}
