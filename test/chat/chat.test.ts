/** `bowline chat`, through a real terminal. */
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { eventually } from "../lib/shell/processes.ts";
import { describeUnless } from "../unless.ts";
import { program } from "../wire/support/agent.ts";
import { missing, Pane } from "./pane.ts";

if (missing) console.warn(`Tests of bowline chat are skipped: ${missing}.`);

test("without a terminal it says what to use instead", () => {
	const { status, stderr } = spawnSync(process.execPath, [program, "chat"], { encoding: "utf8", input: "" });
	expect([status, stderr]).toEqual([2, 'Error: bowline chat needs a terminal. Without one: bowline -p "prompt".\n']);
});

describeUnless(missing)("the terminal of these tests", () => {
	test("is started again when its server does not start at first", async () => {
		const folder = mkdtempSync(join(tmpdir(), "bowline-tmux-"));
		onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
		const real = execFileSync("sh", ["-c", "command -v tmux"], { encoding: "utf8" }).trim();
		const failing = `#!/bin/sh\ncase "$*" in *new-session*) mkdir ${folder}/failed 2>/dev/null && exit 1;; esac\nexec ${real} "$@"\n`;
		writeFileSync(join(folder, "tmux"), failing, { mode: 0o755 });
		vi.stubEnv("PATH", `${folder}:${process.env.PATH}`);
		onTestFinished(() => void vi.unstubAllEnvs());
		const pane = new Pane({ shell: true });
		await pane.until("$");
		expect(existsSync(join(folder, "failed"))).toBe(true);
	});
});

describeUnless(missing)("what is shown", () => {
	test("a reply streams in as markdown, calls are folded to a line each and unfold", async () => {
		const text = "# Title\\n\\nSome **bold** and `code`.\\n\\n- one\\n- two\\n\\n```ts\\nconst x = 1;\\n```";
		const model = `think "Hm." + say "${text}" + call bash {"command":"echo out of it"} + call read {"path":"none.txt"} · say "All done."`;
		const pane = await new Pane({ model, height: 30 }).ready();
		pane.type("go");
		pane.keys("Enter");
		const screen = await pane.until("All done.");
		expect(
			screen
				.trimEnd()
				.split("\n")
				.map((line) => line.trimEnd())
				.filter(Boolean)
				.slice(1, -3),
		).toEqual([
			"› go",
			"∴ thought",
			"Title",
			"Some bold and code.",
			"• one",
			"• two",
			"  ts",
			"  const x = 1;",
			"✓ bash echo out of it",
			"    out of it",
			"✗ read none.txt: No such file or directory: none.txt",
			"All done.",
		]);
		expect(pane.screen(true)).toContain("\x1b[1mbold");
		pane.keys("C-o");
		await pane.until((text) => text.includes("\n    echo out of it\n") && text.includes("\n    out of it\n"));
		pane.keys("PPage");
		await pane.until("∴ Hm.");
		pane.keys("C-o");
		await pane.until("All done.\n");
	});

	test("it does not begin without the sandbox that it requires", async () => {
		const pane = new Pane({ flags: ["--sandbox", "workspace-write", "--set", "sandbox.bwrapPath=/nowhere/bwrap"], width: 200 });
		const screen = await pane.until(/EXIT \d/);
		expect(screen).toMatch(/^The sandbox that this session requires is not available: the program of .* cannot be used: .*\nEXIT 1$/m);
	});

	test("wide characters are wrapped and edited by their width", async () => {
		const pane = await new Pane({ width: 20, height: 12 }).ready();
		pane.type("日本語日本語日本語日本");
		await pane.until("日本語日本語日本\n");
		expect(pane.cursor).toEqual({ column: 8, row: 10 });
		pane.keys("BSpace", "Left");
		await pane.until((screen) => !screen.includes("本\n\n") && pane.cursor.column === 4);
		pane.keys("Enter");
		await pane.until("› 日本語日本語日本\n  語日\n");
	});

	test("without colours there are none", async () => {
		const pane = await new Pane({ env: { NO_COLOR: "1" } }).ready();
		pane.type("some **bold** `code`");
		pane.keys("Enter");
		await pane.until("some bold code");
		expect(pane.raw).toContain("\x1b[1mbold");
		const styles = pane.raw.split("\x1b[").map((piece) => /^[\d;]*m/.exec(piece)?.[0]);
		expect(styles.filter((style) => style && /3\d/.test(style))).toEqual([]);
	});

	test("what a model says cannot act on the terminal", async () => {
		const pane = await new Pane({ model: 'say "a\\u001b[2Jb\\u001b]0;title\\u0007c\\rd\\u009b5m \\u202etxt.exe"' }).ready();
		pane.type("go");
		pane.keys("Enter");
		await pane.until("abc\nd ⟦RLO⟧txt.exe");
	});

	test("only what changed is drawn", async () => {
		const pane = await new Pane({ model: `pace 5 + say "${"word ".repeat(200)}"` }).ready();
		pane.type("go");
		pane.keys("Enter");
		await pane.until((screen) => screen.includes("› go") && !screen.includes("working"));
		expect(pane.raw.split("\x1b[2J").length - 1).toBe(1);
	});

	test("a terminal that changes its size shows everything again", async () => {
		const pane = await new Pane().ready();
		pane.type("a line that is long enough to be wrapped when the window gets narrow");
		pane.keys("Enter");
		await pane.until("gets narrow\n");
		pane.resize(40, 15);
		const narrow = await pane.until("› a line that is long enough to be\n");
		expect(narrow.split("\n").length).toBe(16);
		pane.resize(100, 30);
		await pane.until("› a line that is long enough to be wrapped when the window gets narrow\n");
	});
});

