/** A temporary home and project with files in them. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { loadResources, type ResourcePlaces, type Resources } from "../../src/prompting/index.ts";
import { readLimits } from "../../src/prompting/reading.ts";

/** A busy machine has all the time that it needs. */
const limits = { ...readLimits, ms: 600_000 };

export interface Folder {
	root: string;
	cwd: string;
	userDirectory: string;
	/** Writes a file below the root and gives its path. */
	file(path: string, content: string): string;
	load(changes?: Partial<ResourcePlaces>): Promise<Resources>;
}

/** The project is `work` and a repository of its own, so that nothing above it is found; the user's directory is `home/.bowline`. */
export function folder(files: Record<string, string> = {}): Folder {
	const root = realpathSync(mkdtempSync(join(tmpdir(), "bowline prompting-")));
	onTestFinished(() => rmSync(root, { recursive: true, force: true }));
	const cwd = join(root, "work");
	const userDirectory = join(root, "home", ".bowline");
	mkdirSync(join(cwd, ".git"), { recursive: true });
	mkdirSync(userDirectory, { recursive: true });
	const file = (path: string, content: string) => {
		const absolute = join(root, path);
		mkdirSync(dirname(absolute), { recursive: true });
		writeFileSync(absolute, content);
		return absolute;
	};
	for (const [path, content] of Object.entries(files)) file(path, content);
	const load = (changes: Partial<ResourcePlaces> = {}) =>
		loadResources({ cwd, userDirectory, projectDirectory: join(cwd, ".bowline"), isTrusted: false, limits, ...changes });
	return { root, cwd, userDirectory, file, load };
}

export function skill(name: string, description = `About ${name}.`, body = `How to ${name}.`): string {
	return `---\nname: ${name}\ndescription: ${description}\n---\n\n${body}\n`;
}
