/** What commands inside see and may write, as data. The mounts of a command and the checks of the file tools both follow from it. */
import type { Placeholder } from "./git-layout.ts";
import { isWithin } from "./paths.ts";

export interface View {
	/** Directories that may be written to, none inside another. Real paths, like all of these. */
	writable: readonly string[];
	/** Paths inside them that may not be written. */
	protected: readonly string[];
	/** The same, but they may be missing: then they are made, empty. */
	placeholders: readonly Placeholder[];
	/** Paths that cannot be read. */
	hidden: readonly HiddenPath[];
	/** Paths that can be read although a hidden one contains them. */
	shown: readonly string[];
	/** Paths inside them that settings and rules name: commands cannot rename, remove or replace them, or the next command would find another meaning. */
	kept?: readonly string[];
	/** Files in whose place a copy of ours is seen, which cannot be changed. */
	replaced?: readonly ReplacedFile[];
	/** Paths at which nothing may appear: git would read another configuration because of it, or a setting, a rule or git names it. */
	forbidden: readonly string[];
	/** Links that programs outside follow: nothing can be mounted on a link, so they are watched. */
	links: readonly string[];
	/** The session's own directories for temporary files, by the names that they have inside: `/tmp` first. On macOS these are their own. */
	temporary: Readonly<Record<string, string>>;
}

export interface HiddenPath {
	path: string;
	kind: "file" | "directory";
	/** Programs find an empty directory instead of none: the home. */
	isOpen?: true;
}

export interface ReplacedFile {
	path: string;
	/** Ours, outside of everything that commands see. */
	source: string;
	/** It has placeholders for values: tools see the copy, too, and nothing may write to the file. */
	isMasked?: true;
}

/** Kernel interfaces: they show the process that reads, and that would be us. */
const kernelDirectories = ["/proc", "/sys", "/dev"];

export type Verdict = { allowed: true } | { allowed: false; because: string };

const yes: Verdict = { allowed: true };
const no = (because: string): Verdict => ({ allowed: false, because });

/** What commands call the directory for temporary files. */
export const temporaryName = ({ temporary }: Pick<View, "temporary">) => Object.keys(temporary)[0] ?? "/tmp";

const isTemporary = (view: View, path: string) => Object.values(view.temporary).some((directory) => isWithin(path, directory));
const isInside = (path: string, directories: readonly string[]) => directories.some((directory) => isWithin(path, directory));
const isHidden = (view: View, path: string) => view.hidden.some((hidden) => isWithin(path, hidden.path));

/** Whether a tool may read what is at this real path. */
export function mayRead(view: View, path: string): Verdict {
	if (isTemporary(view, path)) return yes;
	if (isInside(path, kernelDirectories)) return no("the sandbox does not let tools read the kernel's directories");
	// A root may be inside a hidden directory, and a hidden path inside a root: the inner one counts.
	let hiddenBy = 0;
	for (const hidden of view.hidden) if (isWithin(path, hidden.path)) hiddenBy = Math.max(hiddenBy, hidden.path.length);
	if (hiddenBy === 0) return yes;
	const isShown = (directory: string) => directory.length >= hiddenBy && isWithin(path, directory);
	return view.writable.some(isShown) || view.shown.some(isShown) ? yes : no("the sandbox hides it");
}

/** The copy that is seen instead of the file at this real path. */
export const maskedCopy = ({ replaced = [] }: View, path: string): ReplacedFile | undefined =>
	replaced.find((each) => each.isMasked === true && each.path === path);

/** Whether what is at this real path is seen as it is. */
export const isUnmasked = (view: View, path: string): Verdict =>
	maskedCopy(view, path) ? no("the sandbox masks its values; sandbox.readable shows it as it is") : yes;

/** Whether a tool may write what is at this real path. */
export function mayWrite(view: View, path: string): Verdict {
	if (isTemporary(view, path)) return yes;
	if (!isInside(path, view.writable)) {
		const places = [...view.writable, temporaryName(view)].join(", ");
		return no(`the sandbox lets tools write only in ${places}`);
	}
	if (isInside(path, [...view.protected, ...view.placeholders.map((placeholder) => placeholder.path)])) return no("the sandbox protects it");
	if (maskedCopy(view, path))
		return no(
			"the sandbox shows a copy of it with masked values, and writing would destroy the real ones; name it in sandbox.readable to work on the file itself",
		);
	if (view.links.includes(path) || isInside(path, view.forbidden)) return no("the sandbox protects it");
	return isHidden(view, path) && !mayRead(view, path).allowed ? no("the sandbox hides it") : yes;
}
