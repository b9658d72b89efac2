/** The parts of the fleet that need no process: what may be submitted, the lease, rates, money, receipts, files. */
import {
	appendFileSync,
	chmodSync,
	existsSync,
	mkdirSync,
	mkdtempSync,
	readFileSync,
	realpathSync,
	rmSync,
	symlinkSync,
	utimesSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { load, loadAll } from "js-yaml";
import { afterEach, describe, expect, test, vi } from "vitest";
import { screenOf } from "../../src/app/commands/fleet-view.ts";
import { fleetFlags } from "../../src/app/fleet-flags.ts";
import { Wallet } from "../../src/fleet/budget.ts";
import { checkOut, Mirrors } from "../../src/fleet/checkout.ts";
import { FileStates, PatchTooLarge } from "../../src/fleet/checkpoint.ts";
import { sharedFileQueue } from "../../src/fleet/file/control.ts";
import { ownFileQueue } from "../../src/fleet/file/queue.ts";
import { InFlight } from "../../src/fleet/in-flight.ts";
import { checkLease, Lease } from "../../src/fleet/lease.ts";
import { connectionConfig, holdsPassword, shownUrl } from "../../src/fleet/postgres/connect.ts";
import { backOffMs, type Claim, type Requeue, type RunQueue } from "../../src/fleet/queue.ts";
import { Rates } from "../../src/fleet/rates.ts";
import { chain, RunAccount } from "../../src/fleet/receipt.ts";
import { RunAtWork, type RunParts } from "../../src/fleet/run.ts";
import { readSubmission, submissionDigest, toSubmission } from "../../src/fleet/spec.ts";
import { Tail } from "../../src/fleet/tail.ts";
import { workplaceIn } from "../../src/fleet/workplace.ts";
import { redactor } from "../../src/lib/redact.ts";
import { Shell } from "../../src/lib/shell/index.ts";
import { parseArguments, subcommandShorts } from "../../src/live/arguments.ts";
import { Git } from "../../src/snapshots/git.ts";
import { git as runGit } from "./fixture.ts";

const folders: string[] = [];
const newFolder = () => {
	const folder = mkdtempSync(join(tmpdir(), "bl-parts-"));
	folders.push(folder);
	return folder;
};
afterEach(() => {
	for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
	vi.useRealTimers();
});

test("the directory of a run's agent is inside its checkout, wherever links lead", () => {
	const folder = newFolder();
	const top = join(folder, "tree");
	for (const name of ["tree/app", "tree/.git/hooks", "other"]) mkdirSync(join(folder, name), { recursive: true });
	for (const [name, target] of Object.entries({ current: "app", out: "../other", git: ".git", broken: "nowhere" }))
		symlinkSync(target, join(top, name));
	symlinkSync("tree", join(folder, "link"));
	writeFileSync(join(top, "file"), "");
	const real = realpathSync(top);
	expect(workplaceIn(top, undefined)).toBe(top);
	expect(["app", "current", "./app/"].map((name) => workplaceIn(join(folder, "link"), name))).toEqual(Array(3).fill(join(real, "app")));
	for (const name of ["out", "git/hooks", "app/../out", ".git"])
		expect(() => workplaceIn(top, name)).toThrow("leads out of the files of the checkout");
	for (const name of ["broken", "missing", "file"]) expect(() => workplaceIn(top, name)).toThrow(`There is no directory ${name}`);
});

describe("submissions", () => {
	const good = { repo: { url: "https://git.example.com/shop.git", ref: "main" }, prompt: "Fix it" };

	test("a good one passes, and its digest does not depend on the order of members", () => {
		const options = { maxAttempts: 5, random: () => "x" };
		const one = toSubmission(readSubmission({ ...good, limits: { usd: 2 }, needs: ["gpu"], priority: 5, key: "k" }), options);
		const other = toSubmission(
			readSubmission({ key: "k", priority: 5, needs: ["gpu"], limits: { usd: 2 }, prompt: "Fix it", repo: { ref: "main", url: good.repo.url } }),
			options,
		);
		expect(one).toMatchObject({ key: "k", lane: "default", priority: 5, needs: ["gpu"], spec: good });
		expect(submissionDigest(one).equals(submissionDigest(other))).toBe(true);
		expect(submissionDigest({ ...one, lane: "night" }).equals(submissionDigest(one))).toBe(false);
	});

	test.each([
		[{ prompt: "x" }, "run.repo is missing."],
		[{ repo: { url: "/r" } }, "run.prompt is missing."],
		[{ ...good, repo: { url: "https://ada:secret@git.example.com/shop.git" } }, "holds a name or a password"],
		[{ ...good, repo: { url: "https://token@git.example.com/shop.git" } }, "holds a name or a password"],
		[{ ...good, repo: { url: "ext::sh -c id" } }, "remote helpers"],
		[{ ...good, repo: { url: "--upload-pack=id" } }, "must be the url or the path"],
		[{ ...good, repo: { url: "/r", ref: "--force" } }, "must be a branch"],
		[{ ...good, repo: { url: "/r", subdir: "../.." } }, "inside the repository"],
		[{ ...good, repo: { url: "/r", lfs: true } }, "files of Git LFS are not fetched"],
		[{ ...good, env: ["TOKEN=secret"] }, 'names of variables, without values: "TOKEN" is none'],
		[{ ...good, settings: { "sandbox.mode": "off" } }, "sandbox.mode is the worker's own setting"],
		[{ ...good, settings: { "permissions.mode": "full" } }, "permissions.mode is the worker's own setting"],
		[{ ...good, priority: 101 }, "from -100 to 100"],
		[{ ...good, limits: { usd: -1 } }, "run.limits.usd must be a number greater than 0"],
		[{ ...good, promt: "x" }, "run.promt is unknown"],
		["text", "must be an object"],
	])("%j is refused: %s", (value, text) => {
		expect(() => readSubmission(value)).toThrow(text);
	});

	test("a name in an ssh url is how ssh works", () => {
		expect(readSubmission({ ...good, repo: { url: "ssh://git@git.example.com/shop.git" } }).repo.url).toContain("git@");
		expect(readSubmission({ ...good, repo: { url: "git@git.example.com:shop.git" } }).repo.url).toContain("git@");
	});
});

describe("the url of Postgres", () => {
	test("passwords are not shown", () => {
		expect(shownUrl("postgres://ada:secret@db/fleet?password=other")).not.toMatch(/secret|other/);
		expect(holdsPassword("postgres://ada:secret@db/fleet")).toBe(true);
		expect(holdsPassword("postgres://ada@db/fleet")).toBe(false);
		expect(() => shownUrl("mysql://db")).toThrow("must be a url of PostgreSQL");
	});

	test("certificates are checked, except on this machine", () => {
		expect(connectionConfig("postgres://ada@db.example.com/fleet").ssl).toEqual({ rejectUnauthorized: true });
		expect(connectionConfig("postgres://ada@127.0.0.1/fleet").ssl).toBe(false);
		expect(connectionConfig("postgres://ada@localhost/fleet").ssl).toBe(false);
		expect(connectionConfig("postgres:///fleet?host=/run/postgresql").ssl).toBe(false);
		expect(connectionConfig("postgres:///fleet?host=db.example.com").ssl).toEqual({ rejectUnauthorized: true });
		expect(connectionConfig("postgres://ada@db/fleet?sslmode=disable").ssl).toBe(false);
		expect(() => connectionConfig("postgres://ada@db/fleet?sslmode=require")).toThrow("sslmode=require is not supported");
	});
});

describe("the lease", () => {
	test("it must be longer than three renewals and a margin", () => {
		expect(checkLease({ leaseMs: 20_000, renewMs: 5000 })).toBeUndefined();
		expect(checkLease({ leaseMs: 10_000, renewMs: 5000 })).toContain("17000");
	});

	test("the worker lets go before others may take its runs, counted from when a renewal was sent", async () => {
		vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
		let now = 0;
		let answer: (value: never) => void = () => undefined;
		const lost: string[] = [];
		const queue = { renew: () => new Promise<never>((resolve) => (answer = resolve)) };
		const lease = new Lease(
			{ queue, worker: "w", leaseMs: 20_000, renewMs: 5000, onRenewal: () => undefined, onLost: (why) => lost.push(why), now: () => now },
			0,
		);
		now = 10_000;
		const renewing = lease.renew();
		// The answer comes late; it counts from 10000.
		now = 17_000;
		answer({ draining: false, cancel: [], held: [], running: 0, rates: [] } as never);
		await renewing;
		now = 28_000;
		expect(lease.isHeld).toBe(true);
		now = 28_001;
		expect(lease.isHeld).toBe(false);
		expect(lost).toHaveLength(1);
		now = 0;
		expect(lease.isHeld).toBe(false);
	});

	test("a worker that was declared dead is lost at once", async () => {
		const lost: string[] = [];
		const lease = new Lease(
			{
				queue: { renew: async () => "gone" },
				worker: "w",
				leaseMs: 20_000,
				renewMs: 5000,
				onRenewal: () => undefined,
				onLost: (why) => lost.push(why),
			},
			performance.now(),
		);
		await lease.renew();
		expect(lost).toEqual(["The fleet has declared this worker dead."]);
		lease.stop();
	});
});

describe("rates", () => {
	const rate = (more: object) => ({ provider: "p", rpm: null, tpm: null, pausedMs: 0, ...more });

	test("requests per minute stay under the worker's share", () => {
		let now = 0;
		const rates = new Rates({ setRate: async () => undefined }, () => now);
		rates.update([rate({ rpm: 60 })], 2, 8);
		let granted = 0;
		// For five minutes, every 100 ms.
		for (; now < 300_000; now += 100) if (rates.take("p", 0) === 0) granted += 1;
		// A quarter of 60 per minute, and what the bucket holds at the start.
		expect(granted).toBeGreaterThanOrEqual(70);
		expect(granted).toBeLessThanOrEqual(15 * 5 + 2);
		expect(rates.take("other", 1e9)).toBe(0);
	});

	test("a refusal pauses the fleet once, longer each time, and a success ends that", async () => {
		let now = 0;
		const pauses: unknown[] = [];
		const rates = new Rates({ setRate: async (provider, change) => void pauses.push([provider, change.pauseMs]) }, () => now);
		await rates.refused("p", undefined);
		expect(rates.take("p", 1)).toBe(10_000);
		now = 10_001;
		expect(rates.take("p", 1)).toBe(0);
		await rates.refused("p", undefined);
		// Those that were in flight meanwhile.
		await rates.refused("p", undefined);
		await rates.refused("p", 3000);
		now = 40_000;
		rates.succeeded("p");
		await rates.refused("p", 3000);
		// A longer wait than the pause that there is.
		await rates.refused("p", 5000);
		now = 50_000;
		await rates.refused("p", undefined);
		expect(pauses).toEqual([
			["p", 10_000],
			["p", 20_000],
			["p", 3000],
			["p", 5000],
			["p", 20_000],
		]);
	});

	test("a provider that refuses everything is asked seldom, by all workers together", async () => {
		let now = 0;
		let pausedUntil = 0;
		const queue = {
			setRate: async (_: string, { pauseMs = 0 }) => {
				pausedUntil = Math.max(pausedUntil, now + pauseMs);
			},
		};
		const workers = Array.from({ length: 4 }, () => new Rates(queue, () => now));
		const asked: number[] = [];
		for (; now < 600_000; now += 100) {
			for (const rates of workers) {
				if (now % 5000 === 0) rates.update([rate({ rpm: 40, pausedMs: Math.max(0, pausedUntil - now) })], 2, 8);
				// Two runs each.
				for (const _ of [1, 2]) {
					if (rates.take("p", 0) > 0) continue;
					asked.push(now);
					await rates.refused("p", undefined);
				}
			}
		}
		const perMinute = Array.from({ length: 10 }, (_, minute) => asked.filter((at) => Math.floor(at / 60_000) === minute).length);
		expect(Math.max(...perMinute)).toBeLessThanOrEqual(40);
		// Pauses grow: in the last five minutes each worker asks a few times at most.
		expect(perMinute.slice(5).reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(4 * 3);
		expect(asked.length).toBeGreaterThan(4);
	});
});

describe("money", () => {
	const nothing = { usd: 0, tokens: 0 };
	const cover = (wallet: Wallet, usd: number, tokens = 0) => wallet.cover({ kind: "model" }, { usd, tokens }, new InFlight());
	const claim = { runId: "r", epoch: 1, budget: "b" } as Claim;
	const budget = { id: "b", maxUsd: 16, maxTokens: null, spentUsd: 0, spentTokens: 0, heldUsd: 0, heldTokens: 0 };

	test("it takes a slice of what is left, and asks again when that is spent", async () => {
		const held: number[] = [];
		const queue = {
			budgets: async () => [budget],
			hold: async (_: Claim, usd: number) => {
				held.push(usd);
				return "held" as const;
			},
		};
		const wallet = new Wallet(queue, claim, {});
		expect(await cover(wallet, 0.25, 10)).toBe("enough");
		expect(await cover(wallet, 0.75, 10)).toBe("enough");
		expect(held).toEqual([1]);
		wallet.spent({ usd: 0.9, tokens: 0 });
		expect(await cover(wallet, 0.5, 10)).toBe("enough");
		expect(held).toHaveLength(2);
	});

	test("it asks for the request alone when a slice is too much, and passes on what the queue says", async () => {
		const queue = { budgets: async () => [budget], hold: async (_: Claim, usd: number) => (usd <= 0.25 ? ("held" as const) : ("wait" as const)) };
		expect(await cover(new Wallet(queue, claim, {}), 0.25, 0)).toBe("enough");
		expect(await cover(new Wallet(queue, claim, {}), 2, 0)).toBe("wait");
		const asked: number[] = [];
		const answers = ["held", "wait", "held"] as const;
		const wallet = new Wallet(
			{ budgets: async () => [budget], hold: async (_: Claim, usd: number) => answers[asked.push(usd) - 1] ?? "refused" },
			claim,
			{},
		);
		expect(await cover(wallet, 2, 0)).toBe("enough");
		expect(await cover(wallet, 5, 0)).toBe("wait");
		// What it held went back: the next time it asks for all of it.
		expect(await cover(wallet, 5, 0)).toBe("enough");
		expect(asked).toEqual([2, 3, 5]);
		expect(await cover(new Wallet(queue, { ...claim, budget: undefined } as never, {}), 1e9, 0)).toBe("enough");
	});

	test("requests in flight are covered together: subagents side by side do not share one hold", async () => {
		const asked: { usd: number; keep: number }[] = [];
		let left = 3;
		const queue = {
			budgets: async () => [{ ...budget, maxUsd: 3 }],
			hold: async (_: Claim, usd: number, _tokens: number, keep = nothing) => {
				asked.push({ usd, keep: keep.usd });
				if (usd > left) return "refused" as const;
				left -= usd;
				return "held" as const;
			},
		};
		const wallet = new Wallet(queue, claim, {});
		const inFlight = new InFlight();
		const child = (id: string) => ({ kind: "model" as const, agentPath: [{ id, agent: "explore", toolCallId: "call" }] });
		const ask = (id: string) => wallet.cover(child(id), { usd: 1, tokens: 0 }, inFlight);
		expect(await Promise.all(["a", "b", "c", "d"].map(ask))).toEqual(["enough", "enough", "enough", "wait"]);
		// What the others will use stays set aside.
		expect(asked.at(-1)).toEqual({ usd: 1, keep: 3 });
	});

	test("what subagents use is counted turn by turn, once, and what their requests no longer need is free", () => {
		const inFlight = new InFlight();
		const of = (...ids: string[]) => ({ kind: "model" as const, agentPath: ids.map((id) => ({ id, agent: "explore", toolCallId: "call" })) });
		const tell = (id: string, cost: number, status = "running") => inFlight.progressed("call", [{ id, status, tokens: 0, cost }]);
		const request = (usd: number, ...ids: string[]) => {
			inFlight.asked(of(...ids));
			const before = inFlight.total.usd;
			inFlight.granted(of(...ids), { usd, tokens: 0 });
			return before;
		};
		expect(request(5)).toBe(0);
		// The task call itself.
		inFlight.asked({ kind: "tool" });
		expect(request(1, "a")).toBe(0);
		expect(request(2, "a", "a.1")).toBe(1);
		expect(request(4, "b")).toBe(3);
		// Its next request comes before its use is told: both count until then.
		expect(request(1, "a")).toBe(7);
		tell("a", 0.5);
		expect(inFlight.total.usd).toBe(5);
		expect(inFlight.takeUsed().usd).toBe(0.5);
		expect(inFlight.takeUsed().usd).toBe(0);
		// Its use is told before its next request.
		tell("a", 0.75);
		expect(request(1, "a")).toBe(4);
		tell("b", 0, "failed");
		expect(inFlight.total.usd).toBe(1);
		// A request that failed used nothing, so nothing is told.
		expect(request(1, "a-repair")).toBe(1);
		expect(request(1, "a")).toBe(1);
		expect(inFlight.isMoving).toBe(true);
		expect(request(1, "a", "a.2")).toBe(2);
		expect(request(1, "a", "a.2")).toBe(3);
		expect(inFlight.settled("call", { usd: 1, tokens: 0 }).usd).toBeCloseTo(0.25);
		expect(inFlight.total.usd).toBe(0);
		expect(inFlight.isMoving).toBe(false);
		expect(inFlight.settled("other", { usd: 1, tokens: 3 })).toEqual({ usd: 1, tokens: 3 });
	});

	test("what subagents use is counted once when the result of their call is read before their last frames", () => {
		const inFlight = new InFlight();
		const tell = (cost: number) => inFlight.progressed("call", [{ id: "a", status: "running", tokens: 0, cost }]);
		const request = { kind: "model" as const, agentPath: [{ id: "a", agent: "explore", toolCallId: "call" }] };
		inFlight.begun("call");
		tell(5);
		expect(inFlight.takeUsed().usd).toBe(5);
		expect(inFlight.settled("call", { usd: 11, tokens: 0 }).usd).toBe(6);
		tell(11);
		inFlight.asked(request);
		inFlight.granted(request, { usd: 1, tokens: 0 });
		expect([inFlight.takeUsed().usd, inFlight.total.usd, inFlight.isMoving]).toEqual([0, 0, false]);
		// Another call with the same id.
		inFlight.begun("call");
		tell(2);
		expect(inFlight.takeUsed().usd).toBe(2);
		expect(inFlight.settled("call", { usd: 3, tokens: 0 }).usd).toBe(1);
	});

	test("what subagents used is counted once when the agent dies before the result of their call is read", () => {
		const inFlight = new InFlight();
		inFlight.begun("call");
		inFlight.progressed("call", [{ id: "a", status: "running", tokens: 0, cost: 5 }]);
		expect(inFlight.takeUsed().usd).toBe(5);
		inFlight.clear();
		expect(inFlight.settled("call", { usd: 6, tokens: 0 }).usd).toBe(1);
	});
});

test("the live table fits the terminal: lines are cut, what was there before is cleared", () => {
	const screen = screenOf("run  state\nr_1  running", 8);
	expect(screen).toBe("\u001b[Hrun  st\u001b[K\nr_1  ru\u001b[K\n\u001b[J");
});

test("the short flags of the command line are those of the fleet's table", () => {
	const shorts = Object.entries(fleetFlags).flatMap(([name, flag]) => ("short" in flag ? [[flag.short, name]] : []));
	expect(subcommandShorts.fleet).toEqual(Object.fromEntries(shorts));
	expect(parseArguments(["fleet", "logs", "-f", "r_1"])).toMatchObject({ words: ["fleet", "logs"], unknown: [{ name: "follow", following: "r_1" }] });
	expect(parseArguments(["serve", "-f"])).toMatchObject({ problem: expect.stringContaining("-f") });
});

test("the pauses between attempts grow, up to ten minutes", () => {
	expect([1, 2, 3, 4].map((attempts) => backOffMs(attempts, 0.5))).toEqual([5000, 10_000, 20_000, 40_000]);
	expect(backOffMs(50, 1)).toBe(720_000);
	expect(backOffMs(1, 0)).toBe(4000);
});

test("a worker whose disk cannot be written gives the run back, with the reason", async () => {
	const file = join(newFolder(), "file");
	writeFileSync(file, "");
	const back: Requeue[] = [];
	const queue = { requeue: async (_: Claim, how: Requeue) => back.push(how) > 0 } as unknown as RunQueue;
	const claim = { runId: "r1", epoch: 1, attempts: 1, maxAttempts: 5, spec: { repo: { url: "/r" }, prompt: "p" } } as Claim;
	const parts = { queue, directory: join(file, "r1-1"), log: () => undefined } as unknown as RunParts;
	await new RunAtWork(parts, claim).done;
	expect(back).toMatchObject([{ counts: true, why: expect.stringContaining("ENOTDIR") }]);
});

test("a receipt adds up costs, commands and the chain of the lines", () => {
	const message = (message: object, at: string) => JSON.stringify({ type: "message", timestamp: at, message });
	const lines = [
		message({ role: "user", content: "go" }, "2026-01-01T00:00:00.000Z"),
		message(
			{
				role: "assistant",
				provider: "p",
				model: "m",
				usage: { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, totalTokens: 15, cost: { total: 0.5 } },
				content: [{ type: "toolCall", id: "c1", name: "bash", arguments: { command: "npm test" } }],
			},
			"2026-01-01T00:00:01.000Z",
		),
		message({ role: "toolResult", toolCallId: "c1", toolName: "bash", isError: false, content: [] }, "2026-01-01T00:00:03.500Z"),
		"torn {",
	];
	const account = new RunAccount();
	expect(account.add(lines.slice(0, 2), [])).toEqual({ usd: 0.5, tokens: 15 });
	expect(account.add(lines.slice(2), [])).toEqual({ usd: 0, tokens: 0 });
	expect(account.facts).toMatchObject({
		commands: [{ command: "npm test", exitCode: 0, ms: 2500 }],
		models: [{ provider: "p", id: "m", tokens: 15, usd: 0.5 }],
		logHead: chain("", lines),
	});
	expect(chain("", lines)).not.toBe(chain("", [...lines].reverse()));
});

test("a file is read in whole lines, and what is torn waits", () => {
	const path = join(newFolder(), "file");
	const tail = new Tail(path);
	expect(tail.peek().lines).toEqual([]);
	writeFileSync(path, "one\ntwo\nthr");
	const first = tail.peek();
	expect(first.lines).toEqual(["one", "two"]);
	expect(tail.peek().lines).toEqual(["one", "two"]);
	tail.taken(first.offset);
	expect(tail.peek().lines).toEqual([]);
	appendFileSync(path, "ee\n\u{1f600}\n");
	expect(tail.peek().lines).toEqual(["three", "\u{1f600}"]);
});

test("files come back on another machine: binary, renamed, executable, linked, removed", async () => {
	const folder = newFolder();
	const repository = join(folder, "repository");
	mkdirSync(repository);
	writeFileSync(join(repository, "old.txt"), "a line\n".repeat(50));
	writeFileSync(join(repository, "gone.txt"), "gone\n");
	writeFileSync(join(repository, "crlf.txt"), "one\r\ntwo\r\n");
	writeFileSync(join(repository, ".gitattributes"), "*.txt text=auto\n");
	writeFileSync(join(repository, ".gitignore"), "built/\n");
	runGit(repository, "init", "-q");
	runGit(repository, "add", "-A");
	runGit(repository, "commit", "-q", "-m", "first");
	const shell = new Shell({ cwd: folder, environment: () => process.env, redact: redactor(() => []) });
	const git = new Git({ shell: async () => shell, environment: () => process.env }, "/");
	const { signal } = new AbortController();
	try {
		const mirrors = new Mirrors(git, join(folder, "cache"), 1e9);
		const repo = { url: repository };
		const mirror = await mirrors.ensure(repo, signal);
		const machine = async (name: string, maxBytes = 1e7) => {
			const top = join(folder, name, "tree");
			mkdirSync(join(folder, name), { recursive: true });
			await checkOut(git, mirror, repo, top, signal);
			return { top, states: await FileStates.open(git, top, join(folder, name), mirror.commit, maxBytes, signal) };
		};
		const one = await machine("one");
		expect(await one.states.take()).toBe(one.states.base);
		runGit(one.top, "mv", "old.txt", "new name.txt");
		rmSync(join(one.top, "gone.txt"));
		writeFileSync(join(one.top, "run.sh"), "#!/bin/sh\n");
		chmodSync(join(one.top, "run.sh"), 0o755);
		symlinkSync("run.sh", join(one.top, "link"));
		writeFileSync(join(one.top, "binary"), Buffer.from(Array.from({ length: 5000 }, (_, index) => (index * 7) % 256)));
		writeFileSync(join(one.top, "crlf.txt"), "one\r\nthree\n");
		mkdirSync(join(one.top, "built"));
		writeFileSync(join(one.top, "built/out"), "not kept");
		// A hook and a filter of the checkout's own configuration must not run.
		runGit(one.top, "config", "filter.evil.clean", `touch ${join(folder, "evil")}`);
		writeFileSync(join(one.top, ".git/info/attributes"), "* filter=evil\n");
		const tree = await one.states.take();
		const patch = await one.states.patch(tree);
		expect(() => readFileSync(join(folder, "evil"))).toThrow();

		const two = await machine("two");
		await two.states.restore({ tree, patch });
		expect(await two.states.take()).toBe(tree);
		expect(readFileSync(join(two.top, "binary")).equals(readFileSync(join(one.top, "binary")))).toBe(true);
		expect(readFileSync(join(two.top, "crlf.txt"), "latin1")).toBe("one\r\nthree\n");
		await expect(two.states.restore({ tree: one.states.base, patch: Buffer.alloc(0) })).rejects.toThrow("should be of");
		const three = await machine("three", 10);
		writeFileSync(join(three.top, "large"), "x".repeat(1000));
		await expect(three.states.take().then((large) => three.states.patch(large))).rejects.toBeInstanceOf(PatchTooLarge);

		await expect(mirrors.ensure({ url: repository, ref: "no-such" }, signal)).rejects.toMatchObject({ name: "CheckoutError", isPassing: false });
		await expect(mirrors.ensure({ url: join(folder, "nowhere") }, signal)).rejects.toMatchObject({ name: "CheckoutError" });
		// A damaged mirror is made again.
		rmSync(join(mirror.path, "HEAD"));
		expect((await mirrors.ensure(repo, signal)).commit).toBe(mirror.commit);

		// A new mirror makes room: those that were not used for a day go, those that are in use stay.
		const other = join(folder, "other");
		runGit(folder, "clone", "-q", repository, other);
		const small = new Mirrors(git, join(folder, "cache"), 1);
		await small.ensure({ url: other }, signal);
		expect(existsSync(mirror.path)).toBe(true);
		const longAgo = new Date(Date.now() - 48 * 3_600_000);
		utimesSync(join(dirname(mirror.path), "used"), longAgo, longAgo);
		const another = await small.ensure({ url: `file://${other}` }, signal);
		expect(existsSync(mirror.path)).toBe(false);
		expect(existsSync(another.path)).toBe(true);
	} finally {
		await shell.close();
	}
});

test("commands ask the worker that owns the directory; without one they own it for a moment; a torn journal loses its last line alone", async () => {
	const directory = newFolder();
	const shared = sharedFileQueue(directory);
	const submission = toSubmission(readSubmission({ repo: { url: "/r" }, prompt: "x", key: "k" }), { maxAttempts: 5, random: () => "" });
	const [first] = await shared.submit([submission]);
	const { listenFor } = await import("../../src/fleet/file/control.ts");
	const owned = ownFileQueue(directory);
	if (!("queue" in owned)) throw new Error("It has another owner.");
	expect(ownFileQueue(directory)).toEqual({ holder: process.pid });
	const server = await listenFor(owned.queue, directory);
	expect(await shared.submit([submission])).toEqual([{ runId: first?.runId, fresh: false }]);
	await expect(shared.submit([{ ...submission, priority: 1 }])).rejects.toMatchObject({ code: "key_reused" });
	const queue: RunQueue = owned.queue;
	const worker = { id: "w1", host: "h", labels: [], slots: 1, version: "1" };
	await queue.register(worker);
	const claim = (await queue.claim(worker)) as Claim;
	await queue.finish(claim, { status: "completed", patch: Buffer.from([0, 255]), receipt: {} });
	expect((await shared.result(claim.runId))?.patch).toEqual(Buffer.from([0, 255]));
	server.close();
	owned.release();
	await shared.close();
	appendFileSync(join(directory, "journal.jsonl"), '{"run":[{"id":"torn"');
	expect((await sharedFileQueue(directory).list({})).map(({ runId, status }) => [runId, status])).toEqual([[claim.runId, "completed"]]);
});

describe("examples/deploy", () => {
	const read = (name: string) => readFileSync(`examples/deploy/${name}`, "utf8");

	test("the compose file is YAML with the services that it names", () => {
		const { services } = load(read("fleet-compose.yaml")) as {
			services: Record<string, { depends_on?: Record<string, unknown>; command?: string[] }>;
		};
		for (const { depends_on = {} } of Object.values(services)) for (const name of Object.keys(depends_on)) expect(services).toHaveProperty(name);
		expect(services.worker?.command?.slice(0, 3)).toEqual(["bowline", "fleet", "work"]);
	});

	test("the manifest is YAML, and its selector finds its pods", () => {
		const documents: { kind: string; spec: { selector?: { matchLabels: object }; template: { metadata?: { labels: object } } } }[] = [];
		loadAll(read("fleet-kubernetes.yaml"), (each) => documents.push(each as never));
		expect(documents.map(({ kind }) => kind)).toEqual(["Job", "Deployment"]);
		const [, deployment] = documents;
		expect(deployment?.spec.template.metadata?.labels).toEqual(deployment?.spec.selector?.matchLabels);
	});

	test("the unit has sections of assignments", () => {
		const lines = read("bowline-fleet-worker.service")
			.split("\n")
			.filter((line) => line !== "" && !line.startsWith("#"));
		expect(lines.filter((line) => !/^\[(Unit|Service|Install)\]$|^[A-Z]\w+=\S/.test(line))).toEqual([]);
	});
});

test("a repository may not have others of the worker's machine checked out as its submodules, unless the worker allows it", async () => {
	const folder = newFolder();
	const commit = (cwd: string) => {
		runGit(cwd, "add", "-A");
		runGit(cwd, "commit", "-qm", "all");
	};
	const make = (name: string) => {
		const top = join(folder, name);
		mkdirSync(top);
		runGit(top, "init", "-q", "-b", "main");
		writeFileSync(join(top, "secret.txt"), "of another team\n");
		writeFileSync(join(top, ".gitattributes"), "* filter=evil\n");
		commit(top);
		return top;
	};
	const secret = make("secret");
	const urls = { path: secret, url: `file://${secret}`, relative: "../secret" };
	const config = join(folder, "gitconfig");
	const environment = { ...process.env, GIT_CONFIG_GLOBAL: config };
	const shell = new Shell({ cwd: folder, environment: () => environment, redact: redactor(() => []) });
	const git = new Git({ shell: async () => shell, environment: () => environment }, "/");
	const { signal } = new AbortController();
	const filter = `[filter "evil"]\n\tsmudge = touch ${join(folder, "evil")}; cat\n`;
	writeFileSync(config, filter);
	try {
		const checkedOut = async (name: string, repository: string) => {
			const repo = { url: repository, submodules: true };
			const mirror = await new Mirrors(git, join(folder, "cache"), 1e9).ensure(repo, signal);
			const top = join(folder, "checkouts", name);
			mkdirSync(dirname(top), { recursive: true });
			await checkOut(git, mirror, repo, top, signal);
			return readFileSync(join(top, "lib/inner/secret.txt"), "utf8");
		};
		for (const [name, url] of Object.entries(urls)) {
			const repository = make(name);
			runGit(repository, "-c", "protocol.file.allow=always", "submodule", "add", "-q", secret, "lib/inner");
			runGit(repository, "config", "-f", ".gitmodules", "submodule.lib/inner.url", url);
			commit(repository);
			await expect(checkedOut(name, repository), name).rejects.toMatchObject({
				name: "CheckoutError",
				isPassing: false,
				message: expect.stringMatching(/^The submodule lib\/inner of .* transport file .*protocol\.file\.allow always$/),
			});
			// A submodule that is only pointed to is no reason to refuse the run.
			const mirror = await new Mirrors(git, join(folder, "cache"), 1e9).ensure({ url: repository }, signal);
			await checkOut(git, mirror, { url: repository }, join(folder, "checkouts", `${name}-without`), signal);
		}
		writeFileSync(config, `${filter}[protocol "file"]\n\tallow = always\n`);
		for (const name of Object.keys(urls)) expect(await checkedOut(`${name}-allowed`, join(folder, name))).toBe("of another team\n");
		expect(existsSync(join(folder, "evil"))).toBe(false);
		// What the worker's configuration forbids is forbidden for the run's own url, too.
		writeFileSync(config, '[protocol "file"]\n\tallow = never\n');
		await expect(new Mirrors(git, join(folder, "cache-2"), 1e9).ensure({ url: secret }, signal)).rejects.toThrow("transport 'file' not allowed");
	} finally {
		await shell.close();
	}
});
