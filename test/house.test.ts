/** The house rules: which room may use which, and that everything generated or promised is there. */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { expect, test } from "vitest";
import { commands } from "../src/protocol/commands/index.ts";
import { errorCodes, errors } from "../src/protocol/errors.ts";
import { events } from "../src/protocol/events.ts";
import { settings } from "../src/protocol/settings.ts";

const root = join(import.meta.dirname, "..");
const source = join(root, "src");

/** Room to what it may import: rooms, `contracts` (types of agent/ only), `node:`, package names. */
const belowLive = [
	"protocol",
	"lib",
	"settings",
	"agent",
	"transcript",
	"models",
	"tools",
	"policies",
	"prompting",
	"extensions",
	"snapshots",
	"subagents",
	"verification",
	"answers",
	"mcp",
	"checkpoints",
	"sandbox",
	"session",
	"permissions",
];
const mayImport: Record<string, string[]> = {
	protocol: ["typebox"],
	lib: ["node:", "js-yaml"],
	settings: ["protocol", "lib", "node:", "jsonc-parser"],
	agent: ["protocol", "lib", "typebox"],
	transcript: ["protocol", "lib", "page", "node:"],
	page: ["protocol", "lib", "marked", "highlight.js"],
	models: ["protocol", "lib", "contracts", "node:", "typebox", "jsonc-parser"],
	tools: ["protocol", "lib", "contracts", "node:", "typebox", "diff", "picomatch", "sharp", "@vscode/ripgrep"],
	policies: ["protocol", "lib", "contracts", "transcript", "node:", "picomatch"],
	prompting: ["protocol", "lib", "contracts", "node:"],
	extensions: ["protocol", "lib", "contracts", "node:", "jiti", "typebox"],
	client: ["protocol", "lib", "node:", "ws"],
	snapshots: ["protocol", "lib", "node:"],
	checkpoints: ["protocol", "lib", "contracts", "snapshots", "node:"],
	answers: ["protocol", "lib", "contracts"],
	subagents: ["protocol", "lib", "contracts", "client", "snapshots", "verification", "answers", "node:"],
	verification: ["protocol", "lib", "contracts", "node:"],
	mcp: ["protocol", "lib", "contracts", "node:"],
	permissions: ["protocol", "lib", "contracts", "node:"],
	sandbox: ["protocol", "lib", "node:"],
	session: ["protocol", "lib", "agent", "transcript"],
	live: [...belowLive, "client", "node:"],
	rpc: ["protocol", "lib", "contracts", "session", "live", "node:"],
	"one-shot": ["protocol", "lib", "contracts", "live", "rpc", "tools", "node:"],
	acp: ["protocol", "lib", "contracts", "transcript", "session", "live", "rpc", "tools", "node:", "@agentclientprotocol/sdk"],
	embed: ["protocol", "lib", "live", "rpc", "client", "node:"],
	chat: ["protocol", "lib", "client", "node:"],
	fleet: ["protocol", "lib", "client", "transcript", "snapshots", "verification", "node:", "pg"],
	serve: ["protocol", "page", "lib", "client", "transcript", "node:", "ws", "typebox"],
	app: [...belowLive, "client", "fleet", "live", "rpc", "one-shot", "acp", "embed", "chat", "serve", "node:"],
	"index.ts": ["client", "extensions", "embed"],
};

/** The contracts of the agent: types that every room may use. */
const contracts = /^agent\/(contracts|budget|doors|files|loop|models|policy|stream|tool|ui)\.ts$/;

const files = readdirSync(source, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".ts"));

interface Import {
	from: string;
	target: string;
	typeOnly: boolean;
}

function importsOf(path: string): Import[] {
	const text = readFileSync(join(source, path), "utf8");
	const found = [...text.matchAll(/^\s*(?:import|export)\s+(type\s)?[^;]*?from\s+"([^"]+)"|\bimport\("([^"]+)"\)/gm)];
	return found.map(([, type, named, lazy]) => ({ from: path, target: named ?? lazy ?? "", typeOnly: type !== undefined }));
}

function isAllowed({ from, target, typeOnly }: Import): boolean {
	const [room = ""] = from.split("/");
	const allowed = mayImport[room] ?? [];
	if (!target.startsWith(".")) return allowed.some((name) => target === name || target.startsWith(name.endsWith(":") ? name : `${name}/`));
	const inside = relative(source, join(source, dirname(from), target));
	const [targetRoom = ""] = inside.split("/");
	if (targetRoom === room || targetRoom === "..") return targetRoom === room || inside === "../package.json";
	if (contracts.test(inside) && typeOnly) return allowed.includes("contracts") || allowed.includes("agent");
	return allowed.includes(targetRoom);
}

