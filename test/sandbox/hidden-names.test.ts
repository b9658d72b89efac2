/** Every name of the list of hidden paths, as a real file with a key in it, and the places that variables move them to. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, afterEach, describe, expect, onTestFinished, test } from "vitest";
import { ConfinedFiles } from "../../src/sandbox/files.ts";
import { emptiedInHome, hiddenInHome, movedByVariable } from "../../src/sandbox/lists.ts";
import { Survey } from "../../src/sandbox/survey.ts";
import { describeUnless } from "../unless.ts";
import { groundIn } from "./ground.ts";
import { apart, folderOutsideTmp, Machine, missing, together } from "./support.ts";

const key = "canary-of-a-key";

describe("the list of hidden paths", () => {
	test("has no name twice, and none inside another", () => {
		expect(new Set(hiddenInHome).size).toBe(hiddenInHome.length);
		const names = new Set(hiddenInHome);
		const covered = hiddenInHome.filter((name) => {
			for (let at = dirname(name); at !== "."; at = dirname(at)) if (names.has(at)) return true;
			return false;
		});
		expect(covered).toEqual([]);
	});
});

describe("file tools", () => {
	const folders: string[] = [];
	afterEach(() => {
		for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
	});

	/** A project, and files in it that hold keys. Returns the names of those that a tool can read. */
	async function readableOf(names: readonly string[], variables: (folder: string) => Record<string, string>): Promise<string[]> {
		const folder = folderOutsideTmp();
		folders.push(folder);
		for (const name of ["work", "home", "user", "private/tmp", "private/var-tmp"]) mkdirSync(join(folder, name), { recursive: true });
		for (const name of names) {
			mkdirSync(dirname(join(folder, name)), { recursive: true });
			writeFileSync(join(folder, name), key);
		}
		const view = new Survey(groundIn(folder, { variables: variables(folder) })).readingView();
		const files = new ConfinedFiles(() => view);
		const read = async (name: string) => {
			try {
				await (await files.open(join(folder, name))).close();
				return [name];
			} catch (error) {
				expect((error as Error).message).toMatch(/cannot be read: the sandbox hides it/);
				return [];
			}
		};
		return (await Promise.all(names.map(read))).flat();
	}

	test("cannot read any of them, whether it is a file or a folder", async () => {
		const files = hiddenInHome.map((name) => `home/${name}`);
		const inFolders = hiddenInHome.map((name) => `home/${name}/key`);
		expect(await readableOf(["home/notes", ...files], () => ({}))).toEqual(["home/notes"]);
		expect(await readableOf(["home/notes", ...inFolders], () => ({}))).toEqual(["home/notes"]);
	});

	test("cannot read them where variables say that they are", async () => {
		const moved = (folder: string) => ({
			XDG_CONFIG_HOME: `${folder}/config`,
			CARGO_HOME: `${folder}/cargo`,
			AWS_SHARED_CREDENTIALS_FILE: `${folder}/aws-keys`,
			KUBECONFIG: `${folder}/one.yaml:${folder}/two.yaml`,
			// A project may keep one, and a variable may name what cannot be hidden as a whole.
			NPM_CONFIG_USERCONFIG: `${folder}/work/own.npmrc`,
			DOCKER_CONFIG: folder,
			HISTFILE: "/dev/null",
			PGPASSFILE: "pgpass",
		});
		const open = ["config/app.json", "cargo/config.toml", "work/index.ts", "home/notes"];
		const closed = ["config/gh/hosts.yml", "cargo/credentials.toml", "aws-keys", "one.yaml", "two.yaml", "work/own.npmrc"];
		expect(await readableOf([...open, ...closed], moved)).toEqual(open);
	});

	test("the variables move names that are hidden in the home", () => {
		const unknown = Object.values(movedByVariable).filter(
			(place) => ![...hiddenInHome, ...Object.keys(emptiedInHome)].some((name) => `${name}/`.startsWith(`${place}/`)),
		);
		expect(unknown).toEqual([]);
	});
});

describeUnless(missing)("commands in a sandbox", () => {
	const machine = new Machine();
	afterAll(() => machine.close());

	test("find an empty file where programs insist on one, and so do file tools", async () => {
		const own = new Machine();
		onTestFinished(() => own.close());
		const names = Object.keys(emptiedInHome);
		for (const name of names) own.write(`home/${name}`, key);
		const reads = names.map((name) => ({ tool: "read", arguments: { path: `~/${name}` } }));
		const { results } = await own.run([together(names.map((name) => `cat ~/${name}`)), ...reads], ["--sandbox", "workspace-write"]);
		const contents = Object.values(emptiedInHome);
		expect(apart(results[0]?.text ?? "", names.length)).toEqual(contents.map((text) => ({ status: 0, text })));
		expect(results.slice(1).map(({ isError, text }) => [isError, text.includes(key)])).toEqual(names.map(() => [false, false]));
		const shown = await own.run(["cat ~/.m2/settings.xml"], ["--sandbox", "workspace-write", "--set", 'sandbox.readable=["~/.m2/settings.xml"]']);
		expect(shown.results[0]?.text).toBe(key);
	});

	test("cannot read any of them, nor where a variable says that they are", async () => {
		for (const name of hiddenInHome) machine.write(`home/${name}`, key);
		machine.write("outside/config/gh/hosts.yml", key);
		for (const name of Object.keys(emptiedInHome)) machine.write(`home/${name}`, key);
		machine.write("outside/config/composer/auth.json", key);
		machine.write("home/notes", `${key} in notes`);
		const search = `grep -rs ${key} ~ ${machine.outside}`;
		const { results, ready } = await machine.run([search], ["--sandbox", "workspace-write"], { XDG_CONFIG_HOME: `${machine.outside}/config` });
		expect(ready.sandbox).toMatchObject({ active: true, verified: true });
		expect((results[0]?.text ?? "").split("\n").filter((line) => line.includes(key))).toEqual([`${machine.home}/notes:${key} in notes`]);
	});
});
