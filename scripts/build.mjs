// Builds dist/: a lean CommonJS core, a chunk beside it for every module that is imported lazily, and in lib/ the doors for other programs.
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { build, transform } from "esbuild";
import { isBuilt } from "./fingerprint.mjs";
import { inlineBundles } from "./inline.mjs";
import { buildPage } from "./page.mjs";

if (process.argv.includes("--if-changed") && isBuilt()) process.exit();

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const dist = join(root, "dist");
/** Built beside and put in place at the end, so that a program that runs meanwhile finds whole files. */
const outdir = join(root, `.dist-${process.pid}`);
/** Optional packages that are found at run time or not at all. */
const external = ["@vscode/ripgrep", "sharp"];

/** Chunk name to what it is built from (a file, or code that names packages), found while building. */
const chunks = new Map();
/** Programs of threads: they are started by their file, so that no import leads to them. */
const workers = ["tools/search-worker"];
for (const name of workers) chunks.set(name.replaceAll("/", "-"), { file: join(root, "src", `${name}.ts`) });
/** Packages that went into some bundle. */
const bundled = new Set();

/** Large, and used by several chunks, often by all of them in one process: they share one copy. */
const sharedPackages = ["typebox", "typebox/compile", "typebox/value"];
const shared = "shared-typebox";

const sharing = {
	name: "sharing",
	setup({ onResolve, onLoad }) {
		onResolve({ filter: /^typebox(\/|$)/ }, ({ kind, path }) => (kind === "dynamic-import" ? undefined : { path, namespace: shared }));
		onLoad({ filter: /.*/, namespace: shared }, async ({ path }) => {
			if (!sharedPackages.includes(path)) throw new Error(`${path} must be in sharedPackages`);
			// Imports, so that all modules become one function: with `require` each is a function of its own, which loads much slower.
			const lines = sharedPackages.map((name, index) => `import * as m${index} from ${JSON.stringify(name)};`);
			const members = sharedPackages.map((name, index) => `${JSON.stringify(name)}: m${index}`);
			chunks.set(shared, { contents: `${lines.join("\n")}\nexport const packages = { ${members.join(", ")} };` });
			// Exports by name, of which a bundle keeps those that it uses. The members of a CommonJS module would all be copied, for every import.
			const names = Object.keys(await import(path));
			const exported = names.map((name) => {
				const picked = `/* @__PURE__ */ pick(${JSON.stringify(name)})`;
				return name === "default" ? `export default ${picked};` : `export const ${name} = ${picked};`;
			});
			const pick = `const pick = (name) => require("./${shared}.js").packages[${JSON.stringify(path)}][name];`;
			return { contents: [pick, ...exported].join("\n") };
		});
		onResolve({ filter: new RegExp(`^\\./${shared}\\.js$`) }, ({ path }) => ({ path, external: true }));
	},
};

/** Modules of Node that take a millisecond to load, and that a prompt may never need: they are loaded by the first call of one of their functions. */
const lateModules = ["node:fs/promises", "node:child_process"];

const loadedLate = {
	name: "loaded-late",
	setup({ onResolve, onLoad }) {
		const filter = new RegExp(`^(${lateModules.join("|")})$`);
		onResolve({ filter }, ({ kind, path, namespace }) =>
			kind === "import-statement" && namespace === "file" ? { path, namespace: "late" } : undefined,
		);
		onLoad({ filter, namespace: "late" }, async ({ path }) => {
			const load = `require(${JSON.stringify(path)})`;
			const members = Object.entries(await import(path)).filter(([name]) => name !== "default");
			const exported = members.map(([name, member]) => {
				// A class must be the real one, and so must what `promisify` treats in its own way.
				const isCalled = typeof member === "function" && /^[a-z]/.test(name) && (member[promisify.custom] ?? member) === member;
				return `export const ${name} = ${isCalled ? `(...given) => ${load}.${name}(...given)` : `/* @__PURE__ */ (() => ${load}.${name})()`};`;
			});
			return { contents: exported.join("\n") };
		});
	},
};

/** `place`: where the chunks are, seen from the bundle. */
const lazyImports = (place) => ({
	name: "lazy-imports",
	setup({ onResolve }) {
		onResolve({ filter: /.*/ }, ({ kind, path, resolveDir }) => {
			if (kind !== "dynamic-import" || path.startsWith("node:") || external.includes(path)) return undefined;
			const isLocal = path.startsWith(".");
			const file = isLocal ? resolve(resolveDir, path) : path;
			const name = isLocal ? relative(join(root, "src"), file).replace(/\.ts$/, "").replaceAll("/", "-") : path.replaceAll("/", "-");
			chunks.set(name, isLocal ? { file } : { contents: `module.exports = require(${JSON.stringify(path)})` });
			return { path: `${place}${name}.js`, external: true };
		});
	},
});

