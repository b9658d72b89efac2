/** How `bowline chat` proposes to be contained, and shows it. */
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { folderOutsideTmp, missing as noSandbox } from "../sandbox/support.ts";
import { describeUnless } from "../unless.ts";
import { missing as noTerminal, Pane, type PaneOptions } from "./pane.ts";

const question = "Start contained? [Y/n]";
const answersOf = ({ folder }: Pane) => {
	const file = join(folder, "user/chat-safety.json");
	return existsSync(file) ? Object.values(JSON.parse(readFileSync(file, "utf8")) as object) : [];
};

/** A chat whose home is not below the temporary directory, where a sandbox has none. */
function chat({ folder = folderOutsideTmp(), ...options }: PaneOptions = {}): Pane {
	mkdirSync(join(folder, "home"), { recursive: true });
	return new Pane({ mayAsk: true, width: 120, folder, env: { HOME: join(folder, "home") }, ...options });
}

async function leave(pane: Pane): Promise<void> {
	pane.keys("C-d");
	await pane.until(/EXIT \d/);
	pane.stop();
}

describeUnless(noTerminal ?? noSandbox)("the first chat in a project", () => {
	test("asks whether to be contained, starts so, and remembers it for this project", async () => {
		const first = chat();
		await first.until(question);
		first.keys("Enter");
		await first.ready();
		expect(await first.until("contained")).not.toContain("contained, but");
		expect(answersOf(first)).toEqual([true]);
		await leave(first);
		const second = await chat({ folder: first.folder }).ready();
		await second.until("contained");
		expect(second.screen()).not.toContain(question);
	});

	test("runs as before after a no, and does not ask again", async () => {
		const first = chat();
		await first.until(question);
		first.type("n");
		first.keys("Enter");
		await first.ready();
		expect(first.screen().split("\n>").at(-1)).not.toContain("contained");
		expect(answersOf(first)).toEqual([false]);
		await leave(first);
		const second = await chat({ folder: first.folder }).ready();
		expect(second.screen()).not.toContain("ontained");
	});

	test("asks again next time when the person leaves without an answer", async () => {
		const first = chat();
		await first.until(question);
		first.keys("C-d");
		await first.until("EXIT 130");
		first.stop();
		await chat({ folder: first.folder }).until(question);
	});

	test("keeps no yes that this machine cannot hold, and says how to start without", async () => {
		const pane = chat({ width: 160, files: { "../user/settings.jsonc": '{"sandbox":{"bwrapPath":"/nowhere/bwrap"}}' } });
		await pane.until(question);
		pane.keys("Enter");
		const screen = await pane.until("EXIT 1");
		expect(screen.replaceAll("\n", " ")).toMatch(/The sandbox that this session requires is not available: .* bowline chat --set safety=off/);
		expect(answersOf(pane)).toEqual([]);
	});

	test.each([
		["a flag", { flags: ["--permission-mode", "ask"] }],
		["the settings", { files: { "../user/settings.jsonc": '{"safety":"off","permissions":{"mode":"ask"}}' } }],
	])("does not ask where %s says how safe it is", async (_, options) => {
		const pane = await chat(options).ready();
		expect(pane.screen()).not.toContain(question);
	});

	test("shows all the time what somebody made looser", async () => {
		const pane = await chat({ flags: ["--contained", "--set", "sandbox.network=on"] }).ready();
		await pane.until("contained, but sandbox.network");
	});
});