describeUnless(missing)("the input", () => {
	test("several lines, typed and pasted, and what was sent before", async () => {
		const pane = await new Pane().ready();
		pane.paste("pasted 1\npasted 2\n\x1b[31mred");
		pane.keys("C-j");
		pane.type("typed");
		await pane.until("> pasted 1\n  pasted 2\n  red\n  typed\n");
		pane.keys("Enter");
		await pane.until("› pasted 1\n  pasted 2\n  red\n  typed\n");
		pane.type("second");
		pane.keys("Enter");
		await pane.until("› second");
		pane.keys("Up", "Up");
		await pane.until("> pasted 1\n");
		pane.keys("C-c");
		await pane.until(/─\n>\n/);
	});

	test("steering and follow-ups wait while it works, and come back with Esc", async () => {
		const model = 'say "I begin." + call bash {"command":"sleep 60"} · say "never"';
		const pane = await new Pane({ model }).ready();
		pane.type("go");
		pane.keys("Enter");
		await pane.until("▸ bash sleep 60");
		pane.type("after that");
		pane.keys("M-Enter");
		await pane.until("↳ after that");
		pane.keys("Escape");
		const screen = await pane.until("> after that");
		expect(screen).toContain("✗ bash sleep 60");
		expect(screen).not.toContain("working");
	});

	test("Enter steers", async () => {
		const model = 'call bash {"command":"sleep 60"} · say "{{prompt}} it is."';
		const pane = await new Pane({ model, flags: ["--interrupt-mode", "immediate"] }).ready();
		pane.type("go");
		pane.keys("Enter");
		await pane.until("▸ bash sleep 60");
		pane.type("stop that");
		pane.keys("Enter");
		await pane.until("↳ stop that");
		pane.keys("Escape");
		await pane.until("> stop that");
		pane.keys("Enter");
		await pane.until("stop that it is.");
	});

	test("a command that does not exist comes back into the input; Tab completes; a space sends it", async () => {
		const pane = await new Pane({ files: { ".bowline/prompts/review.md": "Review $1 now." }, flags: ["--approve"] }).ready();
		pane.type("/modle x");
		pane.keys("Enter");
		await pane.until((screen) => screen.includes("There is no command /modle. Did you mean /model?") && screen.includes("\n> /modle x\n"));
		pane.keys("C-u");
		pane.type("/nothing at all");
		pane.keys("Enter");
		await pane.until((screen) => screen.includes("There is no command /nothing. See /help.") && screen.includes("\n> /nothing at all\n"));
		pane.keys("Home");
		pane.type(" ");
		pane.keys("Enter");
		await pane.until((screen) => screen.split("/nothing at all\n").length > 2);
		// All in one, as a person who types ahead.
		pane.keys("/", "r", "e", "v", "Tab");
		await pane.until("> /review");
		pane.type("this");
		pane.keys("Enter");
		await pane.until("› Review this now.");
	});
});

