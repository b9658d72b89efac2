/** The small repository that the `demo` script works on: a cart whose total forgets the quantity, and a test that says so. */

/** The line with the bug, and what it should be. The script's edit is made of them. */
export const bug = "sum + item.price, 0)";
export const fix = "sum + item.price * item.quantity, 0)";

export const demoRepository: Record<string, string> = {
	"package.json": `${JSON.stringify({ name: "cart", version: "1.0.0", private: true, type: "module", scripts: { test: "node --test" } }, null, 2)}\n`,
	"src/cart.js": `/** What the items in the cart cost together. */
export function total(items) {
	return items.reduce((sum, item) => ${bug};
}
`,
	"test/cart.test.js": `import assert from "node:assert/strict";
import { test } from "node:test";
import { total } from "../src/cart.js";

test("an empty cart costs nothing", () => {
	assert.equal(total([]), 0);
});

test("every piece of an item counts", () => {
	const items = [
		{ name: "rope", price: 4, quantity: 3 },
		{ name: "hook", price: 5, quantity: 1 },
	];
	assert.equal(total(items), 17);
});
`,
};
