/**
 * Takes the pictures of the page in docs/: a real server, a scripted model, a browser. Run it by hand when the page has changed, and look at
 * every picture: node scripts/run.mjs page-pictures [directory [fleet]].
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { chromium, type Page } from "playwright-core";
import { palettePng } from "./palette-png.ts";

const root = join(import.meta.dirname, "..");
const target = resolve(process.argv[2] ?? join(root, "docs"));
const program = join(root, "dist/bowline.js");
const folder = mkdtempSync(join(tmpdir(), "bowline-"));
const wide = { width: 1180, height: 720 };
/** The file that plays the model; its name is what the page shows. */
const script = "claude-sonnet";
const processes: ChildProcess[] = [];

const serverText = `import { createServer } from "node:http";

const port = 3000;
createServer((request, response) => {
	response.end(request.url === "/healthz" ? "ok" : "shop");
}).listen(port);
`;

interface Served {
	url: string;
	token: string;
	ask(path: string, body?: object): Promise<Record<string, unknown>>;
	pidOf(id: string): Promise<number>;
}

async function serve(name: string, replies: unknown[] | undefined, args: readonly string[] = []): Promise<Served> {
	const cwd = join(folder, name, "shop");
	const user = join(folder, name, "user");
	mkdirSync(cwd, { recursive: true });
	writeFileSync(join(cwd, "server.js"), serverText);
	if (replies) writeFileSync(join(cwd, script), JSON.stringify({ model: { contextWindow: 200_000 }, replies }));
	const child = spawn(process.execPath, [program, "serve", "--port", "0", ...args], {
		cwd,
		env: { PATH: process.env.PATH, HOME: user, BOWLINE_DIR: user },
		stdio: ["ignore", "pipe", "ignore"],
	});
	processes.push(child);
	const line = await new Promise<string>((done) => child.stdout?.once("data", (chunk) => done(String(chunk))));
	const { url, tokenFile } = JSON.parse(line.split("\n")[0] as string) as { url: string; tokenFile: string };
	const token = readFileSync(tokenFile, "utf8").trim();
	const ask = async (path: string, body?: object) => {
		const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
		const response = await fetch(`${url}${path}`, { headers, ...(body && { method: "POST", body: JSON.stringify(body) }) });
		return (await response.json()) as Record<string, unknown>;
	};
	return {
		url,
		token,
		ask,
		pidOf: async (id) => (JSON.parse(readFileSync(`${(await ask(`/v1/sessions/${id}`)).file}.lock`, "utf8")) as { pid: number }).pid,
	};
}

const browser = await chromium.launch({
	executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
	args: ["--headless", "--no-sandbox", "--disable-gpu"],
});

async function open({ url, token }: Served, hash = "", options: object = {}): Promise<Page> {
	const context = await browser.newContext({ viewport: wide, colorScheme: "light", reducedMotion: "reduce", ...options });
	const page = await context.newPage();
	await page.goto(url);
	await page.fill("#token", token);
	await page.press("#token", "Enter");
	await page.waitForSelector(".columns");
	if (hash) {
		await page.evaluate((to) => {
			location.hash = to;
		}, hash);
		await page.waitForSelector(".chat, .fleet");
	}
	return page;
}

async function send(page: Page, text: string): Promise<void> {
	await page.fill(".write", text);
	await page.press(".write", "Enter");
}

const idle = (page: Page) =>
	page.waitForFunction(() => document.querySelector(".bar-state")?.textContent?.includes("idle"), undefined, { timeout: 120_000 });
const says = (page: Page, where: string, text: string) =>
	page.waitForFunction(([place, words]) => document.querySelector(place as string)?.textContent?.includes(words as string), [where, text], {
		timeout: 120_000,
	});

async function take(page: Page, name: string): Promise<void> {
	await page.waitForTimeout(700);
	writeFileSync(join(target, `page-${name}.png`), palettePng(await page.screenshot()));
	console.log(`page-${name}.png`);
	await page.context().close();
}

const usage = { input: 2730, output: 160 };
const repair = {
	blocks: [
		{ text: "The port is fixed, and staging sets another one. I read it from the environment and keep 3000 for everyone else." },
		{
			tool: "edit",
			arguments: { path: "server.js", edits: [{ oldText: "const port = 3000;", newText: "const port = Number(process.env.PORT ?? 3000);" }] },
		},
	],
	usage,
};
const answer = `The health check failed because the port was **fixed**: staging sets \`PORT\`, and the server did not read it.

1. \`server.js\` reads \`PORT\` from the environment, and falls back to 3000.
2. The check of \`/healthz\` answers before the first request to the shop.

To try it:

\`\`\`sh
PORT=8080 node server.js & curl localhost:8080/healthz
\`\`\`

`;

const story = Array.from(
	{ length: 60 },
	(_, index) =>
		`Why did no test find it? Check ${index + 1} starts the server without PORT, so that it always got 3000, and the check of staging was the first one with another port. A test that starts the server with PORT=0 and asks the port that it was given would have found it. `,
).join("");