/** Of our own package file the program reads a few members. */
const manifest = {
	name: "manifest",
	setup({ onLoad }) {
		onLoad({ filter: /[\\/]package\.json$/ }, ({ path }) => {
			if (path !== join(root, "package.json")) return undefined;
			const { name, version, engines } = JSON.parse(readFileSync(path, "utf8"));
			return { contents: JSON.stringify({ name, version, engines }), loader: "json" };
		});
	},
};

const options = {
	bundle: true,
	platform: "node",
	format: "cjs",
	target: "node20",
	mainFields: ["module", "main"],
	// `import()` becomes a lazy `require`, which starts faster.
	supported: { "dynamic-import": false },
	define: { "import.meta.dirname": "__dirname" },
	minifyWhitespace: true,
	minifySyntax: true,
	// Stack traces still tell the methods.
	minifyIdentifiers: true,
	legalComments: "none",
	external,
	// Its ESM entry asks for import.meta.url, which a CommonJS bundle does not have.
	alias: { jiti: "./node_modules/jiti/lib/jiti.cjs" },
	plugins: [manifest, sharing, loadedLate, lazyImports("./"), inlineBundles(noteInputs)],
	absWorkingDir: root,
	logLevel: "warning",
	metafile: true,
};

/**
 * A bundle is a function, in parentheses so that V8 compiles it at once. Node's loader calls it. `scripts/start.cjs` runs the file as a script,
 * where `this` is the global object, and receives the function: it needs no second copy of the text to put a function around it.
 */
const callable = {
	banner: {
		js: "(f=>this===globalThis?f:f.call(exports,exports,require,module,__filename,__dirname))((function(exports,require,module,__filename,__dirname){",
	},
	footer: { js: "}))" },
};

mkdirSync(outdir, { recursive: true });
// The package is ESM; what the command runs is not.
writeFileSync(join(outdir, "package.json"), '{ "type": "commonjs" }\n');

async function bundle(settings) {
	const { metafile } = await build({ ...options, ...settings });
	noteInputs(Object.keys(metafile.inputs));
}

async function bundleCallable(settings) {
	await bundle({ ...settings, ...callable });
	escapeLetters(settings.outfile);
}

