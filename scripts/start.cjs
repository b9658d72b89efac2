"use strict";
// Loads the program and its chunks with the code that V8 compiled when they were built: a quicker start, a quicker first prompt, less memory.
// V8 refuses a cache of another version of itself, and compiles as usual.
const { closeSync, fstatSync, openSync, readFileSync, readSync } = require("node:fs");
const { Script } = require("node:vm");
/** The bytes of a file in memory that can be given back at once: V8 has its own copy as soon as it has read them. */
function read(path) {
	let descriptor;
	try {
		descriptor = openSync(path, "r");
		const { size } = fstatSync(descriptor);
		const bytes = new Uint8Array(new ArrayBuffer(size, { maxByteLength: size }));
		return readSync(descriptor, bytes) === size ? bytes : undefined;
	} catch {
		return undefined;
	} finally {
		if (descriptor !== undefined) closeSync(descriptor);
	}
}
const scripts = new Map();
const modules = new Map();
function load(id) {
	const known = modules.get(id);
	if (known) return known.exports;
	if (!id.startsWith("./")) {
		// Every module of a bundle asks for node's modules; node's own lookup is slower.
		const found = { exports: require(id) };
		if (id.startsWith("node:")) modules.set(id, found);
		return found.exports;
	}
	const name = id.slice(2);
	const path = `${__dirname}/${name}`;
	const cachedData = read(path.replace(/\.js$/, ".cache"));
	// A chunk as a script is the function of the chunk, see `scripts/build.mjs`. V8 keeps the name in its cache: one that holds for every place
	// the program is installed in.
	const source = readFileSync(path, "utf8");
	setFlags("usual");
	const script = new Script(source, { filename: `bowline/${name}`, cachedData });
	setFlags("ours");
	cachedData?.buffer.resize(0);
	scripts.set(name, script);
	const loaded = { exports: {} };
	modules.set(id, loaded);
	try {
		script.runInThisContext().call(loaded.exports, loaded.exports, load, loaded, path, __dirname);
	} catch (error) {
		// As with `require`: the next call tries again.
		modules.delete(id);
		throw error;
	}
	if (require.main === module) optimizeLess(id);
	return loaded.exports;
}
/** The flags of V8 that were changed. It refuses kept code while they are, so they are as usual while a chunk is read. */
const changed = [];
function setFlags(which) {
	for (const flag of changed) process.getBuiltinModule?.("node:v8").setFlagsFromString(`${flag.name}=${flag[which]}`);
}
/**
 * An agent runs most of its functions some hundred times, and a reply goes through a long chain of small ones: V8 would spend as much time on
 * optimizing them as they take. Not while the code to keep is made, which flags would make useless: the build requires this file.
 */
function optimizeLess(id) {
	// A run begins. Each function of a chain would be optimized together with the whole chain below it. Later, while the model thinks: what sets
	// flags takes some milliseconds to load, which the first prompt does not wait for.
	if (id === "./session-run.js") setTimeout(change, 40, { name: "--max-inlined-bytecode-size-cumulative", usual: 920, ours: 100 }).unref();
	if (isPatient || !inLoops.every((each) => modules.has(each))) return;
	isPatient = true;
	// Optimizing what runs some hundred times would end just when the run does. This still optimizes what streams text.
	setTimeout(change, 200, { name: "--interrupt-budget", usual: 67584, ours: 8 * 67584 }).unref();
}
function change(flag) {
	changed.push(flag);
	setFlags("ours");
}
/** Once these are loaded, turns with tools follow each other. */
const inLoops = ["./session-run.js", "./lib-shell-index.js"];
let isPatient = false;
if (process.versions.bun) require("./core.js");
else load("./core.js");
module.exports = scripts;
