/** The walls of macOS: a profile for the kernel's own sandbox, as text, and the words that start a program under it. */
import type { Enclosure, ProgramStart } from "../lib/shell/confinement.ts";
import { between, isWithin, outerFirst } from "./paths.ts";
import { pins } from "./plan.ts";
import type { View } from "./view.ts";

export interface ProfileInput {
	view: View;
	network: "off" | "hosts" | "on";
	/** Where the proxy listens, for network `hosts`. */
	proxyPort?: number | undefined;
}

/** The whole command line must stay below the system's limit of 1 MB. */
const longestProfile = 500_000;

/** Terminals of other programs are not among them. */
const devices = ["/dev/null", "/dev/zero", "/dev/tty", "/dev/stdout", "/dev/stderr", "/dev/dtracehelper"];

/** What names, users, logs and temporary directories need. Whatever starts programs, opens a keychain or the pasteboard is not on the list. */
const services = [
	"com.apple.bsd.dirhelper",
	"com.apple.logd",
	"com.apple.system.logger",
	"com.apple.system.notification_center",
	"com.apple.system.opendirectoryd.libinfo",
	"com.apple.system.opendirectoryd.membership",
];
/** What encrypted connections need. */
const networkServices = ["com.apple.SystemConfiguration.configd", "com.apple.trustd", "com.apple.trustd.agent"];
const nameService = "/private/var/run/mDNSResponder";

/** The last rule that matches decides: outer paths come before inner ones, and what is protected comes after all of them. */
export function seatbeltProfile({ view, network, proxyPort }: ProfileInput): string {
	const closed = [...view.protected, ...view.placeholders.map(({ path }) => path), ...view.forbidden, ...view.links];
	const guarded = [...new Set(closed)].filter((path) => view.writable.some((root) => isWithin(path, root))).sort(outerFirst);
	// Where a folder above a protected path is renamed, a copy could take its place. The same goes for a root that is moved into another.
	const fixed = [...new Set([...view.writable, ...pins({ ...view, protected: closed })])].sort(outerFirst);
	const lines = [
		"(version 1)",
		"(allow default)",
		...rule("deny", ["file-write*", "file-link"]),
		...rule("allow", ["file-write*"], [...devices.map(exactly), below("/dev/fd")]),
		...placeRules(view),
		...guarded.flatMap((path) => rule("deny", ["file-write*", "file-link"], [below(path), inAnyCase(path)])),
		// Nothing can be put in their place here. File tools show the copies.
		...(view.replaced ?? []).flatMap(({ path }) => rule("deny", ["file-read*", "file-write*", "file-link"], [exactly(path), inAnyCase(path)])),
		...fixed.flatMap((path) => rule("deny", ["file-write-unlink"], [exactly(path)])),
		...networkRules(network, proxyPort),
		...rule("deny", ["mach-lookup", "mach-register", "mach-priv*", "appleevent-send"]),
		...rule("allow", ["mach-lookup"], [...services, ...(network === "off" ? [] : networkServices)].map(service)),
		...rule("deny", ["process-info*", "signal"]),
		...rule("allow", ["process-info*", "signal"], ["(target same-sandbox)"]),
	];
	const profile = `${lines.join("\n")}\n`;
	if (profile.length > longestProfile)
		throw new Error(`The sandbox would need a profile of ${profile.length} characters, more than ${longestProfile}. Work in a smaller directory.`);
	return profile;
}

/** What may be written, hidden paths, and what is shown inside them. Folders on the way to that can be passed, and not listed. */
function placeRules(view: View): string[] {
	const writable = [...view.writable, ...Object.values(view.temporary)];
	const open = new Set([...writable, ...view.shown]);
	// A path that is both hidden and shown is shown, as it is for the file tools.
	const hidden = new Set(view.hidden.map(({ path }) => path).filter((path) => !open.has(path)));
	const isHidden = (path: string) => [...hidden].some((outer) => isWithin(path, outer));
	const passed = [...new Set([...open].flatMap((path) => between(path, "/")))].filter(isHidden).sort(outerFirst);
	const rules = [...open, ...hidden].sort(outerFirst).flatMap((path) => {
		if (hidden.has(path)) return rule("deny", ["file-read*", "file-write*", "file-link"], [below(path)]);
		return rule("allow", writable.includes(path) ? ["file-read*", "file-write*", "file-link"] : ["file-read*"], [below(path)]);
	});
	return [...rules, ...passed.flatMap((path) => rule("allow", ["file-read-metadata"], [exactly(path)]))];
}

/** A command shares the machine's loopback here, so the profile lets it reach the proxy and nothing else on it. */
function networkRules(network: ProfileInput["network"], proxyPort: number | undefined): string[] {
	// Sockets of programs outside are a way out with any network. Names are resolved through one of them.
	if (network === "on")
		return [...rule("deny", ["network-outbound"], ["(remote unix-socket)"]), ...rule("allow", ["network-outbound"], [exactly(nameService)])];
	const proxy = network === "hosts" && proxyPort !== undefined ? [`(remote ip ${text(`localhost:${proxyPort}`)})`] : [];
	return [...rule("deny", ["network*"]), ...proxy.flatMap((address) => rule("allow", ["network-outbound"], [address]))];
}

/** One line. Without filters it is about everything. */
const rule = (action: "allow" | "deny", operations: readonly string[], filters: readonly string[] = []) => [
	`(${[action, ...operations, ...filters].join(" ")})`,
];

const below = (path: string) => `(subpath ${text(path)})`;
const exactly = (path: string) => `(literal ${text(path)})`;
const service = (name: string) => `(global-name ${text(name)})`;

/** Most disks of macOS take `.MCP.json` for `.mcp.json`; the name of a file that is made has the case that its maker gave it. */
function inAnyCase(path: string): string {
	const pattern = path.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/[a-z]/gi, (letter) => `[${letter.toLowerCase()}${letter.toUpperCase()}]`);
	return `(regex ${text(`^${pattern}(/|$)`)})`;
}

function text(value: string): string {
	// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones that a profile cannot hold
	if (/[\u0000-\u001f\u007f]/.test(value))
		throw new Error(`The sandbox cannot name a path with control characters: ${JSON.stringify(value)}. Rename it.`);
	return `"${value.replace(/["\\]/g, "\\$&")}"`;
}

export interface SeatbeltStart extends ProfileInput {
	/** sandbox-exec. */
	program: string;
	bash: string;
	start: ProgramStart;
	/** The variables of the program. */
	environment: Record<string, string>;
}

/** Goes to the directory, says that the program begins, and closes every descriptor but the usual three. */
const preamble = `cd -- "$1" || exit 1; shift; printf . >&3; exec 3>&-
for each in /dev/fd/*; do each=\${each##*/}; [ "$each" -gt 2 ] && [ "$each" -ne 255 ] && eval "exec $each>&-"; done; exec "$@"`;

/** What to start instead of a program: it says at descriptor 3 that it begins. */
export function seatbeltEnclosure(input: SeatbeltStart): Pick<Enclosure, "file" | "args" | "environment" | "descriptors"> {
	const { program, bash, start, environment } = input;
	return {
		file: program,
		args: ["-p", seatbeltProfile(input), "--", bash, "-c", preamble, "sh", start.cwd, start.file, ...start.args],
		environment,
		descriptors: ["pipe"],
	};
}
