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
	const script = new Script(readFileSync(path, "utf8"), { filename: `bowline/${name}`, cachedData });
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
	if (!isPatient && require.main === module && inLoops.every((each) => modules.has(each))) {
		isPatient = true;
		setTimeout(optimizeLater, 200).unref();
	}
	return loaded.exports;
}
/** Once these are loaded, turns with tools follow each other, and every chunk whose code was kept is in use. */
const inLoops = ["./session-run.js", "./lib-shell-index.js"];
let isPatient = false;
/**
 * An agent runs most of its functions some hundred times. V8 would spend a fifth of a long run's time on optimizing them, just when the run
 * ends; eight times its usual patience still optimizes what streams text. Not earlier: V8 refuses kept code once its flags have changed. Not
 * while the code to keep is made, for the same reason: the build requires this file.
 */
function optimizeLater() {
	process.getBuiltinModule?.("node:v8").setFlagsFromString("--interrupt-budget=540672");
}
if (process.versions.bun) require("./core.js");
else load("./core.js");
module.exports = scripts;
