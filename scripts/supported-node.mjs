// Writes the check with which the program and the modules that others import begin: one sentence instead of a stack trace on an older Node.

/**
 * Returns an expression for the sentence that names the versions needed, or undefined on a supported one. It is plain enough for old versions to parse.
 * `range`: `engines.node` of the package file, as in `^20.19 || >=22.12`.
 */
export function unsupportedNode(range) {
	const parts = range.split("||").map((part) => {
		const [, sign, major, minor] = /^\s*(\^|>=)(\d+)\.(\d+)\s*$/.exec(part) ?? [];
		if (!sign) throw new Error(`engines.node: ${part} is neither ^major.minor nor >=major.minor`);
		return { sign, major, minor };
	});
	const fits = parts.map(({ sign, major, minor }) => {
		const sameMajor = `v[0] == ${major} && v[1] >= ${minor}`;
		return sign === "^" ? sameMajor : `v[0] > ${major} || ${sameMajor}`;
	});
	const needed = parts.map(({ major, minor }) => `${major}.${minor}`).join(", ");
	const sentence = `"Bowline needs Node ${needed} or newer; this is " + process.version + "."`;
	return `(function (v) { return ${fits.join(" || ")} ? undefined : ${sentence}; })(process.versions.node.split("."))`;
}
