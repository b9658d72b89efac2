/** Directories of sessions are checked again whenever an agent is started: a command may have replaced them meanwhile. */
import { existsSync, mkdirSync, mkdtempSync, readlinkSync, realpathSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { isRefusal } from "../../src/serve/refusal.ts";
import { Roots } from "../../src/serve/roots.ts";
import { place, serve, type TestServer, until } from "./support.ts";

/** A session below the root that has a conversation and sleeps. */
async function sleeper(server: TestServer, name: string, more: Record<string, unknown> = {}): Promise<{ id: string; directory: string }> {
	const directory = join(server.at.cwd, name);
	mkdirSync(directory, { recursive: true });
	const { id } = await server.create({ cwd: directory, ...more });
	await server.prompt(id, "first");
	await server.learnFile(id);
	await server.post(`/v1/sessions/${id}/stop`);
	await server.inState(id, "asleep");
	return { id, directory };
}

/** What a command of another session does: the directory is moved away, and a link takes its place. */
function redirect(directory: string, target: string): () => void {
	renameSync(directory, `${directory}.old`);
	symlinkSync(target, directory);
	return () => {
		rmSync(directory);
		renameSync(`${directory}.old`, directory);
	};
}

const refusalOf = async (server: TestServer, id: string) => {
	const { status, json } = await server.post(`/v1/sessions/${id}/prompts`, { message: "second" });
	return { status, ...json.error } as { status: number; code: string; message: string };
};

describe("a sleeping session", () => {
	test("whose directory became a link out of the roots does not wake, says where it leads, and goes on once the directory is back", async () => {
		const server = await serve();
		const { id, directory } = await sleeper(server, "project/sub");
		const outside = join(server.at.user, "..", "outside");
		mkdirSync(outside);
		const reader = await server.attach(id);
		const putBack = redirect(directory, outside);
		const { status, code, message } = await refusalOf(server, id);
		expect([status, code]).toEqual([422, "outside_roots"]);
		expect(message).toContain(`${directory}, leads to ${realpathSync(outside)} now`);
		expect(message).toContain("Put the directory back");
		expect((await reader.find("readers are told", ({ type, state }) => type === "session_state" && state === "failed")).reason).toBe(message);
		// The server and other sessions live on, and the session is still there to be read.
		const other = await server.create();
		expect((await server.prompt(other.id, "hello")).json.result.status).toBe("completed");
		expect((await server.session(id)).reason).toBe(message);
		const entries = async () =>
			(await server.get(`/v1/sessions/${id}/entries`)).json.entries.filter(({ type }: { type: string }) => type === "message");
		expect(await entries()).toHaveLength(2);
		expect((await server.post(`/v1/sessions/${id}/start`)).json.error.code).toBe("outside_roots");
		putBack();
		expect((await server.prompt(id, "second")).json.result.status).toBe("completed");
		expect(await entries()).toHaveLength(4);
	});

	test("whose directory became a link to another project in the roots does not wake there", async () => {
		const server = await serve();
		const victim = join(server.at.cwd, "other-project");
		mkdirSync(victim);
		const inner = await sleeper(server, "project/sub");
		const below = await sleeper(server, "project/parent/inner");
		mkdirSync(join(victim, "inner"));
		redirect(inner.directory, "../other-project");
		expect(await refusalOf(server, inner.id)).toMatchObject({ status: 409, code: "directory_moved" });
		redirect(dirname(below.directory), victim);
		const { message } = await refusalOf(server, below.id);
		expect(message).toContain(`leads to ${join(victim, "inner")} now. The link ${dirname(below.directory)} may be the work of a command`);
		// A socket gets the same answer.
		const driver = await server.attach(below.id, "?mode=write");
		expect(await driver.ask({ type: "prompt", message: "x" })).toMatchObject({ success: false, code: "directory_moved", error: message });
	});

	test("whose directory is missing says so, starts no agent, and wakes once it is back", async () => {
		const server = await serve();
		const { id, directory } = await sleeper(server, "project");
		const starts = async () => /bowline_agent_starts_total (\d+)/.exec((await server.get("/metrics")).text)?.[1];
		const before = await starts();
		rmSync(directory, { recursive: true });
		for (let count = 0; count < 4; count++) {
			const { status, code, message } = await refusalOf(server, id);
			expect([status, code]).toEqual([409, "directory_missing"]);
			expect(message).toContain(`${directory}, is missing. Put it back`);
		}
		expect(await starts()).toBe(before);
		mkdirSync(directory);
		expect((await server.prompt(id, "second")).json.result.status).toBe("completed");
	});

	test("is still shown by the next server when its directory leads elsewhere, and does not wake there either", async () => {
		const at = place();
		const first = await serve({ at, args: ["--model", "echo"] });
		const { id, directory } = await sleeper(first, "project/sub");
		await first.stop();
		const outside = join(at.user, "..", "outside");
		mkdirSync(outside);
		redirect(directory, outside);
		const second = await serve({ at, args: ["--model", "echo"] });
		expect((await second.get("/v1/sessions")).json.sessions.map((session: { id: string }) => session.id)).toContain(id);
		expect((await refusalOf(second, id)).code).toBe("outside_roots");
	});

	test("goes on in another directory when its file is opened by a session that works there", async () => {
		const server = await serve();
		const { id, directory } = await sleeper(server, "project/sub");
		const target = join(server.at.cwd, "moved-here");
		mkdirSync(target);
		redirect(directory, target);
		expect((await refusalOf(server, id)).code).toBe("directory_moved");
		const { id: helper } = await server.create({ cwd: target });
		const { json } = await server.post(`/v1/sessions/${helper}/commands`, { type: "switch_session", sessionPath: server.fileOf(id) });
		expect(json).toMatchObject({ success: true });
		await server.post(`/v1/sessions/${id}/stop`);
		await server.inState(id, "asleep");
		expect((await server.prompt(id, "second")).json.result.status).toBe("completed");
		expect((await server.session(id)).cwd).toBe(target);
	});
});

test("an agent that crashed is not resumed where its directory leads now", async () => {
	const command = "touch here; until [ -e go ]; do sleep 0.02; done";
	const server = await serve({ replies: [{ blocks: [{ tool: "bash", arguments: { command } }] }, { text: "done", times: "always" }] });
	const directory = join(server.at.cwd, "project/sub");
	const victim = join(server.at.cwd, "victim");
	for (const each of [directory, victim]) mkdirSync(each, { recursive: true });
	const { id } = await server.create({ cwd: directory, onCrash: "resume" });
	const reader = await server.attach(id);
	await server.post(`/v1/sessions/${id}/prompts`, { message: "go" });
	await until("the command runs", () => existsSync(join(directory, "here")));
	await server.learnFile(id);
	redirect(directory, victim);
	process.kill(server.agentPid(id), "SIGKILL");
	const { reason } = await reader.find("it is refused", ({ type, state }) => type === "session_state" && state === "failed");
	expect(reason).toContain(`leads to ${victim} now`);
	expect(existsSync(join(victim, "here"))).toBe(false);
});

describe("the check of a directory", () => {
	let folder: string;
	beforeEach(() => {
		folder = realpathSync(mkdtempSync(join(tmpdir(), "bowline-roots-")));
		for (const name of ["root/project", "outside"]) mkdirSync(join(folder, name), { recursive: true });
	});
	afterEach(() => rmSync(folder, { recursive: true, force: true }));
	const codeOf = (work: () => unknown) => {
		try {
			work();
			return "started";
		} catch (error) {
			if (!isRefusal(error)) throw error;
			return error.code;
		}
	};

	test("follows the user's own link outside of every root, and gives the agent the real directory", () => {
		symlinkSync(join(folder, "root"), join(folder, "link"));
		const roots = new Roots([join(folder, "link")]);
		const started = roots.inDirectory(join(folder, "link/project"), (cwd) => realpathSync(cwd));
		expect(started).toBe(join(folder, "root/project"));
		symlinkSync(join(folder, "outside"), join(folder, "away"));
		expect(codeOf(() => roots.inDirectory(join(folder, "away"), String))).toBe("outside_roots");
	});

	test("refuses two dots behind a link, a file, a link that leads nowhere and one that leads back", () => {
		const roots = new Roots([join(folder, "root")]);
		symlinkSync(join(folder, "outside"), join(folder, "root/link"));
		symlinkSync(join(folder, "root/nowhere"), join(folder, "root/broken"));
		symlinkSync(join(folder, "root/project"), join(folder, "root/same"));
		const code = (name: string) => codeOf(() => roots.inDirectory(`${folder}/root/${name}`, String));
		expect([code("project"), code("link/.."), code("link/../root/project"), code("broken"), code("same"), code("missing")]).toEqual([
			"started",
			"outside_roots",
			"directory_moved",
			"directory_moved",
			"directory_moved",
			"directory_missing",
		]);
	});

	test.runIf(existsSync("/proc/self/fd"))("holds the directory that it checked, so a link that comes a moment later changes nothing", () => {
		const roots = new Roots([join(folder, "root")]);
		const project = join(folder, "root/project");
		const started = roots.inDirectory(project, (cwd) => {
			redirect(project, join(folder, "outside"));
			return readlinkSync(cwd);
		});
		expect(started).toBe(`${project}.old`);
	});
});
