/** Opens a session for a front door: extensions, budget, policies, tools and model. */

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { UsageError } from "../lib/usage-error.ts";
import { readJsoncText } from "../settings/settings.ts";
import type { UnknownFlag } from "./arguments.ts";
import { refuseUnknown, unexpectedText } from "./arguments.ts";
import { assemble } from "./assemble.ts";
import { loadBudget } from "./budget.ts";
import { mayHaveExtensions } from "./extension-places.ts";
import type { Extensions } from "./extensions.ts";
import type { Front } from "./front.ts";
import { identityOf } from "./identity.ts";
import { LiveSession, type Override } from "./live-session.ts";
import { unknownTools } from "./tool-names.ts";
import type { Workspace } from "./workspace.ts";

type Warn = (text: string) => void;

/** Warns about settings and flags, and begins to load extensions. Returns nothing when there are none. */
export function loadExtensions(workspace: Workspace, warn: Warn): Promise<Extensions> | undefined {
	const { warnings, misspelt } = workspace.settings;
	for (const text of [...warnings, ...(workspace.subagent ? [] : misspelt)]) warn(text);
	checkNamedFiles(workspace);
	if (!mayHaveExtensions(workspace)) return undefined;
	const loading = import("./extensions.ts").then(({ Extensions }) => Extensions.load(workspace, warn));
	// Whoever awaits it reports a failure. Until then, while a sandbox opens, it must not end the process as an unhandled one.
	loading.catch(() => undefined);
	return loading;
}

/** Throws UsageError for a skill or template that a flag names and that does not exist. */
function checkNamedFiles({ options, cwd, env, subagent }: Workspace): void {
	if (subagent) return;
	const placed = (path: string) => resolve(cwd, env.HOME === undefined ? path : path.replace(/^~(?=\/|$)/, env.HOME));
	for (const name of ["skill", "prompt-template"] as const) {
		const missing = options[name]?.find((path) => !existsSync(placed(path)));
		if (missing !== undefined) throw new UsageError(`--${name} ${missing}: there is no such file or directory.`);
	}
}

/** Throws for flags that neither we nor an extension know: they are right or wrong before anything is announced. */
export async function checkFlags(workspace: Workspace, loading: Promise<Extensions> | undefined, warn: Warn): Promise<void> {
	const { unknown, subagent } = workspace;
	// Hosts of the family pass the names of their own tools too, so this does not end a start.
	const problem = unknownTools(workspace.options);
	if (problem !== undefined) warn(problem);
	await checkMcpConfig(workspace);
	if (unknown.length === 0) return;
	const flags = (await loading)?.setFlags(unknown) ?? { unknown, strays: [] as UnknownFlag[] };
	// A subagent may work where an extension of its sender is missing; the extension's flags then have no effect.
	if (!subagent) refuseUnknown(flags.unknown, warn);
	if (flags.strays[0]) throw new Error(unexpectedText(flags.strays[0].following as string));
}

/** Throws UsageError when `--mcp-config` names what cannot be used. */
export async function checkMcpConfig({ options, cwd }: Workspace): Promise<void> {
	const given = options["mcp-config"];
	if (given) await (await import("./mcp-servers.ts")).checkFlags(given, { cwd, readJsonc: readJsoncText });
}

export interface OpenSession {
	live: LiveSession;
	/** Resolves when the model is chosen and extensions have started. Serial commands wait for it. */
	ready: Promise<void>;
}

export async function openSession(workspace: Workspace, front: Front, loading?: Promise<Extensions>, override?: Override): Promise<OpenSession> {
	const { options, settings, subagent, sandbox } = workspace;
	await sandbox?.open();
	// Where one is required, each prompt is refused with the reason.
	if (sandbox && !sandbox.state.active && sandbox.refusal === undefined)
		front.warn(`There is no sandbox, and sandbox.required is false: commands run without it. ${sandbox.state.reason ?? ""}`.trim());
	const budget = await loadBudget(settings, front.warn, subagent?.inheritance.budget);
	const assembly = assemble(workspace, front, budget);
	const { session, log } = assembly;
	// Whatever ends the process, save a kill: no other process finds a lock of ours.
	front.atExit(() => session.transcript.close());
	const { permissions, sources, prompting, mcp } = assembly;
	await permissions.attach({ sources, prompting, mcp, abortRun: () => void session.abort() });
	const live = new LiveSession(assembly, front, identityOf(workspace), override);
	if (options.seq) await live.number(Number(options["seq-after"] ?? 0));
	if (options.gate && front.askGate) {
		const { StepGate } = await import("./step-gate.ts");
		const { askGate: send } = front;
		const timeoutMs = subagent ? undefined : settings.get("gate.timeoutMs");
		assembly.gate.current = new StepGate({ assembly, sequence: live.sequence, send, timeoutMs, now: Date.now });
	}
	if (front.mcpServers && Object.keys(front.mcpServers).length > 0) await assembly.mcp.set(front.mcpServers, setImmediate);
	if (options.record !== undefined || options["replay-tools"]) await (await import("./records.ts")).useRecords(assembly, workspace, front);
	// A subagent's changes are part of the turn that sent it.
	if (settings.get("checkpoints.enabled") && !options["no-session"] && !subagent) {
		const { SessionCheckpoints } = await import("./checkpoints.ts");
		live.checkpoints = new SessionCheckpoints({ assembly, workspace, warn: front.warn });
	}
	const start = async (extensions: Extensions) => {
		live.extensions = extensions;
		await extensions.start({ live, assembly, front, leaving: live.leaving });
	};
	const starting = loading ? loading.then(start).catch((error) => log.error("extensions could not be started", error)) : assembly.chooseModel();
	// An extension that hangs must not hold up the end.
	const ready = starting ? Promise.race([starting, live.leaving]) : Promise.resolve();
	if (starting) live.lanes.hold(ready);
	return { live, ready };
}
