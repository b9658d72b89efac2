/** The programs of docs/cookbook.md, run as printed. Scripts take the place of models. */
import { execFileSync, type SpawnSyncReturns, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, expect, test } from "vitest";
import { folderOutsideTmp, missing as noSandbox } from "./sandbox/support.ts";
import { testUnless } from "./unless.ts";
import { program } from "./wire/support/agent.ts";

const root = join(import.meta.dirname, "..");
const page = readFileSync(join(root, "docs/cookbook.md"), "utf8");
// Inside the sandbox, the temporary directory is another one.
const folder = noSandbox ? mkdtempSync(join(tmpdir(), "bowline-cookbook-")) : folderOutsideTmp();
afterAll(() => rmSync(folder, { recursive: true, force: true }));

mkdirSync(join(folder, "bin"));
mkdirSync(join(folder, "home"));
mkdirSync(join(folder, "node_modules"));
symlinkSync(root, join(folder, "node_modules/bowline"));
writeFileSync(join(folder, "bin/bowline"), `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`, { mode: 0o755 });

/** The code of a recipe. */
function recipe(title: string, language: string): string {
	const section = new RegExp(`^## ${title}$(.*?)(?=^## |$(?![\n]))`, "ms").exec(page)?.[1] ?? "";
	const code = new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, "ms").exec(section)?.[1];
	if (code === undefined) throw new Error(`The recipe "${title}" has no ${language}`);
	return code;
}

/** A directory for a recipe, and the environment that has the script as its model. */
function kitchen(name: string, script: object) {
	const cwd = join(folder, name);
	mkdirSync(cwd);
	const model = join(folder, `${name}.json`);
	writeFileSync(model, JSON.stringify(script));
	const { NODE_EXTRA_CA_CERTS: _, ...inherited } = process.env;
	const env = {
		...inherited,
		PATH: `${join(folder, "bin")}:${process.env.PATH}`,
		...(!noSandbox && { HOME: join(folder, "home"), RUSTUP_HOME: process.env.RUSTUP_HOME ?? join(homedir(), ".rustup") }),
		BOWLINE_DIR: join(folder, "user"),
		BOWLINE_SETTINGS: JSON.stringify({ defaultProvider: "scripted", defaultModel: model }),
	};
	const run = (file: string, ...args: string[]): SpawnSyncReturns<string> => spawnSync(file, args, { cwd, env, encoding: "utf8", input: "" });
	return { cwd, env, run, write: (path: string, text: string) => writeFileSync(join(cwd, path), text) };
}

testUnless(noSandbox)("the reviewer prints the review, and ends with 3 when its budget is used up", () => {
	const { cwd, run, write } = kitchen("review", {
		model: { cost: { input: 10, output: 10, cacheRead: 0, cacheWrite: 0 } },
		replies: [
			{ when: { text: "+cheap" }, text: "No defects." },
			{ when: { text: "+dear" }, text: "a.txt:1: dear.", blocks: [{ tool: "ls", arguments: {} }], usage: { input: 60_000, output: 10 } },
			{ text: "This is never asked for." },
		],
	});
	const git = (...args: string[]) => execFileSync("git", ["-c", "user.name=x", "-c", "user.email=x@x", ...args], { cwd });
	write("review.sh", recipe("A reviewer for CI, with a budget", "sh"));
	write("a.txt", "old\n");
	git("init", "--quiet");
	for (const word of ["old", "cheap", "dear"]) {
		write("a.txt", `${word}\n`);
		git("add", "a.txt");
		git("commit", "--quiet", "--message", word);
	}
	git("checkout", "--quiet", "HEAD~1");
	expect(run("bash", "review.sh", "HEAD~1")).toMatchObject({ status: 0, stdout: "No defects.\n" });
	git("checkout", "--quiet", "-");
	const dear = run("bash", "review.sh", "HEAD~1");
	expect(dear).toMatchObject({ status: 3, stdout: "a.txt:1: dear.\n" });
	expect(dear.stderr).toContain("The budget is used up.");
	expect(run("bash", "review.sh", "no-such-commit").status).not.toBe(0);
});