test("every room imports only what the table allows", () => {
	const wrong = files.flatMap(importsOf).filter((found) => !isAllowed(found));
	expect(wrong.map(({ from, target }) => `${from} imports ${target}`)).toEqual([]);
});

test("the chat is a host like any other: it knows the client, the protocol and hand tools", () => {
	const chat = "chat/";
	const imports = files.filter((path) => path.startsWith(chat)).flatMap(importsOf);
	const places = imports.flatMap(({ from, target, typeOnly }) => {
		const inside = target.startsWith(".") ? relative(source, join(source, dirname(from), target)) : target;
		return /^(chat\/|client\/index\.ts|lib\/|node:)/.test(inside) || (typeOnly && inside.startsWith("protocol/")) ? [] : [`${from}: ${inside}`];
	});
	expect(imports.length).toBeGreaterThan(0);
	expect(places).toEqual([]);
});

test("only the log, and rooms that speak to a person, write to the console", () => {
	const speaking = /^(lib\/log\.ts|rpc\/stdio\.ts|app\/|one-shot\/|chat\/|page\/|serve\/page\/|transcript\/export\/page\/)/;
	const printing = files.filter((path) => !speaking.test(path) && /\bconsole\.\w+\(/.test(readFileSync(join(source, path), "utf8")));
	expect(printing).toEqual([]);
});

test("every room is in the table", () => {
	expect([...new Set(files.map((path) => path.split("/")[0]))].filter((room) => !mayImport[room ?? ""])).toEqual([]);
});

test("text reaches a page through dom.ts alone, which shows the characters that cannot be seen", () => {
	const drawing = files.filter((path) => /^(?:page|serve\/page|transcript\/export\/page)\//.test(path) && path !== "page/dom.ts");
	const direct =
		/createTextNode\(|new Option\(|\.(?:textContent|innerText|nodeValue|data|title|placeholder|label|alt) = (?!"[ -~]*";)|(?:append|replaceChildren|before|after|prepend)\(["`](?!\\u200b"\))/;
	const found = drawing.flatMap((path) =>
		readFileSync(join(source, path), "utf8")
			.split("\n")
			.flatMap((line, index) => (direct.test(line.replace(/(?<![.\w])append\(/g, "")) ? [`${path}:${index + 1}: ${line.trim()}`] : [])),
	);
	expect(found).toEqual([]);
});

test("generated files are fresh", () => {
	const run = () => execFileSync(process.execPath, ["scripts/run.mjs", "generate", "--check"], { cwd: root, encoding: "utf8", stdio: "pipe" });
	expect(run).not.toThrow();
});

test("every command, event and setting is described in a sentence", () => {
	const rows = { ...commands, ...events, ...settings };
	const bare = Object.entries(rows).filter(([, { doc }]) => !/^[A-Z`/].*\.$/s.test(doc));
	expect(bare.map(([name]) => name)).toEqual([]);
});

test("every error code is given somewhere, and is on its page", () => {
	const elsewhere = files.filter((path) => !/^protocol\/(errors|types\.generated)\.ts$/.test(path));
	const sources = elsewhere.map((path) => readFileSync(join(source, path), "utf8")).join("\n");
	expect(errorCodes.filter((code) => !new RegExp(`(?:\\bcode: |Error\\(\\s*|Refusal\\(\\s*|\\? |[,:] )"${code}"`).test(sources))).toEqual([]);
	const page = readFileSync(join(root, "docs/errors.md"), "utf8");
	expect(errorCodes.filter((code) => !page.includes(`| \`${code}\` | ${errors[code].doc}`))).toEqual([]);
});

test("every command that is served has a wire test", () => {
	const transcripts = readdirSync(join(root, "test/wire"))
		.filter((name) => name.endsWith(".wire"))
		.map((name) => readFileSync(join(root, "test/wire", name), "utf8"))
		.join("\n");
	const untested = Object.entries(commands).filter(([name, row]) => !row.unsupported && !transcripts.includes(`"type":"${name}"`));
	expect(untested.map(([name]) => name)).toEqual([]);
});

test("every command has a handler", async () => {
	const { handlers } = await import("../src/live/commands/index.ts");
	const table = handlers({ assembly: { session: {} }, front: {}, identity: {} } as never);
	expect(Object.keys(table).sort()).toEqual(Object.keys(commands).sort());
});

test("hooks stand in test files: a module that files share registers its hooks for the first of them alone", () => {
	const all = readdirSync(import.meta.dirname, { recursive: true, encoding: "utf8" });
	const shared = all.filter((path) => path.endsWith(".ts") && !path.endsWith(".test.ts") && path !== "later-hook.ts");
	const hooked = shared.filter((path) => /^(before|after)(Each|All)\(/m.test(readFileSync(join(import.meta.dirname, path), "utf8")));
	expect(hooked).toEqual([]);
});
