/** `--contained` as hosts and people meet it: one word in, a real agent in a real sandbox. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { describeUnless } from "../unless.ts";
import { type Frame, Machine, missing } from "./support.ts";

const contained = ["--contained"];

function machineOf(): Machine {
	const machine = new Machine();
	onTestFinished(() => machine.close());
	machine.repository();
	return machine;
}

const dataOf = (frames: readonly Frame[], id: string) =>
	frames.find((frame) => frame.type === "response" && frame.id === id)?.data as Record<string, unknown>;

/** The state of a session that has run these calls. */
async function stateAfter(machine: Machine, calls: readonly string[], flags: readonly string[]) {
	const agent = machine.start(calls, flags);
	agent.send({ id: "1", type: "prompt", message: "go" });
	await agent.until(({ type }) => type === "agent_settled");
	agent.send({ id: "2", type: "get_state" });
	const frames = await agent.until(({ id }) => id === "2");
	agent.child.stdin.end();
	await agent.gone;
	return { state: dataOf(frames, "2"), frames };
}

describeUnless(missing)("one word", () => {
	test("holds commands and file tools to the project, and the network and the home directory away", async () => {
		const machine = machineOf();
		const secret = machine.write("home/.ssh/id_ed25519", "KEY");
		machine.write("work/.env", "API_KEY=KEY\n");
		const port = await machine.listen({ port: 0, host: "127.0.0.1" });
		const { results, frames } = await machine.run(
			[
				"echo made > made; cat made",
				`echo x > ${machine.outside}/made; cat ${secret} .env; true`,
				`exec 3<>/dev/tcp/127.0.0.1/${port} && cat <&3; true`,
				{ tool: "read", arguments: { path: secret } },
				{ tool: "read", arguments: { path: ".env" } },
				{ tool: "write", arguments: { path: join(machine.outside, "written"), content: "x" } },
			],
			contained,
		);
		expect(results[0]?.text.trim()).toBe("made");
		expect(results[1]?.text).toContain("API_KEY=masked-by-sandbox\n");
		expect(results[1]?.text).not.toContain("=KEY");
		expect(results[2]?.text).not.toContain("hello");
		expect(results.slice(3).map(({ isError }) => isError)).toEqual([true, false, true]);
		expect(results[4]?.text).toBe("API_KEY=masked-by-sandbox\n");
		expect(JSON.stringify(frames)).not.toContain('"KEY');
		expect(["made", "written"].filter((name) => existsSync(join(machine.outside, name)))).toEqual([]);
		expect(readFileSync(join(machine.work, "made"), "utf8")).toBe("made\n");
	});

	test("is in get_state, with what somebody made looser", async () => {
		const machine = machineOf();
		const { state } = await stateAfter(machine, [], contained);
		expect(state).toMatchObject({ safety: { name: "contained", loosened: [] }, permissionMode: "edit", sandbox: { active: true, network: "off" } });
		const loose = await stateAfter(machine, [], [...contained, "--set", "sandbox.network=on", "--permission-mode", "full"]);
		expect(loose.state.safety).toEqual({ name: "contained", loosened: ["permissions.mode", "sandbox.network"] });
		expect((await stateAfter(machine, [], [])).state).not.toHaveProperty("safety");
	});

	test("can be taken back: a rewind restores what a command destroyed", async () => {
		const machine = machineOf();
		machine.write("work/kept.txt", "kept\n");
		const agent = machine.start(["rm -rf kept.txt"], contained);
		agent.send({ id: "1", type: "prompt", message: "go" });
		await agent.until(({ type }) => type === "agent_settled");
		expect(existsSync(join(machine.work, "kept.txt"))).toBe(false);
		agent.send({ id: "2", type: "get_checkpoints" });
		const [first] = dataOf(await agent.until(({ id }) => id === "2"), "2").checkpoints as { entryId: string }[];
		agent.send({ id: "3", type: "rewind", entryId: first?.entryId });
		await agent.until(({ id }) => id === "3");
		expect(readFileSync(join(machine.work, "kept.txt"), "utf8")).toBe("kept\n");
		agent.child.stdin.end();
		await agent.gone;
	});

	test.each([
		"rm -rf .git; ls -A .git; true",
		"git reset -q --hard HEAD~1; git branch -D side; git stash drop -q; git reflog expire --expire=now --all; git gc -q --prune=now; git log --oneline",
	])("can be taken back with all of its commits: %s", async (destroy) => {
		const machine = machineOf();
		const git = (script: string) => execFileSync("sh", ["-c", script], { cwd: machine.work, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
		const name = "-c user.name=a -c user.email=a@b";
		git(`git ${name} commit -q --allow-empty -m last; git branch side; echo x > x; git add x; git ${name} stash -q`);
		const state = () =>
			git("git for-each-ref; git log --format=%H; git stash list; git status --porcelain; git fsck --connectivity-only --no-dangling");
		const before = state();
		const agent = machine.start([destroy], contained);
		agent.send({ id: "1", type: "prompt", message: "go" });
		await agent.until(({ type }) => type === "agent_settled");
		agent.send({ id: "2", type: "get_checkpoints" });
		const [first] = dataOf(await agent.until(({ id }) => id === "2"), "2").checkpoints as { entryId: string }[];
		agent.send({ id: "3", type: "rewind", entryId: first?.entryId });
		const { history } = dataOf(await agent.until(({ id }) => id === "3"), "3") as { history: { restored: unknown[]; problems?: string[] } };
		expect(history.problems).toBeUndefined();
		expect(history.restored).not.toEqual([]);
		agent.child.stdin.end();
		await agent.gone;
		expect(state()).toBe(before);
	});

	test("refuses each prompt with one sentence where the machine has no sandbox", async () => {
		const machine = machineOf();
		const agent = machine.start(["echo ran > ran"], [...contained, "--set", "sandbox.bwrapPath=/nowhere/bwrap"]);
		const sentence =
			"The sandbox that this session requires is not available: the program of sandbox.bwrapPath cannot be used: /nowhere/bwrap. Name an executable file outside every writable directory.";
		for (const id of ["1", "2"]) agent.send({ id, type: "prompt", message: "go" });
		agent.child.stdin.end();
		await agent.gone;
		expect(agent.frames.filter(({ success }) => success === false).map(({ error }) => error)).toEqual([sentence, sentence]);
		expect(agent.stderr()).toBe("");
		expect(existsSync(join(machine.work, "ran"))).toBe(false);
	});

	test("refuses changes where the files cannot be put back", async () => {
		const machine = machineOf();
		rmSync(join(machine.work, ".git"), { recursive: true });
		machine.write("user/checkpoints", "a file in the place of the directory");
		const { frames, results } = await machine.run(["echo ran > ran"], contained);
		const refusal = frames.find(({ type, success }) => type === "response" && success === false);
		expect([results, existsSync(join(machine.work, "ran"))]).toEqual([[], false]);
		expect(String(refusal?.error)).toMatch(
			/^There are no checkpoints here: .*This session is contained, so nothing is changed that cannot be put back/,
		);
	});
});

describeUnless(missing)("a session in a sandbox", () => {
	test("whose host leaves right after a prompt ends as one without a sandbox does", async () => {
		const machine = machineOf();
		const agent = machine.start(["echo ran"], ["--sandbox", "workspace-write"]);
		agent.send({ id: "1", type: "prompt", message: "go" });
		agent.child.stdin.end();
		await agent.gone;
		expect(agent.stderr()).toBe("");
		const types = agent.frames.map(({ type, success, error }) => (type === "response" ? (success ? "accepted" : error) : type));
		expect(types.toSorted()).toEqual(["Request was aborted", "accepted", "agent_end", "agent_settled", "ready"]);
	});
});