testUnless(noSandbox)("the web backend answers several users, goes on with their conversations and ends runs of users who left", async () => {
	const { cwd, env, write } = kitchen("server", {
		replies: [
			{ when: { text: "wait" }, times: "always", text: "One moment", stall: "mid-block" },
			{ times: "always", text: "{{prompt}} of {{n}}" },
		],
	});
	// Recipes are in folders of their own; the package is in the folder above.
	write("server.mjs", recipe("A web backend for many users", "js"));
	const server = spawn(process.execPath, ["server.mjs"], { cwd, env: { ...env, PORT: "0" }, stdio: ["ignore", "pipe", "inherit"] });
	try {
		const [line] = (await once(server.stdout.setEncoding("utf8"), "data")) as [string];
		const ask = (user: string, message: string, signal?: AbortSignal) =>
			fetch(`${line.trim()}/prompt/${user}`, { method: "POST", body: message, signal });
		const texts = (stream: string) => [...stream.matchAll(/^event: text\ndata: (.*)$/gm)].map(([, data = ""]) => JSON.parse(data)).join("");
		const [ada, bo] = await Promise.all(["ada", "bo"].map(async (user) => (await ask(user, `hello ${user}`)).text()));
		expect([texts(ada as string), texts(bo as string)]).toEqual(["hello ada of 1", "hello bo of 1"]);
		expect(ada).toContain('event: end\ndata: {"stopReason":"stop"}');
		const left = new AbortController();
		const waiting = await ask("ada", "wait", left.signal);
		const busy = await (await ask("ada", "me too")).text();
		expect(busy).toContain('"stopReason":"error"');
		left.abort();
		await waiting.text().catch(() => undefined);
		await expect.poll(async () => texts(await (await ask("ada", "again")).text()), { timeout: 10_000, interval: 100 }).toMatch(/^again of \d$/);
		expect((await ask("../ada", "x")).status).toBe(404);
		expect(readdirSync(join(cwd, "workspaces")).sort()).toEqual(["ada", "bo"]);
	} finally {
		server.kill("SIGTERM");
		expect(await once(server, "exit")).toEqual([0, null]);
	}
});

testUnless(noSandbox)("the worker goes on after its agent was killed, and after it was started again", async () => {
	const { cwd, env, run, write } = kitchen("worker", {
		replies: [
			{ when: { text: "Rename" }, blocks: [{ tool: "bash", arguments: { command: "touch begun; sleep 600" } }] },
			{ when: { text: "interrupted" }, text: "Renamed." },
		],
	});
	write("worker.mjs", recipe("Resume after a crash", "js"));
	const worker = spawn(process.execPath, ["worker.mjs", "job-1", "Rename the module."], { cwd, env });
	const output = Promise.all([worker.stdout, worker.stderr].map(text));
	await expect.poll(() => existsSync(join(cwd, "begun")), { timeout: 20_000 }).toBe(true);
	const [agent] = readFileSync(`/proc/${worker.pid}/task/${worker.pid}/children`, "utf8").trim().split(" ");
	process.kill(Number(agent), "SIGKILL");
	const [stdout, stderr] = await output;
	expect(stdout).toBe("Renamed.\n");
	expect(stderr).toMatch(/^Attempt 1: The agent was ended by SIGKILL/);
	expect(run(process.execPath, "worker.mjs", "job-1", "Rename the module.")).toMatchObject({ status: 0, stdout: "Renamed.\n", stderr: "" });
});

