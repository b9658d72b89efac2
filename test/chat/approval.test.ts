/** Approvals in the chat: what is shown, which keys answer, and that no key allows by accident. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Approval } from "../../src/chat/approval.ts";
import { permissionSamples } from "../../src/protocol/permissions.ts";
import { describeUnless } from "../unless.ts";
import { missing, Pane } from "./pane.ts";

const textOf = (rows: readonly (readonly { text: string }[])[]) => rows.map((row) => row.map(({ text }) => text).join("")).join("\n");
const pressed = (text: string) => ({ name: "text", text });

function approval(request = {}) {
	let clock = 0;
	const answers: unknown[] = [];
	const question = new Approval(
		{ ...permissionSamples.request, ...request },
		(answer) => answers.push(answer),
		() => clock,
	);
	return {
		question,
		answers,
		wait: (ms: number) => {
			clock += ms;
		},
	};
}

test("it shows the command, the place, who asks and the keys; letters answer", () => {
	const origin = [{ id: "0-Fix", agent: "task", toolCallId: "t" }];
	const { question, answers, wait } = approval({ origin, text: "npm publish\u001b[2K" });
	const shown = textOf(question.frame(100, 20).rows);
	expect(shown).toContain("Run a command? No rule covers it.");
	expect(shown).toContain("npm publish");
	expect(shown).not.toContain("\u001b");
	expect(shown).toContain("in /w/shop · asked by task 0-Fix · sandbox off");
	expect(shown).toContain("d deny, o once, s this session, a always in this project");
	wait(501);
	for (const letter of ["x", "o", "s", "a", "d"]) question.key(pressed(letter));
	expect(answers).toEqual([
		{ decision: "allow", scope: "once" },
		{ decision: "allow", scope: "session" },
		{ decision: "allow", scope: "always" },
		{ decision: "deny" },
	]);
});

test("no key is heard in the first half second, Enter alone denies, a pasted letter answers nothing", () => {
	const { question, answers, wait } = approval();
	question.key(pressed("o"));
	question.frame(80, 20);
	wait(499);
	question.key(pressed("o"));
	question.key({ name: "enter" });
	expect(answers).toEqual([]);
	wait(2);
	question.key({ ...pressed("o"), isPaste: true });
	question.key({ name: "enter" });
	expect(answers).toEqual([{ decision: "deny" }]);
});

test("a change is shown as a diff, and what does not fit can be scrolled to; scopes that are not offered have no key", () => {
	const lines = Array.from({ length: 60 }, (_, index) => `+line ${index}`);
	const diff = `--- a/x\n+++ b/x\n@@ -0,0 +1,60 @@\n${lines.join("\n")}\n`;
	const { question, answers, wait } = approval({ text: "/w/shop/x", diff, choices: ["once"] });
	expect(textOf(question.frame(80, 12).rows)).toMatch(/line 0[\s\S]*more rows: ↓[\s\S]*d deny, o once$/);
	wait(600);
	for (let n = 0; n < 10; n++) question.key({ name: "pagedown" });
	expect(textOf(question.frame(80, 12).rows)).toContain("line 59");
	question.key(pressed("a"));
	expect(answers).toEqual([]);
});

describeUnless(missing)("in a terminal", () => {
	test("a command is asked about, allowed by one key, and /mode changes what is asked", async () => {
		const model = 'call bash {"command":"touch made"} · say "First." · call bash {"command":"touch more"} · say "Second."';
		const pane = await new Pane({ model, flags: ["--permission-mode", "ask"] }).ready();
		pane.type("go");
		pane.keys("Enter");
		await pane.until("Run a command?");
		expect(existsSync(join(pane.cwd, "made"))).toBe(false);
		await new Promise((resolve) => setTimeout(resolve, 600));
		pane.type("o");
		await pane.until("First.");
		expect(existsSync(join(pane.cwd, "made"))).toBe(true);
		pane.type("/mode plan");
		pane.keys("Enter");
		await pane.until("Mode plan");
		pane.type("again");
		pane.keys("Enter");
		await pane.until("Second.");
		expect(existsSync(join(pane.cwd, "more"))).toBe(false);
	});
});