describeUnless(missing)("what a call did", () => {
	test("edits are diffs, output shows its end, and the line below the input says where and how much", async () => {
		const lines = Array.from({ length: 30 }, (_, index) => `row ${index + 1}`).join("\\n");
		const edit = 'call edit {"path":"a.ts","edits":[{"oldText":"const b = 2;","newText":"const b = 20;"}]}';
		const model = `${edit} + call bash {"command":"printf '${lines}'"} · used 50000 + say "All done."`;
		const files = { "a.ts": "const a = 1;\nconst b = 2;\nconst c = 3;\n", ".git/HEAD": "ref: refs/heads/fix/tides\n" };
		const pane = await new Pane({ model, files, height: 30 }).ready();
		pane.type("go");
		pane.keys("Enter");
		const screen = await pane.until((text) => text.includes("All done.") && text.includes("25%"));
		expect(screen).toContain(
			"✓ edit a.ts +1 −1\n    1   const a = 1;\n    2 − const b = 2;\n    2 + const b = 20;\n    3   const c = 3;\n\n✓ bash printf",
		);
		expect(screen).toContain("\n    … 25 lines above\n    row 26\n    row 27\n    row 28\n    row 29\n    row 30\n");
		expect(screen).toMatch(/\n>\nwork \(fix\/tides\) +25%.* · \$0\.00 · \S*script\.json · medium\n/);
		const styled = pane.screen(true);
		expect(styled).toContain("\x1b[31m\x1b[49m− const b = 2;");
		expect(styled).toContain("\x1b[32m\x1b[49m+ const b = 2\x1b[7m0");
	});

	test("! runs a command that the model sees, !! one that it does not", async () => {
		const pane = await new Pane({ model: 'sees "seen" + say "I saw it." · say "Nothing."' }).ready();
		const send = (text: string) => {
			pane.type(text);
			pane.keys("Enter");
		};
		send("!!echo se''en; exit 3");
		await pane.until("✗ $ echo se''en; exit 3\n    seen\n    Exit code 3\n");
		send("what?");
		await pane.until("\nNothing.\n");
		send("! echo se''en");
		await pane.until("✓ $ echo se''en\n    seen\n");
		send("and now?");
		await pane.until("\nI saw it.\n");
		send("!sleep 60");
		await pane.until("▸ $ sleep 60");
		pane.keys("Escape");
		await pane.until("✗ $ sleep 60: Aborted.");
	});
});

describeUnless(missing)("menus", () => {
	test("/ lists commands and @ files", async () => {
		const files = { "src/tide table.ts": "", "src/tide.ts": "", "notes/tidy.md": "", ".gitignore": "*.log\n", "tide.log": "" };
		const pane = await new Pane({ files }).ready();
		pane.type("/");
		await pane.until(/▸ \/help +Keys and commands\n {2}\/model \[name\] +Choose the model\n/);
		pane.keys("Down", "Down");
		await pane.until("▸ /thinking");
		pane.keys("Escape");
		await pane.until((screen) => !screen.includes("▸") && screen.includes("\n> /\n"));
		pane.type("st");
		await pane.until("▸ /stats");
		pane.keys("Enter");
		await pane.until("0 of yours, 0 replies, 0 tool calls");
		pane.type("look at @tid");
		await pane.until("▸ src/tide.ts\n  notes/tidy.md\n  src/tide table.ts\n");
		pane.keys("Tab");
		await pane.until("\n> look at @src/tide.ts\n");
		pane.type("and @table");
		await pane.until("▸ src/tide table.ts");
		pane.keys("Enter");
		await pane.until('\n> look at @src/tide.ts and "src/tide table.ts"\n');
		pane.keys("Enter");
		await pane.until('› look at @src/tide.ts and "src/tide table.ts"\n');
	});
});

