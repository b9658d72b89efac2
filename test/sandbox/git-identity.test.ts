/** Git in a hidden home: it knows who commits, and shows nothing else of the user's configuration. */
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { describeUnless } from "../unless.ts";
import { apart, Machine, missing, together, users } from "./support.ts";

const machines: Machine[] = [];
afterEach(async () => {
	await Promise.all(machines.splice(0).map((machine) => machine.close()));
});
function machineOf(id?: number): Machine {
	const machine = new Machine(id);
	machines.push(machine);
	machine.git("init", "--quiet", "-b", "main");
	return machine;
}

const secrets = `
[credential]
	helper = "!f() { echo password=canary-helper; }; f"
[url "https://x:canary-token@git.example/"]
	insteadOf = https://git.example/
[http "https://git.example/"]
	extraHeader = Authorization: canary-header
[core]
	sshCommand = ssh -i canary-key
	hooksPath = /canary-hooks
[user]
	signingKey = canary-signing
[commit]
	gpgSign = true
[gpg]
	program = /canary-gpg
[alias]
	x = !echo canary-alias
[filter "lfs"]
	clean = canary-clean
`;
const identity = '[user]\n\tname = "Ada \\"The\\" Count; Lovelace"\n\temail = ada@home.example\n[init]\n\tdefaultBranch = trunk\n';

/** What each command said, in a session with a hidden home. */
async function said(machine: Machine, commands: readonly string[], more: readonly string[] = [], env: Record<string, string> = {}) {
	const { results, ready } = await machine.run([together(commands)], ["--sandbox", "workspace-write", "--set", "sandbox.home=hidden", ...more], env);
	expect(ready.sandbox).toMatchObject({ active: true, verified: true });
	return apart(results[0]?.text ?? "", commands.length);
}

describeUnless(missing)("git in a hidden home", () => {
	for (const { name, id } of users) {
		test(`commits, merges and rebases as the user, as ${name}`, async () => {
			const machine = machineOf(id);
			machine.write("home/.gitconfig", `${identity}${secrets}`);
			const outcome = await said(machine, [
				"echo 1 > one && git add one && git commit -qm One && git log -1 --format='%an <%ae> %cn'",
				"git config user.name && git config --global user.email",
				"git checkout -qb side && echo 2 > two && git add two && git commit -qm Two && git checkout -q main && echo 3 > three && git add three && git commit -qm Three && git merge -q side -m Merge",
				"git checkout -q side && echo 4 > four && git add four && git commit -qm Four && git rebase -q main && git log -1 --format=%ae",
				"git init -q new && git -C new symbolic-ref --short HEAD",
				"git config user.email ada@project.example; git -c user.email=ada@project.example commit -q --allow-empty -m Five && git log -1 --format=%ae",
			]);
			expect(outcome.slice(0, 5)).toEqual([
				{ status: 0, text: 'Ada "The" Count; Lovelace <ada@home.example> Ada "The" Count; Lovelace\n' },
				{ status: 0, text: 'Ada "The" Count; Lovelace\nada@home.example\n' },
				{ status: 0, text: "" },
				{ status: 0, text: "ada@home.example\n" },
				{ status: 0, text: "trunk\n" },
			]);
			expect(outcome[5]).toMatchObject({ status: 0, text: expect.stringMatching(/ada@project\.example\n$/) });
		});
	}

	test("shows no credential, address or program of the user's configuration, wherever it is", async () => {
		const machine = machineOf();
		machine.write(
			"home/.config/git/config",
			`${secrets}[include]\n\tpath = more/own.inc\n[includeIf "gitdir:${machine.folder}/"]\n\tpath = ~/work.inc\n`,
		);
		machine.write("home/.config/git/more/own.inc", `${identity}${secrets}[include]\n\tpath = own.inc\n`);
		machine.write("home/work.inc", `[user]\n\temail = ada@work.example\n${secrets}`);
		machine.write("home/elsewhere.inc", "[user]\n\temail = ada@elsewhere.example\n");
		machine.write("home/.gitconfig", '[includeIf "gitdir:/elsewhere/"]\n\tpath = elsewhere.inc\n');
		const [everything, who, files, change] = await said(machine, [
			"git config --list --show-origin",
			"git commit -q --allow-empty -m One && git log -1 --format='%an %ae'",
			"cat ~/.gitconfig ~/.config/git/config ~/work.inc; find ~ -type f; grep -rs canary ~",
			"git config --global user.name Other || echo x > ~/.gitconfig",
		]);
		expect(everything?.text).toContain("user.name=Ada");
		expect(everything?.text).not.toContain("canary");
		expect(who).toEqual({ status: 0, text: 'Ada "The" Count; Lovelace ada@work.example\n' });
		expect(files?.text).not.toContain("canary");
		expect(files?.text).toContain(`${machine.home}/.gitconfig`);
		expect(change?.status).not.toBe(0);
	});

	test("the project's own identity wins, and the file itself is shown where the user says so", async () => {
		const machine = machineOf();
		machine.write("home/dotfiles/gitconfig", `${identity}[alias]\n\tlast = log -1 --format=%ae\n`);
		symlinkSync("dotfiles/gitconfig", join(machine.home, ".gitconfig"));
		machine.git("config", "user.email", "ada@project.example");
		const commit = "git commit -q --allow-empty -m One && git log -1 --format='%an %ae'";
		const [own, alias] = await said(machine, [commit, "git last"]);
		expect(own).toEqual({ status: 0, text: 'Ada "The" Count; Lovelace ada@project.example\n' });
		expect(alias?.status).not.toBe(0);
		const shown = await said(
			machine,
			["cat ~/dotfiles/gitconfig"],
			["--set", `sandbox.readable=${JSON.stringify([join(machine.home, "dotfiles")])}`],
		);
		expect(shown[0]?.text).toContain("alias");
		const plain = machineOf();
		plain.write("home/.gitconfig", secrets);
		expect((await said(plain, ["git x"], ["--set", 'sandbox.readable=["~/.gitconfig"]']))[0]?.text).toBe("canary-alias\n");
	});

	test("is told nothing by a user without a configuration, and what GIT_CONFIG_GLOBAL names by one who has it elsewhere", async () => {
		const machine = machineOf();
		expect((await said(machine, ["test ! -e ~/.gitconfig && git config user.name"]))[0]?.text).toBe("");
		const file = machine.write("outside/gitconfig", identity);
		expect((await said(machine, ["git config user.email"], [], { GIT_CONFIG_GLOBAL: file }))[0]?.text).toBe("ada@home.example\n");
	});
});
