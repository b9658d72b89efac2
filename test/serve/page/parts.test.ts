/** Parts of the page that a run alone does not show: a lost past, branches, large pictures, ceilings, menus on narrow screens. */
import { appendFileSync } from "node:fs";
import type { WebSocketRoute } from "playwright-core";
import { afterAll, expect, test } from "vitest";
import { picture } from "../../transcript/export/session.ts";
import { describeUnless } from "../../unless.ts";
import { serve } from "../support.ts";
import { browserPath, closeBrowser, findings, isIdle, openSession, says, send, sideways, stored, tab } from "./support.ts";

const slow = 120_000;
afterAll(closeBrowser);

const time = { timestamp: "2026-03-05T00:00:00.000Z" };
const user = (id: string, parentId: string | null, content: unknown) => ({
	type: "message",
	id,
	parentId,
	...time,
	message: { role: "user", content, timestamp: 1_790_000_000_000 + id.charCodeAt(0) },
});
const reply = (id: string, parentId: string, text: string) => ({
	type: "message",
	id,
	parentId,
	...time,
	message: { role: "assistant", content: [{ type: "text", text }], model: "m", provider: "p", timestamp: 1_790_000_000_000 + id.charCodeAt(0) },
});

describeUnless(!browserPath && "chromium is not installed")("parts of the page", () => {
	test("branches, a large picture, and a past that was lost", { timeout: slow }, async () => {
		const server = await serve();
		// A decoder stops at the end of the picture; what follows only makes it large.
		const large = Buffer.concat([Buffer.from(picture, "base64"), Buffer.alloc(2_200_000)]).toString("base64");
		const id = await stored(
			server,
			[
				user("a", null, "The first question"),
				reply("b", "a", "The first answer."),
				user("c", "b", "The road not taken"),
				reply("d", "c", "An answer over there."),
				user("e", "b", [
					{ type: "text", text: "The road taken" },
					{ type: "image", data: large, mimeType: "image/png" },
				]),
				reply("f", "e", "An answer over here."),
			],
			"parts.jsonl",
		);
		const own = await tab(server);
		const { page } = own;
		const sockets: WebSocketRoute[] = [];
		await page.routeWebSocket("**/v1/socket**", (route) => {
			const upstream = route.connectToServer();
			route.onMessage((message) => upstream.send(message));
			upstream.onMessage((message) => route.send(message));
			sockets.push(route);
		});
		await page.reload();
		await page.waitForSelector(".columns");
		await openSession(own, id);
		await says(own, ".log .slice", "An answer over here.");
		expect(await page.textContent(".log")).not.toContain("over there");

		// A picture of 2 MB and more is shown when it is asked for.
		expect(await page.$(".prompt img.picture")).toBeNull();
		await page.click(".picture-more:has-text('2.1 MB')");
		await page.waitForFunction(() => document.querySelector<HTMLImageElement>(".prompt img.picture")?.naturalWidth === 240);

		// A click shows another branch, and the way back.
		await page.click(".branch-tree .elsewhere");
		await says(own, ".log .slice", "An answer over there.");
		await says(own, ".banner", "a branch that was left");
		expect(await page.getAttribute(".branch-tree .row-button:has-text('The road not taken')", "aria-current")).toBe("true");
		expect(await findings(own)).toEqual([]);
		await page.click("button:has-text('Back to the current branch')");
		await says(own, ".log .slice", "An answer over here.");
		await page.waitForSelector(".banner", { state: "detached" });
		// The same at the fork in the conversation itself.
		await page.click("nav.fork [aria-label='Previous branch']");
		await says(own, ".log .slice", "An answer over there.");
		await page.click("button:has-text('Back to the current branch')");
		await says(own, ".log .slice", "An answer over here.");

		// Frames that should have been kept are lost: the entries are read again, and it is said.
		const { file } = await server.session(id);
		appendFileSync(file as string, `${JSON.stringify(user("g", "f", "Written while no one told the page"))}\n`);
		for (const socket of sockets)
			socket.send(JSON.stringify({ type: "gap", sessionId: id, from: 1, to: 9, reason: "log_trimmed", durableLost: true }));
		await says(own, ".log", "Written while no one told the page");
		await page.waitForFunction(() =>
			[...document.querySelectorAll("[aria-live]")].some(({ textContent }) => textContent?.includes("The conversation was read again")),
		);
		expect(own.trouble).toEqual([]);
	});

	test("another model, ceilings as bars, and the menus on a screen of 320 pixels", { timeout: slow }, async () => {
		const server = await serve({
			replies: [{ text: "Spent.", usage: { input: 900, output: 100 }, times: "always" }],
			args: ["--set", "task.budget.maxInputTokens=1000", "--set", "task.budget.maxToolCalls=5"],
			env: { ANTHROPIC_API_KEY: "sk-test" },
		});
		const session = await server.create({ name: "Ceilings" });
		const own = await tab(server);
		const { page } = own;
		await openSession(own, session.id);
		await send(own, "Spend");
		await says(own, ".log .slice", "Spent.");
		await isIdle(own);
		await page.waitForSelector(".panel.budget .meter.near:has-text('Input tokens')");
		await page.waitForSelector(".panel.budget .meter:not(.near):has-text('Tool calls')");
		expect(await page.textContent(".panel.budget .meter.near")).toContain("near the end");
		expect(await page.$eval(".panel.budget .meter.near .meter-fill", (fill) => (fill as HTMLElement).style.width)).toBe("90%");
		expect(await page.$$eval(".panel.budget .meter", (meters) => meters.length)).toBe(2);

		await page.setViewportSize({ width: 320, height: 640 });
		await page.click(".right-toggle");
		await page.waitForSelector(".show-right");
		expect(await sideways(own)).toBe(0);
		expect(await findings(own)).toEqual([]);
		await page.keyboard.press("Escape");
		await page.waitForFunction(() => !document.body.classList.contains("show-right"));
		await page.click(".more-actions");
		await page.waitForSelector("dialog select[aria-label='Model'] option[value*='claude']", { state: "attached" });
		expect(await sideways(own)).toBe(0);
		expect(await page.$eval("dialog", (dialog) => dialog.scrollWidth - dialog.clientWidth)).toBe(0);
		expect(await findings(own)).toEqual([]);
		const chosen = await page.$eval("dialog select[aria-label='Model'] option[value*='claude']", (option) => (option as HTMLOptionElement).value);
		await page.selectOption("dialog select[aria-label='Model']", chosen);
		const [provider, model] = JSON.parse(chosen) as [string, string];
		await expect
			.poll(async () => (await server.post(`/v1/sessions/${session.id}/commands`, { type: "get_state" })).json.data.model, { timeout: 30_000 })
			.toMatchObject({ provider, id: model });
		await page.keyboard.press("Escape");
		await page.waitForSelector("dialog", { state: "detached" });
		await page.click(".left-toggle");
		await page.waitForSelector(".show-left");
		expect(await sideways(own)).toBe(0);
		expect(own.trouble).toEqual([]);
	});

	test("the share that came from the provider's cache, and by keyboard what lost it, on a phone and in dark colours", { timeout: slow }, async () => {
		const server = await serve({ replies: [{ text: "Awake.", times: "always" }] });
		const counted = (id: string, parentId: string, counts: object) => {
			const usage = { input: 0, output: 10, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: { total: 0.01 }, ...counts };
			const entry = reply(id, parentId, "Counted.");
			return { ...entry, message: { ...entry.message, api: "anthropic-messages", usage } };
		};
		const data = { segment: "tools", cause: 'MCP server "<b>issues</b>" changed its tools', lostTokens: 10_000, costUsd: 0.0345 };
		const id = await stored(
			server,
			[
				user("a", null, "The first question"),
				counted("b", "a", { cacheWrite: 10_000 }),
				{ type: "custom", id: "c", parentId: "b", ...time, customType: "bowline.cache", data },
				counted("d", "c", { cacheWrite: 11_000 }),
				counted("e", "d", { cacheRead: 11_000, cacheWrite: 8000 }),
			],
			"cache.jsonl",
		);
		const own = await tab(server, { viewport: { width: 390, height: 800 }, colorScheme: "dark" });
		const { page } = own;
		await openSession(own, id);
		await send(own, "Wake up");
		await says(own, ".log .slice", "Awake.");
		await isIdle(own);
		await says(own, ".log .note", 'Cache lost: MCP server "<b>issues</b>" changed its tools');
		await page.click(".right-toggle");
		await page.waitForSelector(".show-right");
		await says(own, ".cache .meter", "From the cache");
		expect(await page.textContent(".cache .meter")).toMatch(/27 % of 4\d(\.\d)?k input/);
		expect(await page.textContent(".cache summary")).toBe("Lost once · $0.0345 more");
		expect(await page.isVisible(".cache li")).toBe(false);
		await page.focus(".cache summary");
		await page.keyboard.press("Enter");
		await page.waitForSelector(".cache li", { state: "visible" });
		const said = await page.textContent(".cache details");
		expect(said).toContain('MCP server "<b>issues</b>" changed its tools');
		expect(said).toContain("from the tools on · $0.0345");
		expect(said).toContain("11k tokens predicted, 11k found.");
		expect(await sideways(own)).toBe(0);
		expect(await findings(own)).toEqual([]);
		await page.emulateMedia({ colorScheme: "light" });
		expect(await findings(own)).toEqual([]);

		// New figures leave open what was unfolded.
		await page.keyboard.press("Escape");
		await page.waitForFunction(() => !document.body.classList.contains("show-right"));
		await send(own, "Go on");
		await page.waitForFunction(
			() => document.querySelector(".panel.budget .said")?.textContent !== "" && document.querySelectorAll(".item.prompt").length === 3,
		);
		await isIdle(own);
		expect(await page.$eval(".cache details", (details) => (details as HTMLDetailsElement).open)).toBe(true);
		expect(own.trouble).toEqual([]);

		// A session whose provider keeps nothing shows nothing of it.
		const other = await server.create();
		await openSession(own, other.id);
		await send(own, "Hello");
		await says(own, ".log .slice", "Awake.");
		await isIdle(own);
		await page.click(".right-toggle");
		await page.waitForSelector(".panel.budget .said:has-text('tokens')");
		expect(await page.isVisible(".cache")).toBe(false);
	});
});
