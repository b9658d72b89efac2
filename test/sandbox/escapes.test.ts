/** Ways out. Each is tried with the sandbox off, to show that it works there, and with it on, as root and as an ordinary user. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { describeUnless } from "../unless.ts";
import { apart, Machine, missing, together, users, type Victim } from "./support.ts";

const machines: Machine[] = [];
const directories: string[] = [];
afterAll(async () => {
	await Promise.all(machines.map((machine) => machine.close()));
	for (const directory of directories) rmSync(directory, { recursive: true, force: true });
});

const node = (code: string) => `${process.execPath} -e '${code}'`;
const connectsTo = (path: string) => node(`require("net").connect(${path}).on("connect",()=>process.exit(0)).on("error",()=>process.exit(1))`);

interface Scene {
	machine: Machine;
	port: number;
	victim: Victim;
	/** Like the one that a login makes; only root can make one. */
	runtime: string | undefined;
}

/** Those that look at all processes are quiet: on a machine with many, their complaints are longer than the output that is kept. */
const escapes: Record<string, (scene: Scene) => string> = {
	"a write outside": ({ machine }) => `echo x > ${machine.outside}/written`,
	"a write through a link": ({ machine }) => `ln -sf ${machine.outside}/linked way && echo x > way`,
	"a hard link to a file outside": ({ machine }) => `ln ${machine.outside}/file hard && echo x >> hard`,
	"a file moved out": ({ machine }) => `echo x > moved && mv moved ${machine.outside}/moved && test -e ${machine.outside}/moved`,
	"a start file of the shell": () => "echo x >> ~/.bashrc",
	"a file of the home through the root of another process": () =>
		"for root in /proc/[0-9]*/root; do { echo x > $root/$HOME/planted; } 2>/dev/null && exit 0; done; exit 1",
	"a key in the home": () => "grep -q PRIVATE ~/.ssh/id_test",
	"a key in the home, through another process": () => "cat /proc/[0-9]*/root/$HOME/.ssh/id_test 2>/dev/null | grep -q PRIVATE",
	"a key in the home, through its folder": () => "cd ~ && find . -name id_test | grep -q .",
	"a file of the user directory": ({ machine }) => `grep -q SECRET ${machine.user}/models.jsonc`,
	"the environment of the agent": () => "cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | grep -q '^SECRET_TOKEN=canary'",
	"a variable of the host": () => 'test -n "$SECRET_TOKEN"',
	"a signal to another process": ({ victim }) => `kill -0 ${victim.pid} && grep -q ${victim.mark} /proc/${victim.pid}/cmdline`,
	"a server on the host's loopback": ({ port }) => `exec 3<>/dev/tcp/127.0.0.1/${port}`,
	"a socket in the home": ({ machine }) => connectsTo(`"${machine.home}/agent.sock"`),
	"a socket in the home, with a relative name": ({ machine }) => connectsTo(`"${machine.home}/victim.sock"`),
	"a socket in the project": ({ machine }) => connectsTo(`"${machine.work}/host.sock"`),
	"an abstract socket": ({ machine }) => connectsTo(`"\\0${machine.folder}"`),
	"a hook": () => "echo 'echo x' > .git/hooks/pre-commit",
	"git's configuration": () => "git config core.fsmonitor evil",
	"git's configuration, past git": () => "echo '[core]' >> .git/config",
	"a configuration of the worktree": () => "echo '[core]' > .git/config.worktree",
	"another git directory in its place": () => "mv .git away && cp -r away .git && echo x > .git/hooks/post-commit",
	"the folder of the hooks, renamed": () => "mv .git/hooks .git/old && mkdir .git/hooks && echo x > .git/hooks/pre-push",
	"a hook of a nested repository": () => "echo x > nested/.git/hooks/pre-commit",
	"settings of this agent": () => "mkdir -p .bowline && echo '{}' > .bowline/settings.jsonc",
	"tasks of an editor": () => "echo '{}' > .vscode/tasks.json",
	"a list of servers for agents": () => "echo '{}' > .mcp.json",
	"a namespace of its own": () => "unshare -Ur true",
	// Outside, the kernel answers that this is not a terminal. Inside, the sandbox stops the call first.
	"a character typed into a terminal": () => `perl -e 'open F, "<", "/dev/null"; ioctl F, 0x5412, my $typed = "x"; exit($! == 1)'`,
};
/** Only root can do these at all. */
const rootEscapes: typeof escapes = {
	"a setting of the kernel": () => ": >> /proc/sys/kernel/core_pattern",
	"passwords of the system": () => "cat /etc/shadow",
	"the memory of another process": ({ victim }) => `grep -q ${victim.mark} /proc/${victim.pid}/cmdline && : <> /proc/${victim.pid}/mem`,
	"a socket in a runtime directory": ({ runtime }) => connectsTo(`"${runtime}/bus"`),
	"a disk": () => "mknod /dev/shm/disk b 1 0 && head -c 1 /dev/shm/disk || test -b /dev/shm/disk",
};

