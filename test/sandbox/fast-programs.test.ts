/** A program inside walls may end before its first byte has been read. Its end and its output must not be lost. */
import { once } from "node:events";
import { afterEach, expect, test } from "vitest";
import type { Confinement } from "../../src/lib/shell/confinement.ts";
import { Shell } from "../../src/lib/shell/index.ts";
import { watchdogsOf } from "../lib/shell/processes.ts";

const shells: Shell[] = [];
afterEach(async () => {
	for (const shell of shells.splice(0)) await shell.close();
});

const plain = { stream: () => ({ push: (chunk: Buffer) => chunk, end: () => Buffer.alloc(0) }) };

/** Walls of nothing, which say that the program has begun once it has ended. */
function late(canOutlive = false): { shell: Shell; ended: () => number } {
	let count = 0;
	const confinement: Confinement = {
		logDirectory: "/nowhere",
		canOutlive,
		enclose: async ({ file, args }) => ({
			file,
			args,
			environment: { PATH: "/usr/bin:/bin" },
			descriptors: [],
			async begun(child) {
				await once(child, "exit");
				// Until what follows an exit is over.
				await new Promise((resolve) => setTimeout(resolve, 20));
				return true;
			},
			release: () => undefined,
			async ended() {
				count += 1;
				return { denied: [] };
			},
		}),
		endAll: async () => undefined,
	};
	const shell = new Shell({ cwd: "/", confinement, environment: () => ({}), redact: plain as never });
	shells.push(shell);
	return { shell, ended: () => count };
}

test.skipIf(process.platform === "win32")("a command", async () => {
	const { shell, ended } = late();
	expect(await shell.run({ command: "echo said; exit 3" })).toMatchObject({ output: "said\n", exitCode: 3 });
	expect(ended()).toBe(1);
});

test.skipIf(process.platform === "win32")("a program: what it printed, its code and its end", async () => {
	const { shell, ended } = late();
	const { child } = await shell.start("/bin/sh", ["-c", "echo said; echo wrong >&2; exit 4"]);
	const read = (stream: NodeJS.ReadableStream | null) => {
		let text = "";
		stream?.on("data", (chunk: Buffer) => {
			text += chunk;
		});
		return () => text;
	};
	const [output, errors] = [read(child.stdout), read(child.stderr)];
	const [code] = await once(child, "close");
	expect([output(), errors(), code]).toEqual(["said\n", "wrong\n", 4]);
	expect(ended()).toBe(1);
});

test.skipIf(process.platform === "win32").each([
	["", 3],
	[": No such file or directory", 20],
])("walls that cannot be built%s are built again, %i times in all, and then the call fails with what was said", async (why, times) => {
	let [built, ended] = [0, 0];
	const confinement: Confinement = {
		logDirectory: "/nowhere",
		enclose: async () => {
			built += 1;
			return {
				file: "/bin/sh",
				args: ["-c", `echo "bwrap: bad path ${built}${why}" >&2`],
				environment: { PATH: "/usr/bin:/bin" },
				descriptors: [],
				begun: async (child) => {
					await once(child, "exit");
					return false;
				},
				release: () => undefined,
				ended: async () => {
					ended += 1;
					return { denied: [] };
				},
			};
		},
		endAll: async () => undefined,
	};
	const shell = new Shell({ cwd: "/", confinement, environment: () => ({}), redact: plain as never });
	shells.push(shell);
	await expect(shell.run({ command: "echo ran" })).rejects.toThrow(
		`The sandbox could not be built for this command: bwrap: bad path ${times}${why}.`,
	);
	expect([built, ended]).toEqual([times, times]);
});

test.skipIf(process.platform === "win32")("a program whose output nothing reads ends all the same", async () => {
	const { shell } = late();
	const { child } = await shell.start("/bin/sh", ["-c", "echo said"]);
	child.stdout?.resume();
	child.stderr?.resume();
	await once(child, "close");
});

test.skipIf(process.platform !== "linux")("a watchdog is started where what runs inside can outlive the agent, and only there", async () => {
	for (const canOutlive of [false, true]) {
		const known = new Set(watchdogsOf(process.pid));
		const { shell } = late(canOutlive);
		await shell.run({ command: "true" });
		expect(watchdogsOf(process.pid).filter((pid) => !known.has(pid))).toHaveLength(canOutlive ? 1 : 0);
	}
});
