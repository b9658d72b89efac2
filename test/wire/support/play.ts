/** Plays a transcript against an agent. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentOptions, Driver } from "./driver.ts";
import { checkFailures } from "./failures.ts";
import { type Frame, matches } from "./match.ts";
import type { Case, Step, Token } from "./parse.ts";
import { toScript } from "./script.ts";

export async function play(test: Case, Agent: new (options: AgentOptions) => Driver): Promise<void> {
	const agent = new Agent({
		flags: test.flags,
		env: test.env,
		files: test.files,
		isRepository: test.isRepository,
		script: test.model === undefined ? undefined : toScript(test.model),
	});
	try {
		if (!isSilent(test) && !startsByHand(test)) await expectAll(agent, [frame("ready")], 0);
		for (const step of test.steps) await perform(agent, step);
		checkFailures(agent.frames, dialectOf(test));
	} finally {
		await agent.dispose();
	}
}

/** Whether the process does not announce itself. */
const isSilent = ({ flags }: Case) => flags.includes("--no-ready") || flags.includes("strict");

const dialectOf = ({ flags }: Case) => flags[flags.indexOf("--dialect") + 1 || flags.length] ?? "classic";

/** A transcript about the start itself says what it expects of it. */
function startsByHand({ steps }: Case): boolean {
	const [first] = steps;
	return first?.kind === "exit" || (first?.kind === "expect" && first.tokens.some((token) => token.kind === "frame" && token.text.includes("ready")));
}

const frame = (name: string): Token => ({ kind: "frame", name, role: undefined, repeats: false, shape: undefined, exact: false, text: name });

async function perform(agent: Driver, step: Step): Promise<void> {
	switch (step.kind) {
		case "send":
			return agent.send(step.line);
		case "raw":
			agent.write(Buffer.from(step.text, "latin1"));
			return;
		case "expect":
			return expectAll(agent, step.tokens, step.at);
		case "eof":
			agent.endInput();
			return;
		case "signal":
			agent.kill(step.name);
			return;
		case "exit": {
			const code = await agent.exited();
			const unread = await agent.next(0);
			if (code !== step.code) throw new Error(`line ${step.at}: exit code ${code}, not ${step.code}\nstderr: ${agent.stderr}`);
			if (unread) throw new Error(`line ${step.at}: not expected before the exit: ${short(unread)}`);
			return;
		}
		case "stderr":
			// It has a pipe of its own, and may come after the frames.
			if (!(await agent.says(step.text))) throw new Error(`line ${step.at}: stderr does not say ${JSON.stringify(step.text)}: ${agent.stderr}`);
			return;
		case "answer": {
			const questions = ["host_tool_call", "extension_ui_request", "permission_request", "gate_request"];
			const asked = agent.frames.filter((frame) => questions.includes(frame.type)).at(-1 - step.back);
			const digest = step.type === "permission_response" ? { digest: asked?.digest } : {};
			return agent.send({ ...digest, ...step.members, type: step.type, id: asked?.id });
		}
		case "touch":
			return writeFileSync(join(agent.cwd, step.path), "");
		case "silence": {
			const next = await agent.next(step.ms);
			if (next) throw new Error(`line ${step.at}: silence was broken by ${short(next)}`);
		}
	}
}

async function expectAll(agent: Driver, tokens: Token[], at: number): Promise<void> {
	let isGap = false;
	let ahead: Frame | undefined;
	for (const token of tokens) {
		if (token.kind === "gap") {
			isGap = true;
			continue;
		}
		const skipped: Frame[] = [];
		for (;;) {
			const next = ahead ?? (await agent.next());
			ahead = undefined;
			if (!next) throw new Error(`line ${at}: ${token.text} did not come\nskipped: ${skipped.map(short).join("\n  ")}\nstderr: ${agent.stderr}`);
			if (matches(next, token)) break;
			if (!isGap) throw new Error(`line ${at}: expected ${token.text}\nbut came ${short(next)}\nstderr: ${agent.stderr}`);
			skipped.push(next);
		}
		isGap = false;
		while (token.repeats) {
			ahead = await agent.next();
			if (!ahead || !matches(ahead, token)) break;
			ahead = undefined;
		}
	}
	if (ahead) agent.putBack();
}

function short(value: Frame): string {
	const text = JSON.stringify(value);
	return text.length > 600 ? `${text.slice(0, 600)}…` : text;
}
