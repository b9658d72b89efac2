/** Names and values of settings as people write them: dotted or nested, in a type that is nearly right. */
import { type SettingName, type SettingRow, settings } from "../protocol/settings.ts";
import { problemOfRules } from "./rules.ts";

export type Values = Record<string, unknown>;

export interface Address {
	name: SettingName;
	row: SettingRow;
	/** The way on inside a setting that is an object: `task.agentModelOverrides.explore` sets one member and leaves the others. */
	members: string[];
}

/** No setting with a member has a longer name. Looking at each dot of a key of a megabyte would take minutes. */
const longestKey = 500;

/** The setting that a dotted key names. */
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

export function withMember(record: unknown, [member = "", ...rest]: string[], value: unknown): Values {
	const values = isObject(record) ? record : {};
	return { ...values, [member]: rest.length === 0 ? value : withMember(values[member], rest, value) };
}

/** Nested objects as dotted keys, up to the names of settings that have no others inside. */
export function flatten(layer: Values, prefix = ""): Values {
	const flat: Values = {};
	for (const [key, value] of Object.entries(layer)) {
		const name = prefix + key;
		const isWhole = addressOf(name) && !Object.keys(settings).some((other) => other.startsWith(`${name}.`));
		if (isObject(value) && !isWhole) Object.assign(flat, flatten(value, `${name}.`));
		else flat[name] = value;
	}
	return flat;
}

/** The value in the setting's type, nothing if it does not fit. */
export function asKind(row: SettingRow, value: unknown): unknown {
	switch (row.kind) {
		case "boolean":
			return typeof value === "boolean" ? value : undefined;
		case "number": {
			const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
			return typeof number === "number" && Number.isFinite(number) ? number : undefined;
		}
		case "string":
			return typeof value === "string" && (!row.values || row.values.includes(value)) ? value : undefined;
		case "strings":
			return Array.isArray(value) && value.every((item) => typeof item === "string") ? value : undefined;
		case "rules":
			return problemOfRules(value) === undefined ? value : undefined;
		case "record":
			return isObject(value) ? value : undefined;
	}
}

export function kindName(row: SettingRow): string {
	if (row.values) return row.values.map((value) => JSON.stringify(value)).join(" or ");
	return {
		boolean: "true or false",
		number: "a number",
		string: "a text",
		strings: "a list of texts",
		record: "an object",
		rules: "a list of rules",
	}[row.kind];
}

export const isObject = (value: unknown): value is Values => typeof value === "object" && value !== null && !Array.isArray(value);
