import type { Script } from "../format.ts";
import { bug, discount, discountSlip, discountTest, fix } from "./demo-repository.ts";

const runTest = { tool: "bash", arguments: { command: "node --test" } };
/** Slow enough to watch, quick enough to wait for. */
const pieceDelayMs = 12;
const edit = (oldText: string, newText: string) => ({ tool: "edit", arguments: { path: "src/cart.js", edits: [{ oldText, newText }] }, pieces: 4 });
const submit = (data: string) => ({ tool: "submit_result", arguments: { result: { data } } });

/** First act: mends the test of `demoRepository` as a model would: look, edit, check. */
const repair: Script["replies"] = [
	{
		when: { depth: 0 },
		pieceDelayMs,
		thinking: "The test should say what is wrong. I run it and read the code it covers.",
		text: "I will run the tests and look at the cart.",
		blocks: [runTest, { tool: "read", arguments: { path: "src/cart.js" } }],
	},
	{
		when: { depth: 0 },
		pieceDelayMs,
		text: "The test expects 17 and gets 9: `total` adds the price of each item once and ignores its quantity. I multiply them.",
		blocks: [edit(bug, fix)],
	},
	{ when: { depth: 0, tool: "edit" }, pieceDelayMs, text: "Now the tests again.", blocks: [runTest] },
	{
		when: { depth: 0, tool: "bash", isError: false },
		pieceDelayMs,
		text: "All tests pass. `total` in `src/cart.js` now counts `price * quantity` of every item; nothing else was changed.",
	},
	{
		when: { depth: 0, tool: "bash", isError: true },
		pieceDelayMs,
		text: "The tests still fail, so my change was not enough. Nothing besides `src/cart.js` was touched.",
	},
];

/** Second act: sends a subagent into a copy of the repository, and takes its work only when the tests pass there. */
const delegation: Script["replies"] = [
	{
		when: { depth: 0, text: "discount" },
		pieceDelayMs,
		text: "I send a subagent into a copy of the repository. What comes back has passed the tests.",
		blocks: [
			{
				tool: "task",
				arguments: {
					agent: "task",
					isolated: true,
					verify: { commands: [{ name: "test", command: "node --test" }], onFailure: "retry_once" },
					tasks: [
						{
							id: "AddDiscount",
							description: "A discount for large carts",
							assignment: "Carts of 100 and more cost ten percent less: add `discounted(items)` to src/cart.js, with a test.",
						},
					],
				},
				pieces: 4,
			},
		],
	},
	{
		when: { depth: 0, tool: "task", text: "1 of 1 task succeeded" },
		pieceDelayMs,
		text: "The discount is in the working tree: one repair was needed, and the tests pass.",
	},
	{ when: { depth: 0, tool: "task" }, pieceDelayMs, text: "Nothing was merged; the reason is above." },
];

/** What the subagent does: it forgets that 100 itself counts, and the repair run learns that from the failed check. */
const subagent: Script["replies"] = [
	{
		when: { depth: 1, text: "What failed:" },
		pieceDelayMs,
		text: "A cart of exactly 100 gets no discount: `>` should be `>=`.",
		blocks: [edit(discountSlip, ">= 100")],
	},
	{ when: { depth: 1, tool: "edit" }, pieceDelayMs, blocks: [submit("`discounted` compared with `>`; it is `>=` now.")] },
	{
		when: { depth: 1, text: "add `discounted(items)`" },
		pieceDelayMs,
		text: "I add the function and a test for it.",
		blocks: [
			{ tool: "bash", arguments: { command: `cat >> src/cart.js <<'END'\n${discount}END` } },
			{ tool: "write", arguments: { path: "test/discount.test.js", content: discountTest } },
		],
	},
	{ when: { depth: 1, tool: "write" }, pieceDelayMs, blocks: [submit("Added `discounted` to src/cart.js and test/discount.test.js.")] },
];

export const demo: Script = {
	name: "Demo",
	replies: [
		...subagent,
		...delegation,
		...repair,
		{ times: "always", text: "The demo script ends here. Try `--model echo`, or write a script of your own: docs/scripted-model.md." },
	],
};
