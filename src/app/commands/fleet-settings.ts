/** The settings of a run's agent: those of the worker, and of the run where it may have a say. */
import { version } from "../../lib/version.ts";
import { requestedSettings } from "../../protocol/setting-names.ts";
import { settings as rows, type SettingName, type SettingRow } from "../../protocol/settings.ts";
import { asWritten, type SettingsView } from "../../settings/settings.ts";
import type { RunSandbox } from "./fleet-sandbox.ts";

interface AgentPlace {
	sandbox: RunSandbox["settings"];
	/** The mirror that the checkout shares objects with. */
	mirror: string;
	/** Names of variables that the run's commands see. */
	variables?: readonly string[] | undefined;
}

type Values = Record<string, unknown>;

/** Settings of the worker that its agents do not get. */
const ownSettings = /^(fleet|serve|trust)\.|^(sessionDir|extensions|skills|prompts|packages|mcpServers)$/;

/** Returns a problem for settings that a run must not have: it was submitted to another version, or written into the tables by hand. */
export function agentSettings(
	view: SettingsView,
	{ wished = {}, ...place }: AgentPlace & { wished?: Values | undefined },
): { settings: Values } | { problem: string } {
	const read = requestedSettings(wished);
	if ("refused" in read) return { problem: `The run sets ${read.refused}, which is the worker's own setting. Set it there.` };
	if ("unknown" in read)
		return { problem: `The run sets ${read.unknown}, which Bowline ${version} of this worker does not know. Update the worker, or leave it out.` };
	return { settings: workerSettings(view, place, read.flat) };
}

/**
 * Returns settings under dotted names: the loader applies them in their order, and two spellings of one name would not replace each other. `wished`
 * may change the worker's settings, except those that only the owner sets, and lower its ceilings.
 */
export function workerSettings(view: SettingsView, { sandbox, mirror, variables = [] }: AgentPlace, wished: Readonly<Values> = {}): Values {
	const names = (Object.keys(rows) as SettingName[]).filter((name) => !ownSettings.test(name) && view.origin(name) !== "default");
	const isOwners = (name: SettingName) => (rows[name] as SettingRow).ownersOnly === true;
	const written = (list: readonly SettingName[]) => list.map((name): [string, unknown] => [name, asWritten(view, name)]);
	const own: Values = {
		...sandbox,
		"sandbox.readable": [...view.get("sandbox.readable"), mirror],
		"sandbox.env": [...view.get("sandbox.env"), "BOWLINE_RUN_ID", "BOWLINE_RUN_EPOCH", ...variables],
		"bash.env.allow": [...view.get("bash.env.allow"), ...variables],
		"retry.rateLimits": "host",
	};
	const ordered = [
		...written(names.filter((name) => !isOwners(name))),
		...Object.entries(wished).filter(([name, value]) => value !== null && !isWeaker(view, name as SettingName, value)),
		...written(names.filter(isOwners)),
		...Object.entries(own),
	];
	const all = new Map<string, unknown>();
	for (const [name, value] of ordered) {
		// A later value also takes a later place.
		all.delete(name);
		all.set(name, value);
	}
	return Object.fromEntries(all);
}

/** Returns whether a value would weaken a ceiling of the worker. */
function isWeaker(view: SettingsView, name: SettingName, value: unknown): boolean {
	const limits = (Object.keys(rows) as SettingName[]).filter((each) => (rows[each] as SettingRow).isCeiling && view.get(each) !== undefined);
	// What becomes of a run that has reached one.
	if (name === "task.budget.onExceeded") return limits.length > 0 && value !== "stop";
	return limits.includes(name) && !(typeof value === "number" && value < (view.get(name) as number));
}
