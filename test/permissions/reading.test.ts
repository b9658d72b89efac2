/** Where file tools read without a question in mode `edit`, and what they ask about. */
import { expect, test } from "vitest";
import { isSecret, isUsual } from "../../src/permissions/reading.ts";

const home = "/home/ada";
const places = {
	home,
	secrets: [`${home}/.ssh`, `${home}/.netrc`],
	temporary: ["/tmp"],
	open: [`${home}/reference`, `${home}/.ssh/known_hosts`, "/data/corpus"],
};

test.each([
	["headers and libraries of the system", "/usr/include/stdio.h"],
	["a package of the system's own Python", "/usr/local/lib/python3.12/site-packages/x.py"],
	["a store of packages", "/nix/store/abc-zlib/include/zlib.h"],
	["the directory for temporary files", "/tmp/build.log"],
	["a toolchain in the home directory", `${home}/.cargo/registry/src/index/serde/lib.rs`],
	["a version of node in the home directory", `${home}/.nvm/versions/node/v20/lib/node_modules/npm/index.js`],
	["what a setting names in the home directory", `${home}/reference/a.md`],
	["what a setting names elsewhere", "/data/corpus/a.txt"],
])("%s is read", (_, path) => {
	expect(isUsual(places, path)).toBe(true);
});

test.each([
	["another project", `${home}/other/a.ts`],
	["a file of configuration", `${home}/.config/tool/token`],
	["the home directory", home],
	["a directory above it", "/home"],
	["the root", "/"],
	["the home directory of another user", "/home/bob/notes"],
	["configuration of the system", "/etc/hosts"],
	["configuration of services that are installed locally", "/usr/local/etc/service.conf"],
	["processes", "/proc/self/environ"],
	["a name that only begins like one of them", "/usrx/a"],
])("%s is asked about", (_, path) => {
	expect(isUsual(places, path)).toBe(false);
});

test("a home directory among temporary files is a home directory", () => {
	const inTmp = { ...places, home: "/tmp/home", secrets: [] };
	expect([isUsual(inTmp, "/tmp/home/notes"), isUsual(inTmp, "/tmp"), isUsual(inTmp, "/tmp/other")]).toEqual([false, false, true]);
});

test.each(["/", "/tmp"])("a home directory of %s, as in a container, does not make everything below it private", (own) => {
	const container = { ...places, home: own };
	expect([isUsual(container, "/usr/include/stdio.h"), isUsual(container, "/tmp/build.log"), isUsual(container, "/etc/hosts")]).toEqual([
		true,
		true,
		false,
	]);
});

test("credentials are asked about, but for those that a setting names themselves", () => {
	const opened = { ...places, open: [...places.open, home] };
	for (const path of [`${home}/.ssh`, `${home}/.ssh/id_rsa`, `${home}/.netrc`]) expect(isSecret(opened, path)).toBe(true);
	for (const path of [`${home}/.ssh/known_hosts`, `${home}/.sshx`, `${home}/a`]) expect(isSecret(opened, path)).toBe(false);
});
