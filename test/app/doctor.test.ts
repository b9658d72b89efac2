/** `bowline doctor` on healthy and on broken machines. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { program } from "../wire/support/agent.ts";

function doctor(env: Record<string, string>, files: Record<string, string> = {}, ...flags: string[]): { status: number | null; stdout: string } {
	const folder = mkdtempSync(join(tmpdir(), "bowline-doctor-"));
	onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
	mkdirSync(join(folder, "work"));
	for (const [path, content] of Object.entries(files)) {
		mkdirSync(dirname(join(folder, path)), { recursive: true });
		writeFileSync(join(folder, path), content);
	}
	const bare = { PATH: process.env.PATH ?? "", HOME: folder, BOWLINE_DIR: join(folder, "user") };
	const { status, stdout } = spawnSync(process.execPath, [program, "doctor", ...flags], {
		cwd: join(folder, "work"),
		env: { ...bare, ...env },
		encoding: "utf8",
	});
	return { status, stdout };
}

test("with a key all is well, and the key is not shown", () => {
	const { status, stdout } = doctor({ ANTHROPIC_API_KEY: "sk-do-not-show-me", AWS_PROFILE: "work" });
	expect(stdout).toMatch(/^ok {4}node {9}\d+\.\d+\.\d+$/m);
	expect(stdout).toMatch(/^ok {4}models {7}anthropic: \d+ models \(ANTHROPIC_API_KEY\)$/m);
	expect(stdout).toMatch(/^ok {17}amazon-bedrock: \d+ models \(AWS_PROFILE\)$/m);
	expect(stdout).toMatch(/^ok {4}loopback {5}an agent was ready after \d+ ms and answered \d+ ms later$/m);
	expect(stdout).toMatch(/\nReady to work\.\n$/);
	expect(stdout).not.toContain("sk-do-not-show-me");
	expect(status).toBe(0);
});

test("without any model it says what to set", () => {
	const { status, stdout } = doctor({}, { ".aws/credentials": "[default]\n" });
	expect(stdout).toMatch(
		/^note .*amazon-bedrock: not listed; .*\.aws\/credentials may give access to it\n +→ Name a model with --model amazon-bedrock/m,
	);
	expect(stdout).toMatch(/^fail .* {7}No model selected\.\n +→ .*ANTHROPIC_API_KEY/m);
	expect(stdout).toMatch(/\nOne thing needs repair\.\n$/);
	expect(status).toBe(1);
});

test("a key of models.jsonc is named by the file", () => {
	const models =
		'{ "providers": { "mine": { "baseUrl": "http://127.0.0.1:1", "api": "openai-completions", "apiKey": "!echo secret", "models": [{ "id": "m" }] } } }';
	const { status, stdout } = doctor({}, { "user/models.jsonc": models }, "--model", "mine/m");
	expect(stdout).toMatch(/mine: 1 model \(.*\/user\/models\.jsonc\)\nok {17}a session starts with mine\/m\n/);
	expect(stdout).not.toContain("secret");
	expect(status).toBe(0);
});

test("everything that is broken is found, and each has its remedy", () => {
	const files = { "user/settings.jsonc": "{ nope", "user/models.jsonc": "{ neither", "work/.bowline/settings.jsonc": "{}", file: "" };
	const env = { ANTHROPIC_API_KEY: "sk-do-not-show-me", HTTPS_PROXY: "socks://example.com", BOWLINE_RG: "off" };
	const { status, stdout } = doctor(env, files, "--session-dir", "../file/sessions");
	expect(stdout).toMatch(/^fail .*settings\.jsonc:1: .*\n +→ Repair the file/m);
	expect(stdout).toMatch(/^fail .*models\.jsonc.*\n +→ Repair the file/m);
	expect(stdout).toMatch(/^fail .*session files: .*\/file is not a directory\n +→ .*--session-dir/m);
	expect(stdout).toMatch(/^fail {2}proxy .*socks: are not supported/m);
	expect(stdout).toMatch(/^note {2}ripgrep .*\n +→ Install ripgrep/m);
	expect(stdout).toMatch(/^note {2}trust .*not trusted.*\n +→ .*--approve/m);
	expect(stdout).toMatch(/\n4 things need repair\.\n$/);
	expect(status).toBe(1);
});

test("a proxy is named without its password", () => {
	const { stdout } = doctor({ https_proxy: "http://me:hidden@proxy.example.com:3128" });
	expect(stdout).toContain("through http://proxy.example.com:3128\n");
	expect(stdout).not.toContain("hidden");
});

test("--acp drives the program as an editor does, and says how editors start it", () => {
	const { status, stdout } = doctor({ ANTHROPIC_API_KEY: "sk-do-not-show-me" }, {}, "--acp");
	expect(stdout).toMatch(/^ok {4}acp {10}version 1 of the Agent Client Protocol; the handshake took \d+ ms$/m);
	expect(stdout).toMatch(/^ok {17}a session was open \d+ ms later$/m);
	expect(stdout).toMatch(/^ok {17}a turn with a command and a question about it took \d+ ms$/m);
	expect(stdout).toMatch(/^ok {17}it ended with its input, and wrote nothing to stderr$/m);
	expect(stdout).toContain(`editors start it with: ${process.execPath} ${program} acp\n`);
	expect(status).toBe(0);
});

test("the sandbox is tried, and what is missing for it is said", () => {
	const key = { ANTHROPIC_API_KEY: "sk-x" };
	expect(doctor(key).stdout).toMatch(/^(ok|note) {2,4}sandbox {6}off(; it works here with bubblewrap|, and not available: )/m);
	const { status, stdout } = doctor(key, {}, "--sandbox", "workspace-write", "--set", "sandbox.bwrapPath=/nowhere/bwrap");
	expect(stdout).toMatch(/^fail {2}sandbox {6}not available: .*\/nowhere\/bwrap\n +→ Name an executable file/m);
	expect(status).toBe(1);
	const rules = JSON.stringify([{ action: "deny", tool: "read", path: "**/.env" }]);
	expect(doctor(key, {}, "--set", `permissions.rules=${rules}`).stdout).toMatch(/^note .*rules about paths hold for file tools only/m);
});

test("says whether the session is contained, and names what is looser", () => {
	expect(doctor({}).stdout).toMatch(
		/^note +safety +an agent that obeys injected instructions is not held\n +→ Pass --contained, or set safety to "contained"\.$/m,
	);
	expect(doctor({}, {}, "--contained").stdout).toMatch(/^ok +safety +contained \(--contained\)$/m);
	const settings = '{"safety":"contained","sandbox":{"network":"on"}}';
	expect(doctor({}, { "user/settings.jsonc": settings }).stdout).toMatch(
		/^note +safety +contained, but sandbox\.network is looser: "on" \(.*settings.*\)\n +→ Leave sandbox\.network out to close it again\.$/m,
	);
});
