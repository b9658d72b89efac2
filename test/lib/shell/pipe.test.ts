import { spawn } from "node:child_process";
import { expect, test } from "vitest";
import { readPipes } from "../../../src/lib/shell/pipe.ts";

/** Blocks the event loop, as a program does that is busy or starved. */
const block = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

test("reads what was printed before the exit, even if the event loop was blocked until after the silence", async () => {
	const child = spawn("sh", ["-c", "echo hello; exec sleep 60"], { stdio: ["ignore", "pipe", "ignore"] });
	let text = "";
	const reader = readPipes([child.stdout], (chunk) => {
		text += chunk;
	});
	reader.exited();
	block(400);
	await reader.done;
	child.kill();
	expect(text).toBe("hello\n");
});