describeUnless(missing)("images", () => {
	const picture = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

	test("go along when they are pasted: as a path, from the clipboard, from the menu", async () => {
		const clipboard = `#!/bin/sh\ncase "$*" in *image/png*) base64 -d ${"$"}{0%/*}/picture;; esac\n`;
		const files = { "bin/wl-paste": clipboard, "bin/picture": picture, "prepare.sh": "base64 -d bin/picture > 'a b.png'; cp 'a b.png' chart.png" };
		const pane = new Pane({ files, shell: true });
		chmodSync(join(pane.cwd, "bin/wl-paste"), 0o755);
		pane.type("sh prepare.sh; PATH=$PWD/bin:$PATH; clear");
		pane.keys("Enter");
		pane.type(pane.command);
		pane.keys("Enter");
		await pane.ready();
		pane.paste("'a b.png'");
		await pane.until("\n> [image 1]\n");
		pane.keys("C-v");
		await pane.until("\n> [image 1] [image 2]\n");
		pane.type("@chart");
		await pane.until("▸ chart.png");
		pane.keys("Tab");
		await pane.until("\n> [image 1] [image 2] [image 3]\n");
		pane.keys("BSpace", "BSpace");
		pane.type(": what is this?");
		pane.keys("Enter");
		await pane.until("› [image 1] [image 2] [image 3: what is this?\n");
		pane.type("/stats");
		pane.keys("Enter");
		const screen = await pane.until("/sessions/");
		const file = /\S*\/sessions\/[^│]*?jsonl/.exec(screen.replace(/\n\s*│ /g, ""))?.[0] as string;
		const said = readFileSync(file, "utf8")
			.split("\n")
			.find((line) => line.includes('"role":"user"'));
		// The mark of the third was deleted in part, so it does not go along.
		expect(JSON.parse(said as string).message.content.map(({ type }: { type: string }) => type)).toEqual(["text", "image", "image"]);
	});
});

describeUnless(missing)("questions of extensions", () => {
	const extension = `export default (api) => {
		api.registerCommand("ask", { description: "Asks things", handler: async (_, { ui }) => {
			const answers = [await ui.select("Pick one", ["red", "green", "blue"]), await ui.confirm("Sure?", "It stays."), await ui.input("Name", "yours"), await ui.editor("Edit", "first")];
			ui.notify(JSON.stringify(answers), "warning");
			ui.setStatus("s", "a status");
			ui.setWidget("w", ["a widget"]);
			ui.setEditorText("from the extension");
		} });
		api.registerCommand("late", { description: "Waits", handler: async (_, { ui }) => {
			ui.notify(String(await ui.confirm("In time?", "", { timeout: 300 })));
		} });
	};`;

	test("are answered in the terminal", async () => {
		const pane = await new Pane({ flags: ["-e", "./a.ts"], files: { "a.ts": extension } }).ready();
		pane.type("/ask");
		// The second Enter comes too soon to be an answer.
		pane.keys("Enter", "Enter");
		await pane.until("▸ red\n  green\n  blue");
		pane.keys("Down");
		await pane.until("▸ green");
		await pane.calm();
		pane.keys("Enter");
		await pane.until("Sure?\nIt stays.");
		await pane.calm();
		pane.type("sorry");
		pane.type("no");
		pane.keys("Enter");
		pane.type("y");
		await pane.until("Yes: Enter takes it");
		pane.keys("Enter");
		await pane.until("> yours");
		pane.type("Ada");
		await pane.calm();
		pane.keys("Enter");
		await pane.until("> first");
		pane.keys("C-j");
		pane.type("second");
		await pane.calm();
		pane.keys("Enter");
		const screen = await pane.until("> from the extension");
		expect(screen).toContain('["green",true,"Ada","first\\nsecond"]');
		expect(screen).toMatch(/a widget\s*\na status /);
	});

	test("disappear when no answer is needed any more", async () => {
		const pane = await new Pane({ flags: ["-e", "./a.ts"], files: { "a.ts": extension } }).ready();
		pane.type("/late");
		pane.keys("Enter");
		await pane.until((screen) => screen.includes("\nfalse\n") && !screen.includes("In time?"));
	});
});

