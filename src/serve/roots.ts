/** Which directories sessions may work in: those whose real path is inside a root. */
import { closeSync, constants, existsSync, openSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { isAbsolute, relative, sep } from "node:path";
import { follow, linkInside } from "../lib/links.ts";
import { isRefusal, Refusal } from "./refusal.ts";

export class Roots {
	readonly paths: readonly string[];
	/** Directories that the server made itself. */
	#own: string[] = [];

	constructor(paths: readonly string[]) {
		this.paths = paths.map((path) => realpathSync.native(path));
	}

	add(directory: string): void {
		this.#own.push(realpathSync.native(directory));
	}

	/** The real path of a directory that a session may have. Throws a Refusal. */
	directory(path: string): string {
		if (!isAbsolute(path)) throw new Refusal("bad_field", `cwd must be an absolute path, not ${JSON.stringify(path)}.`);
		let real: string;
		try {
			real = realpathSync.native(path);
			if (!statSync(real).isDirectory()) throw new Error("not a directory");
		} catch {
			// Outside the roots the answer does not reveal whether the directory exists.
			if (this.#contains(path)) throw new Refusal("bad_field", `cwd: there is no directory ${path}.`, { status: 422 });
			throw this.#outside(path);
		}
		if (!this.#contains(real)) throw this.#outside(path);
		return real;
	}

	/**
	 * Runs `start` with the directory of a stored session, checked at this moment. A command may have put a link in its place since it was stored:
	 * the agent would then work, and its sandbox let commands write, where that link leads. Where the system has paths of descriptors, `start` gets
	 * one, so that nobody can redirect the directory between the check and the start. Throws a Refusal.
	 */
	inDirectory<T>(stored: string, start: (cwd: string) => T): T {
		if (process.platform === "win32" || !isAbsolute(stored)) return start(this.directory(stored));
		const place = this.#placeOf(stored);
		const descriptor = openDirectory(stored, place);
		try {
			const held = `/proc/self/fd/${descriptor}`;
			if (!existsSync(held)) return start(place);
			const opened = readlinkSync(held);
			if (opened !== place) throw moved(stored, opened, "It was replaced while the agent was being started. Try again.");
			return start(held);
		} finally {
			closeSync(descriptor);
		}
	}

	/** Whether an agent could be started in the directory of a stored session now. */
	stands(stored: string): boolean {
		try {
			return this.inDirectory(stored, () => true);
		} catch (error) {
			if (!isRefusal(error)) throw error;
			return false;
		}
	}

	#placeOf(stored: string): string {
		const way = follow(stored);
		const { place } = way;
		if (!this.#contains(place)) {
			const roots = `not inside a root of this server (${this.paths.join(", ")})`;
			const remedy = `Put the directory back, or start the server with --root ${place} and create a session there.`;
			if (place === stored)
				throw new Refusal("outside_roots", `The directory of this session, ${stored}, is ${roots}. Start the server with --root ${place}.`);
			throw new Refusal("outside_roots", `The directory of this session, ${stored}, leads to ${place} now, which is ${roots}. ${remedy}`);
		}
		const link = linkInside(way, [...this.paths, ...this.#own]);
		if (link === undefined) return place;
		throw moved(stored, place, `The link ${link} may be the work of a command. Put the directory back, or create a session in ${place}.`);
	}

	/** Whether a session of this directory is shown. The directory may be gone. */
	contains(path: string): boolean {
		try {
			return this.#contains(realpathSync.native(path));
		} catch {
			return this.#contains(path);
		}
	}

	/** Returns whether the directory's name is inside a root. The directory may be gone or lead elsewhere. */
	names(path: string): boolean {
		return isAbsolute(path) && this.#contains(path);
	}

	#contains(real: string): boolean {
		return [...this.paths, ...this.#own].some((root) => {
			const inside = relative(root, real);
			return inside === "" || (!isAbsolute(inside) && inside !== ".." && !inside.startsWith(`..${sep}`));
		});
	}

	#outside(path: string): Refusal {
		return new Refusal("outside_roots", `${path} is not inside a root of this server (${this.paths.join(", ")}). Start it with --root <dir>.`);
	}
}

const moved = (stored: string, place: string, remedy: string) =>
	new Refusal("directory_moved", `The directory of this session, ${stored}, leads to ${place} now. ${remedy}`);

function openDirectory(stored: string, place: string): number {
	try {
		return openSync(place, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		const isMissing = code === "ENOENT" || code === "ENOTDIR" || code === "ELOOP";
		const what = isMissing ? "is missing" : `cannot be opened (${code})`;
		const remedy = isMissing ? "Put it back" : "Make it readable";
		const message = `The directory of this session, ${stored}, ${what}. ${remedy}, then send the command again. The session is kept as it is.`;
		throw new Refusal("directory_missing", message);
	}
}
