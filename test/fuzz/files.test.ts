/** Files that are damaged or malicious: readable parts are read, the rest is refused with a message, and nothing is lost. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { toModelMessages } from "../../src/agent/convert.ts";
import { readFrontMatter } from "../../src/lib/front-matter.ts";
import { parseModelsFile } from "../../src/models/custom.ts";
import { parseScript } from "../../src/models/scripted/load.ts";
import { readRules } from "../../src/policies/stream-rules/rule.ts";
import { isCommandError } from "../../src/protocol/command-error.ts";
import { settings as rows } from "../../src/protocol/settings.ts";
import { loadSettings } from "../../src/settings/settings.ts";
import { openTranscript } from "../../src/transcript/open.ts";
import { contextMessages, openCalls } from "../../src/transcript/projection.ts";
import { totalsOf } from "../../src/transcript/stats.ts";
import { treeOf } from "../../src/transcript/tree.ts";
import { placesIn } from "../settings-places.ts";
import { fullSession, header } from "../transcript/export/session.ts";
import { Agent } from "../wire/support/agent.ts";
import { mutated } from "./mutate.ts";
import { forSeeds } from "./seeds.ts";

const folder = mkdtempSync(join(tmpdir(), "bowline-fuzz-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const deep = (open: string, close: string) => open.repeat(100_000) + close.repeat(100_000);
const session = Buffer.from(`${[header, ...fullSession().entries].map((line) => JSON.stringify(line)).join("\n")}\n`);

describe("session files", () => {
	const parts = { cwd: "/", now: Date.now, redact: (text: string) => text, newId: () => Math.random().toString(16).slice(2, 10) };

	/** Everything that is ever done with a session can be done with this one. */
	function use(path: string): void {
		for (const mode of ["read", "write"] as const) {
			const transcript = openTranscript(path, { ...parts, mode });
			if (!transcript) return;
			const messages = contextMessages(transcript.branch);
			JSON.stringify([messages, transcript.entries, toModelMessages(messages), openCalls(transcript.branch), totalsOf(transcript.entries)]);
			treeOf(transcript.entries);
			if (mode === "write")
				transcript.append({
					type: "message",
					message: { role: "user", content: [{ type: "text", text: "goes on" }], attachments: [], timestamp: 1 },
				});
			transcript.close();
		}
		expect(
			JSON.stringify(
				openTranscript(path, { ...parts, mode: "read" })
					?.path()
					.at(-1),
			),
		).toContain("goes on");
	}

	test("damaged ones", () =>
		forSeeds(150, (random, seed) => {
			const path = join(folder, `${seed}.jsonl`);
			const bytes = mutated(session, random);
			writeFileSync(path, bytes);
			try {
				use(path);
				// Opening and going on adds; it takes nothing away. Older formats are brought to the present one.
				if (!/"version":[0-2]\b/.test(bytes.toString("latin1").slice(0, 300)) && bytes.includes('"version":3'))
					expect(readFileSync(path).subarray(0, bytes.length).equals(bytes)).toBe(true);
			} catch (error) {
				if (!isCommandError(error)) throw error;
				expect(readFileSync(path).equals(bytes)).toBe(true);
			}
		}));

	test("a line that is nested a hundred thousand deep is passed over", async () => {
		const path = join(folder, "deep.jsonl");
		const line = `{"type":"message","id":"deep","parentId":null,"timestamp":"","message":{"role":"user","content":[],"details":${deep("[", "]")}}}`;
		writeFileSync(
			path,
			`${JSON.stringify(header)}\n${line}\n{"type":"message","id":"b","parentId":"deep","timestamp":"","message":{"role":"user","content":"hi"}}\n`,
		);
		use(path);
		const agent = new Agent({ flags: ["--session", path, "--provider", "scripted", "--model", "echo"] });
		try {
			agent.send({ id: "1", type: "prompt", message: "still there?" });
			await agent.event("agent_settled");
			for (const type of ["get_messages", "get_entries", "get_tree", "get_session_stats", "get_fork_messages"]) {
				agent.send({ id: type, type });
				expect(await agent.response(type)).toMatchObject({ success: true });
			}
			expect(agent.stderr).not.toContain("unexpected");
		} finally {
			await agent.dispose();
		}
	});
});