describeUnless(missing)("commands", () => {
	test("sessions can be begun, resumed, forked, measured and exported", async () => {
		const pane = await new Pane().ready();
		const send = (text: string) => {
			pane.type(text);
			pane.keys("Enter");
		};
		send("first question");
		await pane.until("› first question\n\nfirst question\n");
		send("/new");
		await pane.until((screen) => !screen.includes("first question"));
		send("second question");
		await pane.until("› second question\n\nsecond question\n");
		send("/resume");
		await pane.until("Which session?\n▸   0m  first question\n");
		await pane.calm();
		pane.keys("Enter");
		await pane.until((screen) => screen.includes("› first question") && !screen.includes("second question"));
		send("/stats");
		await pane.until("1 of yours, 1 replies, 0 tool calls");
		send("/export page.html");
		await pane.until("Written: ");
		expect(readFileSync(join(pane.cwd, "page.html"), "utf8")).toContain("first question");
		send("/fork");
		await pane.until("Before which message?\n▸ first question\n");
		await pane.calm();
		pane.keys("Enter");
		await pane.until(/─\n> first question/);
		pane.keys("C-u");
		send("/clear");
		await pane.until((screen) => !screen.includes("first question"));
		send("/help");
		await pane.until(/\/stats +│ Messages, tokens, cost/);
		send("/quit");
		await pane.until("EXIT 0");
	});

	test("what a message did to the files can be seen and undone", async () => {
		const model = 'call write {"path":"a.txt","content":"two\\n"} · say "Changed."';
		const pane = await new Pane({ model, files: { "a.txt": "one\n" }, flags: ["--set", "checkpoints.enabled=true"] }).ready();
		const send = (text: string) => {
			pane.type(text);
			pane.keys("Enter");
		};
		send("change it");
		await pane.until("Changed.");
		send("/changes");
		await pane.until(/a\.txt +│ modified +│ \+1 -1/);
		send("/undo");
		await pane.until(/Put back: a\.txt/);
		await pane.until(/─\n> change it/);
		expect(readFileSync(join(pane.cwd, "a.txt"), "utf8")).toBe("one\n");
	});

	test("the model is chosen from a list, or by its name", async () => {
		const pane = await new Pane({ flags: ["--api-key", "k".repeat(20), "--provider", "anthropic", "--model", "claude-haiku-4-5"] });
		await pane.until("anthropic/claude-haiku");
		pane.type("/model");
		pane.keys("Enter");
		await pane.until("Which model?");
		pane.type("opus");
		await pane.until("search: opus");
		await pane.calm();
		pane.keys("Enter");
		await pane.until(/─\n>\n.*claude-opus/);
		pane.type("/model claude-haiku-4-5");
		pane.keys("Enter");
		await pane.until(/─\n>\n.*claude-haiku/);
		pane.type("/thinking");
		pane.keys("Enter");
		await pane.until("How much should it think?");
		pane.type("low");
		await pane.calm();
		pane.keys("Enter");
		await pane.until(/claude-haiku\S* · low/);
		pane.type("/thinking medium");
		pane.keys("Enter");
		await pane.until(/claude-haiku\S* · medium/);
		pane.keys("BTab");
		await pane.until(/claude-haiku\S* · high/);
		pane.type("/thinking deep");
		pane.keys("Enter");
		await pane.until("No such level: deep. There are off, ");
	});

	test("--continue shows what was said before", async () => {
		const first = await new Pane().ready();
		first.type("remember me");
		first.keys("Enter");
		await first.until("\nremember me\n");
		first.keys("C-d");
		await first.until("EXIT 0");
		first.stop();
		const pane = await new Pane({ folder: first.folder, flags: ["--continue"] }).ready();
		await pane.until("› remember me\n\nremember me\n");
	});
});

describeUnless(missing)("the agent's own words", () => {
	test("warnings of its start and refusals are shown", async () => {
		const pane = new Pane({ flags: ["--provider", "nobody", "--model", "none"], files: { ".bowline/settings.jsonc": "{ nope" } });
		await pane.until((screen) => screen.includes("left as it is") && screen.includes("no model: /model"));
		pane.type("hello");
		pane.keys("Enter");
		// A prompt that was not accepted returns to the input.
		await pane.until((screen) => screen.includes("No model selected.") && screen.includes("> hello"));
	});
});

