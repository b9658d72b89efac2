/** Before the tests: builds the real program, which they start, and gives their processes a home without startup files of shells. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";

export default function prepare(): () => void {
	execFileSync(process.execPath, [join(import.meta.dirname, "../scripts/build.mjs"), "--if-changed"], { stdio: "inherit" });
	const home = homeWithoutStartupFiles();
	process.env.HOME = home;
	return () => rmSync(home, { recursive: true, force: true });
}

const leftOut = /^\.(bash.*|profile|zsh.*|zprofile|zlogin|inputrc|bowline)$/;

/**
 * Login shells run the user's startup files, and tests kill login shells. A killed startup file may leave a lock for which the next shell
 * waits a minute (pyenv does). Tool chains still find their directories through links.
 */
function homeWithoutStartupFiles(): string {
	const home = mkdtempSync(join(tmpdir(), "bowline-test-home-"));
	for (const name of readdirSync(homedir())) if (!leftOut.test(name)) symlinkSync(join(homedir(), name), join(home, name));
	return home;
}
