/** `bowline doctor`: checks what an agent needs here, tries one, and says what to do. */

import { exitCodes } from "../../lib/exit-codes.ts";
import { printableLine } from "../../lib/printable.ts";
import { openWorkspace, type Workspace } from "../../live/workspace.ts";
import type { Options } from "../../protocol/flags.ts";
import { printJson } from "../json.ts";
import { loopback } from "./doctor-loopback.ts";
import { directories, git, node, proxy, ripgrep, safety, settingsFiles, shell, trust } from "./doctor-machine.ts";
import { mcp } from "./doctor-mcp.ts";
import { models } from "./doctor-models.ts";
import { sandbox } from "./doctor-sandbox.ts";

export interface Finding {
	/** `note`: it works, but the user may want to know. */
	state: "ok" | "note" | "fail";
	text: string;
	/** What to do, in a sentence. */
	remedy?: string;
}

export type Patient = Workspace;

type Check = (patient: Patient) => Finding[] | Promise<Finding[]>;

const checks: Record<string, Check> = {
	node,
	git,
	ripgrep,
	shell,
	directories,
	settings: settingsFiles,
	trust,
	safety,
	proxy,
	models,
	mcp,
	sandbox,
	loopback,
};

export async function doctor(options: Options): Promise<void> {
	const patient = await openWorkspace({ options, isRpc: false });
	let failures = 0;
	const report: ({ check: string } & Finding)[] = [];
	const asked: Record<string, Check> = options.acp ? { ...checks, acp: (await import("./doctor-acp.ts")).acp } : checks;
	for (const [name, check] of Object.entries(asked)) {
		for (const [index, { state, text, remedy }] of (await findings(check, patient)).entries()) {
			if (state === "fail") failures += 1;
			report.push({ check: name, state, text, ...(remedy !== undefined && { remedy }) });
			if (options.json) continue;
			console.log(`${state.padEnd(4)}  ${(index === 0 ? name : "").padEnd(11)}  ${printableLine(text)}`);
			if (remedy) console.log(`${" ".repeat(19)}→ ${printableLine(remedy)}`);
		}
	}
	if (options.json) printJson({ ok: failures === 0, findings: report });
	else console.log(failures === 0 ? "\nReady to work." : `\n${failures === 1 ? "One thing needs" : `${failures} things need`} repair.`);
	process.exitCode = failures === 0 ? exitCodes.done : exitCodes.failed;
}

/** A check that breaks has found something, too. */
async function findings(check: Check, patient: Patient): Promise<Finding[]> {
	try {
		return await check(patient);
	} catch (error) {
		return [{ state: "fail", text: error instanceof Error ? error.message : String(error) }];
	}
}
