/** A real browser where the system has one. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";

export const browserPath = findBrowser();
if (!browserPath) {
	const remedy = "Install chromium, or name one with CHROMIUM=/path/to/it.";
	process.stderr.write(`\n!!! No chromium found: the tests of exported pages in a browser are LEFT OUT. ${remedy}\n\n`);
}

function findBrowser(): string | undefined {
	const { CHROMIUM } = process.env;
	if (CHROMIUM) return CHROMIUM === "none" ? undefined : CHROMIUM;
	for (const path of ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"]) if (existsSync(path)) return path;
	try {
		return execFileSync("which", ["chromium"], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim() || undefined;
	} catch {
		return undefined;
	}
}

const flags = [
	"--headless",
	"--no-sandbox",
	"--disable-gpu",
	"--disable-quic",
	"--no-first-run",
	"--disable-background-networking",
	"--disable-component-update",
	"--disable-sync",
];

export const launch = (): Promise<Browser> => chromium.launch({ executablePath: browserPath as string, args: flags });

/** A page that was opened, and everything it did that it should not. */
export interface Opened {
	page: Page;
	/** Errors, warnings about security, dialogs, requests to anywhere. */
	trouble: string[];
}

export async function openPage(browser: Browser, html: string, options: BrowserContextOptions = {}, hash = ""): Promise<Opened> {
	const file = join(mkdtempSync(join(tmpdir(), "bowline-page-")), "page.html");
	writeFileSync(file, html);
	const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, colorScheme: "light", ...options });
	const page = await context.newPage();
	const trouble: string[] = [];
	page.on("pageerror", (error) => trouble.push(`error: ${error.message}`));
	page.on("console", (message) => ["error", "warning"].includes(message.type()) && trouble.push(`${message.type()}: ${message.text()}`));
	page.on("dialog", (dialog) => {
		trouble.push(`dialog: ${dialog.message()}`);
		void dialog.dismiss();
	});
	page.on("request", (request) => /^(?:file|data):/.test(request.url()) || trouble.push(`request: ${request.url()}`));
	await page.goto(`${pathToFileURL(file).href}${hash}`);
	await page.waitForSelector("body.ready");
	return { page, trouble };
}
