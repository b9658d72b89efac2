/** Copies of files of variables: every name stays, no value does, and what is not understood is not shown at all. */
import { describe, expect, test } from "vitest";
import { isEnvFile } from "../../src/lib/env-files.ts";
import { maskedText, maskedWhole, withoutCredentials } from "../../src/sandbox/masked-text.ts";

const mask = (text: string, onlySecrets = false) => maskedText(Buffer.from(text), { onlySecrets });

test("names, empty values, switches and the shape of values stay", () => {
	const text = [
		"# Settings of the shop",
		"API_KEY=sk-live-canary",
		'export NAME="two words # canary"',
		"  SPACED = 'canary'  # canary",
		"YAML: canary",
		"EMPTY=",
		'QUOTED=""',
		"DEBUG=true",
		"PORT=3000",
		"RATE=0.75",
		"DATABASE_URL=postgres://user:canary@db.example:5432/shop",
		"MAIL=canary@shop.example",
		`JWT_SECRET=${"canary".repeat(6)}`,
		'FLAGS={"canary":1}',
		"export API_KEY NAME",
		"",
	].join("\n");
	expect(mask(text)).toBe(
		[
			"# Settings of the shop",
			"API_KEY=masked-by-sandbox",
			'export NAME="masked-by-sandbox-masked-by-sand"',
			"  SPACED = 'masked-by-sandbox'",
			"YAML: masked-by-sandbox",
			"EMPTY=",
			'QUOTED=""',
			"DEBUG=true",
			"PORT=1024",
			"RATE=1",
			"DATABASE_URL=postgres://masked.invalid/masked-by-sandbox",
			"MAIL=masked-by-sandbox@masked.invalid",
			`JWT_SECRET=${"masked-by-sandbox-".repeat(4).slice(0, 64)}`,
			"FLAGS={}",
			"export API_KEY NAME",
			"",
		].join("\n"),
	);
});

test("values of several lines, continued lines and other line ends", () => {
	expect(mask('KEY="-----BEGIN X-----\nMIICanary==\n-----END X-----"\nNEXT=canary\n')).toBe(
		'KEY="masked-by-sandbox-masked-by-sandbox-masked-by-sandbox-masked-by-"\nNEXT=masked-by-sandbox\n',
	);
	expect(mask("A='canary\r\nsecond=canary'\r\nB=canary\r\n")).toBe("A='masked-by-sandbox-masked-by-sand'\r\nB=masked-by-sandbox\r\n");
	expect(mask('A="with \\" canary"\nB=`canary\ncanary`\n')).toBe('A="masked-by-sandbox"\nB=`masked-by-sandbox`\n');
	expect(mask("A=canary\\\ncanary=more\nB=canary")).toBe("A=masked-by-sandbox-masked-by-sand\nB=masked-by-sandbox");
	expect(mask("A=canary\rB=canary\r")).toBe("A=masked-by-sandbox\rB=masked-by-sandbox\r");
	expect(mask("\ufeffA=canary\n")).toBe("A=masked-by-sandbox\n");
	expect(mask("A=can\u2028ary\n")).toBe("A=masked-by-sandbox\n");
});

test("comments keep plain words, and variables that are commented out their names", () => {
	expect(mask("# OLD_KEY=canary\n#export TOKEN='canary'\n")).toBe("# OLD_KEY=masked-by-sandbox\n#export TOKEN='masked-by-sandbox'\n");
	expect(mask("# the password is swordfish\n# user canary7 on db.example (see README)\n#\n####\n")).toBe(
		"# masked-by-sandbox\n# user … on … (see README)\n#\n####\n",
	);
});

test("a large file of any characters comes to an end", () => {
	const pieces = [" ", "A=", ":", "://", "://:", "@.", "a.", "\\", "'", "# ", "export A ", "token", "A=1 #"];
	const results = pieces.flatMap((piece) => {
		const text = piece.repeat(200_000 / piece.length);
		const files = [`A=${text}!`, `A='${text}!`, `# ${text}!`, `export ${text}!`, `A=://${text}!`, `${text}!`].map((each) => Buffer.from(each));
		return files.flatMap((file) => [maskedText(file), maskedText(file, { onlySecrets: true }), withoutCredentials(file)]);
	});
	expect(results.filter((text) => text === "")).toEqual([]);
});

describe("a text is replaced as a whole", () => {
	test.each([
		["a line that is no variable", "A=1\ncanary\n"],
		["a key in several lines without quotes", "KEY=-----BEGIN X-----\nMIIcanary\n-----END X-----\n"],
		["the last line of such a key", "MIIcanarY5==\n"],
		["a token alone", "Y2FuYXJ5Cg=\n"],
		["a quote that does not end", 'A="canary\nB=canary\n'],
		["words of a shell", "A=$(cat <<EOF\ncanary\nEOF\n)\n"],
		["pieces in quotes that go on", "A='one'\"canary\ncanary=more\"\n"],
		["JSON", '{"A":"canary"}'],
		["sections", "[default]\nA=canary\n"],
	])("for %s", (_, text) => {
		expect(mask(text)).toBe(maskedWhole);
		expect(mask(text, true)).toBe(maskedWhole);
	});

	test("for bytes that are no text", () => {
		expect(maskedText(Buffer.from([65, 61, 0xff, 0xfe]))).toBe(maskedWhole);
		expect(mask("A=1\0canary")).toBe(maskedWhole);
	});
});