/** One letter outside ASCII makes V8 keep a whole bundle with two bytes per letter. esbuild leaves those of regular expressions. */
function escapeLetters(path) {
	const text = readFileSync(path, "utf8");
	const escaped = text.replace(/[^\0-\x7f]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`);
	if (escaped !== text) writeFileSync(path, escaped);
}

function noteInputs(inputs) {
	for (const input of inputs) {
		const found = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(input);
		if (found) bundled.add(found[1]);
	}
}

await bundleCallable({ entryPoints: ["src/app/cli.ts"], outfile: join(outdir, "core.js") });
writeFileSync(join(outdir, "bowline.js"), `#!/usr/bin/env node\n${readFileSync(join(root, "scripts/start.cjs"), "utf8")}`);
await buildDoors();
await buildPage(join(outdir, "page"), noteInputs);
const built = new Set();
for (let next = pending(); next.length; next = pending()) {
	await Promise.all(
		next.map(([name, { file, contents }]) => {
			built.add(name);
			const outfile = join(outdir, `${name}.js`);
			if (file) return bundleCallable({ entryPoints: [file], outfile });
			return bundleCallable({ stdin: { contents, resolveDir: root }, outfile, plugins: name === shared ? [] : options.plugins });
		}),
	);
}

/** What programs import: ECMAScript modules. They load the engine as a chunk like others. */
async function buildDoors() {
	const lib = join(outdir, "lib");
	mkdirSync(lib);
	writeFileSync(join(lib, "package.json"), '{ "type": "module" }\n');
	await bundle({
		entryPoints: { index: "src/index.ts", client: "src/client/index.ts", protocol: "src/protocol/index.ts" },
		outdir: lib,
		format: "esm",
		splitting: true,
		chunkNames: "[name]-[hash]",
		supported: {},
		define: {},
		// Host authors see this code in stack traces: Node prints the line that threw.
		minifyWhitespace: false,
		minifyIdentifiers: false,
		minifySyntax: false,
		plugins: [lazyImports("../")],
	});
	// For require(): the same module, so that there is one copy of its classes, and without Node's warning that this is new.
	for (const name of ["index", "client", "protocol"]) writeFileSync(join(lib, `${name}.cjs`), `module.exports = require("./${name}.js");\n`);
}

function pending() {
	return [...chunks].filter(([name]) => !built.has(name));
}

// Large, and loaded by people, exports, fleets, and sessions with MCP servers, subagents, records, clouds or stream rules: never by a plain start or prompt.
const commands = ["models", "doctor", "mcp", "export", "sessions", "config", "fleet", "fleet-work", "serve-fleet", "attach"].map(
	(name) => `app-commands-${name}`,
);
for (const name of [
	"jiti",
	"transcript-export-index",
	"chat-index",
	"live-mcp-servers",
	"subagents-isolation-index",
	"models-clouds-index",
	"policies-stream-rules-index",
	"fleet-postgres-queue",
	"serve-fleet-handlers",
	"subagents-task-call",
	"live-records",
	"app-help",
	...commands,
])
	compress(name);
importWithoutCopies();
chmodSync(join(outdir, "bowline.js"), 0o755);
await cacheCode();
writeFileSync(join(outdir, "THIRD_PARTY_NOTICES"), [...bundled].sort().map(notice).join("\n"));
if (existsSync(dist)) renameSync(dist, `${outdir}.old`);
renameSync(outdir, dist);
rmSync(`${outdir}.old`, { recursive: true, force: true });

/** A chunk that is large and seldom needed takes a quarter of its room: what is left of it unpacks itself. */
function compress(name) {
	const path = join(outdir, `${name}.js`);
	writeFileSync(join(outdir, `${name}.gz`), gzipSync(readFileSync(path), { level: 9 }));
	const parameters = ["exports", "require", "module", "__filename", "__dirname"];
	const source = `require("node:zlib").gunzipSync(require("node:fs").readFileSync(__dirname + "/${name}.gz")).toString()`;
	const compiled = `require("node:vm").compileFunction(${source}, ${JSON.stringify(parameters)}, { filename: "bowline/${name}.js" })`;
	writeFileSync(path, `${callable.banner.js}\n${compiled}.call(exports, ${parameters.join(", ")});\n${callable.footer.js}\n`);
}

/**
 * For every `import()`, each time, esbuild copies all members of the module into a new object, in case it was not written as an ES module.
 * Our chunks were, and turns import several of them.
 */
function importWithoutCopies() {
	const paths = readdirSync(outdir)
		.filter((name) => name.endsWith(".js"))
		.map((name) => join(outdir, name));
	const texts = new Map(paths.map((path) => [path, readFileSync(path, "utf8")]));
	const isModule = (name) => texts.get(join(outdir, name))?.includes("__esModule");
	for (const [path, text] of texts) {
		const plain = text.replace(/[\w$]+\(require\("\.\/([\w-]+\.js)"\),1\)/g, (whole, name) => (isModule(name) ? `require("./${name}")` : whole));
		if (plain !== text) writeFileSync(path, plain);
	}
}

/** Keeps what V8 compiled: what a start, a first prompt, a call of a tool, a command in the sandbox and the start of a server need. Of a chunk of several runs, the last. */
async function cacheCode() {
	const script = join(outdir, "warm.json");
	writeFileSync(script, JSON.stringify({ replies: [{ blocks: [{ tool: "bash", arguments: { command: "true" } }] }, { text: "ok" }] }));
	const runs = [compiledSandbox(), compiledServer(), compiled(["--provider", "scripted", "--model", script])];
	const { code: wire } = await transform(readFileSync(join(root, "test/models/wire.ts"), "utf8"), { loader: "ts" });
	const { askedBy, spoken } = await import(`data:text/javascript,${encodeURIComponent(wire)}`);
	for (const api of ["google", "chat", "responses", "anthropic"]) {
		const bodies = [spoken(api, { call: { name: "bash", arguments: ['{"command":"true"}'] } }), spoken(api, { text: ["ok"] })];
		const { flags, env } = askedBy(api, "http://127.0.0.1:PORT", "a-key-of-the-build");
		runs.push(compiled(flags, { env: { ...env, NO_PROXY: "127.0.0.1" }, bodies }));
	}
	for (const [name, code] of Object.entries(Object.assign({}, ...runs))) writeFileSync(join(outdir, name.replace(/\.js$/, ".cache")), code);
	rmSync(script);
}

/** The code of everything that is loaded until a prompt has settled. `bodies`: what a server on the loopback answers, at the PORT of `env`. */
function compiled(flags, { env = {}, bodies = [] } = {}) {
	const prompt = `
		let text = "";
		agent.stdout.on("data", (chunk) => {
			text += chunk;
			if (text.includes("agent_settled")) agent.stdin.end();
		});
		agent.stdin.write('{"type":"prompt","message":"go"}\\n');`;
	return codeOf(["--mode", "rpc", "--no-session", "--hermetic", ...flags], prompt, { env, bodies });
}

/** The same after a command in the sandbox, whose directory must not hold the program. Without bubblewrap here less is kept, and the rest is compiled as usual. */
function compiledSandbox() {
	const folder = mkdtempSync(join(tmpdir(), "bowline-build-"));
	const [cwd, user] = ["work", "user"].map((name) => join(folder, name));
	mkdirSync(cwd);
	const command = `
		let text = "";
		agent.stdout.on("data", (chunk) => {
			text += chunk;
			if (text.includes('"command":"bash"')) agent.stdin.end();
		});
		agent.stdin.write('{"type":"bash","command":"true","sandbox":true}\\n');`;
	const flags = ["--mode", "rpc", "--no-session", "--hermetic", "--sandbox", "workspace-write"];
	const code = codeOf(flags, command, { cwd, env: { BOWLINE_DIR: user }, stderr: "ignore" });
	rmSync(folder, { recursive: true, force: true });
	return code;
}

/** The same of a server that has answered its first request, and of one that has opened a socket: what a start needs alone is quicker to read. */
function compiledServer() {
	const end = "agent.kill('SIGTERM')";
	const health = `require("node:http").get(url + "/healthz", (response) => response.resume().on("end", () => ${end}));`;
	const socket = `
		const token = require("node:fs").readFileSync(tokenFile, "utf8").trim();
		const headers = { Authorization: "Bearer " + token, Connection: "Upgrade", Upgrade: "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "${"A".repeat(22)}==" };
		require("node:http").get(url + "/v1/socket", { headers }).on("upgrade", (response, stream) => { stream.destroy(); ${end}; });`;
	const directory = join(outdir, "served");
	const code = {};
	for (const request of [socket, health]) {
		const ask = `agent.stdout.once("data", (line) => { const { url, tokenFile } = JSON.parse(line); ${request} });`;
		// Its log is not an error.
		Object.assign(code, codeOf(["serve", "--port", "0", "--hermetic"], ask, { env: { BOWLINE_DIR: directory }, stderr: "ignore" }));
	}
	rmSync(directory, { recursive: true, force: true });
	return code;
}

/** What V8 has compiled when the program ends. `talk`: what its host does to make it end. `bodies`: what a server at the PORT of `env` answers. */
function codeOf(args, talk, { env = {}, stderr = "inherit", bodies = [], cwd = outdir } = {}) {
	const program = join(outdir, "bowline.js");
	const result = join(outdir, "compiled");
	const keep = `
		process.argv = [process.argv[0], ${JSON.stringify(program)}, ...${JSON.stringify(args)}];
		const code = () => Object.fromEntries([...require(${JSON.stringify(program)})].map(([name, script]) => [name, script.createCachedData().toString("base64")]));
		process.on("exit", () => require("node:fs").writeFileSync(${JSON.stringify(result)}, JSON.stringify(code())));
		require(${JSON.stringify(program)});`;
	const host = `
		const bodies = ${JSON.stringify(bodies)};
		const server = require("node:http").createServer((request, response) => {
			request.resume().on("end", () => response.writeHead(200, { "content-type": "text/event-stream" }).end(bodies.shift()));
		});
		server.listen(0, "127.0.0.1", () => {
			const own = ${JSON.stringify(Object.entries(env))}.map(([name, value]) => [name, value.replace("PORT", server.address().port)]);
			const env = { ...process.env, ...Object.fromEntries(own) };
			const agent = require("node:child_process").spawn(process.execPath, ["-e", ${JSON.stringify(keep)}], { env, stdio: ["pipe", "pipe", ${JSON.stringify(stderr)}] });
			agent.on("close", () => server.close());
			${talk}
		});`;
	execFileSync(process.execPath, ["-e", host], { cwd, stdio: "inherit", timeout: 60_000 });
	const code = JSON.parse(readFileSync(result, "utf8"));
	rmSync(result);
	return Object.fromEntries(Object.entries(code).map(([name, text]) => [name, Buffer.from(text, "base64")]));
}

function notice(name) {
	const folder = join(root, "node_modules", name);
	const { version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
	const file = existsSync(folder) && readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
	return `${name} ${version} (${license})\n\n${file ? readFileSync(join(folder, file), "utf8") : ""}`;
}
