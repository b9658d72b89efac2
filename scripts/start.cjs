"use strict";
// Starts the program with the code that V8 compiled when it was built, which saves a tenth of the start.
// V8 refuses a cache of another version of itself, and compiles as usual.
const { readFileSync } = require("node:fs");
const { Script } = require("node:vm");
const filename = `${__dirname}/core.js`;
const read = (path) => {
	try {
		return readFileSync(path);
	} catch {
		return undefined;
	}
};
if (process.versions.bun) require("./core.js");
else {
	const source = `(function(exports,require,module,__filename,__dirname){${readFileSync(filename, "utf8")}\n})`;
	// V8 keeps the name in its cache: one that holds for every place the program is installed in.
	const script = new Script(source, { filename: "bowline/core.js", cachedData: read(`${__dirname}/core.cache`) });
	script.runInThisContext()(exports, require, module, filename, __dirname);
	module.exports = script;
}