test("where git has the same content, only what looks like a secret is masked", () => {
	const text = [
		"# Where the shop listens",
		"APP_ENV=dev",
		"PORT=3000",
		"SITE=https://shop.example/start",
		"API_KEY=canary",
		"CACHE=redis://user:canary@cache.example",
		"OTHER=canary0Abcdefghij1234",
		"FILE=./data/canary",
		["REF=$", "{API_KEY}"].join(""),
		"",
	].join("\n");
	expect(mask(text, true)).toBe(
		text
			.replace("API_KEY=canary", "API_KEY=masked-by-sandbox")
			.replace("redis://user:canary@cache.example", "redis://masked.invalid/masked-by-sandbox")
			.replace("canary0Abcdefghij1234", "masked-by-sandbox-masked-by-sand"),
	);
	const harmless = "APP_ENV=dev\r\n\r\n  # Words of all kinds: 12, x=1\r\nA='b'   # c\r\n";
	expect(mask(harmless, true)).toBe(harmless);
});

test("files of package managers lose their tokens and passwords alone", () => {
	const rid = (text: string) => withoutCredentials(Buffer.from(text));
	const npm = [
		"registry=https://npm.example/",
		"save-exact=true",
		"//npm.example/:_authToken=canary",
		'//other.example/path/:_password = "canary"',
		"_auth=Y2FuYXJ5",
		["//third.example/:_authToken=$", "{NPM_TOKEN}"].join(""),
		"proxy=http://user:canary@proxy.example:8080",
		"; a comment",
		"",
	].join("\r\n");
	expect(rid(npm)).toBe(
		npm
			.replace("_authToken=canary", "_authToken=masked-by-sandbox")
			.replace('"canary"', '"masked-by-sandbox"')
			.replace("Y2FuYXJ5", "masked-by-sandbox")
			.replace("user:canary@", "masked-by-sandbox@"),
	);
	expect(rid('npmScopes:\n  shop:\n    npmRegistryServer: "https://npm.example"\n    npmAuthToken: "canary"\n')).toBe(
		'npmScopes:\n  shop:\n    npmRegistryServer: "https://npm.example"\n    npmAuthToken: "masked-by-sandbox"\n',
	);
	expect(rid("[pypi]\nrepository = https://pypi.example\nusername = canary\npassword: canary\n")).toBe(
		"[pypi]\nrepository = https://pypi.example\nusername = masked-by-sandbox\npassword: masked-by-sandbox\n",
	);
	expect(rid("machine git.example\n  login canary\n  password canary\n")).toBe(
		"machine git.example\n  login masked-by-sandbox\n  password masked-by-sandbox\n",
	);
	expect(rid("machine git.example login canary password canary\n")).not.toContain("canary");
	const plain = "registry=https://npm.example/\nsave-exact=true\nnodeLinker: node-modules\n";
	expect(rid(plain)).toBe(plain);
	expect(withoutCredentials(Buffer.from([0xff]))).toBe(maskedWhole);
});

test("no text shows a value, whatever is around it", () => {
	const pieces = ["A", "B_C", "=", " = ", ": ", "'", '"', "`", "\\", "\n", "\r\n", "#", " ", "export ", "$", "{", "}", "-", "canary7Zq"];
	let seed = 7;
	const random = (count: number) => {
		seed = (seed * 1103515245 + 12345) % 2147483648;
		return Math.floor((seed / 2147483648) * count);
	};
	for (let round = 0; round < 20_000; round += 1) {
		const text = Array.from({ length: 1 + random(14) }, () => pieces[random(pieces.length)]).join("");
		// A name may be anything, so the value is never where a name could begin.
		if (/(^|[\n\r#"'`\s])\s*(export\s+)?[\w.-]*canary7Zq[\w.-]*(\s*[=:]|\s*$)/m.test(text)) continue;
		if (/export\s+[\w\s]*canary7Zq/.test(text)) continue;
		expect([text, mask(text)][1], JSON.stringify(text)).not.toContain("canary7Zq");
	}
});

test("which names are meant", () => {
	const meant = [".env", ".env.local", ".env.production", ".env-prod", ".env_dev", ".ENV", "docker.env", "prod.env.bak", "..env.swp", ".env~"];
	meant.push(".envrc", ".flaskenv", ".dev.vars", ".dev.vars.staging", ".secrets", ".env.json", ".env.local.php.bak");
	expect(meant.filter((name) => !isEnvFile(name))).toEqual([]);
	const others = [".env.example", ".env.sample", ".env.template", ".env.dist", ".env.local.example", ".env-example", "env", "environment.ts"];
	others.push(".environment", "vite-env.d.ts", "app.env.ts", ".env.js", "README.env.md", ".npmrc", "dotenv", ".envoy.yaml");
	expect(others.filter(isEnvFile)).toEqual([]);
});
