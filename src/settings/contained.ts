/** `safety: "contained"`: one word for the settings that hold an agent which obeys injected instructions. */
import { type SettingName, type SettingRow, settings } from "../protocol/settings.ts";
import type { Values } from "./values.ts";

/** What the word stands for. A single setting may be stricter. */
export const containedValues = {
	"permissions.mode": "edit",
	"permissions.grantsLapse": true,
	"sandbox.mode": "workspace-write",
	"sandbox.required": true,
	"sandbox.network": "off",
	"sandbox.home": "hidden",
	"sandbox.envFiles": "masked",
	"sandbox.git": "write",
	"sandbox.unixSockets": "own",
	"sandbox.escalation": "never",
	"checkpoints.enabled": true,
} as const satisfies Partial<Record<SettingName, string | boolean>>;

/** Lists that open something each. */
const opening = ["sandbox.writable", "sandbox.readable", "sandbox.env"] as const satisfies readonly SettingName[];

export const containedSource = 'safety "contained"';

/** Facts that may change while a session lives, or are in no setting. */
export interface SafetyFacts {
	/** The mode of permissions now. */
	mode: string;
	/** Sessions that are not stored have no checkpoints. */
	isStored: boolean;
}

export interface Contained {
	/** Lists the settings that are looser than the word says, in the order of the tables. */
	loosenedNow(facts?: SafetyFacts): SettingName[];
}

export interface ContainedInput {
	/** Those in effect. They are changed. */
	values: Values;
	origins: Record<string, string>;
	/** A place that comes later is stronger; undefined for a default. */
	rankOf: (origin: string | undefined) => number | undefined;
	isProject: (origin: string) => boolean;
	/** Says that a setting has no effect. */
	unused: (origin: string, name: SettingName, reason: string) => void;
}

/**
 * Fills in what no place says. A looser value counts only where it was said in the place of the word or in a stronger one, and never in the
 * project's: it is then named.
 */
export function contain({ values, origins, rankOf, isProject, unused }: ContainedInput): Contained {
	const own = rankOf(origins.safety) ?? 0;
	const loosened: SettingName[] = [];
	for (const [name, value] of Object.entries(containedValues) as [keyof typeof containedValues, string | boolean][]) {
		const origin = origins[name];
		if (origin !== undefined && !isLooser(settings[name], values[name], value)) continue;
		if (origin !== undefined && !isProject(origin) && (rankOf(origin) ?? 0) >= own) {
			loosened.push(name);
			continue;
		}
		if (origin !== undefined) unused(origin, name, `safety is "contained", which needs ${JSON.stringify(value)} or stricter`);
		values[name] = value;
		origins[name] = containedSource;
	}
	loosened.push(...opening.filter((name) => ((values[name] as unknown[] | undefined) ?? []).length > 0));
	return {
		loosenedNow(facts) {
			const now = new Set(loosened);
			if (facts && isLooser(settings["permissions.mode"], facts.mode, containedValues["permissions.mode"])) now.add("permissions.mode");
			else if (facts) now.delete("permissions.mode");
			if (facts?.isStored === false) now.add("checkpoints.enabled");
			return [...now].sort((one, two) => order.indexOf(one) - order.indexOf(two));
		},
	};
}

const order: readonly SettingName[] = [...(Object.keys(containedValues) as SettingName[]), ...opening];

/** Of what is not in the list of stricter values, such as `external`, nothing is known. */
function isLooser(row: SettingRow, value: unknown, than: string | boolean): boolean {
	if (typeof than === "boolean") return value !== than;
	const { project, values = [] } = row;
	const fromWeakest: readonly unknown[] =
		typeof project === "object" && "stricter" in project && Array.isArray(project.stricter) ? project.stricter : [...values].reverse();
	return fromWeakest.indexOf(value) < fromWeakest.indexOf(than);
}
