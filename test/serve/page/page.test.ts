/** The page of the server in a real browser, in front of a real server and a scripted model. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { familyOf, makeFixture, signalAll, startWorker } from "../../fleet/fixture.ts";
import { later } from "../../later.ts";
import { disguise, hostileSession, unseenIn } from "../../transcript/export/hostile.ts";
import { picture } from "../../transcript/export/session.ts";
import { describeUnless } from "../../unless.ts";
import { place, serve, spawnServer, until } from "../support.ts";
import {
	browserPath,
	closeBrowser,
	findings,
	isIdle,
	leaveFields,
	openSession,
	pressUntil,
	says,
	send,
	shownMessages,
	sideways,
	stored,
	storedMessages,
	type Tab,
	tab,
	tabAt,
} from "./support.ts";

const slow = 120_000;
afterAll(closeBrowser);

describeUnless(!browserPath && "chromium is not installed")("the page of the server", () => {
	test("a link signs in once, leaves no trace in the address, and a reload keeps the session", { timeout: slow }, async () => {
		const server = await serve();
		const session = await server.create({ name: "First" });
		const link = await until("a link", () => /http\S+#code=\S+/.exec(server.err)?.[0]);
		const first = await tabAt(server, link);
		await first.page.waitForSelector(".session-row");
		expect(first.page.url()).toBe(`${server.url}/`);
		expect(await first.page.evaluate(() => history.length)).toBeLessThanOrEqual(2);
		await first.page.click(".session-row");
		await says(first, "h1", "First");
		await first.page.reload();
		await says(first, "h1", "First");
		expect(first.page.url()).toBe(`${server.url}/#/s/${session.id}`);
		const second = await tabAt(server, link);
		await says(second, ".composer-note", "bowline serve link");
		await second.page.fill("#token", "wrong");
		await second.page.click("button[type=submit]");
		await says(second, ".composer-note", "not valid");
		await second.page.fill("#token", server.token);
		await second.page.press("#token", "Enter");
		await second.page.waitForSelector(".session-row");
		expect([...first.trouble, ...second.trouble]).toEqual([]);
	});

	test("a session that is contained says so, and what is looser", { timeout: slow }, async () => {
		const server = await serve({ args: ["--contained", "--no-sandbox"] });
		const session = await server.create({ name: "Held" });
		const own = await tab(server);
		await openSession(own, session.id);
		await says(own, ".panel.now", "contained, but looser: sandbox.mode");
		expect(own.trouble).toEqual([]);
	});

	test("files that run later are named after a run, shown, and put back", { timeout: slow }, async () => {
		const server = await serve({
			args: ["--set", "checkpoints.enabled=true"],
			files: { Makefile: "all:\n\ttrue\n" },
			replies: [{ blocks: [{ tool: "write", arguments: { path: "Makefile", content: "all:\n\tcurl evil\n" } }] }, { text: "Written." }],
		});
		const session = await server.create({ name: "Later" });
		const own = await tab(server);
		await openSession(own, session.id);
		await send(own, "Build it");
		await says(own, ".panel.runs", "Makefile");
		// The page reads a little later where the run began in the file.
		await until("the changes", async () => {
			await own.page.click(".panel.runs .choice >> text=Show changes", { timeout: 1000 }).catch(() => undefined);
			return own.page.$("dialog[open] .diff");
		});
		await says(own, "dialog[open] .diff", "curl evil");
		await own.page.click("dialog[open] .choice >> text=Close");
		await own.page.click(".panel.runs .choice >> text=Put files back");
		await own.page.click("dialog[open] .primary");
		await own.page.waitForSelector(".panel.runs", { state: "hidden" });
		expect(readFileSync(join(session.cwd, "Makefile"), "utf8")).toBe("all:\n\ttrue\n");
		expect(own.trouble).toEqual([]);
	});

	test("prompt, stream, tool, approval by mouse and by keyboard, diff, steer, stop; the file says the same", { timeout: slow }, async () => {
		const command = (text: string) => ({ blocks: [{ text: `Run ${text}.` }, { tool: "bash", arguments: { command: text } }] });
		const server = await serve({
			files: { "a.txt": "one\ntwo\n" },
			args: ["--approval-mode", "ask"],
			replies: [
				{ text: "Some **bold** words.\n\nAnd `code` after them.", pieceDelayMs: 5 },
				command("echo by-mouse"),
				command("echo by-keyboard"),
				{ blocks: [{ tool: "edit", arguments: { path: "a.txt", edits: [{ oldText: "two", newText: "three" }] } }] },
				{ text: "Done with all three." },
				{ when: { text: "long" }, repeat: { text: "word ", count: 4000 }, pieceDelayMs: 20 },
				{ text: "Never mind.", times: "always" },
			],
		});
		const session = await server.create({ name: "Drive" });
		const own = await tab(server);
		const { page } = own;
		await openSession(own, session.id);
		await send(own, "Say something");
		await page.waitForSelector(".slice .reply strong");
		expect(await page.textContent(".slice .reply strong")).toBe("bold");
		await isIdle(own);

		await send(own, "Now work");
		await page.waitForSelector(".ask.approval");
		expect(await page.evaluate(() => document.activeElement?.closest(".ask"))).toBeNull();
		expect(await page.textContent(".ask-exact")).toContain("echo by-mouse");
		// A click that was on its way when the card appeared does nothing.
		await page.waitForSelector(".ask .yes:not(.arming)");
		await page.click(".ask .yes");
		await page.waitForFunction(() => document.querySelector(".ask-exact")?.textContent?.includes("by-keyboard"));
		await page.waitForSelector(".ask .yes:not(.arming)");
		await leaveFields(own);
		await page.keyboard.press("a");
		await page.waitForFunction(() => document.activeElement?.closest(".ask") !== null);
		await page.keyboard.press("Shift+Y");
		await page.waitForFunction(() => document.querySelector(".ask-diff, .ask-exact")?.textContent?.includes("three"));
		await page.waitForSelector(".ask .yes:not(.arming)");
		await page.click(".ask .yes");
		await says(own, ".log", "Done with all three.");
		expect(await page.textContent("details.tool .result")).toContain("by-mouse");
		await page.waitForSelector(".diff .line.add mark");
		expect(readFileSync(join(server.at.cwd, "a.txt"), "utf8")).toBe("one\nthree\n");
		await isIdle(own);

		await send(own, "A long one");
		await page.waitForSelector(".open-reply:not([hidden])");
		await page.waitForSelector(".send.stop:not([hidden])");
		expect(await page.textContent(".send.primary")).toContain("Steer");
		expect(await findings(own)).toEqual([]);
		await page.click(".send.stop");
		await isIdle(own);
		await page.waitForFunction(() => document.querySelector(".open-reply")?.hasAttribute("hidden"));
		const file = await server.learnFile(session.id);
		await showsMessages(own, storedMessages(file));
		expect(own.trouble).toEqual([]);
	});

	test("steering and follow-up while the agent works", { timeout: slow }, async () => {
		const server = await serve({
			replies: [
				{ blocks: [{ tool: "bash", arguments: { command: "until [ -e go ]; do sleep 0.05; done; echo went" } }] },
				{ when: { text: "left" }, text: "I turned left." },
				{ when: { text: "tests" }, text: "The tests ran." },
			],
		});
		const session = await server.create();
		const own = await tab(server);
		await openSession(own, session.id);
		await send(own, "Go");
		await own.page.waitForSelector(".tag.live");
		await send(own, "Turn left");
		await own.page.waitForSelector(".queue li");
		await own.page.fill(".write", "Then run the tests");
		await own.page.click(".send:has-text('Follow up')");
		await own.page.waitForFunction(() => document.querySelectorAll(".queue li").length === 2);
		writeFileSync(join(server.at.cwd, "go"), "");
		await says(own, ".log", "The tests ran.");
		await showsMessages(own, ["user: Go", "user: Turn left", "assistant: I turned left.", "user: Then run the tests", "assistant: The tests ran."]);
		expect(own.trouble).toEqual([]);
	});

	test("what is sent while the page still connects is not lost, nor what is written meanwhile", { timeout: slow }, async () => {
		const server = await serve({ replies: [{ text: "Taken." }, { text: "Never asked for.", times: "always" }] });
		const session = await server.create({ name: "Early" });
		const own = await tabAt(server, server.url);
		const { page } = own;
		// The connection and the first page of the conversation come as late as the test wants.
		let open: () => void = () => undefined;
		const gate = new Promise<void>((resolve) => {
			open = resolve;
		});
		for (const address of ["**/v1/tickets", "**/entries?**"]) await page.route(address, (route) => gate.then(() => route.continue()));
		await page.fill("#token", server.token);
		await page.press("#token", "Enter");
		await page.waitForSelector(".columns");
		await openSession(own, session.id);
		await send(own, "Early bird");
		await says(own, ".composer-note", "on its way");
		await page.press(".write", "End");
		await page.keyboard.type(" and more");
		open();
		await says(own, ".log .slice", "Taken.");
		await page.waitForFunction(() => document.querySelector<HTMLTextAreaElement>(".write")?.value === " and more");
		expect(storedMessages(await server.learnFile(session.id))).toEqual(["user: Early bird", "assistant: Taken."]);
		expect(own.trouble).toEqual([]);
	});

	test("a prompt that fails after it was taken is said, and comes back", { timeout: slow }, async () => {
		const server = await serve({ replies: [{ text: "Never." }] });
		writeFileSync(join(server.at.cwd, "script.json"), JSON.stringify({ model: { colour: "red" }, replies: [] }));
		const session = await server.create({ name: "Late" });
		const own = await tab(server);
		await openSession(own, session.id);
		await send(own, "Paint the fence");
		await says(own, ".banner.bad", "unknown member");
		await own.page.waitForFunction(() => document.querySelector<HTMLTextAreaElement>(".write")?.value === "Paint the fence");
		expect(own.trouble).toEqual([]);
	});

	test("two tabs and a client see the same; the seat moves; a question that is answered in one is settled in the other", {
		timeout: slow,
	}, async () => {
		const server = await serve({
			args: ["--approval-mode", "ask"],
			replies: [
				{ text: "To the client." },
				{ blocks: [{ tool: "bash", arguments: { command: "echo asked" } }] },
				{ text: "To the page.", times: "always" },
			],
		});
		const session = await server.create({ name: "Shared" });
		const [one, two] = [await tab(server), await tab(server)];
		await openSession(one, session.id);
		await openSession(two, session.id);
		const client = await server.attach(session.id, "?mode=write&client=tester&name=Tester&after=0");
		await client.type("ready");
		await client.ask({ type: "prompt", message: "From the client" });
		for (const each of [one, two]) await says(each, ".log", "To the client.");
		await says(one, ".bar-seat", "Tester drives");
		await send(one, "From the page");
		await says(one, "dialog", "Take the wheel from Tester?");
		await one.page.click("dialog .primary");
		await client.find("the seat is lost", (frame) => frame.type === "seat" && frame.held === false);
		await Promise.all([one, two].map(({ page }) => page.waitForSelector(".ask .yes:not(.arming)")));
		await one.page.click(".ask .yes");
		await says(two, ".ask-outcome", "by another reader");
		for (const each of [one, two]) await says(each, ".log", "To the page.");
		await two.page.waitForSelector(".asks:empty", { state: "attached" });
		const file = await server.learnFile(session.id);
		await until("all say the same", async () => {
			const told = [await shownMessages(one), await shownMessages(two), storedMessages(file)].map((list) => JSON.stringify(list.map(plain)));
			return told.every((list) => list === told[0]) && told[0] !== "[]";
		});
		const heard = client.frames.filter(({ type, message }) => type === "message_end" && message.role === "user");
		expect(heard.map(({ message }) => (typeof message.content === "string" ? message.content : message.content[0].text))).toEqual([
			"From the client",
			"From the page",
		]);
		expect([...one.trouble, ...two.trouble]).toEqual([]);
	});

	test("a server that is killed in the middle of a reply and started again: the page catches up by itself, nothing twice", {
		timeout: slow,
	}, async () => {
		const at = place();
		const replies = [
			{ when: { text: "endless" }, repeat: { text: "word ", count: 20_000 }, pieceDelayMs: 20 },
			{ text: "Here again.", times: "always" },
		];
		const first = await serve({ at, ...withScript(at.cwd, replies) });
		const session = await first.create({ name: "Survivor" });
		const own = await tab(first);
		await openSession(own, session.id);
		await send(own, "endless");
		await own.page.waitForFunction(() => (document.querySelector(".open-reply")?.textContent?.length ?? 0) > 40);
		await first.stop("SIGKILL");
		await own.page.waitForSelector(".link-line:not([hidden])");
		const second = spawnServer({ at, args: ["--port", String(first.port)] });
		await until("it listens again", () => second.out.includes("\n") || (second.child.exitCode !== null && Promise.reject(new Error(second.err))));
		await own.page.waitForSelector(".link-line", { state: "hidden" });
		await own.page.waitForFunction(() => document.querySelector(".open-reply")?.hasAttribute("hidden"));
		await send(own, "Are you there?");
		await says(own, ".log", "Here again.");
		const counts = async () => {
			const shown = await shownMessages(own);
			return ["user: endless", "assistant: Here again.", "assistant: word word"].map(
				(start) => shown.filter((text) => text.startsWith(start)).length,
			);
		};
		await expect.poll(counts, { timeout: 20_000 }).toEqual([1, 1, 1]);
		expect(own.trouble).toEqual([]);
	});

	test("an agent that is killed: the page says so, and resumes its run", { timeout: slow }, async () => {
		const server = await serve({
			replies: [
				{ when: { text: "wait" }, blocks: [{ tool: "bash", arguments: { command: "touch began; sleep 600" } }] },
				{ text: "Back again.", times: "always" },
			],
		});
		const session = await server.create({ name: "Fragile" });
		const own = await tab(server);
		await openSession(own, session.id);
		await send(own, "wait");
		await own.page.waitForSelector(".tag.live");
		await server.learnFile(session.id);
		process.kill(server.agentPid(session.id), "SIGKILL");
		await says(own, ".banner.bad", "SIGKILL");
		expect(await findings(own)).toEqual([]);
		await own.page.waitForSelector(".send.stop", { state: "hidden" });
		await own.page.click(".banner .primary");
		await says(own, ".log", "Back again.");
		await own.page.waitForSelector(".banner.bad", { state: "detached" });
		await isIdle(own);
		expect(own.trouble).toEqual([]);
	});

	test("hostile content, names and output stay text", { timeout: slow }, async () => {
		const server = await serve();
		const { entries } = hostileSession();
		const last = entries.at(-1) as { id: string };
		const attack = `"><img src=x onerror="window.pwned=99"><script>window.pwned=99</script>${disguise}`;
		const more = [
			`${"x".repeat(10_000_000)}`,
			"line\n".repeat(100_000),
			"\x1b[31mred\x1b[0m \x1b]8;;https://evil.example/\x07link\x1b]8;;\x07 \u202egnp.exe\u202c \ud83d",
		].flatMap((output, index) => {
			const parentId = index === 0 ? last.id : `h${index - 1}b`;
			const time = { timestamp: "2026-03-05T00:00:00.000Z" };
			const toolCall = { type: "toolCall", id: `big${index}`, name: "bash", arguments: { command: attack } };
			return [
				{
					type: "message",
					id: `h${index}a`,
					parentId,
					...time,
					message: { role: "assistant", content: [toolCall], model: "m", provider: "p", timestamp: 1 + index },
				},
				{
					type: "message",
					id: `h${index}b`,
					parentId: `h${index}a`,
					...time,
					message: {
						role: "toolResult",
						toolCallId: `big${index}`,
						toolName: "bash",
						content: [{ type: "text", text: output }],
						isError: false,
						timestamp: 2 + index,
					},
				},
			];
		});
		const id = await stored(
			server,
			[...entries, ...more, { type: "session_info", id: "n1", parentId: "h2b", timestamp: "2026-03-05T00:00:00.000Z", name: attack }],
			"hostile.jsonl",
		);
		const own = await tab(server);
		await openSession(own, id);
		await says(own, ".log", "⟦RLO⟧");
		await own.page.waitForSelector(".a-1");
		for (const open of await own.page.$$("details.tool:not([open]) > summary")) await open.click();
		await own.page.evaluate(() => window.scrollTo(0, 0));
		await own.page.waitForFunction(() => document.querySelectorAll("article.item").length > 20);
		expect(await unseenIn(own.page)).toEqual([]);
		expect(await own.page.evaluate(() => (window as unknown as { pwned?: number }).pwned)).toBeUndefined();
		expect(await own.page.$$eval(".columns script, .columns iframe, .columns style, .columns form:not(.composer)", (found) => found.length)).toBe(0);
		expect(own.trouble.filter((text) => !/^error: Failed to load|image/.test(text))).toEqual([]);
		expect(await sideways(own)).toBe(0);
	});

	test("characters that turn text around are shown where they are: while a reply arrives, in a question, in names and prompts", {
		timeout: slow,
	}, async () => {
		const reply = [{ thinking: `thought ${disguise}` }, { text: `said ${disguise} and ${"more ".repeat(40)}` }];
		const server = await serve({
			replies: [
				{ when: { tool: "bash" }, text: "done" },
				{ blocks: [...reply, { tool: "bash", arguments: { command: `echo ${disguise}` } }], pieceDelayMs: 20 },
			],
			args: ["--permission-mode", "ask"],
		});
		const { id } = await server.create({ name: `name ${disguise}` });
		const own = await tab(server);
		await openSession(own, id);
		await says(own, "h1", "name ⟦RLO⟧gnp.exe⟦LRI⟧");
		expect(await own.page.title()).toContain("⟦RLO⟧");
		await send(own, `prompt ${disguise}`);
		await says(own, ".open-reply .prose-blocks", "said ⟦RLO⟧gnp.exe⟦LRI⟧ a⟦ZWSP⟧b⟦ZWJ⟧⟦RLM⟧c");
		expect(await unseenIn(own.page)).toEqual([]);
		await says(own, ".ask-exact", "echo ⟦RLO⟧gnp.exe⟦LRI⟧ a⟦ZWSP⟧b⟦ZWJ⟧⟦RLM⟧c");
		expect(await unseenIn(own.page)).toEqual([]);
		await own.page.waitForSelector(".ask .yes:not(.arming)");
		await own.page.click(".ask .yes");
		await says(own, ".log", "done");
		await says(own, ".log", "prompt ⟦RLO⟧gnp.exe");
		expect(await unseenIn(own.page)).toEqual([]);
		// What was said is stored as it was.
		expect(JSON.stringify((await server.get(`/v1/sessions/${id}/entries`)).json.entries)).toContain(`prompt ${disguise}`);
	});

	test("ten thousand messages: drawn at once, smooth while a reply streams", { timeout: slow }, async () => {
		const server = await serve({
			replies: [
				{ when: { text: "hello" }, text: "Hello.", times: "always" },
				{ repeat: { text: "word ", count: 30_000 }, pieceDelayMs: 5 },
			],
		});
		const entries = Array.from({ length: 10_000 }, (_, index) => ({
			type: "message",
			id: `m${index}`,
			parentId: index ? `m${index - 1}` : null,
			timestamp: new Date(1_790_000_000_000 + index * 1000).toISOString(),
			message:
				index % 2
					? {
							role: "assistant",
							content: [{ type: "text", text: `Reply **${index}** with some words and \`code\`.` }],
							model: "m",
							provider: "p",
							timestamp: 1_790_000_000_000 + index * 1000,
						}
					: { role: "user", content: `Question ${index}`, timestamp: 1_790_000_000_000 + index * 1000 },
		}));
		const id = await stored(server, entries, "long.jsonl");
		const own = await tab(server);
		const { page } = own;
		const bare = await page.evaluate(frames, 40);
		const meter = await threadMeter(own);
		const beforeDraw = await meter();
		await openSession(own, id);
		await says(own, ".log", "Question 9998");
		const drawn = await meter();
		// All of them can be reached.
		await page.click(".panel.branches .more");
		await page.waitForFunction(() => !document.querySelector(".older .more"));
		await send(own, "Stream");
		await page.waitForFunction(() => (document.querySelector(".open-reply")?.textContent?.length ?? 0) > 100);
		const before = await meter();
		const { frame, changes } = await page.evaluate(streamed, 60);
		const after = await meter();
		const own60 = after.ownMs - before.ownMs;
		process.stderr.write(
			`10,000 messages: drawn with ${Math.round(drawn.taskMs - beforeDraw.taskMs)} ms of the main thread; while a reply streams ${(own60 / 60).toFixed(1)} ms of scripts, styles and layout per frame, frames of ${Math.round(frame)} ms (bare page ${Math.round(bare)} ms), ${after.nodes} nodes, heap ${Math.round(after.heapMb)} MB\n`,
		);
		// Time of the page's own thread, not of the clock: other programs on the machine do not count. A frame of 60 in a second has 16.7 ms.
		expect(drawn.taskMs - beforeDraw.taskMs).toBeLessThan(900);
		expect(own60 / 60).toBeLessThan(8);
		expect(after.heapMb).toBeLessThan(60);
		// What is far away is not in the document, and a delta touches the text that grows and little else.
		expect(await page.$$eval("article.item", (articles) => articles.length)).toBeLessThan(2000);
		expect(changes / 60).toBeLessThan(6);
		expect(await page.$$eval(".open-reply .tail", (tails) => tails.map((tail) => tail.childNodes.length))).toEqual([1]);
	});

	test("nothing serious for axe in both themes, everything by keyboard, 320 pixels wide", { timeout: slow }, async () => {
		const server = await serve({
			args: ["--approval-mode", "ask"],
			replies: [
				{ text: "# Title\n\n- item\n\n```js\nconst a = 1;\n```", blocks: [{ tool: "bash", arguments: { command: "echo keyboard" } }] },
				{ text: "Done by keys." },
			],
		});
		for (const colorScheme of ["light", "dark"] as const) {
			const login = await tabAt(server, server.url, { colorScheme });
			expect(await findings(login)).toEqual([]);
			await login.page.context().close();
			const own = await tab(server, { colorScheme });
			expect(await findings(own)).toEqual([]);
			await own.page.context().close();
		}
		const own = await tab(server, { viewport: { width: 320, height: 640 } });
		const { page } = own;
		expect(await sideways(own)).toBe(0);
		await pressUntil(own, ["n"], () => document.querySelector("dialog[open]") !== null);
		expect(await findings(own)).toEqual([]);
		await page.fill("#new-name", "By keyboard");
		await page.keyboard.press("Enter");
		await says(own, "h1", "By keyboard");
		await pressUntil(own, ["i"], () => document.activeElement?.matches(".write") === true);
		await page.keyboard.type("Work");
		await page.keyboard.press("Enter");
		await page.waitForSelector(".ask .yes:not(.arming)");
		expect(await sideways(own)).toBe(0);
		expect(await findings(own)).toEqual([]);
		await page.emulateMedia({ colorScheme: "dark" });
		expect(await findings(own)).toEqual([]);
		await leaveFields(own);
		await page.keyboard.press("a");
		await page.waitForFunction(() => document.activeElement?.closest(".ask") !== null);
		await page.keyboard.press("Shift+X");
		await says(own, ".log .slice", "Done by keys.");
		await isIdle(own);
		await leaveFields(own);
		await pressUntil(own, ["k"], () => document.activeElement?.matches("article.item") === true);
		// A drawer keeps the focus, and gives it back.
		await pressUntil(own, ["g", "s"], () => document.body.classList.contains("show-left"));
		expect(await page.evaluate(() => document.activeElement?.closest(".left") !== null)).toBe(true);
		expect(await page.evaluate(() => document.querySelector<HTMLElement>(".middle")?.inert)).toBe(true);
		await page.keyboard.press("Escape");
		await page.waitForFunction(() => !document.body.classList.contains("show-left"));
		await page.keyboard.press("?");
		await page.waitForSelector("dialog[open] kbd");
		expect(await sideways(own)).toBe(0);
		expect(own.trouble).toEqual([]);
	});

	test("without any key: the demo shows a repair, and a subagent whose work is checked", { timeout: slow }, async () => {
		const server = await serve();
		expect((await server.get("/v1/info")).json).toMatchObject({ hasModel: false, demo: true });
		const own = await tab(server);
		await says(own, ".welcome", "No key of a provider is configured");
		await own.page.waitForSelector(".choices :text('Watch the demo')");
		await own.page.click("text=Watch the demo");
		await says(own, ".log", "All tests pass.");
		await isIdle(own);
		await own.page.waitForFunction(() => (document.querySelector(".write") as HTMLTextAreaElement).value.includes("discount"));
		await own.page.press(".write", "Enter");
		await own.page.waitForSelector(".agent .agent-check");
		await says(own, ".agent .verdict", "passed");
		await isIdle(own);
		expect(await findings(own)).toEqual([]);
		await own.page.click(".agent-head");
		await says(own, "dialog", "discounted");
		expect(own.trouble).toEqual([]);
	});

	test("the demo is offered first only where no model can be used", { timeout: slow }, async () => {
		const server = await serve({ env: { ANTHROPIC_API_KEY: "sk-test" } });
		expect((await server.get("/v1/info")).json.hasModel).toBe(true);
		const own = await tab(server);
		await own.page.waitForSelector(".link-button:has-text('Watch the demo')");
		expect(await own.page.$(".choices :text('Watch the demo')")).toBeNull();
		expect(own.trouble).toEqual([]);
	});

	test("changes side by side where there is room, search, model and mode, a pasted picture, a draft", { timeout: slow }, async () => {
		const server = await serve({
			files: { "a.txt": "one\ntwo\nthree\n" },
			replies: [
				{ blocks: [{ tool: "edit", arguments: { path: "a.txt", edits: [{ oldText: "two", newText: "zwei" }] } }] },
				{ text: "The needle is in this reply." },
				{ text: "A picture.", times: "always" },
			],
		});
		const session = await server.create({ name: "Parts" });
		const own = await tab(server, { viewport: { width: 1600, height: 900 } });
		const { page } = own;
		await openSession(own, session.id);
		await send(own, "Translate");
		await says(own, ".log", "The needle is in this reply.");
		await isIdle(own);
		const tops = () =>
			page.$$eval(".diff .line.remove, .diff .line.add", (lines) => lines.map((line) => Math.round(line.getBoundingClientRect().top)));
		const [left, right] = await tops();
		expect(left).toBe(right);
		expect(await page.isVisible(".diff .line.before")).toBe(true);
		await page.setViewportSize({ width: 600, height: 900 });
		await page.waitForFunction(() => document.querySelector(".diff .line.before")?.getBoundingClientRect().height === 0);
		const [above, below] = await tops();
		expect(above).toBeLessThan(below as number);
		await page.setViewportSize({ width: 1600, height: 900 });

		await leaveFields(own);
		await page.keyboard.press("/");
		await page.keyboard.type("ZWEI");
		await says(own, ".find-count", "found");
		await page.click(".tool > summary");
		await page.focus(".find input");
		await page.keyboard.press("Enter");
		await says(own, ".find-count", " of ");
		await page.waitForSelector("details.tool[open] .line.add");
		await page.fill(".find input", "needle");
		await says(own, ".find-count", "1 found");
		await page.click(".find [title^='Previous match']");
		await says(own, ".find-count", "1 of 1");
		await page.fill(".find input", "not there at all");
		await says(own, ".find-count", "none");
		expect(await findings(own)).toEqual([]);
		await page.press(".find input", "Escape");
		await page.waitForSelector(".find", { state: "hidden" });

		await page.selectOption("select[aria-label='Permission mode']", "plan");
		await until("the mode is another", async () => {
			await page.waitForSelector("select[aria-label='Permission mode']");
			return (await page.textContent(".panels, .right"))?.includes("plan");
		});
		expect(await page.$$eval("select[aria-label='Model'] option", (options) => options.length)).toBeGreaterThan(0);

		const paste = (bytes: string, type: string) =>
			page.evaluate(
				([data, kind]) => {
					const transfer = new DataTransfer();
					transfer.items.add(new File([Uint8Array.from(atob(data as string), (letter) => letter.charCodeAt(0))], "pasted", { type: kind as string }));
					document.querySelector(".write")?.dispatchEvent(new ClipboardEvent("paste", { clipboardData: transfer, bubbles: true, cancelable: true }));
				},
				[bytes, type],
			);
		await paste(Buffer.from("<svg xmlns='http://www.w3.org/2000/svg'/>").toString("base64"), "image/png");
		await says(own, ".composer-note", "is not a PNG");
		await paste(picture, "image/png");
		await page.waitForSelector(".thumb img");
		await send(own, "Look");
		await page.waitForSelector(".prompt img.picture");
		await page.waitForFunction(() => document.querySelector<HTMLImageElement>(".prompt img.picture")?.naturalWidth === 240);
		await says(own, ".log", "A picture.");
		await page.fill(".write", "Not sent yet");
		await page.reload();
		await page.waitForFunction(() => (document.querySelector(".write") as HTMLTextAreaElement | null)?.value === "Not sent yet");
		expect(own.trouble).toEqual([]);
	});

	test("the fleet: runs in a table, one that is watched while it works, its patch, a cancelled one, workers", { timeout: slow }, async () => {
		const fixture = makeFixture({ waitAt: 2 });
		later(() => fixture.remove());
		const server = await serve({ args: ["--fleet"] });
		const submit = async (more: object) =>
			(await server.post("/v1/runs", { repo: { url: fixture.repository }, provider: "scripted", model: fixture.script, ...more })).json
				.runId as string;
		const own = await tab(server);
		const { page } = own;
		await page.click(".tabs a:has-text('Runs')");
		await says(own, ".fleet .nothing", "No runs yet");
		const waiting = await submit({ prompt: "<b>Wait</b> for \u202eever", batch: "day", needs: ["a-machine-that-is-not-there"] });
		const run = await submit({ prompt: "Take all steps.", batch: "night" });
		await page.waitForFunction(() => document.querySelectorAll("tr[data-run]").length === 2);
		await says(own, ".fleet-counts", "2 queued");
		await page.selectOption("select[aria-label='Batch']", "day");
		await page.waitForFunction(() => document.querySelectorAll("tr[data-run]").length === 1);
		expect(await page.textContent("tr[data-run]")).toContain("<b>Wait</b>");
		await page.selectOption("select[aria-label='Batch']", "");
		expect(await findings(own)).toEqual([]);

		// Cancelled from the page.
		await page.click(`tr[data-run='${waiting}'] a`);
		await says(own, ".run-dock", "waits for a worker");
		await page.click("button:has-text('Cancel the run')");
		await page.click("dialog .primary");
		await says(own, ".bar-state", "cancelled");

		// Watched while it works, without a reload.
		await page.click(".tabs a:has-text('Runs')");
		await page.click(`tr[data-run='${run}'] a`);
		await says(own, ".bar-state", "queued");
		const worker = startWorker(server.at.user, [], {});
		later(async () => {
			signalAll(familyOf(worker.child.pid as number), "SIGKILL");
			await worker.exited;
		});
		await says(own, ".log .slice", "step 1 is done");
		await says(own, ".bar-state", "running");
		expect(await page.$(".write")).toBeNull();
		fixture.go();
		await says(own, ".bar-state", "completed");
		await says(own, ".log .slice", "Done.");
		await says(own, ".right", "Patch");
		expect(await findings(own)).toEqual([]);
		await page.click("button:has-text('Show the patch')");
		await says(own, "dialog .diff", "line 4");
		await page.keyboard.press("Escape");
		await page.waitForSelector("dialog", { state: "detached" });

		await page.click(".tabs a:has-text('Workers')");
		await says(own, ".fleet table", "idle");
		expect(await findings(own)).toEqual([]);
		await page.setViewportSize({ width: 320, height: 640 });
		expect(await sideways(own)).toBe(0);
		await page.click(".tabs a:has-text('Runs')");
		await page.waitForSelector("tr[data-run]");
		expect(await sideways(own)).toBe(0);
		await page.click(`tr[data-run='${run}'] a`);
		await says(own, ".bar-state", "completed");
		expect(await sideways(own)).toBe(0);
		expect(own.trouble).toEqual([]);
	});

	test("a branch: fork here makes a session with the prompt to write again", { timeout: slow }, async () => {
		const server = await serve({ replies: [{ text: "One." }, { text: "Two." }, { text: "Another two.", times: "always" }] });
		const session = await server.create();
		const own = await tab(server);
		await openSession(own, session.id);
		await send(own, "first");
		await says(own, ".log", "One.");
		await isIdle(own);
		await send(own, "second");
		await says(own, ".log", "Two.");
		await isIdle(own);
		await own.page.waitForFunction(() => document.querySelectorAll(".branch-tree .fork-here").length === 2);
		// A prompt that is sent while the button is pressed draws the tree again, and the click still counts.
		const fork = own.page.locator(".branch-tree li:nth-child(2) .fork-here");
		// The panel above appears when the figures of the session have come, and moves the tree down.
		await says(own, ".panel.budget", "tokens");
		await fork.hover();
		await own.page.mouse.down();
		await send(own, "third");
		await says(own, ".log", "Another two.");
		await isIdle(own);
		await own.page.waitForFunction(() => document.querySelectorAll(".branch-tree .fork-here").length === 3);
		await fork.hover();
		await own.page.mouse.up();
		await own.page.waitForFunction((id) => location.hash.startsWith("#/s/") && !location.hash.includes(id), session.id);
		await own.page.waitForFunction(() => document.querySelector<HTMLTextAreaElement>(".write")?.value === "second");
		// The log of the session before has these words, too.
		await showsMessages(own, ["user: first", "assistant: One."]);
		expect(own.trouble).toEqual([]);
	});
});

