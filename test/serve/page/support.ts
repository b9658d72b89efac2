/** A browser in front of a real server. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import axe from "axe-core";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { later } from "../../later.ts";
import { launch } from "../../transcript/export/browser.ts";
import { type TestServer, until } from "../support.ts";

export { browserPath } from "../../transcript/export/browser.ts";

let browser: Browser | undefined;
export const theBrowser = async (): Promise<Browser> => (browser ??= await launch());
export async function closeBrowser(): Promise<void> {
	await browser?.close();
	browser = undefined;
}

/** A page that was opened, and everything it did that it should not. */
export interface Tab {
	page: Page;
	/** Errors, dialogs, requests to other origins. */
	trouble: string[];
}

const patience = 60_000;

/** Opens an address of the server. */
export async function tabAt(server: TestServer, address: string, options: BrowserContextOptions = {}, pageToken = ""): Promise<Tab> {
	const context = await (await theBrowser()).newContext({
		viewport: { width: 1280, height: 900 },
		colorScheme: "light",
		reducedMotion: "reduce",
		...options,
	});
	context.setDefaultTimeout(patience);
	if (pageToken) await context.addInitScript((own) => sessionStorage.setItem("bowline-token", own), pageToken);
	later(() => context.close());
	const page = await context.newPage();
	const trouble: string[] = [];
	page.on("pageerror", (error) => trouble.push(`error: ${error.message}`));
	page.on("console", (message) => isTrouble(message.type(), message.text()) && trouble.push(`${message.type()}: ${message.text()}`));
	page.on("dialog", (dialog) => {
		trouble.push(`dialog: ${dialog.message()}`);
		void dialog.dismiss();
	});
	page.on("request", (request) => {
		const url = request.url();
		if (!url.startsWith(server.url) && !/^(?:data|blob):/.test(url)) trouble.push(`request: ${url}`);
	});
	await page.goto(address);
	await page.waitForSelector("body.ready");
	return { page, trouble };
}

/** A lost connection and a refused sign-in are told by the browser itself, in its own words. */
const isTrouble = (type: string, text: string) =>
	type === "error"
		? !/ERR_CONNECTION_REFUSED|WebSocket connection|status of 401|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE/.test(text)
		: /Content Security|Trusted/i.test(text);

/** Signed in by a token of the server, without the login form: the page token is put where the page keeps it. */
export async function tab(server: TestServer, options: BrowserContextOptions = {}): Promise<Tab> {
	const { token } = (await server.post("/v1/login", { token: server.token })).json;
	const opened = await tabAt(server, `${server.url}/`, options, token as string);
	await opened.page.waitForSelector(".columns");
	return opened;
}

export async function openSession({ page }: Tab, id: string): Promise<void> {
	await page.evaluate((hash) => {
		location.hash = hash;
	}, `#/s/${id}`);
	await page.waitForSelector(".chat");
}

export async function send({ page }: Tab, text: string): Promise<void> {
	await page.fill(".write", text);
	await page.press(".write", "Enter");
}

/** Serious findings, in words. */
export async function findings({ page }: Tab): Promise<string[]> {
	// The policy of the page lets no script in; the debugger is no page.
	if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(axe.source);
	const { violations } = await page.evaluate(() => (globalThis as unknown as { axe: typeof axe }).axe.run({ resultTypes: ["violations"] }));
	const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
	return serious.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(" | ")}`);
}

/** A session file that another program might have written, where the server finds it. */
export async function stored(server: TestServer, entries: readonly object[], name: string): Promise<string> {
	const made = await server.create();
	await server.prompt(made.id, "hello");
	const file = await server.learnFile(made.id);
	await until("the file of the session", () => existsSync(file) && readFileSync(file, "utf8").includes("\n"));
	const id = "0195a1b2-7c3d-7000-8000-00000000beef";
	const header = { ...JSON.parse(readFileSync(file, "utf8").split("\n", 1)[0] as string), id };
	const lines = [header, ...entries].map((entry) => JSON.stringify(entry));
	writeFileSync(join(dirname(file), name), `${lines.join("\n")}\n`);
	await until("the server lists it", async () => (await server.get("/v1/sessions")).json.sessions.some((each: { id: string }) => each.id === id));
	return id;
}

/** The messages as the page shows them: who, and the text. */
export const shownMessages = ({ page }: Tab): Promise<string[]> =>
	page.$$eval(".slice > article.item.prompt, .slice > article.item.reply", (articles) =>
		articles.map((article) => {
			const kind = article.classList.contains("prompt") ? "user" : "assistant";
			return `${kind}: ${[...article.querySelectorAll(":scope > .text > .prose")].map((prose) => prose.textContent?.trim()).join(" ")}`;
		}),
	);

/** The messages of the session file, in the same form. */
export function storedMessages(file: string): string[] {
	const entries = readFileSync(file, "utf8")
		.trim()
		.split("\n")
		.map((line) => JSON.parse(line));
	return entries.flatMap(({ type, message }) => {
		if (type !== "message" || !["user", "assistant"].includes(message.role)) return [];
		const blocks = typeof message.content === "string" ? [{ type: "text", text: message.content }] : message.content;
		const text = blocks.filter((block: { type: string }) => block.type === "text").map((block: { text: string }) => block.text.trim());
		return text.length || message.errorMessage ? [`${message.role}: ${text.join(" ")}`] : [];
	});
}

export const says = ({ page }: Tab, selector: string, text: string): Promise<unknown> =>
	page.waitForFunction(([where, what]) => document.querySelector(where as string)?.textContent?.includes(what as string) === true, [selector, text]);

export const isIdle = (each: Tab): Promise<unknown> => says(each, ".bar-state", "idle");

/** Presses keys, again and again where the page was busy with something else, until the page has done what they mean. */
export async function pressUntil({ page }: Tab, keys: readonly string[], isDone: () => boolean): Promise<void> {
	await until(`${keys.join(" ")} does its work`, async () => {
		if (await page.evaluate(isDone)) return true;
		for (const key of keys) await page.keyboard.press(key);
		return page.waitForFunction(isDone, undefined, { timeout: 3000 }).then(
			() => true,
			() => false,
		);
	});
}

/** As a person who clicks beside all fields. */
export const leaveFields = ({ page }: Tab): Promise<void> => page.evaluate(() => (document.activeElement as HTMLElement).blur());

/** Whether something is wider than the window. */
export const sideways = ({ page }: Tab): Promise<number> =>
	page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

export { until };
