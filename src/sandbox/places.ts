/** Where an open file really is, and a path that leads to it and to nothing else. */
import { readlinkSync } from "node:fs";
import { type FileHandle, lstat, realpath } from "node:fs/promises";
import type { Verdict, View } from "./view.ts";

export interface Places {
	/** A path to the open file; for a directory also the beginning of paths into it. */
	pathOf(file: FileHandle): string;
	/** The file was opened by this path. */
	realPlace(file: FileHandle, opened: string): string | Promise<string>;
	/** A question about a path, asked in every way that this machine can mean it. */
	judge(question: (view: View, path: string) => Verdict, view: View, path: string): Verdict;
}

/** Linux: the kernel says what is open, and its path holds whatever happens to names. */
const byDescriptor: Places = {
	pathOf: ({ fd }) => `/proc/self/fd/${fd}`,
	realPlace(file) {
		// Synchronous: the kernel knows the answer without asking a disk, and a thread takes longer than that.
		const place = readlinkSync(this.pathOf(file));
		if (place.endsWith(" (deleted)")) throw new Error("The file was removed meanwhile.");
		return place;
	},
	judge: (question, view, path) => question(view, path),
};

const names = new WeakMap<FileHandle, string>();

/** macOS: the path without links must lead to the very file that is open. Between this look and the next step a name can still be changed. */
const byName: Places = {
	pathOf: (file) => names.get(file) as string,
	async realPlace(file, opened) {
		const place = await realpath(opened);
		const [there, held] = [await lstat(place), await file.stat()];
		if (there.dev !== held.dev || there.ino !== held.ino) throw new Error("The file was replaced meanwhile.");
		names.set(file, place);
		return place;
	},
	// Most disks there do not tell `.SSH` from `.ssh`.
	judge(question, view, path) {
		const verdict = question(view, path);
		return verdict.allowed ? question(inLowerCase(view), path.toLowerCase()) : verdict;
	},
};

export const placesOf = (platform: NodeJS.Platform): Places => (platform === "darwin" ? byName : byDescriptor);

function inLowerCase(view: View): View {
	const lower = (paths: readonly string[]) => paths.map((path) => path.toLowerCase());
	const named = <Entry extends { path: string }>(entries: readonly Entry[]) => entries.map((entry) => ({ ...entry, path: entry.path.toLowerCase() }));
	return {
		writable: lower(view.writable),
		protected: lower(view.protected),
		placeholders: named(view.placeholders),
		hidden: named(view.hidden),
		shown: lower(view.shown),
		forbidden: lower(view.forbidden),
		links: lower(view.links),
		...(view.replaced && { replaced: named(view.replaced) }),
		temporary: Object.fromEntries(Object.entries(view.temporary).map((pair) => lower(pair) as [string, string])),
	};
}