describeUnless(missing)("the end", () => {
	/** The terminal is as a shell left it, with what it showed before. */
	const restored = (code: number) => (screen: string) =>
		screen.includes(`EXIT ${code}\n`) && screen.includes("\nicanon\necho\n") && !screen.includes("─");

	test("leaving tells the short id and how to go on", async () => {
		const pane = await new Pane().ready();
		pane.type("hello");
		pane.keys("Enter");
		await pane.until("\nhello\n");
		pane.keys("C-c");
		const screen = await pane.until(restored(0));
		const [, id] = /Saved as ([0-9a-f-]+)\. Go on with: bowline chat --session \1\n/.exec(screen) ?? [];
		expect(id?.length).toBe(8);
		expect(pane.pids("--mode rpc")).toEqual([]);
		pane.stop();
		const next = await new Pane({ folder: pane.folder, flags: ["--session", id as string] }).ready();
		await next.until("› hello\n\nhello\n");
	});

	test.each([
		["SIGTERM", 143],
		["SIGHUP", 129],
		["SIGINT", 130],
	] as const)("%s gives the terminal back", async (signal, code) => {
		const pane = await new Pane({ model: "stall" }).ready();
		pane.type("go");
		pane.keys("Enter");
		await pane.until("working");
		const [chat] = pane.pids(" chat ");
		process.kill(chat as number, signal);
		await pane.until(restored(code));
		expect(pane.pids("--mode rpc")).toEqual([]);
	});

	test("a crash gives the terminal back, tells, and takes the agent along", async () => {
		const crash = 'if (process.argv.includes("chat")) process.on("SIGUSR2", () => { throw new Error("a bug"); });';
		const pane = await new Pane({ files: { "crash.cjs": crash }, env: { NODE_OPTIONS: "--require ./crash.cjs" } }).ready();
		process.kill(pane.pids(" chat ")[0] as number, "SIGUSR2");
		await pane.until((screen) => restored(1)(screen) && screen.includes("Error: a bug"));
		expect(pane.pids("--mode rpc")).toEqual([]);
	});

	test("a terminal that is closed, or a chat that is killed, takes the agent along", async () => {
		const pane = await new Pane({ model: "stall" }).ready();
		pane.type("go");
		pane.keys("Enter");
		await pane.until("working");
		pane.stop();
		expect(await eventually(() => pane.pids("bowline.js").length === 0, 20_000)).toBe(true);
		const other = await new Pane().ready();
		process.kill(other.pids(" chat ")[0] as number, "SIGKILL");
		expect(await eventually(() => other.pids("--mode rpc").length === 0, 20_000)).toBe(true);
	});

	test("Ctrl+Z and back", async () => {
		const pane = new Pane({ shell: true });
		await pane.until("$");
		pane.type(pane.command);
		pane.keys("Enter");
		await pane.ready();
		pane.type("a draft");
		await pane.until("> a draft");
		pane.keys("C-z");
		await pane.until((screen) => /Stopped/i.test(screen) && !screen.includes("> a draft"));
		pane.type("fg");
		pane.keys("Enter");
		await pane.until("> a draft");
		pane.type(" goes on");
		await pane.until("> a draft goes on");
	});

	test("an agent that cannot start is no reason to take the terminal", async () => {
		const pane = new Pane({ flags: ["--session", "/dev/null/x"] });
		await pane.until((screen) => screen.includes("The agent exited with code 1 before it was ready.") && screen.includes("EXIT 1"));
		expect(pane.raw).not.toContain("\x1b[?1049h");
	});

	test("an agent that dies is mourned, and another one goes on with the session", async () => {
		const pane = await new Pane().ready();
		pane.type("before");
		pane.keys("Enter");
		await pane.until("\nbefore\n");
		process.kill(pane.pids("--mode rpc")[0] as number, "SIGKILL");
		await pane.until("The agent was ended by SIGKILL.");
		await pane.until("▸ Start it again and go on");
		await pane.calm();
		pane.keys("Enter");
		await pane.until((screen) => !screen.includes("SIGKILL") && !screen.includes("starting") && screen.includes("› before\n\nbefore\n"));
		pane.type("after");
		pane.keys("Enter");
		await pane.until("› after\n\nafter\n");
		process.kill(pane.pids("--mode rpc")[0] as number, "SIGKILL");
		await pane.until("The agent is gone.");
		pane.keys("Escape");
		await pane.until(restored(0));
	});
});
