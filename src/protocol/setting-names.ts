/** Names of settings as people write them, dotted or nested, and which of them a request may set. The loader and every door read names here. */
import { type SettingName, type SettingRow, settings } from "./settings.ts";

export interface Address {
	name: SettingName;
	row: SettingRow;
	/** The way on inside a setting that is an object: `task.agentModelOverrides.explore` sets one member and leaves the others. */
	members: string[];
}

type Values = Record<string, unknown>;

export const isObject = (value: unknown): value is Values => typeof value === "object" && value !== null && !Array.isArray(value);

/** No setting with a member has a longer name. Looking at each dot of a key of a megabyte would take minutes. */
const longestKey = 500;

/** Returns the setting that a dotted key names. */
export function addressOf(key: string): Address | undefined {
	if (key.length > longestKey) return undefined;
	for (let end = key.length; end > 0; end = key.lastIndexOf(".", end - 1)) {
		const name = key.slice(0, end);
		if (!Object.hasOwn(settings, name)) continue;
		const row = settings[name as SettingName] as SettingRow;
		const members = end === key.length ? [] : key.slice(end + 1).split(".");
		return members.length === 0 || row.kind === "record" ? { name: name as SettingName, row, members } : undefined;
	}
	return undefined;
}

/** Turns nested objects into dotted keys, up to the names of settings that have no others inside. */
export function flatten(layer: Values): Values {
	// Assigning to the key `__proto__` would lose what it holds; entries keep it as a member like any other.
	return Object.fromEntries(flatEntries(layer, ""));
}

function flatEntries(layer: Values, prefix: string): [string, unknown][] {
	return Object.entries(layer).flatMap(([key, value]): [string, unknown][] => {
		const name = prefix + key;
		const isWhole = addressOf(name) && !Object.keys(settings).some((other) => other.startsWith(`${name}.`));
		return isObject(value) && !isWhole && name.length <= longestKey ? flatEntries(value, `${name}.`) : [[name, value]];
	});
}

/** Settings of someone else's request: flat, or the first name that a request may not set, or that names no setting. */
export type RequestedSettings = { flat: Values } | { refused: string } | { unknown: string };

/**
 * Reads settings that came with a request for a session or a run. A name that the loader does not know is refused, too: it could be one that
 * another version of Bowline knows.
 */
export function requestedSettings(given: Values): RequestedSettings {
	const flat = flatten(given);
	for (const key of Object.keys(flat)) {
		const address = addressOf(key);
		if (!address) return { unknown: key };
		if (address.row.ownersOnly) return { refused: key };
	}
	return { flat };
}
