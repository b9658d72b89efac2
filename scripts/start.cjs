"use strict";
// Loads the program and its chunks with the code that V8 compiled when they were built: a quicker start, a quicker first prompt, less memory.
// V8 refuses a cache of another version of itself, and compiles as usual.
const { readFileSync } = require("node:fs");
const { Script } = require("node:vm");
const read = (path) => {
	try {
		return readFileSync(path);
	} catch {
		return undefined;
	}
};
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
	// A chunk as a script is the function of the chunk, see `scripts/build.mjs`. V8 keeps the name in its cache: one that holds for every place the program is installed in.
	const script = new Script(readFileSync(path, "utf8"), { filename: `bowline/${name}`, cachedData: read(path.replace(/\.js$/, ".cache")) });
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
	return loaded.exports;
}
if (process.versions.bun) require("./core.js");
else load("./core.js");
module.exports = scripts;
