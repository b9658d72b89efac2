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

/** Returns where the sockets may be that programs gave names to. The kernel says the names. */
function boundPaths(): string[] {
	const paths: string[] = [];
	const relative = new Set<string>();
	for (const line of readProc("/proc/net/unix").split("\n")) {
		const [, flags = "", kind, name = ""] = /^\S+ \S+ \S+ (\S+) (\S+) \S+ +\d+ (.+)$/.exec(line) ?? [];
		if (name.startsWith("/")) paths.push(name);
		// Names that begin with @ are in no directory. Of the others, those that wait for a connection or a message.
		else if (name !== "" && !name.startsWith("@") && (kind === "0002" || (Number.parseInt(flags, 16) & acceptsConnections) !== 0)) relative.add(name);
	}
	if (relative.size === 0) return paths;
	return [...paths, ...workingDirectories().flatMap((directory) => [...relative].map((name) => join(directory, name)))];
}

const acceptsConnections = 0x10000;

/**
 * Returns the working directories of all programs that this user may look at: a relative name of a socket begins in one of them. Which program
 * has which socket is not asked. That would take a look at every open descriptor, and only what is a socket there is closed anyway.
 */
function workingDirectories(): string[] {
	const processes = namesIn("/proc").filter((name) => /^\d+$/.test(name));
	return [...new Set(processes.map((process) => target(`/proc/${process}/cwd`)))].filter((directory) => directory !== "");
}

/** Returns an empty text for programs of other users, and those that have ended. */
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
