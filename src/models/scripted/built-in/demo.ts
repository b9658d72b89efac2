import type { Script } from "../format.ts";
import { bug, fix } from "./demo-repository.ts";

const runTest = { tool: "bash", arguments: { command: "node --test" } };
/** Slow enough to watch, quick enough to wait for. */
const pieceDelayMs = 12;

/** Mends the test of `demoRepository` as a model would: look, edit, check. */
export const demo: Script = {
	name: "Demo",
	replies: [
		{
			pieceDelayMs,
			thinking: "The test should say what is wrong. I run it and read the code it covers.",
			text: "I will run the tests and look at the cart.",
			blocks: [runTest, { tool: "read", arguments: { path: "src/cart.js" } }],
		},
		{
			pieceDelayMs,
			text: "The test expects 17 and gets 9: `total` adds the price of each item once and ignores its quantity. I multiply them.",
			blocks: [{ tool: "edit", arguments: { path: "src/cart.js", edits: [{ oldText: bug, newText: fix }] }, pieces: 4 }],
		},
		{ pieceDelayMs, text: "Now the tests again.", blocks: [runTest] },
		{
			when: { tool: "bash", isError: false },
			pieceDelayMs,
			text: "All tests pass. `total` in `src/cart.js` now counts `price * quantity` of every item; nothing else was changed.",
		},
		{
			when: { tool: "bash", isError: true },
			pieceDelayMs,
			text: "The tests still fail, so my change was not enough. Nothing besides `src/cart.js` was touched.",
		},
		{ times: "always", text: "The demo script ends here. Try `--model echo`, or write a script of your own: docs/scripted-model.md." },
	],
};