describe("settings", () => {
	const example = Buffer.from(JSON.stringify(Object.fromEntries(Object.entries(rows).map(([name, row]) => [name, row.default ?? null])), null, 2));
	const load = (content: Buffer | string, name: string) => {
		const cwd = join(folder, name);
		mkdirSync(join(cwd, ".bowline"), { recursive: true });
		writeFileSync(join(cwd, ".bowline", "settings.jsonc"), content);
		return loadSettings({ ...placesIn(folder, cwd), userDirectory: folder, approve: true });
	};

	test("damaged ones", () =>
		forSeeds(100, async (random, seed) => {
			const view = await load(mutated(example, random), `settings-${seed}`);
			for (const name of Object.keys(rows)) view.get(name as keyof typeof rows);
		}));

	test.each([
		["objects", deep('{"a":', "1}").replace(/1\}/, "1}")],
		["lists", deep("[", "]")],
		["objects that can just be parsed", `${'{"a":'.repeat(3000)}1${"}".repeat(3000)}`],
		["behind a comment with a quote", `// "\n${'{"a":'.repeat(3000)}1${"}".repeat(3000)}`],
	])("%s that are nested too deep are reported, and the program starts", async (name, content) => {
		const { warnings } = await load(content, name);
		expect(warnings).toHaveLength(1);
		expect(warnings[0]).toContain("settings.jsonc");
	});
});

describe("scripts, models and rules", () => {
	const script = readFileSync(join(import.meta.dirname, "../../examples/scripts/trouble.jsonc"));

	test("damaged scripts", () =>
		forSeeds(100, (random) => {
			const read = parseScript(mutated(script, random).toString(), "s.jsonc");
			expect("problem" in read ? read.problem : "s.jsonc: ").toContain("s.jsonc");
		}));

	const models = Buffer.from(
		JSON.stringify({
			providers: {
				acme: {
					baseUrl: "http://x/v1",
					apiKey: "ACME_KEY",
					api: "openai-completions",
					headers: { a: "$B" },
					models: [{ id: "m", cost: { input: 1 } }],
				},
			},
		}),
	);
	test("damaged models", () =>
		forSeeds(100, async (random) => {
			const { problems } = await parseModelsFile(mutated(models, random).toString(), "models.jsonc");
			expect(problems.every((problem) => problem.text.includes("models.jsonc"))).toBe(true);
		}));

	const rule = Buffer.from(
		'---\ncondition:\n  - "TODO(?!\\\\()"\n  - "*.rs"\nscope: [text, "tool:edit(*.ts)"]\nglobs: "**/*.ts, src/{a,b}"\ninterruptMode: never\n---\nDo not.\n',
	);
	test("damaged rules", () =>
		forSeeds(150, async (random) => {
			const { attributes, body } = await readFrontMatter(mutated(rule, random).toString());
			readRules([{ name: "r", path: "r.md", content: body, attributes }], () => undefined);
		}));

	test("a rule with a glob of a megabyte, or a list of a hundred thousand, is read in no time or not used", () => {
		const warnings: string[] = [];
		const read = (globs: string) =>
			readRules([{ name: "r", path: "r.md", content: "", attributes: { condition: "x", globs } }], (text) => warnings.push(text));
		expect(read("[".repeat(1_000_000))).toEqual([]);
		expect(warnings).toEqual([expect.stringContaining("Rule r.md is not used")]);
		expect(read("{a},".repeat(10_000))).toHaveLength(1);
	});

	test.each([
		["a script", async (text: string) => JSON.stringify(parseScript(`{"replies":${text}}`, "s.jsonc"))],
		["models", async (text: string) => JSON.stringify(await parseModelsFile(`{"providers":${text}}`, "models.jsonc"))],
		[
			"a rule",
			async (text: string) =>
				JSON.stringify(
					readRules([{ name: "r", path: "r.md", content: "", ...(await readFrontMatter(`---\ncondition: ${text}\n---\n`)) }], () => undefined),
				),
		],
	])("%s that is nested a hundred thousand deep", async (_, read) => {
		expect((await read(deep("[", "]"))).length).toBeLessThan(500_000);
		expect((await read(deep('{"a":', "}"))).length).toBeLessThan(2_000_000);
	});
});
