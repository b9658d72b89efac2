// Preloaded into an agent whose clock a test sets: the real time and the milliseconds that the file TEST_CLOCK holds.
const { readFileSync } = require("node:fs");

const Real = Date;
const now = () => {
	let ahead = 0;
	try {
		ahead = Number(readFileSync(process.env.TEST_CLOCK, "utf8"));
	} catch {
		// Not set yet.
	}
	return Real.now() + ahead;
};
globalThis.Date = class extends Real {
	constructor(...given) {
		super(...(given.length > 0 ? given : [now()]));
	}
	static now() {
		return now();
	}
};
