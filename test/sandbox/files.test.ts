/** File tools in a sandbox: they run in the agent's process, so they look before they touch, and a race changes nothing. */
import { spawn } from "node:child_process";
import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Tool } from "../../src/agent/contracts.ts";
import { Shell } from "../../src/lib/shell/index.ts";
import { ConfinedFiles } from "../../src/sandbox/files.ts";
import { Survey } from "../../src/sandbox/survey.ts";
import { builtInTools } from "../../src/tools/index.ts";
import { groundIn } from "./ground.ts";
import { folderOutsideTmp } from "./support.ts";

let folder: string;
let tools: Map<string, Tool>;
let shell: Shell;
beforeEach(() => {
	folder = folderOutsideTmp();
	for (const name of ["home/.ssh", "user", "private/tmp", "private/var-tmp", "work", "outside"]) mkdirSync(join(folder, name), { recursive: true });
	file("home/.ssh/key", "PRIVATE");
	file("outside/file", "outside");
	file("work/a.txt", "one two");
	const work = join(folder, "work");
	const survey = new Survey(groundIn(folder, { hidden: [join(folder, "work/secret")], protected: [join(folder, "work/ci.yml")] }));
	const plain = { stream: () => ({ push: (chunk: Buffer) => chunk, end: () => Buffer.alloc(0) }) };
	shell = new Shell({ cwd: work, environment: () => ({ PATH: process.env.PATH }), redact: plain as never });
	const made = builtInTools({
		cwd: work,
		shell,
		settings: { autoResizeImages: () => false },
		environment: () => ({}),
		acceptsImages: () => false,
		confined: new ConfinedFiles(() => survey.view()),
	});
	tools = new Map(made.map((tool) => [tool.name, tool]));
});
afterEach(async () => {
	await shell.close();
	rmSync(folder, { recursive: true, force: true });
});

function file(name: string, content: string): string {
	mkdirSync(dirname(join(folder, name)), { recursive: true });
	writeFileSync(join(folder, name), content);
	return join(folder, name);
}

/** The text of the result, or of the failure. */
async function call(name: string, args: Record<string, unknown>): Promise<string> {
	const run = (tools.get(name) as Tool).execute({ args, signal: new AbortController().signal, onUpdate: () => undefined, toolCallId: "1" } as never);
	const [outcome] = await Promise.allSettled([run]);
	if (outcome.status === "rejected") return `Failed: ${(outcome.reason as Error).message}`;
	return (outcome.value as { content: { text: string }[] }).content[0]?.text ?? "";
}

