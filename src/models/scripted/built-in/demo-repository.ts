/** The small repository that the `demo` script works on: a cart whose total forgets the quantity, and a test that says so. */

/** The line with the bug, and what it should be. The script's edit is made of them. */
export const bug = "sum + item.price, 0)";
export const fix = "sum + item.price * item.quantity, 0)";

/** What the second act adds, with a slip that the test finds. */
export const discountSlip = "> 100";
export const discount = `
/** Carts of 100 and more cost ten percent less. */
export function discounted(items) {
	const sum = total(items);
	return sum ${discountSlip} ? sum * 0.9 : sum;
}
`;
export const discountTest = `import assert from "node:assert/strict";
import { test } from "node:test";
import { discounted } from "../src/cart.js";

test("a cart of 100 costs ten percent less", () => {
	assert.equal(discounted([{ name: "sail", price: 50, quantity: 2 }]), 90);
});
`;

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
