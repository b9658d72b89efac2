/** Sessions inside: what goes on working, what ends, and what is refused when there are no walls. */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { describeUnless } from "../unless.ts";
import { toScript } from "../wire/support/script.ts";
import { apart, type Frame, Machine, missing, resultOf, running, together, until, users } from "./support.ts";

const machines: Machine[] = [];
afterEach(async () => {
	await Promise.all(machines.splice(0).map((machine) => machine.close()));
});
function machineOf(id?: number): Machine {
	const machine = new Machine(id);
	machines.push(machine);
	return machine;
}
const inside = ["--sandbox", "workspace-write"];

describeUnless(missing)("sessions in a sandbox", () => {
	/** What `ready` says about the sandbox, and the output of one command, when the agent is started in this way. */
	async function startedBy(machine: Machine, starter: readonly string[]) {
		const agent = machine.start([`id > /dev/null; echo x > ${machine.outside}/y; echo went on`], inside, {}, starter);
		const [ready] = await agent.until(({ type }) => type === "ready");
		const { sandbox } = ready as Frame & { sandbox: Record<string, unknown> };
		if (!sandbox.active) {
			agent.child.stdin.end();
			await agent.gone;
			return { sandbox, text: "" };
		}
		agent.send({ id: "1", type: "prompt", message: "go" });
		const frames = await agent.until(({ type }) => type === "agent_settled");
		agent.child.stdin.end();
		await agent.gone;
		return { sandbox, text: frames.filter(({ type }) => type === "tool_execution_end").map(resultOf)[0]?.text ?? "" };
	}

	const nsenter = "/usr/bin/nsenter";
	test.runIf(existsSync(nsenter))("each command has namespaces of its own where the cell cannot be entered, or nsenter is missing", async () => {
		const machine = machineOf();
		const broken = machine.write("nsenter", "#!/bin/sh\necho 'nsenter: Operation not permitted' >&2\nexit 1\n");
		chmodSync(broken, 0o755);
		for (const replacement of [broken, "/dev/null"]) {
			const { sandbox, text } = await startedBy(machine, ["bwrap", "--dev-bind", "/", "/", "--ro-bind", replacement, nsenter]);
			expect(sandbox).toMatchObject({ active: true, verified: true, cell: false });
			expect(text).toContain("went on");
			expect(readdirSync(machine.outside)).toEqual([]);
		}
	});

	for (const { name, id } of users) {
		test(`what people do in a project goes on working, as ${name}`, async () => {
			const machine = machineOf(id);
			machine.repository();
			// A submodule, and as a further root a worktree of a repository that is elsewhere.
			const other = machine.directory("other");
			const linked = machine.directory("linked");
			machine.git("-C", other, "init", "--quiet");
			machine.git("-C", other, "commit", "--quiet", "--allow-empty", "-m", "Beginning");
			machine.git("-C", other, "worktree", "add", "--quiet", linked);
			machine.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", other, "part");
			const identity = "-c user.name=a -c user.email=b";
			const mark = `server-of-${basename(machine.folder)}`;
			const works: Record<string, string> = {
				"files in the project": "mkdir -p a/b && echo x > a/b/c && mv a d && rm -r d",
				"temporary files": "f=$(mktemp) && echo x > $f && cat $f && test -w /var/tmp",
				"git commits": 'echo 1 > one && git add -A && git commit -qm One && test -z "$(git status --porcelain)"',
				"git branches and merges":
					"git checkout -q -b side && echo 2 > two && git add two && git commit -qm Two && git checkout -q main && git merge -q side && git branch -D side",
				"git stash, tags and gc": "echo 3 >> one && git stash -q && git stash pop -q && git tag t && git gc -q",
				"a worktree in the project": "git worktree add -q tree && cd tree && echo 4 > four && git add four && git commit -qm Four",
				"a submodule": `cd part && echo 6 > six && git add six && git ${identity} commit -qm Six && ! git config x.y z && ! echo x > .git`,
				"a worktree of another repository": `cd ${linked} && echo 7 > seven && git add seven && git ${identity} commit -qm Seven && ! git config x.y z && ! echo x > ${other}/x`,
				"a new repository": "git init -q fresh && cd fresh && git -c user.name=a -c user.email=b commit -q --allow-empty -m x",
				"hard links and renames across folders": "mkdir -p p q && echo x > p/x && ln p/x q/y && mv q/y p/z",
				"a compiler": "if command -v cc; then printf 'int main(){return 0;}' > m.c && cc m.c -o m && ./m; fi",
				"perl and pipes": "perl -e 'print 1' | cat && cat <(echo x) && echo y > /dev/stderr",
				python:
					"if command -v python3; then python3 -c 'import tempfile, subprocess; subprocess.run([\"true\"], check=True); tempfile.mkdtemp()'; fi",
				"npm scripts": `printf '{"name":"x","version":"1.0.0","scripts":{"t":"node -e 1"}}' > package.json && npm run t --offline`,
				"a server in the background": `${process.execPath} -e 'require("http").createServer((q,s)=>s.end("served")).listen(8123,"127.0.0.1")' ${mark} > /dev/null 2>&1 & echo started`,
				// Packets need EPERM from a kernel that only took capabilities away, and rings of calls EFAULT.
				"a filter of system calls": `perl -e 'socket(my $s, 17, 3, 0) || $! != 97 and exit 1; syscall(425, 1, 0) != -1 || $! != 1 and exit 2'`,
				"a process of its own": "sleep 600 & ps -p $! && kill $! && ! wait $!",
			};
			const next: Record<string, string> = {
				"the worktree in the next command": "cd tree && echo 5 > five && git add five && git commit -qm Five",
				"the server in the next command": `${process.execPath} -e 'const go=()=>require("http").get("http://127.0.0.1:8123",(r)=>r.on("data",(d)=>process.exit(String(d)==="served"?0:1))).on("error",()=>setTimeout(go,20));go()'`,
				"a socket inside": `${process.execPath} -e 'const n=require("net");const s=n.createServer(c=>c.end()).listen("/tmp/s",()=>n.connect("/tmp/s").on("connect",()=>process.exit(0)))'`,
				"shared memory": "echo x > /dev/shm/x && cat /dev/shm/x",
				"a limit of processes": "ulimit -u",
			};
			const { results } = await machine.run(
				[together(Object.values(works)), together(Object.values(next))],
				[...inside, "--set", `sandbox.writable=${JSON.stringify([linked])}`],
			);
			const failed = [works, next].flatMap((group, index) => {
				const ran = apart(results[index]?.text ?? "", Object.keys(group).length);
				return Object.keys(group).flatMap((work, at) => (ran[at]?.status === 0 ? [] : [`${work}: ${ran[at]?.text}`]));
			});
			expect(failed).toEqual([]);
			if (process.getuid?.() !== 0 || id !== undefined) expect(results[1]?.text).toMatch(/^2048$/m);
			await until(() => running(mark) === 0);
		});
	}

	test("results and the system prompt say what the walls are", async () => {
		const machine = machineOf();
		const agent = machine.start(["echo fine", "touch /usr/x"], inside);
		agent.send({ id: "1", type: "prompt", message: "go" });
		await agent.until(({ type }) => type === "agent_settled");
		// The host's own command runs outside.
		agent.send({ id: "b", type: "bash", command: `echo x > ${machine.outside}/by-host` });
		agent.send({ id: "s", type: "get_state", full: true });
		for (const answer of ["b", "s"]) await agent.until(({ id }) => id === answer);
		agent.child.stdin.end();
		await agent.gone;
		const results = agent.frames.filter(({ type }) => type === "tool_execution_end").map(resultOf);
		expect(results[0]).toMatchObject({
			isError: false,
			text: "fine\n",
			details: { sandbox: { applied: true, mode: "workspace-write", network: "off", denied: [] } },
		});
		expect(results[1]?.text).toContain(`[Ran in a sandbox: ${machine.work} and /tmp are writable, the network is off.]`);
		expect(results[1]?.details.sandbox).toMatchObject({ applied: true, note: expect.stringMatching(/^\[Ran in a sandbox: /) });
		const state = agent.frames.find(({ id }) => id === "s") as Frame & { data: { systemPrompt: string; sandbox: object } };
		expect(state.data.systemPrompt).toContain(`Commands and file tools are in a sandbox: ${machine.work} and /tmp are writable, the network is off.`);
		expect(state.data.sandbox).toMatchObject({ mode: "workspace-write", active: true, verified: true });
		expect(existsSync(join(machine.outside, "by-host"))).toBe(true);
	});

	test("read-only with a hidden home: commands and tools read the project and write nothing but temporary files", async () => {
		const machine = machineOf();
		machine.write("work/a.txt", "content\n");
		const calls = [
			"cat a.txt",
			"echo x > b",
			"echo x > /tmp/b && cat /tmp/b",
			{ tool: "write", arguments: { path: "c", content: "x" } },
			{ tool: "grep", arguments: { pattern: "content" } },
			// Nothing of the home is seen, and nothing can be made there.
			'test -z "$(ls -A ~)" && ! touch ~/x',
		];
		machine.write("home/.profile", "x");
		const { results, ready } = await machine.run(calls, [
			...["--sandbox", "read-only", "--set", "sandbox.home=hidden"],
			...["--tools", "bash,write,grep"],
		]);
		expect(ready.sandbox).toMatchObject({ mode: "read-only", active: true, verified: true, writable: [] });
		expect(results.map(({ isError }) => isError)).toEqual([false, true, false, true, false, false]);
		expect(results[4]?.text).toBe("a.txt:1: content");
		expect(readdirSync(machine.work)).toEqual(["a.txt"]);
	});

	test("searches see no hidden file and follow no link to one", async () => {
		const machine = machineOf();
		machine.write("home/.ssh/key", "needle\n");
		machine.write("work/a.txt", "needle\n");
		const find = (path: string) => ({ tool: "grep", arguments: { pattern: "needle", path } });
		for (const env of [{}, { BOWLINE_RG: "off" }] as Record<string, string>[]) {
			const { results } = await machine.run([find("."), find(machine.home), find(join(machine.home, ".ssh"))], [...inside, "--tools", "grep"], env);
			expect(results[0]?.text).toBe("a.txt:1: needle");
			expect(results[1]?.text).toBe("No matches found");
			expect(results[2]?.text).toContain("cannot be read: the sandbox hides it");
		}
	});

	test("an abort, the end of stdin and a kill end everything inside, whatever it has done to hide", async () => {
		for (const how of ["abort", "eof", "SIGKILL"]) {
			const machine = machineOf();
			const mark = `hidden-${how}-of-${basename(machine.folder)}`;
			// Two forks, a session of its own, no environment, no name that leads back.
			const hide = [
				`setsid bash -c 'env -i setsid bash -c "exec -a ${mark}-1 sleep 600" &' &`,
				`env -i bash -c 'exec -a ${mark}-2 sleep 600' & disown`,
				`exec -a ${mark}-3 sleep 600`,
			].join("\n");
			const agent = machine.start([hide], inside);
			agent.send({ id: "1", type: "prompt", message: "go" });
			await until(() => [1, 2, 3].every((number) => running(`${mark}-${number}\x00600`) === 1));
			if (how === "abort") {
				agent.send({ id: "2", type: "abort" });
				await agent.until(({ type }) => type === "agent_settled");
			} else if (how === "eof") agent.child.stdin.end();
			else agent.child.kill("SIGKILL");
			await until(() => running(mark) === 0);
		}
	});

	test("a cell that was killed is replaced by the next command", async () => {
		const machine = machineOf();
		const { results } = await machine.run(["echo one", "kill -9 -1", "echo three; touch /usr/x"], inside);
		expect(results.map(({ text }) => text.split("\n")[0])).toEqual(["one", expect.any(String), "three"]);
		expect(results[2]?.text).toContain("Read-only file system");
	});

	test("an isolated subagent writes to its copy alone, is verified there, its work comes back, and what runs in the background goes on", async () => {
		const machine = machineOf();
		machine.write("work/a.txt", "wrong\n");
		machine.repository();
		machine.git("add", "-A");
		machine.git("commit", "-q", "-m", "Files");
		const attempt = `echo right > a.txt; echo x > ${machine.work}/escaped || echo x > ${machine.outside}/escaped; git commit -qam Mended && echo committed`;
		const bash = (command: string) => `call bash ${JSON.stringify({ command })}`;
		const verify = { commands: [{ name: "test", command: `grep -q right a.txt && ! touch ${machine.work}/checked` }] };
		const task = { agent: "task", isolated: true, verify, tasks: [{ id: "Fix", description: "d", assignment: "Mend it." }] };
		const script = toScript(
			[
				// A repository that a command has just made: our own git has to protect it, too.
				`agent main + ${bash("sleep 600 & echo $! > /tmp/pid; git init -q nested")}`,
				`agent main + call #T task ${JSON.stringify(task)}`,
				`agent task + sees "Mend it." + ${bash(attempt)}`,
				'agent task + call submit_result {"result":{"data":"Mended."}}',
				`agent main + ${bash("ps -p $(cat /tmp/pid)")}`,
				'agent main + say "Good."',
			].join(" · "),
		);
		const { results, frames } = await machine.run(script, [
			...inside,
			"--set",
			"task.isolation.mode=worktree",
			"--set",
			`sandbox.writable=${JSON.stringify([machine.outside])}`,
		]);
		// Everything that was said is in the message, so that a failure explains itself.
		const said = results.map(({ text }) => text).join("\n---\n");
		expect(said).toContain("1 of 1 task succeeded");
		expect(frames.find(({ type }) => type === "subagent_verification_end")).toMatchObject({ status: "passed" });
		expect({ content: readFileSync(join(machine.work, "a.txt"), "utf8"), said }).toMatchObject({ content: "right\n" });
		expect({ isError: results.map(({ isError }) => isError), said }).toMatchObject({ isError: [false, false, false] });
		expect(
			existsSync(join(machine.work, "escaped")) || existsSync(join(machine.outside, "escaped")) || existsSync(join(machine.work, "checked")),
		).toBe(false);
	});

	describe("without walls", () => {
		const refusal = async (machine: Machine, flags: string[], env: Record<string, string> = {}) => {
			const { ready, frames, results } = await machine.run(["echo ran > ran"], flags, env);
			expect(results).toEqual([]);
			expect(existsSync(join(machine.work, "ran"))).toBe(false);
			expect(ready.sandbox).toMatchObject({ active: false, verified: false });
			return String(frames.find(({ type, success }) => type === "response" && success === false)?.error);
		};

		/** Drops its options and runs the command as it is. */
		const pretending =
			'[ "$1" = --version ] && { echo bubblewrap 0.8.0; exit; }\nwhile [ "$1" != -- ]; do [ "$1" = --info-fd ] && echo "{ \\"child-pid\\": $$ }" >&3; shift; done; shift\n[ -e /proc/self/fd/4 ] && cat <&4 >/dev/null\nexec "$@"\n';

		test("a bubblewrap that only pretends is found out", async () => {
			const machine = machineOf();
			const fake = machine.write("outside/bwrap", `#!/bin/bash\n${pretending}`);
			chmodSync(fake, 0o755);
			const text = await refusal(machine, [...inside, "--set", `sandbox.bwrapPath=${fake}`]);
			const names = "write_protected connect write_outside read_hidden processes socket network_namespace user_namespace".split(" ");
			expect(text).toContain(
				`The sandbox that this session requires is not available: the sandbox does not hold: ${names.map((name) => `${name} open`).join(", ")}`,
			);
		});

		test("a project in a home below the directory for temporary files is refused with the reason and the remedy", async () => {
			const machine = machineOf();
			const home = realpathSync(mkdtempSync(join("/tmp", "bowline-home-")));
			const work = join(home, "work");
			mkdirSync(work);
			const inWork = ["/bin/sh", "-c", `cd ${work} && exec "$@"`, "sh"];
			const readyOf = async (env: Record<string, string>) => {
				const agent = machine.start([], inside, env, inWork);
				const [ready] = await agent.until(({ type }) => type === "ready");
				agent.child.stdin?.end();
				await agent.gone;
				return ready?.sandbox;
			};
			try {
				expect(await readyOf({ HOME: home })).toMatchObject({
					active: false,
					reason: `the home directory ${home} is below /tmp, which commands see as a private directory of their own, with another home in it`,
					remedy: "Set HOME to a directory that is not below /tmp or /var/tmp.",
				});
				expect(await readyOf({})).toMatchObject({ active: true, verified: true });
			} finally {
				rmSync(home, { recursive: true });
			}
		});

		test("a bubblewrap that begins to pretend is found out by the next cell, by our own git, and after a change of mode", async () => {
			const machine = machineOf();
			machine.repository();
			const flag = join(machine.outside, "pretend");
			const fake = machine.write("outside/bwrap", `#!/bin/bash\n[ -e ${flag} ] && [ "$1" = --args ] || exec bwrap "$@"\n${pretending}`);
			chmodSync(fake, 0o755);
			const call = (command: string) => ({ blocks: [{ tool: "bash", arguments: { command } }] });
			const say = { text: "done" };
			const task = { agent: "task", isolated: true, tasks: [{ id: "Try", description: "d", assignment: "Try it." }] };
			const replies = [
				call("echo begun; sleep 600"),
				...[call("echo ran > two"), say],
				...[{ blocks: [{ tool: "task", arguments: task }] }, say],
				...[call("echo ran > three"), say],
				...[call("echo ran > four"), say],
			];
			const flags = ["--set", `sandbox.bwrapPath=${fake}`, "--set", "task.isolation.mode=worktree"];
			const agent = machine.start({ replies }, [...inside, ...flags]);
			const settled = async (id: string) => {
				const from = agent.frames.length;
				agent.send({ id, type: "prompt", message: "go" });
				await agent.until((frame) => frame.type === "agent_settled" && agent.frames.indexOf(frame) >= from);
				return agent.frames
					.slice(from)
					.filter(({ type }) => type === "tool_execution_end")
					.map(resultOf)[0]?.text;
			};
			const first = settled("1");
			await agent.until(({ type, partialResult }) => type === "tool_execution_update" && JSON.stringify(partialResult).includes("begun"));
			agent.send({ id: "a", type: "abort" });
			await first;
			writeFileSync(flag, "");
			expect(await settled("2")).toContain("The walls do not hold any more (write_protected open): the command was not run.");
			expect(await settled("t")).toContain("The walls do not hold any more (write_protected open): the command was not run.");
			rmSync(flag);
			expect(await settled("3")).toBe("(no output)");
			writeFileSync(flag, "");
			agent.send({ id: "m", type: "set_permission_mode", mode: "plan" });
			expect(await settled("4")).toMatch(/The walls do not hold any more \(.*write_outside.* open\): the command was not run\./);
			agent.child.stdin.end();
			await agent.gone;
			expect(["two", "three", "four"].map((name) => existsSync(join(machine.work, name)))).toEqual([false, true, false]);
		});

		test("user namespaces that are switched off are named with the remedy", async () => {
			const machine = machineOf();
			const agent = machine.start(["echo ran > ran"], inside, {}, ["bwrap", "--dev-bind", "/", "/", "--unshare-user", "--disable-userns", "--"]);
			agent.send({ id: "1", type: "prompt", message: "go" });
			await agent.until(({ type }) => type === "ready");
			agent.child.stdin.end();
			await agent.gone;
			const answer = agent.frames.find(({ type, success }) => type === "response" && success === false);
			expect(agent.frames[0]?.sandbox).toMatchObject({ active: false, verified: false, remedy: expect.stringContaining("Enable user namespaces") });
			expect(answer?.error).toMatch(
				/^The sandbox that this session requires is not available: bubblewrap cannot make user namespaces: .+\. Enable user namespaces \(user\.max_user_namespaces,/,
			);
			expect(existsSync(join(machine.work, "ran"))).toBe(false);
		});

		test("a missing bubblewrap is named with its remedy", async () => {
			const machine = machineOf();
			const text = await refusal(machine, [...inside, "--set", "sandbox.bwrapPath=/nowhere/bwrap"]);
			expect(text).toBe(
				"The sandbox that this session requires is not available: the program of sandbox.bwrapPath cannot be used: /nowhere/bwrap. Name an executable file outside every writable directory.",
			);
		});

		test("a directory that holds everything is no place for walls", async () => {
			const machine = machineOf();
			const text = await refusal(machine, [...inside, "--set", 'sandbox.writable=["/"]']);
			expect(text).toContain("/ cannot be a directory to write to: it holds everything. Start in a project's directory");
			expect(await refusal(machine, inside, { HOME: machine.work })).toContain("holds a home directory");
			expect(await refusal(machine, [...inside, "--set", `sandbox.writable=["${machine.folder}"]`])).toContain("it holds Bowline's own files");
		});

		test("sandbox.required false runs without them, and says so", async () => {
			const machine = machineOf();
			const agent = machine.start(["echo ran > ran"], [...inside, "--set", "sandbox.bwrapPath=/nowhere/bwrap", "--set", "sandbox.required=false"]);
			agent.send({ id: "1", type: "prompt", message: "go" });
			const frames = await agent.until(({ type }) => type === "agent_settled");
			expect(frames.filter(({ type }) => type === "tool_execution_end").map(resultOf)[0]).toMatchObject({ isError: false });
			expect(frames[0]?.sandbox).toMatchObject({ active: false, reason: expect.stringContaining("cannot be used") });
			expect(agent.stderr()).toContain("There is no sandbox, and sandbox.required is false: commands run without it.");
			agent.child.stdin.end();
			await agent.gone;
		});
	});

	test("external: the host vouches for commands, and file tools are held all the same", async () => {
		const machine = machineOf();
		machine.write("home/.ssh/key", "PRIVATE");
		const calls = [
			`echo x > ${machine.outside}/by-command`,
			{ tool: "write", arguments: { path: join(machine.outside, "by-tool"), content: "x" } },
			{ tool: "read", arguments: { path: join(machine.home, ".ssh/key") } },
			{ tool: "write", arguments: { path: "a.txt", content: "x" } },
		];
		const { results, ready } = await machine.run(calls, ["--sandbox", "external"]);
		expect(ready.sandbox).toMatchObject({ mode: "external", active: true, verified: false });
		expect(results.map(({ isError }) => isError)).toEqual([false, true, true, false]);
		expect(readdirSync(machine.outside)).toEqual(["by-command"]);
	});
});

if (missing) process.stderr.write(`sandbox tests left out: ${missing}\n`);
