/** Values of settings as people write them, in a type that is nearly right. */
import { isObject } from "../protocol/setting-names.ts";
import type { SettingRow } from "../protocol/settings.ts";
import { problemOfRules } from "./rules.ts";

export type Values = Record<string, unknown>;

export function withMember(record: unknown, [member = "", ...rest]: string[], value: unknown): Values {
	const values = isObject(record) ? record : {};
	return { ...values, [member]: rest.length === 0 ? value : withMember(values[member], rest, value) };
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
