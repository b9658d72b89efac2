/** The mounts of one command as data: a list of steps for bubblewrap, in the order in which it takes them. */
import { guardedInProc } from "./lists.ts";
import { between, isWithin, outerFirst } from "./paths.ts";
import type { View } from "./view.ts";

export type Step = readonly string[];

export interface PlanInput {
	view: View;
	/** Sockets of programs outside that would still be in view. */
	sockets: readonly string[];
	/** Which of the guarded directories of /proc this machine has. */
	inProc: readonly string[];
	/** Read-only places that /run keeps. */
	inRun: readonly string[];
}

/** More is refused: bubblewrap has a limit of its own, and a command must not wait for minutes. */
const mostSteps = 3000;

const same = (flag: string, path: string): Step => [flag, path, path];

export function mountPlan({ view, sockets, inProc, inRun }: PlanInput): Step[] {
	const { writable, temporary } = view;
	const nameInside = (path: string) => {
		const [name, directory] = Object.entries(temporary).find(([, place]) => isWithin(path, place)) ?? [];
		return name === undefined || directory === undefined ? path : name + path.slice(directory.length);
	};
	const roots = [...writable].sort(outerFirst);
	const holdsSomething = (path: string) => [...roots, ...view.shown].some((inner) => inner !== path && isWithin(inner, path));
	const isInRoot = (path: string) => roots.some((root) => isWithin(path, root));
	const hide = ({ path, kind, isOpen }: View["hidden"][number]): Step[] => {
		if (kind === "file") return [["--ro-bind", "/dev/null", path]];
		// Nothing in it can be listed; where something in it is shown, the way to that is open.
		return [["--perms", isOpen ? "0755" : holdsSomething(path) ? "0111" : "0000", "--tmpfs", path]];
	};
	const shown = [...view.shown].sort(outerFirst);
	const hidden = [...view.hidden].sort((a, b) => outerFirst(a.path, b.path));
	// A hidden path inside a root is mounted after the root, or the root would show it again.
	const isLater = ({ path }: View["hidden"][number]) => [...roots, ...shown].some((outer) => outer !== path && isWithin(path, outer));
	const outside = hidden.filter((each) => !isLater(each) && !roots.includes(each.path));
	const replaced = ["/tmp", "/var/tmp", "/run", ...outside.map(({ path }) => path)];

	const steps: Step[] = [
		same("--ro-bind", "/"),
		["--dev", "/dev"],
		["--proc", "/proc"],
		...guardedInProc.filter((name) => inProc.includes(name)).map((name) => same("--ro-bind", `/proc/${name}`)),
		["--tmpfs", "/run"],
		...inRun.map((path) => same("--ro-bind", path)),
		...outside.flatMap(hide),
		...Object.entries(temporary).map(([name, directory]): Step => ["--bind", directory, name]),
		// A root below a replaced directory is not there yet, and a pin needs its real folders.
		...roots.filter((root) => replaced.some((directory) => isWithin(root, directory))).map((root) => same("--bind", root)),
		...pins(view).map((path) => same("--bind", path)),
		...roots.map((root) => same("--bind", root)),
		...[...view.protected, ...view.placeholders.map(({ path }) => path)]
			.filter(isInRoot)
			.sort(outerFirst)
			.map((path) => same("--ro-bind", path)),
		...shown.map((path) => same("--ro-bind", path)),
		...hidden.filter(isLater).flatMap(hide),
		...(view.replaced ?? []).map(({ path, source }): Step => ["--ro-bind", source, path]),
		// Last: a socket in any of the places above could still be connected to.
		...sockets.map((path): Step => ["--ro-bind", "/dev/null", nameInside(path)]),
		// Now that everything in it has its place, nothing else can be made there.
		...hidden.filter(({ isOpen }) => isOpen).map(({ path }): Step => ["--remount-ro", path]),
	];
	if (steps.length > mostSteps)
		throw new Error(`The sandbox would need ${steps.length} mounts, more than ${mostSteps}. Work in a smaller directory.`);
	return steps;
}

/**
 * Folders above a protected path or a replaced file, up to its root, and kept paths with the folders above them. A mount below a folder does not keep it from being renamed away, with a copy put in its
 * place. So each is mounted onto itself before its root is mounted over it: it is on no path that anything looks up, yet the kernel refuses
 * to rename or remove the folder, and renames and hard links across it keep working.
 */
export function pins({
	writable,
	protected: paths,
	placeholders,
	kept = [],
	replaced = [],
}: Pick<View, "writable" | "protected" | "placeholders" | "kept" | "replaced">): string[] {
	const pinned = new Set<string>(kept);
	for (const path of [...paths, ...[...placeholders, ...replaced].map((each) => each.path), ...kept]) {
		const root = writable.find((each) => isWithin(path, each));
		if (root !== undefined) for (const folder of between(path, root)) pinned.add(folder);
	}
	return [...pinned].sort(outerFirst);
}