describe.skipIf(process.platform !== "linux")("file tools in a sandbox", () => {
	test("read, change and make files in the project", async () => {
		expect(await call("read", { path: "a.txt" })).toBe("one two");
		expect(await call("edit", { path: "a.txt", edits: [{ oldText: "two", newText: "three" }] })).toBe("Edited a.txt: 1 replacement");
		expect(await call("write", { path: "new/deep/b.txt", content: "b" })).toBe("Wrote 1 bytes to new/deep/b.txt");
		expect(readFileSync(join(folder, "work/a.txt"), "utf8")).toBe("one three");
		expect(await call("ls", { path: "new" })).toBe("deep/");
		expect(await call("ls", {})).toBe("a.txt\nnew/");
	});

	test("write nowhere else, by no path and through no link", async () => {
		const outside = join(folder, "outside");
		symlinkSync(outside, join(folder, "work/way"));
		symlinkSync(join(outside, "made"), join(folder, "work/link"));
		symlinkSync("link", join(folder, "work/second"));
		for (const path of [join(outside, "x"), "../outside/x", "way/x", "way/deep/x", "link", "second"]) {
			expect(await call("write", { path, content: "x" })).toMatch(/cannot be written: the sandbox lets tools write only in .*work, \/tmp\.$/);
		}
		expect(await call("edit", { path: join(outside, "file"), edits: [{ oldText: "outside", newText: "x" }] })).toContain("cannot be written");
		expect(readdirSync(outside)).toEqual(["file"]);
		expect(readFileSync(join(outside, "file"), "utf8")).toBe("outside");
	});

	test("a link inside the project is followed to what it means", async () => {
		symlinkSync("a.txt", join(folder, "work/alias"));
		expect(await call("write", { path: "alias", content: "new" })).toContain("Wrote 3 bytes");
		expect(readFileSync(join(folder, "work/a.txt"), "utf8")).toBe("new");
		expect(await call("read", { path: "alias" })).toBe("new");
	});

	test("protected and hidden paths", async () => {
		file("work/ci.yml", "steps");
		file("work/secret/key", "hidden");
		expect(await call("write", { path: ".bowline/settings.jsonc", content: "{}" })).toContain("cannot be written: the sandbox protects it");
		expect(await call("write", { path: ".mcp.json", content: "{}" })).toContain("cannot be written: the sandbox protects it");
		expect(await call("write", { path: "ci.yml", content: "x" })).toContain("cannot be written: the sandbox protects it");
		expect(await call("read", { path: "ci.yml" })).toBe("steps");
		for (const path of ["secret/key", "~/.ssh/key", join(folder, "home/.ssh/key"), join(folder, "user")])
			expect(await call("read", { path })).not.toContain("hidden\n");
		expect(await call("read", { path: "secret/key" })).toBe(
			"Failed: secret/key cannot be read: the sandbox hides it.".replace("secret/key cannot", `${folder}/work/secret/key cannot`),
		);
		symlinkSync(join(folder, "home/.ssh/key"), join(folder, "work/key"));
		expect(await call("read", { path: "key" })).toContain("cannot be read: the sandbox hides it");
		expect(await call("ls", { path: join(folder, "home/.ssh") })).toContain("cannot be read");
	});

	test("a list says nothing about what hidden links lead to, and follows the others as commands do", async () => {
		mkdirSync(join(folder, "work/links"));
		mkdirSync(join(folder, "private/tmp/own"));
		const links = {
			...{ key: join(folder, "home/.ssh/key"), absent: join(folder, "home/.ssh/absent"), keys: join(folder, "home/.ssh") },
			...{ dangling: "nowhere", up: "..", own: "/tmp/own", text: "../a.txt" },
		};
		for (const [name, target] of Object.entries(links)) symlinkSync(target, join(folder, "work/links", name));
		expect(await call("ls", { path: "links" })).toBe("absent\nkey\nkeys\nown/\ntext\nup/");
	});

	test("the kernel's directories show nothing of this process", async () => {
		for (const path of ["/proc/self/environ", "/proc/1/status", "/sys/kernel/mm", "/dev/null"])
			expect(await call("read", { path })).toMatch(/^Failed: .*(kernel|cannot|not a)/);
		symlinkSync("/proc/self/environ", join(folder, "work/environ"));
		expect(await call("read", { path: "environ" })).toContain("kernel");
	});

	test("/tmp is the session's own, also for links in it", async () => {
		// Of all files in the real directory, none has this name.
		const name = `bowline-note-${process.pid}`;
		expect(await call("write", { path: `/tmp/${name}`, content: "private" })).toContain("Wrote 7 bytes");
		expect(readFileSync(join(folder, "private/tmp", name), "utf8")).toBe("private");
		expect(existsSync(`/tmp/${name}`)).toBe(false);
		symlinkSync(`/tmp/${name}`, join(folder, "private/tmp/alias"));
		symlinkSync("/etc/hostname", join(folder, "private/tmp/host"));
		expect(await call("read", { path: "/tmp/alias" })).toBe("private");
		expect(await call("write", { path: "/tmp/host", content: "x" })).toContain("cannot be written");
		expect(await call("read", { path: "/tmp/missing" })).toContain("No such file or directory");
	});

	test("a file with several names is replaced, and the result says so", async () => {
		linkSync(join(folder, "outside/file"), join(folder, "work/hard"));
		expect(await call("write", { path: "hard", content: "new" })).toBe(
			"Wrote 3 bytes to hard. It had other names (hard links), which keep the old content.",
		);
		expect(readFileSync(join(folder, "outside/file"), "utf8")).toBe("outside");
		expect(statSync(join(folder, "work/hard")).nlink).toBe(1);
	});

	test("a folder that is swapped with a link as fast as possible shows and changes nothing that the link leads to", async () => {
		mkdirSync(join(folder, "work/flip"));
		file("work/flip/target", "inside");
		file("home/.ssh/target", "PRIVATE");
		const code = `
			const { renameSync, symlinkSync, unlinkSync } = require("fs");
			const [flip, away, link] = process.argv.slice(1);
			console.log("begun");
			for (;;) { try { renameSync(flip, away); symlinkSync(link, flip); unlinkSync(flip); renameSync(away, flip); } catch {} }`;
		const swapper = spawn(process.execPath, ["-e", code, join(folder, "work/flip"), join(folder, "work/away"), join(folder, "home/.ssh")], {
			stdio: ["ignore", "pipe", "inherit"],
		});
		await new Promise((resolve) => swapper.stdout.once("data", resolve));
		const seen = { inside: 0, refused: 0 };
		try {
			// At least as often as this, and until both have been seen: on a busy machine one of the two may not run for a while.
			for (let round = 0; round < 70 || seen.inside === 0 || seen.refused === 0; round += 1) {
				const said = [
					await call("write", { path: `flip/w${round}`, content: "x" }),
					await call("edit", { path: "flip/target", edits: [{ oldText: "inside", newText: `inside${"!".repeat((round % 3) + 1)}` }] }),
					await call("read", { path: "flip/target" }),
				];
				expect(said[2]).not.toContain("PRIVATE");
				for (const text of said) seen[text.startsWith("Failed") ? "refused" : "inside"] += 1;
			}
		} finally {
			swapper.kill("SIGKILL");
		}
		expect(readdirSync(join(folder, "home/.ssh")).sort()).toEqual(["key", "target"]);
		expect(readFileSync(join(folder, "home/.ssh/target"), "utf8")).toBe("PRIVATE");
		expect(seen.inside).toBeGreaterThan(0);
		expect(seen.refused).toBeGreaterThan(0);
	});
});
