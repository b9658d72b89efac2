/** Dialogs always end, and only the first answer counts. */
import { expect, test } from "vitest";
import type { ExtensionUiRequest } from "../../src/protocol/extension-ui.ts";
import { Dialogs } from "../../src/rpc/extension-ui.ts";

function open({ emitsTitle = false } = {}) {
	const sent: ExtensionUiRequest[] = [];
	const dialogs = new Dialogs({ send: (frame) => sent.push(frame), emitsTitle, now: Date.now });
	const answer = (members: object, at = 0) => dialogs.receive({ type: "extension_ui_response", id: sent[at]?.id ?? "", ...members });
	return { dialogs, sent, answer };
}

type Ask = (dialogs: Dialogs, signal?: AbortSignal) => Promise<unknown>;
const asks: [method: string, ask: Ask, right: object, value: unknown, otherwise: unknown][] = [
	["select", (ui, signal) => ui.select("T", ["a", "b"], { signal }), { value: "b" }, "b", undefined],
	["confirm", (ui, signal) => ui.confirm("T", "M", { signal }), { confirmed: true }, true, false],
	["input", (ui, signal) => ui.input("T", "P", { signal }), { value: "x" }, "x", undefined],
	["editor", (ui, signal) => ui.editor("T", "P", { signal }), { value: "x" }, "x", undefined],
];

for (const [method, ask, right, value, otherwise] of asks) {
	test(`${method}: an answer is taken, and a second one is ignored`, async () => {
		const { dialogs, sent, answer } = open();
		const asked = ask(dialogs);
		expect(sent).toMatchObject([{ type: "extension_ui_request", method, title: "T", id: expect.stringMatching(/^[0-9a-f-]{36}$/) }]);
		answer(right);
		answer({ cancelled: true });
		expect(await asked).toBe(value);
	});

	test.each([
		["cancelled", { cancelled: true }],
		["cancelled with a value", { ...right, cancelled: true }],
		["an answer without what it needs", {}],
		["an answer of the wrong type", { value: 3, confirmed: "yes" }],
	])(`${method}: %s gives the default`, async (_, members) => {
		const { dialogs, answer } = open();
		const asked = ask(dialogs);
		answer(members);
		expect(await asked).toBe(otherwise);
	});

	test(`${method}: an abort withdraws it with the default`, async () => {
		const { dialogs, sent, answer } = open();
		const controller = new AbortController();
		const asked = ask(dialogs, controller.signal);
		controller.abort();
		expect(await asked).toBe(otherwise);
		expect(sent).toMatchObject([{ method }, { method: "cancel", targetId: sent[0]?.id }]);
		answer(right);
	});

	test(`${method}: a signal that has fired asks nobody`, async () => {
		const { dialogs, sent } = open();
		expect(await ask(dialogs, AbortSignal.abort())).toBe(otherwise);
		expect(sent).toEqual([]);
	});

	test(`${method}: the host's going gives the default, then and later`, async () => {
		const { dialogs, sent } = open();
		const asked = ask(dialogs);
		dialogs.close();
		expect(await asked).toBe(otherwise);
		expect(await ask(dialogs)).toBe(otherwise);
		expect(sent).toHaveLength(1);
	});
}

test("a timeout gives the default, and a late answer is ignored", async () => {
	const { dialogs, sent, answer } = open();
	const asked = dialogs.confirm("T", "M", { timeout: 20.4 });
	expect(sent).toMatchObject([{ timeout: 20 }]);
	expect(await asked).toBe(false);
	answer({ confirmed: true });
});

test("notices are sent and no one waits", () => {
	const { dialogs, sent } = open({ emitsTitle: true });
	dialogs.notify("hello", "warning");
	dialogs.setStatus("k");
	dialogs.setWidget("w", ["a"], { placement: "belowEditor" });
	dialogs.setTitle("T");
	dialogs.setEditorText("x");
	expect(sent).toMatchObject([
		{ method: "notify", message: "hello", notifyType: "warning" },
		{ method: "setStatus", statusKey: "k" },
		{ method: "setWidget", widgetKey: "w", widgetLines: ["a"], widgetPlacement: "belowEditor" },
		{ method: "setTitle", title: "T" },
		{ method: "set_editor_text", text: "x" },
	]);
});

test("a title is only for hosts that asked for it", () => {
	const { dialogs, sent } = open();
	dialogs.setTitle("T");
	expect(sent).toEqual([]);
});
