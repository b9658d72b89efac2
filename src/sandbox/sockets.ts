/** Unix sockets of programs outside that a command could still see. One that is mounted read-only can be connected to all the same. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { isWithin, look, realPath } from "./paths.ts";
import type { View } from "./view.ts";

export function visibleSockets(view: View): string[] {
	const covered = ["/run", "/var/run", "/proc", "/dev", "/tmp", "/var/tmp", ...view.hidden.map(({ path }) => path)];
	const open = [...view.writable, ...view.shown];
	const isCovered = (path: string) => covered.some((each) => isWithin(path, each)) && !open.some((each) => isWithin(path, each));
	const found = new Set<string>();
	for (const path of boundPaths()) {
		if (isCovered(path) || (probeOfAnother.test(path) && !open.some((each) => isWithin(path, each)))) continue;
		const target = realPath(path);
		if (target !== undefined && look(target)?.isSocket() && !isCovered(target)) found.add(target);
	}
	return [...found].sort();
}

/** A session that begins right now tries its walls with it. It takes no connection, and is gone a moment later, when a mount on it would fail. */
const probeOfAnother = /\/sandbox\/[0-9a-f]{12}\/logs\/[0-9a-f]{6}\.s$/;

/** The kernel says which names programs gave to their sockets. */
function boundPaths(): string[] {
	const paths: string[] = [];
	const relative = new Map<string, string>();
	for (const line of readProc("/proc/net/unix").split("\n")) {
		const [, flags = "", kind, inode = "", name = ""] = /^\S+ \S+ \S+ (\S+) (\S+) \S+ +(\d+) (.+)$/.exec(line) ?? [];
		if (name.startsWith("/")) paths.push(name);
		// Names that begin with @ are in no directory. Of the others, those that wait for a connection or a message.
		else if (name !== "" && !name.startsWith("@") && (kind === "0002" || (Number.parseInt(flags, 16) & acceptsConnections) !== 0))
			relative.set(inode, name);
	}
	return relative.size === 0 ? paths : [...paths, ...placesOf(relative)];
}

const acceptsConnections = 0x10000;

/** Where sockets with relative names are, by their inodes: found once, from the working directories of the programs that hold them. */
const known = new Map<string, string[]>();

function placesOf(relative: ReadonlyMap<string, string>): string[] {
	for (const inode of known.keys()) if (!relative.has(inode)) known.delete(inode);
	const sought = new Map([...relative].filter(([inode]) => !known.has(inode)));
	if (sought.size > 0) {
		for (const inode of sought.keys()) known.set(inode, []);
		for (const process of namesIn("/proc")) if (/^\d+$/.test(process)) findIn(`/proc/${process}`, sought);
	}
	return [...known.values()].flat();
}

function findIn(process: string, sought: ReadonlyMap<string, string>): void {
	for (const descriptor of namesIn(`${process}/fd`)) {
		const [, inode = ""] = /^socket:\[(\d+)\]$/.exec(target(`${process}/fd/${descriptor}`)) ?? [];
		const name = sought.get(inode);
		const directory = name === undefined ? "" : target(`${process}/cwd`);
		if (name !== undefined && directory !== "") known.get(inode)?.push(join(directory, name));
	}
}

/** Nothing for programs of other users, and those that have ended. */
function target(link: string): string {
	try {
		return readlinkSync(link);
	} catch {
		return "";
	}
}

function namesIn(directory: string): string[] {
	try {
		return readdirSync(directory);
	} catch {
		return [];
	}
}

function readProc(path: string): string {
	try {
		return readFileSync(path, "utf8");
	} catch {
		return "";
	}
}
