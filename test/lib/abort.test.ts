import { expect, onTestFinished, test } from "vitest";
import { linkedController, onAbort } from "../../src/lib/abort.ts";

test("many waiters on one signal make Node print no warning", async () => {
	const warnings: Error[] = [];
	const keep = (warning: Error) => void warnings.push(warning);
	process.on("warning", keep);
	onTestFinished(() => void process.off("warning", keep));
	const shared = new AbortController();
	const { controller } = linkedController(shared.signal);
	let count = 0;
	for (let each = 0; each < 20; each++) {
		onAbort(shared.signal, () => count++);
		controller.signal.addEventListener("abort", () => count++);
	}
	shared.abort();
	// Node emits warnings in a later tick.
	await new Promise((resolve) => setImmediate(resolve));
	expect([count, warnings]).toEqual([40, []]);
});