async function main(): Promise<void> {
	mkdirSync(target, { recursive: true });
	const empty = await serve("empty", undefined);
	await take(await open(empty), "empty");

	const shop = await serve(
		"work",
		[
			{ when: { text: "health check" }, ...repair },
			{ when: { text: "Tell me" }, text: answer + story, pieceDelayMs: 6, usage },
			{
				when: { text: "publish" },
				blocks: [
					{ text: "The change is done. I publish the package." },
					{ tool: "bash", arguments: { command: "npm publish --access public --tag next" } },
				],
				usage,
			},
			{
				when: { text: "wait" },
				blocks: [{ text: "I run the tests of the whole shop." }, { tool: "bash", arguments: { command: "sleep 30" } }],
				usage,
			},
			{ text: "The health check answers now. The change is in `server.js`.", times: "always", usage },
		],
		["--approval-mode", "edit"],
	);
	const cwd = join(folder, "work", "shop");
	const hashOf = async (name: string) => `#/s/${(await shop.ask("/v1/sessions", { name, cwd, provider: "scripted", model: script })).id}`;
	const diff = await open(shop, await hashOf("Repair the health check"), { viewport: { width: 1440, height: 760 } });
	await send(diff, "The health check fails on staging. Repair it.");
	await says(diff, ".log .slice", "The change is in");
	await idle(diff);
	await take(diff, "diff");

	const streaming = await open(shop, await hashOf("Explain the repair"));
	await send(streaming, "Tell me what was wrong, and how I try the repair.");
	await says(streaming, ".open-reply", "would have found it");
	await take(streaming, "streaming");

	const approval = await open(shop, await hashOf("Publish the fix"));
	await send(approval, "The repair is reviewed: publish the package.");
	await approval.waitForSelector(".ask .yes:not(.arming)");
	await take(approval, "approval");

	const phoneHash = await hashOf("Publish from the train");
	const phone = await open(shop, phoneHash, { viewport: { width: 390, height: 780 }, deviceScaleFactor: 1, isMobile: true, hasTouch: true });
	await send(phone, "The repair is reviewed: publish the package.");
	await phone.waitForSelector(".ask .yes:not(.arming)");
	await take(phone, "phone");

	const demo = await serve("demo", undefined);
	const agents = await open(demo);
	await agents.click("text=Watch the demo");
	await says(agents, ".log", "All tests pass.");
	await idle(agents);
	await agents.waitForFunction(() => (document.querySelector(".write") as HTMLTextAreaElement).value.includes("discount"));
	await agents.press(".write", "Enter");
	await agents.waitForSelector(".agent .agent-check", { timeout: 120_000 });
	const session = new URL(agents.url()).hash;
	await take(agents, "agents");
	const dark = await open(demo, session, { colorScheme: "dark" });
	await says(dark, ".agent .verdict", "passed");
	await idle(dark);
	await dark.waitForSelector(".tool > summary:has-text('task')");
	await take(dark, "dark");

	const crashedHash = await hashOf("Test the whole shop");
	const crashed = await open(shop, crashedHash);
	await send(crashed, "Run all tests, and wait for them.");
	await crashed.waitForSelector(".ask .yes:not(.arming)");
	await crashed.click(".ask .yes");
	await crashed.waitForSelector(".tag.live");
	process.kill(await shop.pidOf(crashedHash.slice(4)), "SIGKILL");
	await crashed.waitForSelector(".banner.bad");
	await take(crashed, "crashed");

	await fleet();
}

async function fleet(): Promise<void> {
	const fleetServer = await serve("fleet", undefined, ["--fleet"]);
	const repository = join(folder, "fleet", "shop");
	const git = (...args: string[]) => execFileSync("git", ["-c", "user.name=ada", "-c", "user.email=ada@example.com", ...args], { cwd: repository });
	git("init", "-q", "-b", "main");
	git("add", "-A");
	git("commit", "-qm", "First");
	const model = join(folder, "fleet", "model.json");
	const replies = [
		{ when: { text: "slowly" }, blocks: [{ text: "I go on." }, { tool: "bash", arguments: { command: "sleep 30" } }], times: "always", usage },
		{ when: { tool: "bash" }, text: "Done: the note is written.", times: "always", usage },
		{ blocks: [{ text: "I write the note." }, { tool: "bash", arguments: { command: "echo checked >> NOTES.md" } }], times: "always", usage },
	];
	writeFileSync(model, JSON.stringify({ model: { cost: { input: 3, output: 15, cacheRead: 0, cacheWrite: 0 } }, replies }));
	const submit = (prompt: string, batch: string, more: object = {}) =>
		fleetServer.ask("/v1/runs", { repo: { url: repository }, prompt, batch, provider: "scripted", model, ...more });
	for (const what of ["the cart", "the search", "the checkout"]) await submit(`Check ${what} for prices without a currency`, "currency");
	await submit("Update the dependencies slowly", "dependencies");
	await submit("Build the shop for macOS", "release", { needs: ["macos"] });
	const user = join(folder, "fleet", "user");
	const worker = spawn(process.execPath, [program, "fleet", "work", "--slots", "2", "--label", "linux", "--set", "sandbox.mode=off"], {
		cwd: user,
		env: { PATH: process.env.PATH, HOME: user, BOWLINE_DIR: user },
		stdio: "ignore",
	});
	processes.push(worker);
	const runs = await open(fleetServer, "#/runs");
	await says(runs, ".fleet-counts", "3 completed");
	await says(runs, ".fleet-counts", "1 running");
	await take(runs, "runs");
	const workers = await open(fleetServer, "#/workers");
	await workers.waitForSelector("tbody tr");
	await take(workers, "workers");
	const run = await open(fleetServer, "#/runs");
	await run.click("tr:has-text('completed') a");
	await says(run, ".right", "Patch");
	await says(run, ".log .slice", "the note is written");
	await take(run, "run");
}

const only = process.argv[3];
try {
	await (only === "fleet" ? fleet() : main());
} finally {
	await browser.close();
	for (const child of processes) child.kill("SIGTERM");
	await Promise.all(processes.map((child) => (child.exitCode === null ? new Promise((done) => child.once("exit", done)) : undefined)));
	rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