async function scene(id: number | undefined): Promise<Scene> {
	const machine = new Machine(id);
	machines.push(machine);
	machine.repository();
	machine.git("init", "--quiet", "nested");
	machine.write("home/.ssh/id_test", "PRIVATE\n");
	machine.write("user/models.jsonc", "// SECRET\n");
	machine.write("outside/file", "x\n");
	machine.write("work/.vscode/settings.json", "{}");
	const port = await machine.listen({ host: "127.0.0.1", port: 0 });
	await machine.listen({ path: join(machine.home, "agent.sock") });
	await machine.listen({ path: join(machine.work, "host.sock") });
	await machine.listen({ path: `\0${machine.folder}` });
	const runtime = process.getuid?.() === 0 ? mkdtempSync("/run/bowline-test-") : undefined;
	if (runtime !== undefined) {
		directories.push(runtime);
		await machine.listen({ path: join(runtime, "bus") });
	}
	return { machine, port, victim: await machine.victim(), runtime };
}

describeUnless(missing)("escapes", () => {
	for (const { name, id } of users) {
		test(`work without a sandbox and not inside one, as ${name}`, async () => {
			const isRoot = id === undefined && process.getuid?.() === 0;
			const tried = Object.entries(isRoot ? { ...escapes, ...rootEscapes } : escapes);
			const inside = await scene(id);
			const commands = (at: Scene) => [together(tried.map(([, attempt]) => attempt(at)))];
			const on = await inside.machine.run(commands(inside), ["--sandbox", "workspace-write"]);
			expect(on.ready.sandbox).toMatchObject({ mode: "workspace-write", active: true, verified: true });
			const open = await scene(id);
			const off = await open.machine.run(commands(open), []);
			const verdicts = (results: { text: string }[]) => {
				const ran = apart(results[0]?.text ?? "", tried.length);
				const verdict = ({ text, status }: (typeof ran)[number]) => (status === 0 ? "ESCAPED" : status === undefined ? text : "held");
				return Object.fromEntries(ran.map((each, index) => [tried[index]?.[0], verdict(each)]));
			};
			expect(verdicts(off.results)).toEqual(Object.fromEntries(tried.map(([way]) => [way, "ESCAPED"])));
			expect(verdicts(on.results)).toEqual(Object.fromEntries(tried.map(([way]) => [way, "held"])));
			for (const file of ["written", "linked", "moved"]) expect(existsSync(join(inside.machine.outside, file))).toBe(false);
			expect(readFileSync(join(inside.machine.outside, "file"), "utf8")).toBe("x\n");
			// Nothing that was made for the walls stays.
			for (const left of [".bowline", ".mcp.json", ".git/config.worktree"]) expect(existsSync(join(inside.machine.work, left))).toBe(false);
			expect(inside.machine.leftovers()).toEqual([]);
		});
	}
});