test("the agent runs what a rule or a person allows, and is told why not", async () => {
	const { cwd, env, write } = kitchen("approve", {
		replies: [
			{ blocks: [{ tool: "bash", arguments: { command: "npm test" } }] },
			{ blocks: [{ tool: "bash", arguments: { command: "touch allowed" } }] },
			{ blocks: [{ tool: "bash", arguments: { command: "touch denied" } }] },
			{ text: "Done." },
		],
	});
	write("package.json", JSON.stringify({ name: "x", version: "1.0.0", scripts: { test: "touch tested" } }));
	write("approve.mjs", recipe("Approve what the agent does", "js"));
	const host = spawn(process.execPath, ["approve.mjs", "Go."], { cwd, env });
	const answers = ["y", "use the staging registry"];
	const said = { stdout: "", stderr: "" };
	host.stdout.on("data", (chunk: Buffer) => {
		said.stdout += chunk;
	});
	host.stderr.on("data", (chunk: Buffer) => {
		said.stderr += chunk;
		// A person types when the question is on the screen.
		const asked = said.stderr.split("Allow? [y/N] ").length - 1;
		while (asked > 2 - answers.length && answers.length > 0) host.stdin.write(`${answers.shift()}\n`);
	});
	expect(await once(host, "close"), said.stderr).toEqual([0, null]);
	expect(said.stdout).toBe("Done.\n");
	expect(said.stderr.match(/Run a command: "[^"]*"/g)).toEqual(['Run a command: "touch allowed"', 'Run a command: "touch denied"']);
	expect(readdirSync(cwd)).toEqual(expect.arrayContaining(["allowed", "tested"]));
	expect(readdirSync(cwd)).not.toContain("denied");
});

test("the host of the container starts docker with the walls and the flags of the page", () => {
	const { run, write } = kitchen("container", { replies: [{ times: "always", text: "{{prompt}}" }] });
	// In place of docker: checks the options, then starts the image's entry point without a container.
	const docker = `#!/bin/sh
case "$*" in *"--read-only"*"--volume $PWD:/work"*" bowline --mode rpc"*) ;; *) echo "wrong options: $*" >&2; exit 1 ;; esac
while [ "$1" != bowline ]; do shift; done
exec "$@"
`;
	writeFileSync(join(folder, "bin/docker"), docker, { mode: 0o755 });
	write("contained.mjs", recipe("A container", "js"));
	try {
		expect(run(process.execPath, "contained.mjs", ".", "hello")).toMatchObject({ status: 0, stdout: "hello\n", stderr: "" });
	} finally {
		rmSync(join(folder, "bin/docker"));
	}
	const { name, version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
	const image = recipe("A container", "dockerfile");
	expect([...image.matchAll(/\S*\.tgz/g)].map(([path]) => path.split("/").at(-1))).toEqual(Array(3).fill(`${name}-${version}.tgz`));
	expect(image).toContain('ENTRYPOINT ["bowline"]');
});

const hasDaemon = spawnSync("docker", ["image", "inspect", "node:22-slim"]).status === 0;

testUnless(!hasDaemon && "docker with node:22-slim is not installed")("the image builds", { timeout: 300_000 }, () => {
	const cwd = join(folder, "image");
	mkdirSync(cwd);
	writeFileSync(join(cwd, "Dockerfile"), recipe("A container", "dockerfile"));
	execFileSync("npm", ["pack", "--ignore-scripts", "--silent", "--pack-destination", cwd], { cwd: root });
	execFileSync("docker", ["build", "--quiet", "--tag", "bowline-cookbook-test", "."], { cwd });
	expect(execFileSync("docker", ["run", "--rm", "bowline-cookbook-test", "--version"], { encoding: "utf8" })).toMatch(/^bowline \d/);
});

const toolchains = [
	{ language: "Go", block: "go", file: "main.go", compile: ["go", "build", "-o", "main", "main.go"], isThere: ["go", "version"] },
	{
		language: "Rust",
		block: "rust",
		file: "main.rs",
		compile: ["rustc", "--edition", "2021", "-D", "warnings", "main.rs"],
		isThere: ["rustc", "--version"],
	},
];

test.for(toolchains)(
	"the host in $language prints the reply, and the reason of a failure",
	{ timeout: 120_000 },
	({ language, block, file, compile, isThere }, { skip }) => {
		skip(spawnSync(isThere[0] as string, isThere.slice(1)).status !== 0, `${isThere[0]} is not installed`);
		const { env, cwd, run, write } = kitchen(block, { replies: [{ times: "always", text: "{{prompt}}" }] });
		write(file, recipe(`A host in ${language}`, block));
		const { status, stderr } = run(compile[0] as string, ...compile.slice(1));
		expect(status, stderr).toBe(0);
		const words = 'Say "hé" 😀\t\\ and\nmore';
		expect(run("./main", words)).toMatchObject({ status: 0, stdout: `${words}\n`, stderr: "" });
		const refused = spawnSync("./main", ["hello"], { cwd, env: { PATH: env.PATH, BOWLINE_DIR: env.BOWLINE_DIR }, encoding: "utf8" });
		expect(refused.status).toBe(1);
		expect(refused.stderr).toContain("refused: No model selected");
	},
);

test("the host in Perl runs its tool and asks its user", ({ skip }) => {
	skip(spawnSync("perl", ["-MJSON::PP", "-MIPC::Open2", "-e", "1"]).status !== 0, "perl is not installed with its modules");
	const call = (tool: string, args: object) => ({ blocks: [{ tool, arguments: args }] });
	const replies = [
		call("ask_stock", { article: "A-17" }),
		call("ask_stock", { article: "B-1" }),
		call("bash", { command: "echo one >one.txt" }),
		call("bash", { command: "echo two >two.txt" }),
		{ text: "{{prompt}}: 12 – done." },
	];
	const { cwd, env, write } = kitchen("perl", { replies });
	write("host.pl", recipe("A host in Perl", "perl"));
	const start = (answers: string, environment: NodeJS.ProcessEnv) =>
		spawnSync("perl", ["host.pl", "Wie viele? é"], { cwd, env: environment, encoding: "utf8", input: answers });
	// The first question is answered, and the input ends before the second.
	const { status, stdout, stderr } = start("2\n", env);
	expect([status, stderr]).toEqual([0, ""]);
	expect(stdout).toContain("1: Deny\n2: Allow once\n");
	expect(stdout).toContain("Wie viele? é: 12 – done.\n");
	expect(readdirSync(cwd).sort()).toEqual(["host.pl", "one.txt"]);
	const refused = start("", { PATH: env.PATH, BOWLINE_DIR: env.BOWLINE_DIR });
	expect([refused.status, refused.stderr]).toEqual([1, expect.stringContaining("refused: No model selected")]);
});
