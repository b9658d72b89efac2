/** Which directories sessions may work in: those whose real path is inside a root. */
import { realpathSync, statSync } from "node:fs";
import { isAbsolute, relative, sep } from "node:path";
import { Refusal } from "./refusal.ts";

export class Roots {
	readonly paths: readonly string[];
	/** Directories that the server made itself. */
	#own: string[] = [];

	constructor(paths: readonly string[]) {
		this.paths = paths.map((path) => realpathSync(path));
	}

	add(directory: string): void {
		this.#own.push(realpathSync(directory));
	}

	/** The real path of a directory that a session may have. Throws a Refusal. */
	directory(path: string): string {
		if (!isAbsolute(path)) throw new Refusal(400, "bad_field", `cwd must be an absolute path, not ${JSON.stringify(path)}.`);
		let real: string;
		try {
			real = realpathSync(path);
			if (!statSync(real).isDirectory()) throw new Error("not a directory");
		} catch {
			// Outside the roots the answer does not reveal whether the directory exists.
			if (this.#contains(path)) throw new Refusal(422, "bad_field", `cwd: there is no directory ${path}.`);
			throw this.#outside(path);
		}
		if (!this.#contains(real)) throw this.#outside(path);
		return real;
	}

	/** Whether a session of this directory is shown. The directory may be gone. */
	contains(path: string): boolean {
		try {
			return this.#contains(realpathSync(path));
		} catch {
			return this.#contains(path);
		}
	}

	#contains(real: string): boolean {
		return [...this.paths, ...this.#own].some((root) => {
			const inside = relative(root, real);
			return inside === "" || (!isAbsolute(inside) && inside !== ".." && !inside.startsWith(`..${sep}`));
		});
	}

	#outside(path: string): Refusal {
		return new Refusal(422, "outside_roots", `${path} is not inside a root of this server (${this.paths.join(", ")}). Start it with --root <dir>.`);
	}
}
