/** Rows about approvals: what rules and the lexer cost, and what a tool call costs more where a mode restricts something. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Script } from "../src/permissions/command-patterns.ts";
import { type Call, decide, type RuleBook } from "../src/permissions/decide.ts";
import { readScript } from "../src/permissions/lexer.ts";
import { compileRule } from "../src/permissions/rules.ts";
import type { PermissionRule, PermissionSubject, SourcedRule } from "../src/protocol/permissions.ts";
import { cpuNs, startAgent } from "./process.ts";
import type { Row } from "./row.ts";
import { median } from "./statistics.ts";

const cwd = "/home/ada/shop";

/** 1,000 rules that all have to be looked at, because none of them decides: about commands, paths and tools, of all three actions. */
function thousandRules(): RuleBook {
	const rules: PermissionRule[] = Array.from({ length: 1000 }, (_, number) => {
		const action = (["deny", "ask", "allow"] as const)[number % 3] as PermissionRule["action"];
		if (number % 4 === 0) return { action, tool: "read", path: `**/secret-${number}/*.key` };
		if (number % 4 === 1) return { action, tool: `deploy_${number}_*` };
		return { action, tool: "bash", command: `program-${number} run *` };
	});
	const compiled = rules.map((rule) => compileRule<SourcedRule>({ ...rule, source: "user" }, { cwd, home: "/home/ada" }, () => undefined));
	const of = (action: PermissionRule["action"]) => compiled.filter(({ rule }) => rule.action === action);
	return { deny: of("deny"), ask: of("ask"), allow: of("allow") };
}

function call(kind: PermissionSubject["kind"], tool: string, args: Record<string, unknown>, targets: string[]): Call {
	const subject: PermissionSubject = { v: 1, kind, tool, args, cwd, targets, sandbox: "off" };
	const facts = { writtenPaths: targets, isInside: true, isGiven: false, source: "built-in" as const, readOnly: false, isVerified: false };
	const script = typeof args.command === "string" ? new Script(args.command, readScript(args.command)) : undefined;
	return { subject, ...facts, ...(script && { script, isForeign: () => true }) };
}

/** 50 commands in just under 10,000 bytes, which is all that is read. */
const longScript = Array.from({ length: 50 }, (_, number) =>
	`program-${number} ${"--option 'a quoted word' plain/path_12 ".repeat(4)}`.padEnd(196, "x"),
).join(" &&\n");

const deciding: Row = {
	name: "permissions",
	rounds: 5,
	isInProcess: true,
	async measure() {
		const book = thousandRules();
		// Calls as they come: each one is new, so nothing is kept from the one before.
		const judged = (make: () => Call) => microseconds(200, () => void decide(make(), book, [], "ask"));
		const command = judged(() => call("command", "bash", { command: "git commit --message 'Round prices' && npm run build -- --watch" }, []));
		const opaque = judged(() => call("command", "bash", { command: 'for f in src/*.ts; do sed -i "s/$OLD/$NEW/" "$f"; done' }, []));
		const path = judged(() => call("read", "read", { path: "src/cart/prices.ts" }, [`${cwd}/src/cart/prices.ts`]));
		if (readScript(longScript)?.length !== 50) throw new Error("The script is not read as it should be.");
		const lexed = microseconds(100, () => void readScript(longScript));
		return [
			{ what: "1,000 rules about a command, cpu", value: command, unit: "µs", goal: { most: 200 } },
			{ what: "1,000 rules about an opaque script, cpu", value: opaque, unit: "µs", goal: { most: 200 } },
			{ what: "1,000 rules about a path, cpu", value: path, unit: "µs", goal: { most: 200 } },
			{ what: "a script of 10 KB is read, cpu", value: lexed / 1000, unit: "ms", goal: { most: 1 } },
		];
	},
};

const turns = 100;
const batches = 8;

/** The same calls in mode full, which loads nothing, and in mode edit, which allows them: two agents that take turns. */
const gatedTurns: Row = {
	name: "permission-turns",
	rounds: 3,
	async measure(trial) {
		const call = { blocks: [{ tool: "write", arguments: { path: "src/prices.ts", content: "export const price = 1;\n" } }] };
		const replies = Array.from({ length: batches + 1 }, () => [{ ...call, times: turns }, { text: "done" }]).flat();
		const agents = ["full", "edit"].map((mode) => {
			const folder = join(trial.folder, mode);
			mkdirSync(folder);
			return startAgent({ ...trial, folder }, ["--updates", "delta", "--permission-mode", mode], { replies });
		});
		const costs: number[][] = agents.map(() => []);
		for (let batch = 0; batch <= batches; batch++) {
			for (const [index, agent] of agents.entries()) {
				const before = batch === 0 ? 0 : cpuNs(agent.pid);
				await agent.prompt("go");
				if (batch > 0) costs[index]?.push((cpuNs(agent.pid) - before) / 1e6 / turns);
			}
		}
		for (const agent of agents) await agent.end();
		const [full, edit] = costs.map(median) as [number, number];
		return [
			{ what: "a turn with a write in mode full, cpu", value: full, unit: "ms" },
			{ what: "the same in mode edit, more cpu", value: edit - full, unit: "ms" },
			{ what: "edit over full", value: edit / full, unit: "", goal: { most: 1.25 } },
		];
	},
};

/** Cpu time per call, the median of many batches: time on the clock would count what other programs do. */
function microseconds(count: number, work: () => void): number {
	const batch = () => {
		const before = process.cpuUsage();
		for (let index = 0; index < count; index++) work();
		const { user, system } = process.cpuUsage(before);
		return (user + system) / count;
	};
	for (let warming = 0; warming < 5; warming++) batch();
	return median(Array.from({ length: 9 }, batch));
}

export const permissionRows: Row[] = [deciding, gatedTurns];