/** The log has the words of a message before it has the message: the open reply comes first, and the log of another session goes last. */
const showsMessages = (own: Tab, messages: readonly string[]) =>
	expect.poll(async () => (await shownMessages(own)).map(plain), { timeout: 20_000 }).toEqual(messages.map(plain));

/** Markdown has no marks on the page, and paragraphs no line breaks. */
const plain = (text: string) => text.replace(/[*`#\s]/g, "");

function withScript(cwd: string, replies: unknown[]): { args: string[] } {
	writeFileSync(join(cwd, "script.json"), JSON.stringify({ replies }));
	return { args: [] };
}

/** What the main thread of the page has done so far, by its own clock: milliseconds of all tasks, and of scripts, styles and layout. */
async function threadMeter({ page }: Tab) {
	const session = await page.context().newCDPSession(page);
	await session.send("Performance.enable", { timeDomain: "threadTicks" });
	return async () => {
		const { metrics } = await session.send("Performance.getMetrics");
		const value = (name: string) => metrics.find((each) => each.name === name)?.value ?? 0;
		return {
			taskMs: 1000 * value("TaskDuration"),
			ownMs: 1000 * (value("ScriptDuration") + value("LayoutDuration") + value("RecalcStyleDuration")),
			nodes: value("Nodes"),
			heapMb: value("JSHeapUsedSize") / 1e6,
		};
	};
}

/** The mean time of a frame while a reply streams, and how often the document was changed. Runs in the page. */
function streamed(count: number): Promise<{ frame: number; changes: number }> {
	return new Promise((resolve) => {
		let changes = 0;
		const observer = new MutationObserver((records) => {
			changes += records.length;
		});
		observer.observe(document.querySelector(".chat") as Element, { subtree: true, childList: true, characterData: true, attributes: true });
		const start = performance.now();
		let left = count;
		const next = () => {
			if (left-- > 0) return requestAnimationFrame(next);
			observer.disconnect();
			resolve({ frame: (performance.now() - start) / count, changes });
		};
		requestAnimationFrame(next);
	});
}

/** The mean time of a frame, in milliseconds. Runs in the page. */
function frames(count: number): Promise<number> {
	return new Promise((resolve) => {
		const start = performance.now();
		let left = count;
		const next = () => (left-- > 0 ? requestAnimationFrame(next) : resolve((performance.now() - start) / count));
		requestAnimationFrame(next);
	});
}
