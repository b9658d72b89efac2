/** Pages in a real browser, opened as files: what a reader sees and does. */
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { Entry } from "../../../src/transcript/entries.ts";
import { exportPage } from "../../../src/transcript/export/index.ts";
import { describeUnless } from "../../unless.ts";
import { browserPath, launch, openPage } from "./browser.ts";
import { brokenEntries, hostilePage, unseenIn } from "./hostile.ts";
import { fullPage, header, longSession, SessionBuilder, subagentSession, taskSession } from "./session.ts";

/** A browser on a busy machine. */
const patienceMs = 60_000;

const article = (page: Page, said: string) => page.locator("article", { hasText: said }).first();
const search = async (page: Page, query: string) => {
	await page.fill(".search", query);
	await page.press(".search", "Enter");
};
const isInView = (page: Page, selector: string) =>
	page.waitForFunction((found) => {
		const box = document.querySelector(found)?.getBoundingClientRect();
		return box !== undefined && box.bottom > 0 && box.top < innerHeight;
	}, selector);
const widthsAreFine = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);

describeUnless(!browserPath && "chromium is not installed")("in a browser", { timeout: patienceMs }, () => {
	let browser: Browser;
	let full: string;

	beforeAll(async () => {
		browser = await launch();
		full = exportPage(fullPage());
	}, patienceMs);
	afterEach(() => Promise.all(browser.contexts().map((context) => context.close())));
	afterAll(() => browser?.close());

	test("shows the whole conversation", async () => {
		const { page, trouble } = await openPage(browser, full);
		expect(await page.title()).toBe("Tide table repair · Bowline");
		expect(await page.textContent("h1")).toBe("Tide table repair");
		expect(await page.locator(".figures").innerText()).toMatch(
			/Messages\s+11\s+4 prompts · 7 replies.*Tool calls\s+6\s+1 failed.*Tokens\s+63.8k.*Cost\s+\$0\.0770.*Duration\s+3 min.*Branches\s+2/s,
		);
		expect(await page.locator("strong", { hasText: "why" }).count()).toBe(1);
		expect(await page.locator("article table td").allTextContents()).toEqual(["before the first", "0", "crash", "after the last", "-1", "crash"]);
		expect(await page.locator(".prose pre .h-keyword").allTextContents()).toEqual(["if", "return", "if", "return"]);
		expect(await page.getAttribute("a >> text=the docs", "href")).toBe("https://example.com/tides?a=1&b=2");
		expect(await page.locator(".line.add").count()).toBe(4);
		expect(await page.locator(".line.remove").count()).toBe(2);
		expect(await page.locator(".tool .tool-name").allTextContents()).toEqual(["read", "bash", "edit", "write", "grep", "mystery", "$"]);
		expect(await page.evaluate(() => [...document.images].map((image) => image.naturalWidth))).toEqual([240]);
		expect(await page.locator(".note .value").allTextContents()).toEqual(["openai/gpt-5.2"]);
		await page.click("text=Begins with");
		expect(await page.locator(".note .value").allTextContents()).toEqual(["anthropic/claude-sonnet-4-5", "medium", "openai/gpt-5.2"]);
		expect(await article(page, "Context compacted").innerText()).toContain("91.2k tokens before");
		expect(await article(page, "529 overloaded").innerText()).toContain("Failed");
		expect(await article(page, "Half of the budget").innerText()).toContain("budget");
		expect(await page.locator("main").innerText()).not.toContain("road not taken");
		expect(await page.locator(".thinking[open]").count()).toBe(0);
		await page.click(".thinking summary");
		expect(await page.locator(".thinking[open]").innerText()).toContain("hidden here");
		await page.click("text=System prompt");
		expect(await page.locator(".told[open]").innerText()).toContain("Read a file before you change it.");
		expect(trouble).toEqual([]);
	});

	test("branches can be taken, in the conversation and in the tree, and one can go back", async () => {
		const { page, trouble } = await openPage(browser, full);
		expect(await page.innerText(".fork")).toContain("Branch 2 of 2");
		await page.click("[aria-label='Previous branch']");
		await article(page, "road not taken").waitFor();
		expect(await page.innerText(".fork")).toContain("Branch 1 of 2");
		expect(await page.locator("article", { hasText: "the chart loads its readings" }).count()).toBe(0);
		await page.goBack();
		await article(page, "the chart loads its readings").waitFor();
		await page.click(".entry-line >> text=No, guards are better");
		await article(page, "No, guards are better").waitFor();
		await isInView(page, ".target");
		expect(await page.locator(".entry-line[aria-current]").innerText()).toContain("No, guards");
		expect(trouble).toEqual([]);
	});

	test("the tree shows as much as is asked for", async () => {
		const { page } = await openPage(browser, full);
		const lines = async (chip: string) => {
			await page.click(`.chip >> text=${chip}`);
			return page.locator(".entry-line").count();
		};
		expect([await lines("Prompts"), await lines("Chat"), await lines("Tools"), await lines("All")]).toEqual([6, 15, 16, 28]);
		expect(await page.locator(".entry-line .tag.label").allTextContents()).toEqual(["the cause"]);
	});

	test("a search finds what is folded, cut, or on another branch", async () => {
		const { page, trouble } = await openPage(browser, full);
		await search(page, "moonstone");
		await page.waitForSelector(".thinking[open] .fold-body >> text=moonstone");
		expect(await page.innerText(".count")).toBe("1 / 1");
		await search(page, "needle-in-the-hay");
		await page.locator(".tool[open] pre", { hasText: "needle-in-the-hay" }).waitFor();
		await search(page, "road not TAKEN");
		await article(page, "road not taken").waitFor();
		await isInView(page, ".target");
		expect(await page.evaluate(() => [...(CSS.highlights.get("found-now") ?? [])].map(String))).toEqual(["road not taken"]);
		await search(page, "no such words");
		expect(await page.innerText(".count")).toBe("none");
		await page.press(".search", "Escape");
		expect(await page.innerText(".caption")).toBe("15 of 28 entries");
		await page.keyboard.press("/");
		expect(await page.evaluate(() => document.activeElement?.className)).toBe("search");
		expect(trouble).toEqual([]);
	});

	test("steps through finds and around", async () => {
		const { page } = await openPage(browser, full);
		await page.fill(".search", "readings");
		await page.waitForFunction(() => /^\d+$/.test(document.querySelector(".count")?.textContent ?? ""));
		const count = Number(await page.innerText(".count"));
		await page.click("[aria-label='Previous find']");
		expect(await page.innerText(".count")).toBe(`${count} / ${count}`);
		await page.click("[aria-label='Next find']");
		expect(await page.innerText(".count")).toBe(`1 / ${count}`);
	});

	test("an address leads to its entry, on any branch", async () => {
		const { page } = await openPage(browser, full, {}, "#e-e10");
		await page.locator("article.target", { hasText: "No, guards are better" }).waitFor();
		const { page: other } = await openPage(browser, full, {}, "#e-e6");
		await other.locator(".tool.target", { hasText: "npm test" }).waitFor();
		await isInView(other, ".target");
	});

	test("everything can be unfolded and folded", async () => {
		const { page } = await openPage(browser, full);
		await page.click("[aria-label='Unfold everything']");
		expect(await page.locator("details:not([open])").count()).toBe(0);
		await page.click("[aria-label='Unfold everything']");
		expect(await page.locator("details[open]").count()).toBe(0);
	});

	test("colours follow the system until they are chosen", async () => {
		const paper = (page: Page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
		const { page: dark } = await openPage(browser, full, { colorScheme: "dark" });
		const { page: light } = await openPage(browser, full);
		expect([await paper(dark), await paper(light)]).toEqual(["rgb(20, 23, 26)", "rgb(252, 251, 249)"]);
		await light.click(".theme");
		expect(await paper(light)).toBe("rgb(252, 251, 249)");
		await light.click(".theme");
		expect(await paper(light)).toBe("rgb(20, 23, 26)");
		await light.reload();
		await light.waitForSelector("body.ready");
		expect(await paper(light)).toBe("rgb(20, 23, 26)");
	});

	test.each([320, 390, 768])("fits a screen of %i pixels", async (width) => {
		const { page, trouble } = await openPage(browser, full, { viewport: { width, height: 800 }, hasTouch: true });
		expect(await widthsAreFine(page)).toBe(true);
		await page.click("[aria-label='Unfold everything']");
		expect(await widthsAreFine(page)).toBe(true);
		await page.click(".menu");
		await page.click(".entry-line >> text=No, guards are better");
		await article(page, "No, guards are better").waitFor();
		await page.waitForSelector(".sidebar", { state: "hidden" });
		expect(trouble).toEqual([]);
	});

	test("on paper everything is there, and nothing that one could press", async () => {
		const { page } = await openPage(browser, exportPage(longSession(400).page()));
		const before = await page.locator("article").count();
		const paper = await page.pdf();
		expect(before).toBeLessThan(300);
		expect(await page.locator("article").count()).toBe(300);
		expect(paper.length).toBeGreaterThan(50_000);
		await page.emulateMedia({ media: "print" });
		expect(await page.locator(".bar, .sidebar, .here").locator("visible=true").count()).toBe(0);
	});

	test("hostile content stays text", async () => {
		const { page, trouble } = await openPage(browser, exportPage(hostilePage()));
		await page.click("[aria-label='Unfold everything']");
		await page.click(".chip >> text=All");
		await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
		await page.click("[aria-label='Unfold everything']");
		await page.click("[aria-label='Unfold everything']");
		for (const link of await page.locator(".no-link").all()) await link.click({ force: true });
		await page.waitForTimeout(200);
		const found = await page.evaluate(() => {
			const all = [...document.querySelectorAll("*")];
			return {
				pwned: (window as unknown as { pwned?: number }).pwned,
				tags: [...new Set(all.map((element) => element.localName))]
					.filter((name) => /^(?:iframe|object|embed|form|base|style|script|input)$/.test(name))
					.sort(),
				handlers: all.flatMap((element) => element.getAttributeNames()).filter((name) => name.startsWith("on")),
				links: [...document.links].map(({ protocol }) => protocol).filter((protocol) => !/^(?:https?|file):$/.test(protocol)),
				images: [...document.images].map((image) => image.src.slice(0, 15)).filter((source) => source !== "data:image/png;"),
			};
		});
		expect(await unseenIn(page)).toEqual([]);
		expect(found).toEqual({ pwned: undefined, tags: ["input", "script", "style"], handlers: [], links: [], images: [] });
		expect(await page.locator("script, input, style").count()).toBe(3);
		expect(await page.locator("main").innerText()).toContain("<script>window.pwned=1</script>");
		await search(page, "<script>window.pwned");
		await isInView(page, ".target");
		expect(trouble).toEqual([]);
	});

	test("the policy stops what would get through", async () => {
		const { page } = await openPage(browser, full);
		const outcome = await page.evaluate(async () => {
			const tries: Record<string, () => unknown> = {
				markup: () => {
					document.body.innerHTML = "<b>x</b>";
				},
				// Later, because what the test itself evaluates is exempt.
				code: () =>
					new Promise((resolve, reject) =>
						setTimeout(() => {
							try {
								resolve(new Function("return 1")());
							} catch (error) {
								reject(error);
							}
						}),
					),
				network: () => fetch("https://evil.example/"),
			};
			const results: Record<string, string> = {};
			for (const [name, attempt] of Object.entries(tries)) {
				try {
					await attempt();
					results[name] = "allowed";
				} catch {
					results[name] = "refused";
				}
			}
			return results;
		});
		expect(outcome).toEqual({ markup: "refused", code: "refused", network: "refused" });
	});

	test("broken files are shown as far as they go", async () => {
		const { page, trouble } = await openPage(browser, exportPage({ header, entries: brokenEntries() as Entry[], leafId: null }));
		await article(page, "the end of the broken ones").waitFor();
		await page.click(".chip >> text=All");
		await page.click("[aria-label='Unfold everything']");
		expect(await page.locator("article").count()).toBeGreaterThan(12);
		await search(page, "and round");
		await article(page, "and round").waitFor();
		expect(trouble.filter((line) => !line.startsWith("warning: Shown"))).toEqual([]);
		const { page: empty, trouble: none } = await openPage(browser, exportPage({ header, entries: [], leafId: null }));
		expect(await empty.textContent("h1")).toBe("Session");
		expect(none).toEqual([]);
	});

	test("a huge output is cut, can be seen whole, and is searched to its end", async () => {
		const session = new SessionBuilder();
		session.user("go");
		session.reply({ type: "toolCall", id: "c1", name: "bash", arguments: { command: "yes" } });
		session.result("c1", "bash", `${"an endless line of output\n".repeat(200_000)}the very end`);
		const { page, trouble } = await openPage(browser, exportPage(session.page()));
		expect((await page.innerText(".tool .result")).length).toBeLessThan(1000);
		await page.click("text=Show all · 200,001 lines");
		await page.locator(".piece", { hasText: "the very end" }).waitFor({ state: "attached" });
		expect((await page.locator(".pieces").textContent())?.length).toBe(5_200_012);
		await page.reload();
		await page.waitForSelector("body.ready");
		await search(page, "the very end");
		await page.locator(".piece", { hasText: "the very end" }).waitFor({ state: "attached" });
		expect(trouble).toEqual([]);
	});

	test("a task shows its subagents: steps, checks, repair, and their conversations where they are there", async () => {
		const subagents = new Map([
			["0-Mend", subagentSession("Mend it", ["read", { path: "a.txt" }, "the hidden lantern"], ["write", { path: "a.txt" }, "Wrote"])],
			["0-Mend-repair", subagentSession("Repair it", ["write", { path: "a.txt", content: "right" }, "Wrote"])],
		]);
		const conversations = new Map([...subagents].map(([id, { entries }]) => [id, { header, entries }]));
		const html = exportPage(taskSession().page({ subagents: conversations }));
		for (const width of [1280, 360]) {
			const { page, trouble } = await openPage(browser, html, { viewport: { width, height: 900 } });
			expect(await page.locator(".subagent").first().innerText()).toMatch(
				/0-Mend\s+Mend the word\s+checks passed\s+repaired\s+task · 3 calls · 2.3 s · 10.3k tokens\s+Steps\s+read\s+a.txt\s+write\s+a.txt\s+Checks, attempt 1: failed\s+test\s+grep right a.txt\s+exit 1 · 0.1 s\s+the word was worse\s+Repair\s+write\s+a.txt\s+Checks, attempt 2: passed/,
			);
			expect(await page.locator(".subagent").nth(1).innerText()).toMatch(/1-Look.*failed.*Out of time\..*Its conversation is not in this file\./s);
			await page.click("text=Conversation of the repair");
			expect(await page.locator(".inner").innerText()).toContain("Repair it");
			expect(await widthsAreFine(page)).toBe(true);
			await search(page, "hidden lantern");
			await page.locator(".inner pre", { hasText: "the hidden lantern" }).waitFor();
			expect(trouble).toEqual([]);
			await page.context().close();
		}
	});

	test("of ten thousand messages each is found, and only those in view are drawn", async () => {
		const html = exportPage(longSession(10_000).page());
		const { page, trouble } = await openPage(browser, html);
		await article(page, "Prompt number 0.").waitFor();
		await search(page, "number 7776");
		await article(page, "Prompt number 7776").waitFor();
		await isInView(page, ".target");
		await page.fill(".search", "");
		await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
		await article(page, "That was number 9996").waitFor();
		expect(await page.locator("*").count()).toBeLessThan(20_000);
		expect(trouble).toEqual([]);
	});
});
